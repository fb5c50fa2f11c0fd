#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/platform/file.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "app/workspace/workspace.h"
#include "models/machine/hardware.h"

/// Files that were chosen or dropped, each to where it is read.
namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::Kind;
using models::Status;

std::string file_name(const std::string& path) { return excerpt(fs::path(path).filename().string()); }

/// Is this text, and not a picture or a program that was given a text's place?
bool is_text(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
}

bool is_chip(const Json& doc) {
  return (doc.contains("chips") && doc["chips"].is_array()) ||
         (doc.contains("peak_flops_per_s") && doc.contains("memory_bandwidth_bytes_per_s"));
}

/// The suffixes of one input: "json, gz" gives ".json" and ".gz".
std::vector<std::string> suffixes_of(std::string_view accepted) {
  std::vector<std::string> out;
  while (!accepted.empty()) {
    const auto comma = accepted.find(", ");
    out.push_back("." + std::string(accepted.substr(0, comma)));
    accepted = comma == std::string_view::npos ? std::string_view() : accepted.substr(comma + 2);
  }
  return out;
}

/// A trial with the file in this input; fails with what cannot be read, or with why the lab refuses it.
models::Result<chapters::LabPtr> try_file(const chapters::Lab& lab, std::string_view key, const std::string& path,
                                          bool compute) {
  using Trial = models::Result<chapters::LabPtr>;
  auto trial = lab.clone();
  if (auto loaded = load_file(*trial->inputs().find(key), path); !loaded) return Trial::fail(std::move(loaded.error));
  if (compute) {
    trial->compute();
    if (!trial->reason().empty()) return Trial::fail(trial->reason());
  }
  return Trial::ok(std::move(trial));
}

/// Many things are text or JSON: only one that the lab can read is its own. What one kind of file alone is named like
/// is read by the lab's own job, which says then what is wrong with it.
bool must_be_tried(const Field& f, std::string_view path) {
  return !f.file_spec.by_bytes || path.ends_with(".json") || path.ends_with(".JSON");
}

/// Leaves the refusals that say something: the open lab's alone where it reads such files; and of a JSON object that is
/// no recording, not that the trace viewer finds no recording in it.
template <class Refusals>
void keep_telling(Refusals& refusals, bool is_object) {
  const auto of_bytes = [](const auto& r) { return r.by_bytes; };
  if (is_object && !std::all_of(refusals.begin(), refusals.end(), of_bytes)) std::erase_if(refusals, of_bytes);
  if (refusals.front().open_lab_reads_such) refusals.resize(1);
}

}  // namespace

const chapters::Fields& Workspace::inputs_of(std::string_view lab) const {
  const auto at = std::find_if(prototypes_.begin(), prototypes_.end(), [&](const Prototype& p) { return p.id == lab; });
  return at->lab->inputs();
}

std::vector<std::string> Workspace::readable_suffixes() const {
  std::vector<std::string> out{".json"};
  for (const Prototype& p : prototypes_)
    for (const Field& f : p.lab->inputs())
      if (f.kind == Kind::file)
        for (auto& suffix : suffixes_of(f.file_spec.accepts))
          if (std::find(out.begin(), out.end(), suffix) == out.end()) out.push_back(std::move(suffix));
  return out;
}

std::string Workspace::readers_of(std::string_view path) const {
  std::vector<std::string> titles;
  for (const Prototype& p : prototypes_)
    if (std::any_of(p.lab->inputs().begin(), p.lab->inputs().end(),
                    [&](const Field& f) { return f.kind == Kind::file && accepts(f, path); }))
      titles.push_back(p.title);
  return sentence_list(titles, 4);
}

