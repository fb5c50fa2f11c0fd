#include "app/workspace/workspace.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/platform/file.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {

using chapters::Field;
using chapters::Kind;

Workspace::Workspace(Content loaded, UserPaths user, std::function<void()> wake)
    : content(std::move(loaded)), jobs(2, std::move(wake)), user_(std::move(user)) {
  if (!user_.error.empty()) {
    say(user_.error);
  } else {
    const auto note = [&](const store::LoadReport& report) {
      if (!report.notice.empty()) say(report.notice);
      return report.may_save();
    };
    may_save_settings_ = note(store::load(user_.config / "settings.json", settings));
    may_save_progress_ = note(store::load(user_.data / "progress.json", progress));
    may_save_notes_ = note(notes.load(user_.data / "notes.json"));
    may_save_kept_ = note(store::load(user_.data / "kept.json", kept));
    may_save_recent_ = note(recent.load(user_.state / "recent.json"));
  }
  saved_settings_ = settings;
  saved_progress_ = progress;
  if (user_.error.empty()) load_lessons(user_.data / "lessons", content);
  for (const auto& error : content.errors) say(error);
  describe_shared();
  if (!chapters::all_labs().empty() && !open(settings.last_lab)) open(chapters::all_labs().front().id);
}

Workspace::~Workspace() = default;  // here, where Json is complete

void Workspace::describe_shared() {
  for (const auto& entry : chapters::all_labs()) {
    auto lab = entry.make();
    prototypes_.push_back({std::string(entry.id), std::string(lab->info().title), std::move(lab)});
  }
  group_shared();
}

