#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "app/cli/cli.h"
#include "app/content/content.h"
#include "app/platform/file.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/file_mode.h"
#include "app/scenario/link.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {

bool Arguments::has(std::string_view option) const {
  return std::any_of(options.begin(), options.end(), [&](const auto& o) { return o.first == option; });
}

std::string Arguments::value(std::string_view option, std::string otherwise) const {
  for (auto at = options.rbegin(); at != options.rend(); ++at)
    if (at->first == option) return at->second;
  return otherwise;
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> out;
  for (const auto& [name, value] : options)
    if (name == option) out.push_back(value);
  return out;
}

/// What is wrong with this value of an option, or with its being given once more; empty: nothing.
static std::string option_fault(const Arguments& before, const std::string& name, const std::string& value) {
  constexpr std::string_view repeated[] = {"--set", "--over", "--rung"};
  if (before.has(name) && std::find(std::begin(repeated), std::end(repeated), name) == std::end(repeated))
    return name + " is given twice: it takes one value.";
  if (name == "--set") {
    const std::string key = value.substr(0, value.find('='));
    for (const std::string& earlier : before.values(name))
      if (earlier.substr(0, earlier.find('=')) == key) return excerpt(key) + " is set twice.";
  }
  if (name != "-o") return {};
  if (value.empty()) return "-o needs the name of a file or a folder.";
  if (value.find("://") != std::string::npos)
    return "-o is \"" + excerpt(value) +
           "\": an address cannot be written to, only a file or a folder of this machine.";
  return {};
}

models::Result<Arguments> parse_arguments(const std::vector<std::string>& all, const std::vector<std::string>& valued,
                                          const std::vector<std::string>& flags) {
  using Parsed = models::Result<Arguments>;
  Arguments a;
  const auto in = [](const std::vector<std::string>& list, const std::string& s) {
    return std::find(list.begin(), list.end(), s) != list.end();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& word = all[i];
    if (word.size() < 2 || word[0] != '-') {
      a.words.push_back(word);
      continue;
    }
    const auto equals = word.substr(0, 2) == "--" ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (in(flags, name) && equals == std::string::npos) {
      a.options.emplace_back(name, "");
    } else if (in(valued, name) && (equals != std::string::npos || i + 1 < all.size())) {
      const std::string value = equals != std::string::npos ? word.substr(equals + 1) : all[++i];
      if (const std::string fault = option_fault(a, name, value); !fault.empty()) return Parsed::fail(fault);
      a.options.emplace_back(name, value);
    } else if (in(valued, name)) {
      return Parsed::fail(name + " needs a value after it.");
    } else {
      auto known = valued;
      known.insert(known.end(), flags.begin(), flags.end());
      const auto guess = did_you_mean(name, known);
      return Parsed::fail("There is no option " + name.substr(0, 60) + " here" + (guess.empty() ? "" : ": " + guess) +
                          (guess.empty() ? "; " : " ") +
                          (known.empty()
                               ? "No option is allowed."
                               : (guess.empty() ? "allowed are " : "Allowed are ") + sentence_list(known, 40) + "."));
    }
  }
  return Parsed::ok(std::move(a));
}

