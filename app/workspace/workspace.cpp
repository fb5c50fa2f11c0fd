#include "app/workspace/workspace.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/platform/file.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

/// One for the open lab, one for what is asked beside it (tables, Explore), one for a file that is opened.
constexpr std::size_t workers = 3;

/// A title as part of a file's name: small letters and digits, "-" for all else, at most 60 characters.
std::string slug_of(std::string_view title) {
  std::string slug;
  for (const char c : title.substr(0, 60)) {
    const bool small = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    slug += small ? c : capital ? static_cast<char>(c + 32) : '-';
  }
  return slug;
}

}  // namespace

Workspace::Workspace(Content loaded, models::Result<UserPaths> user, std::function<void()> wake)
    : content(std::move(loaded)), jobs(workers, std::move(wake)), user_(std::move(user)) {
  if (user_) {
    say_if_any(settings_.load(user_->config / "settings.json"));
    say_if_any(progress_.load(user_->data / "progress.json"));
    say_if_any(notes_.load(user_->data / "notes.json"));
    say_if_any(kept_.load(user_->data / "kept.json"));
    say_if_any(recent_.load(user_->state / "recent.json"));
    say_if_any(resume_.load(user_->state / "resume.json"));
    say_if_any(files_.load(user_->state / "files.json"));
    load_lessons(user_->data / "lessons", content);
  } else {
    say(user_.error);
  }
  for (const auto& error : content.errors) say(error);
  describe_shared();
  find_drilled();
  if (!chapters::all_labs().empty())
    show(chapters::has_lab(settings.last_lab) ? settings.last_lab : chapters::all_labs().front().id, [] {});
}

Workspace::~Workspace() = default;  // here, where Json is complete

std::size_t Workspace::answered_questions(std::string_view lab) const {
  const auto& questions = content.of(lab).predictions;
  return static_cast<std::size_t>(std::count_if(
      questions.begin(), questions.end(), [&](const Prediction& q) { return progress.latest(lab, q.id) != nullptr; }));
}

store::Quarters Workspace::quarters(std::string_view lab) const {
  std::optional<bool> answered, drilled;
  if (const auto& questions = content.of(lab).predictions; !questions.empty())
    answered = std::all_of(questions.begin(), questions.end(),
                           [&](const Prediction& q) { return progress.latest(lab, q.id) != nullptr; });
  if (drills_on_.contains(lab)) drilled = drilled_.contains(lab);
  return progress.quarters(lab, answered, drilled);
}

const std::string& Workspace::title_of(std::string_view lab) const {
  static const std::string none;
  const auto at =
      std::find_if(prototypes_.begin(), prototypes_.end(), [&](const FileTaker& p) { return p.lab == lab; });
  return at == prototypes_.end() ? none : at->title;
}

void Workspace::finish() {
  current_->finish();
  if (!lab().shows_published()) return;
  chapters::Progress nobody_waits;
  lab().show_published(published_table(lab().info().id, nobody_waits)->figures);
}

Session& Workspace::session(std::string_view id) {
  auto at = sessions_.find(id);
  if (at == sessions_.end()) {
    auto lab = chapters::make_lab_by_id(id);
    restore(*lab);
    at = sessions_.emplace(std::string(id), std::make_unique<Session>(std::move(lab), jobs)).first;
  }
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
}

void Workspace::show(std::string_view id, const std::function<void()>& set_up) {
  remember();
  if (current_) note_place();
  current_ = &session(id);
  group_shared();
  set_up();
  fill_personal();
  current_->update(false);
}

void Workspace::enter(std::string_view id, const std::function<void()>& set_up) {
  show(id, set_up);
  progress.visit(id);
  settings.last_lab = id;
  ++openings_;
}

bool Workspace::update(bool control_held) {
  const bool changed = current_->update(control_held);
  if (changed) gather_kept();
  if (lab().shows_published())
    if (const auto* table = figures.of(lab().info().id)) lab().show_published(table->figures);
  // A job that ends on the values that a lab opened with sets nothing for other labs.
  if (changed && current_->touched() && settings.keep_my_scenario) gather_shared();
  return changed;
}

void Workspace::say(std::string sentence, Action action) {
  messages_.push_back({std::move(sentence), false, std::move(action)});
  if (messages_.size() > 50) messages_.erase(messages_.begin());
}

void Workspace::say_failure(std::string sentence, Action action) {
  if (sentence.empty()) return;
  say(whole_sentence(sentence), std::move(action));
  messages_.back().failure = true;
}

void Workspace::say_if_any(std::string notice) {
  if (!notice.empty()) say(std::move(notice));
}

models::Status Workspace::keep_lesson(Lesson lesson) {
  if (!user_) return models::Status::fail(user_.error);
  const std::string slug = slug_of(lesson.title);
  const auto path_of = [&](const std::string& id) { return user_->data / "lessons" / (id + ".json"); };
  lesson.id = slug;  // Progress knows a lesson by its id, so one of the same title gets another.
  std::error_code none;
  for (int n = 2; std::filesystem::exists(path_of(lesson.id), none); ++n) lesson.id = slug + "-" + std::to_string(n);
  if (auto written = write_file(path_of(lesson.id), lesson_to_text(lesson)); !written) return written;
  content.lessons.push_back(std::move(lesson));
  return models::Status::ok();
}

std::string Workspace::export_folder() const {
  return (user_ ? user_->data / "exports" : std::filesystem::path(".")).string();
}

void Workspace::save() {
  if (!user_) return;
  note_place();
  if (keeping_.job)
    resume_.saved = {};  // that job has written, or still writes, something else than what was saved last
  say_if_any(resume_.save(user_->state / "resume.json"));
  save_documents();
}

void Workspace::save_documents() {
  say_if_any(settings_.save(user_->config / "settings.json"));
  say_if_any(progress_.save(user_->data / "progress.json"));
  say_if_any(recent_.save(user_->state / "recent.json"));
  say_if_any(files_.save(user_->state / "files.json"));
  say_if_any(notes_.save(user_->data / "notes.json"));
  if (kept_.unsaved) save_kept();
}

bool Workspace::anything_unsaved() const {
  return settings_.unsaved || progress_.unsaved || recent_.unsaved || files_.unsaved || notes_.unsaved ||
         kept_.unsaved || resume_.unsaved;
}

}  // namespace app