void Workspace::group_shared() {
  groups_.clear();
  for (const Prototype& prototype : prototypes_)
    for (const Field& f : prototype.lab->inputs()) {
      if (f.spec.shared.empty() || is_personal(f) || prototype.lab->info().hidden) continue;
      const std::string name(f.spec.shared.substr(0, f.spec.shared.find('.')));
      auto group = std::find_if(groups_.begin(), groups_.end(), [&](const SharedGroup& g) { return g.name == name; });
      if (group == groups_.end()) group = groups_.insert(groups_.end(), {name, "shared " + name, {}});
      const bool known = std::any_of(group->fields.begin(), group->fields.end(),
                                     [&](const Field* g) { return g->spec.shared == f.spec.shared; });
      if (!known) group->fields.push_back(&f);
    }
  // What is chosen by name reads first: "Prefill 1 x 4,096".
  for (SharedGroup& g : groups_)
    std::stable_partition(g.fields.begin(), g.fields.end(), [](const Field* f) { return f->kind == Kind::choice; });
  // What most labs ask for comes first; others after them.
  static constexpr std::string_view order[] = {"model", "chip", "workload", "format", "cluster"};
  const auto rank = [](const SharedGroup& g) {
    return std::find(std::begin(order), std::end(order), g.name) - std::begin(order);
  };
  std::stable_sort(groups_.begin(), groups_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

double Workspace::lab_fraction(std::string_view lab) const { return progress.fraction({&lab, 1}); }

const std::string& Workspace::title_of(std::string_view lab) const {
  static const std::string none;
  const auto at = std::find_if(prototypes_.begin(), prototypes_.end(), [&](const Prototype& p) { return p.id == lab; });
  return at == prototypes_.end() ? none : at->title;
}

const Workspace::CheckedClaims& Workspace::checked_claims() {
  const std::string_view id = lab().info().id;
  auto at = claims_.find(id);
  if (at == claims_.end()) {
    at = claims_.emplace(std::string(id), CheckedClaims()).first;
    for (const Claim* claim : content.claims_of(id)) at->second.emplace_back(claim, check_claim(*claim));
  }
  return at->second;
}

std::size_t Workspace::claim_count(std::string_view lab) const {
  return static_cast<std::size_t>(
      std::count_if(content.claims.begin(), content.claims.end(), [&](const Claim& c) { return c.lab == lab; }));
}

Session& Workspace::session(std::string_view id) {
  auto at = sessions_.find(id);
  if (at == sessions_.end())
    at = sessions_.emplace(std::string(id), std::make_unique<Session>(chapters::make_lab_by_id(id), jobs)).first;
  return *at->second;
}

void Workspace::remember() {
  if (!current_) return;
  const std::string link = link_of(lab());
  const auto question = link.find('?');
  if (question == std::string::npos) return;
  std::string title = std::string(lab().info().title) + ": " + link.substr(question + 1, 60);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  recent.add({std::string(lab().info().id), std::move(title), to_text(scenario_to_json(lab())), now});
  recent_changed_ = true;
}

bool Workspace::open(std::string_view id) {
  if (!chapters::make_lab_by_id(id)) return false;
  remember();
  current_ = &session(id);
  apply_shared();
  show_shared();
  fill_personal();
  current_->update(false);
  progress.visit(id);
  settings.last_lab = id;
  return true;
}

std::string Workspace::open_with(std::string_view id, const Json& inputs, const Json& view) {
  const auto trial = chapters::make_lab_by_id(id);
  if (!trial) return unknown_lab(id);
  if (auto error = apply_inputs(*trial, inputs); !error.empty()) return error;
  if (auto error = apply_view(*trial, view); !error.empty()) return error;
  remember();
  current_ = &session(id);
  const FileReader read = reader_keeping(*trial);
  reset_scenario(lab());
  Json scenario = inputs;
  for (const Field& f : lab().inputs())
    if (is_personal(f)) scenario.erase(std::string(f.key));  // a scenario never replaces what the learner did
  apply_inputs(lab(), scenario, read);
  fill_personal();
  apply_view(lab(), view);
  clear_service_state(lab());
  gather_shared();
  current_->update(false);
  progress.visit(id);
  settings.last_lab = id;
  return {};
}

std::string Workspace::open_scenario(std::string_view text) {
  const Scenario s = parse_scenario(text);
  if (!s.error.empty()) return s.error;
  return open_with(s.lab, Json::parse(s.inputs_text.empty() ? "{}" : s.inputs_text),
                   Json::parse(s.view_text.empty() ? "{}" : s.view_text));
}

std::string Workspace::open_link(std::string_view text) {
  const Link link = parse_link(text);
  if (link.lab.empty())
    return "\"" + excerpt(text, 80) + "\" is not a link to a lab: one reads roofline/roofline?chip=h100_sxm.";
  const auto trial = chapters::make_lab_by_id(link.lab);
  for (const auto& [key, value] : link.sets) {
    const Field* f = trial->inputs().find(key);
    if (!f) return unknown_key(link.lab, "input", key, trial->inputs());
    if (auto error = set_field_from_text(*f, value); !error.empty()) return error;
  }
  return open_with(link.lab, fields_to_json(trial->inputs()), Json::object());
}

std::string Workspace::apply_preset(const Preset& preset) {
  const Json set = Json::parse(preset.set, nullptr, false);
  auto error = open_with(lab().info().id, set, Json::object());
  if (error.empty()) progress.try_preset(lab().info().id, preset.name);
  return error;
}

std::string Workspace::drop_file(const std::string& path) {
  const FileText file = read_text_file(path);
  if (!file.error.empty()) {  // a picture of gigabytes is no text, but some lab may want its bytes
    std::string complaint;
    return drop_by_suffix(path, false, complaint) ? complaint : file.error;
  }
  if (const Json doc =
          shallow_enough(file.text) ? Json::parse(file.text, nullptr, false) : Json(Json::value_t::discarded);
      doc.is_object()) {
    if (doc.contains("lab") && doc.contains("inputs")) return open_scenario(file.text);
    if (doc.contains("steps")) {
      auto parsed = parse_lesson(file.text, path);
      if (!parsed.error.empty()) return parsed.error;
      say("Lesson \"" + parsed.lesson.title + "\" is loaded: start it from the palette (Ctrl+K).");
      content.lessons.push_back(std::move(parsed.lesson));
      return {};
    }
  }
  // The open lab says what the file is: the first file input whose text leaves the lab feasible takes it.
  std::string reason;
  for (const Field& f : lab().inputs()) {
    if (f.kind != Kind::file || f.file_spec.by_bytes) continue;
    const auto trial = lab().clone();
    trial->inputs().find(f.key)->file() = {path, file.text, nullptr};
    trial->compute();
    if (trial->reason().empty()) {
      f.file() = {path, file.text, nullptr};
      current_->update(false);
      say(std::string(f.spec.label) + ": " + path);
      return {};
    }
    if (reason.empty()) reason = trial->reason();
  }
  std::string complaint;
  // Many things end in .json: only one that the lab can read is its own.
  if (drop_by_suffix(path, path.ends_with(".json"), complaint)) return complaint;
  return reason.empty()
             ? std::string(lab().info().title) +
                   " takes no file: open a lab with a file input, such as Transformer layer, and drop it there."
             : reason;
}

bool Workspace::drop_by_suffix(const std::string& path, bool only_if_feasible, std::string& complaint) {
  for (const Prototype& p : prototypes_)
    for (const Field& f : p.lab->inputs()) {
      if (f.kind != Kind::file || !accepts(f, path)) continue;
      const auto trial = p.lab->clone();
      const Field& input = *trial->inputs().find(f.key);
      complaint = load_file(input, path);
      if (!complaint.empty()) return true;
      if (only_if_feasible) {
        trial->compute();
        if (!trial->reason().empty()) continue;
      }
      remember();
      current_ = &session(p.id);
      lab().inputs().find(f.key)->file() = input.file();
      current_->update(false);
      progress.visit(p.id);
      settings.last_lab = p.id;
      say(std::string(f.spec.label) + ": " + path);
      return true;
    }
  return false;
}

bool Workspace::update(bool control_held) {
  const bool changed = current_->update(control_held);
  if (changed) gather_kept();
  if (changed && settings.keep_my_scenario) gather_shared();
  return changed;
}

void Workspace::share(const std::string& name, const Json& value) {
  shared_[name] = value;
  settings.keep_my_scenario = true;  // choosing for every lab is asking for it
  apply_shared();
  current_->update(false);
}

void Workspace::gather_shared() {
  for (const Field& f : lab().inputs())
    if (!f.spec.shared.empty() && !is_personal(f)) shared_[std::string(f.spec.shared)] = field_to_json(f);
  show_shared();
}

void Workspace::show_shared() {
  for (const Field& f : lab().inputs())
    for (const SharedGroup& group : groups_)
      for (const Field* g : group.fields)
        if (!f.spec.shared.empty() && g->spec.shared == f.spec.shared && !is_personal(f))
          field_from_json(*g, field_to_json(f));
}

void Workspace::apply_shared() {
  if (!settings.keep_my_scenario) return;
  // A value that this lab does not allow (a chip without the needed figure, a longer range elsewhere) leaves the lab's
  // own.
  for (const Field& f : lab().inputs())
    if (const auto at = shared_.find(f.spec.shared); !f.spec.shared.empty() && at != shared_.end() && !is_personal(f))
      field_from_json(f, at->second);
}

void Workspace::say(std::string sentence) {
  messages_.push_back(std::move(sentence));
  if (messages_.size() > 50) messages_.erase(messages_.begin());
}

std::string Workspace::keep_lesson(Lesson lesson) {
  if (!user_.error.empty()) return user_.error;
  std::string slug;
  for (const char c : lesson.title)
    slug += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
            : c >= 'A' && c <= 'Z'                           ? static_cast<char>(c + 32)
                                                             : '-';
  slug = slug.substr(0, 60);
  const auto path_of = [&](const std::string& id) { return user_.data / "lessons" / (id + ".json"); };
  lesson.id = slug;  // progress knows a lesson by its id: one of the same title gets another
  std::error_code none;
  for (int n = 2; std::filesystem::exists(path_of(lesson.id), none); ++n) lesson.id = slug + "-" + std::to_string(n);
  const auto path = path_of(lesson.id);
  if (auto error = write_file(path, lesson_to_text(lesson)); !error.empty()) return error;
  content.lessons.push_back(std::move(lesson));
  return {};
}

std::string Workspace::export_folder() const {
  return (user_.error.empty() ? user_.data / "exports" : std::filesystem::path(".")).string();
}

void Workspace::save() {
  if (!user_.error.empty()) return;
  const auto note = [&](const store::SaveReport& report) {
    if (!report.notice.empty()) say(report.notice);
  };
  if (may_save_settings_ && !(settings == saved_settings_)) note(store::save(user_.config / "settings.json", settings));
  if (may_save_progress_ && !(progress == saved_progress_)) note(store::save(user_.data / "progress.json", progress));
  if (may_save_recent_ && recent_changed_) note(recent.save(user_.state / "recent.json"));
  recent_changed_ = false;
  if (may_save_notes_ && notes.changed()) note(notes.save(user_.data / "notes.json"));
  saved_settings_ = settings;
  saved_progress_ = progress;
}

}  // namespace app