namespace {

/// Why the lab refuses this file in that input when every other input is at its default; "" when it does not.
std::string refusal_of(const chapters::Lab& lab, std::string_view key, const chapters::FileInput& file) {
  const auto alone = lab.with_inputs(*lab.keep_inputs());
  alone->reset();
  const auto& input = *alone->inputs().find(key);
  input.file() = file;
  choose_mode(alone->inputs(), input);
  alone->compute_facts();
  return alone->reason();
}

/// "file is "a.json": why", or the reason alone where it names the file.
std::string fault_text(const std::string& input, const chapters::FileInput& file, const std::string& why) {
  const std::string name = excerpt(std::filesystem::path(file.path).filename().string());
  return input + (why.find(name) != std::string::npos ? ": " : " is \"" + name + "\": ") + why;
}

/// The sentence that says which file is at fault, and why; "" when none is. Of an infeasible lab it is a file with
/// which alone it is so. Of a feasible one it is a file beside the first of its kind, such as that of another rank,
/// which the lab leaves out with a word in its outputs: whoever calls from a terminal must not find that out by reading
/// them.
std::string fault_of_file(const chapters::Lab& lab) {
  const bool feasible = lab.reason().empty();
  std::string first, fault;
  const auto look_at = [&](const std::string& input, std::string_view key, const chapters::FileInput& file) {
    if (file.path.empty() || !fault.empty()) return;
    if (const std::string why = refusal_of(lab, key, file); !why.empty()) fault = fault_text(input, file, why);
  };
  chapters::Fields cells;
  for (const auto& f : lab.inputs()) {
    if (f.kind == chapters::Kind::file) {
      const bool beside = !first.empty() && f.file_spec.reads == lab.inputs().find(first)->file_spec.reads;
      if (!beside) first = f.key;
      if (!feasible || beside) look_at(std::string(f.key), beside ? first : std::string(f.key), f.file());
    }
    for (std::size_t row = 0; f.kind == chapters::Kind::table && !first.empty() && row < f.table_size(); ++row) {
      f.table_row(row, cells);
      for (const auto& c : cells)
        if (c.kind == chapters::Kind::file)
          look_at(std::string(f.key) + "[" + std::to_string(row) + "]." + std::string(c.key), first, c.file());
    }
  }
  return fault;
}

/// The id in place of the path of a model, chip or network, which joins the catalog; other values as they are.
models::Result<std::string> chosen_value(chapters::Lab& lab, const std::string& key, const std::string& value) {
  const auto* field = lab.inputs().find(key);
  const auto kind = field ? own_kind_of(*field) : std::nullopt;
  if (!kind) return models::Result<std::string>::ok(value);
  auto chosen = choose_own(*kind, value);
  lab.refresh();
  return chosen;
}

using Sets = std::vector<std::pair<std::string, std::string>>;

/// What a link sets, with what its own models and chips are called here.
Sets renamed_sets(const std::string& lab, Sets sets, const std::vector<TakenEntry>& taken) {
  const auto trial = chapters::make_lab_by_id(lab);
  for (auto& [key, value] : sets) {
    const auto list = value.starts_with('[') ? parse_json(value) : models::Result<Json>::fail("It is no list.");
    Json values = {{key, list ? *list : Json(value)}};
    rename_own(trial->inputs(), taken, values);
    value = list ? to_text(values[key]) : values[key].get<std::string>();
  }
  return sets;
}

/// Sets an input, or, where a folder or a list of paths is given for a file, that and the table of the others.
models::Status set_one(chapters::Lab& lab, const chapters::Field& field, const std::string& value) {
  std::error_code ignored;
  const bool list = value.starts_with('[');
  if (field.kind != chapters::Kind::file || (!list && !std::filesystem::is_directory(value, ignored)))
    return set_field_from_text(field, value);
  const auto paths = list ? parse_json(value) : models::Result<Json>::ok(Json(value));
  if (!paths) return models::Status::fail(std::string(field.key) + ": " + paths.error);
  Json given = Json::object();
  given[std::string(field.key)] = *paths;
  return apply_inputs(lab, given);
}

/// Sets inputs in order, and what those that are files need to count.
models::Status apply_sets(chapters::Lab& lab, const Sets& sets) {
  Json given = Json::object();
  for (const auto& [key, text] : sets) {
    const auto chosen = chosen_value(lab, key, text);
    if (!chosen) return models::Status::fail(key + ": " + chosen.error);
    const std::string& value = *chosen;
    const auto* named = lab.inputs().find(key);
    if (!named) return models::Status::fail(unknown_key(lab.info().id, "input", key, lab.inputs()));
    const auto& field = taker_of(lab.inputs(), *named, value);
    if (auto set = set_one(lab, field, value); !set) return set;
    given[std::string(field.key)] = field_to_json(field);
  }
  const auto modes = missing_modes(lab, given);
  return modes ? apply_inputs(lab, *modes) : models::Status::fail(modes.error);
}

models::Status apply_scenario(chapters::Lab& lab, const Scenario& scenario, const std::filesystem::path& folder) {
  Json inputs = parse_own_json(scenario.inputs_text);
  const auto taken = take_handed_on(scenario.own_text);
  if (!taken) return models::Status::fail(taken.error);
  lab.refresh();
  rename_own(lab.inputs(), *taken, inputs);
  make_paths_whole(lab.inputs(), inputs, folder);
  const auto modes = missing_modes(lab, inputs);
  if (!modes) return models::Status::fail(modes.error);
  inputs.update(*modes);
  if (auto set = apply_inputs(lab, inputs); !set) return set;
  return apply_view(lab, parse_own_json(scenario.view_text));
}

models::Status apply_preset(chapters::Lab& lab, const std::string& name) {
  const auto assets = load_assets();
  if (!assets) return models::Status::fail(assets.error);
  const Content content = load_content(*assets);
  std::vector<std::string> names;
  for (const Preset& p : content.of(lab.info().id).presets) {
    if (p.name == name) return apply_inputs(lab, parse_own_json(p.set));
    names.push_back(p.name);
  }
  const std::string guess = did_you_mean(name, names);
  return models::Status::fail(std::string(lab.info().id) + " has no preset \"" + excerpt(name) + "\"" +
                              (guess.empty() ? ". " : ": " + guess + " ") + "It has " +
                              (names.empty() ? "none" : sentence_list(names, 40)) + ".");
}

}  // namespace