Status Workspace::open_file(const std::string& path, Action* remedy) try {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return Status::fail("\"" + file_name(path) + "\" is a folder: choose a file in it.");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    return Status::fail("\"" + file_name(path) + "\" is a device or a pipe: choose a file on the disk.");
  const auto remember_it = [&](Status opened) {
    if (opened) files.add_opened(fs::absolute(path, ignored).lexically_normal().string());
    return opened;
  };
  const auto text = read_text_file(path);
  const bool readable = text && is_text(*text);
  bool is_object = false;
  if (readable)
    if (const auto doc = parse_json(*text); doc && doc->is_object()) {
      is_object = !doc->contains("traceEvents");
      if (doc->contains("lab") && doc->contains("inputs")) return remember_it(open_scenario_file(path, *text));
      if (doc->contains("steps")) return remember_it(open_lesson_file(path, *text));
      if (is_chip(*doc)) return remember_it(keep_chip_file(path, *text));
    }
  std::vector<Refusal> refusals;
  if (open_in_lab(path, readable ? &*text : nullptr, refusals)) return remember_it(Status::ok());
  auto opened = open_in_another(path, readable, refusals);
  if (!opened) return Status::fail(std::move(opened.error));
  if (*opened) return remember_it(Status::ok());
  if (refusals.empty()) {
    if (!text) return Status::fail(text.error);
    std::string known;
    for (const auto& suffix : readable_suffixes()) known += (known.empty() ? "" : ", ") + suffix;
    return Status::fail("No lab reads \"" + file_name(path) + "\": they read " + known + ".");
  }
  keep_telling(refusals, is_object);
  const Refusal& first = refusals.front();
  if (remedy && first.lab != lab().info().id) *remedy = {"Open " + first.title, [this, id = first.lab] { open(id); }};
  for (Refusal& r : refusals)  // its name is said already
    if (const std::string start = file_name(path) + ": "; r.reason.starts_with(start)) r.reason.erase(0, start.size());
  if (refusals.size() == 1)
    return Status::fail(first.title + " does not take \"" + file_name(path) + "\": " + first.reason);
  std::string all = "No lab takes \"" + file_name(path) + "\".";
  for (const Refusal& r : refusals) all += " " + r.title + ": " + r.reason;
  return Status::fail(all);
} catch (const std::bad_alloc&) {
  return Status::fail("There is not enough memory to open \"" + file_name(path) + "\": close other programs.");
}

void Workspace::show_file(const std::string& path) {
  Action remedy;
  if (auto opened = open_file(path, &remedy); !opened) say_failure(std::move(opened.error), std::move(remedy));
}

bool Workspace::open_in_lab(const std::string& path, const std::string* text, std::vector<Refusal>& refusals) {
  for (const Field& f : lab().inputs()) {
    if (f.kind != Kind::file || (f.file_spec.by_bytes ? !accepts(f, path) : !text)) continue;
    auto trial = try_file(lab(), f.key, path, must_be_tried(f, path));
    if (!trial) {
      refusals.push_back({std::string(lab().info().id), std::string(lab().info().title), std::move(trial.error),
                          f.file_spec.by_bytes, accepts(f, path)});
      continue;
    }
    f.file() = (*trial)->inputs().find(f.key)->file();
    current_->update(false);
    ++openings_;  // where home is shown, the lab comes to the front
    say(std::string(f.spec.label) + ": " + path);
    return true;
  }
  return false;
}

models::Result<bool> Workspace::open_in_another(const std::string& path, bool readable,
                                                std::vector<Refusal>& refusals) {
  using Opened = models::Result<bool>;
  for (const Prototype& p : prototypes_)
    for (const Field& f : p.lab->inputs()) {
      if (f.kind != Kind::file || !accepts(f, path) || p.id == lab().info().id) continue;
      if (!f.file_spec.by_bytes && !readable) continue;
      const bool tried = must_be_tried(f, path);
      auto trial = try_file(*p.lab, f.key, path, tried);
      if (!trial && !tried) return Opened::fail(std::move(trial.error));
      if (!trial) {
        refusals.push_back({p.id, p.title, std::move(trial.error), f.file_spec.by_bytes, false});
        continue;
      }
      enter(p.id, [&] {
        apply_shared();
        lab().inputs().find(f.key)->file() = (*trial)->inputs().find(f.key)->file();
      });
      say(std::string(f.spec.label) + ": " + path);
      return Opened::ok(true);
    }
  return Opened::ok(false);
}

