#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
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

Arguments parse_arguments(const std::vector<std::string>& all, const std::vector<std::string>& valued,
                          const std::vector<std::string>& flags) {
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
      a.options.emplace_back(name, equals != std::string::npos ? word.substr(equals + 1) : all[++i]);
    } else if (in(valued, name)) {
      a.error = name + " needs a value after it.";
      return a;
    } else {
      auto known = valued;
      known.insert(known.end(), flags.begin(), flags.end());
      const auto guess = nearest(name, known);
      a.error = "There is no option " + name.substr(0, 60) + " here" +
                (guess.empty() ? "" : ": did you mean " + guess) + "; allowed are " + sentence_list(known, 40) + ".";
      return a;
    }
  }
  return a;
}

chapters::LabPtr make_set_lab(const Arguments& arguments, std::string& error) {
  std::string id = arguments.words.empty() ? std::string() : arguments.words[0];
  std::vector<std::pair<std::string, std::string>> sets;
  Scenario scenario;
  if (arguments.has("--scenario")) {
    const FileText file = read_text_file(arguments.value("--scenario"));
    if (error = file.error; !error.empty()) return nullptr;
    scenario = parse_scenario(file.text);
    if (error = scenario.error; !error.empty()) return nullptr;
    if (!id.empty() && id != scenario.lab) {
      error = "The scenario is for " + scenario.lab + ", not for " + id + ".";
      return nullptr;
    }
    id = scenario.lab;
  }
  if (id.empty()) {
    error = "Name a lab: `ridgeline list` shows them all.";
    return nullptr;
  }
  if (const Link link = parse_link(id); !link.lab.empty()) {
    id = link.lab;
    sets = link.sets;
  }
  auto lab = chapters::make_lab_by_id(id);
  if (!lab) {
    error = unknown_lab(id);
    return nullptr;
  }
  if (!scenario.inputs_text.empty()) error = apply_inputs(*lab, Json::parse(scenario.inputs_text));
  if (error.empty() && !scenario.view_text.empty()) error = apply_view(*lab, Json::parse(scenario.view_text));
  for (const auto& set : arguments.values("--set")) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) {
      error = "--set needs key=value; it is \"" + set.substr(0, 60) + "\".";
      return nullptr;
    }
    sets.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  for (const auto& [key, value] : sets) {
    if (!error.empty()) break;
    const auto* field = lab->inputs().find(key);
    error = field ? set_field_from_text(*field, value) : unknown_key(id, "input", key, lab->inputs());
  }
  if (!error.empty()) return nullptr;
  lab->compute();
  return lab;
}

int complain(const Streams& s, const std::string& sentence) {
  s.error << excerpt(sentence, sentence.size()) << "\n";  // on one line, whatever it quotes
  return 2;
}

}  // namespace app::cli