models::Result<chapters::LabPtr> make_set_lab(const Arguments& arguments) {
  using Made = models::Result<chapters::LabPtr>;
  std::string id = arguments.words.empty() ? std::string() : arguments.words[0];
  Scenario scenario;
  if (arguments.has("--scenario")) {
    const auto text = read_text_argument(arguments.value("--scenario"));
    if (!text) return Made::fail(text.error);
    auto parsed = parse_scenario(*text);
    if (!parsed) return Made::fail(parsed.error);
    if (!id.empty() && id != parsed->lab)
      return Made::fail("The scenario is for " + parsed->lab + ", not for " + id + ".");
    scenario = std::move(*parsed);
    id = scenario.lab;
  }
  if (id.empty()) return Made::fail("Name a lab: `ridgeline list` shows them all.");
  Sets sets;
  std::string file = arguments.words.size() > 1 ? arguments.words[1] : std::string();
  if (file.empty() && names_file(id)) {
    auto reader = reader_of_file(id, "ridgeline eval");
    if (!reader) return Made::fail(std::move(reader.error));
    file = std::exchange(id, reader->lab);
  }
  if (Link link = parse_link(id); !link.lab.empty()) {
    id = std::move(link.lab);
    const auto taken = take_handed_on(link.own);
    if (!taken) return Made::fail(taken.error);
    sets = renamed_sets(id, std::move(link.sets), *taken);
  }
  auto lab = chapters::make_lab_by_id(id);
  if (!lab) return Made::fail(unknown_lab(id));
  if (arguments.has("--preset"))
    if (const auto set = apply_preset(*lab, arguments.value("--preset")); !set) return Made::fail(set.error);
  const std::filesystem::path folder = std::filesystem::path(arguments.value("--scenario")).parent_path();
  if (const auto set = apply_scenario(*lab, scenario, folder); !set) return Made::fail(set.error);
  for (const auto& set : arguments.values("--set")) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) return Made::fail("--set needs key=value; it is \"" + set.substr(0, 60) + "\".");
    sets.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  if (!file.empty()) {
    const auto input = input_of_file(*lab, file);
    if (!input) return Made::fail(input.error);
    sets.emplace(sets.begin(), input->key, file);
  }
  if (const auto set = apply_sets(*lab, sets); !set) return Made::fail(set.error);
  lab->compute();
  if (auto fault = fault_of_file(*lab); !fault.empty()) return Made::fail(std::move(fault));
  return Made::ok(std::move(lab));
}

int complain(const Streams& s, const std::string& sentence) {
  s.error << whole_sentence(sentence) << "\n";
  return 2;
}

int say_infeasible(const Streams& s, const std::string& reason) {
  complain(s, reason);
  return 1;
}

}  // namespace app::cli