Status Workspace::open_scenario_file(const std::string& path, std::string_view text) {
  const auto scenario = parse_scenario(text);
  if (!scenario) return Status::fail(scenario.error);
  Json inputs = parse_own_json(scenario->inputs_text);
  make_paths_whole(inputs_of(scenario->lab), inputs, fs::path(path).parent_path());
  return ask_about_files({file_name(path), named_files(inputs_of(scenario->lab), inputs),
                          [this, inputs, id = scenario->lab, view = parse_own_json(scenario->view_text)](bool with) {
                            Json values = inputs;
                            if (!with) leave_files_out(inputs_of(id), values);
                            return open_with(id, values, view);
                          }});
}

Status Workspace::open_lesson_file(const std::string& path, std::string_view text) {
  auto lesson = parse_lesson(text, path);
  if (!lesson) return Status::fail(std::move(lesson.error));
  std::vector<std::string> named;
  for (LessonStep& step : lesson->steps) {
    Json inputs = parse_own_json(step.inputs);
    make_paths_whole(inputs_of(step.lab), inputs, fs::path(path).parent_path());
    for (auto& file : named_files(inputs_of(step.lab), inputs))
      if (std::find(named.begin(), named.end(), file) == named.end()) named.push_back(std::move(file));
    step.inputs = to_text(inputs);
  }
  return ask_about_files({file_name(path), std::move(named), [this, loaded = std::move(*lesson)](bool with) {
                            Lesson taken = loaded;
                            for (LessonStep& step : taken.steps) {
                              Json inputs = parse_own_json(step.inputs);
                              if (!with) leave_files_out(inputs_of(step.lab), inputs);
                              step.inputs = to_text(inputs);
                            }
                            say("Lesson \"" + taken.title + "\" is loaded: start it from the palette (Ctrl+K).");
                            content.lessons.push_back(std::move(taken));
                            return Status::ok();
                          }});
}

Status Workspace::keep_chip_file(const std::string& path, const std::string& text) {
  const auto chips = models::parse_chips(text, file_name(path));
  if (!chips) return Status::fail(chips.error + (chips.error.ends_with('.') ? "" : "."));
  if (chips->empty()) return Status::fail("\"" + file_name(path) + "\" names no chip.");
  if (!user_) return Status::fail(user_.error);
  const fs::path folder = user_->config / "chips";
  const std::string stem = fs::path(path).stem().string();
  fs::path kept_as = folder / (stem + ".json");
  std::error_code none;
  for (int n = 2; fs::exists(kept_as, none); ++n) kept_as = folder / (stem + "-" + std::to_string(n) + ".json");
  if (auto written = write_file(kept_as, text); !written) return written;
  reload_catalog();
  say("The chip " + chips->front().name + (chips->size() > 1 ? " and others are" : " is") +
          " kept with your own: choose it anywhere a chip is chosen.",
      {"Take it away", [this, kept_as] {
         std::error_code ignored;
         fs::remove(kept_as, ignored);
         reload_catalog();
       }});
  return Status::ok();
}

Status Workspace::ask_about_files(AskedFiles asked) {
  if (asked.files.empty()) return asked.open(true);
  asked_files = std::move(asked);
  return Status::ok();
}

void Workspace::answer_files(FilesAnswer answer) {
  if (!asked_files) return;
  const AskedFiles asked = std::move(*asked_files);
  asked_files.reset();
  if (answer != FilesAnswer::cancel) say_failure(asked.open(answer == FilesAnswer::open));
}

}  // namespace app
