#include "app/workspace/workspace.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

/// One for the open lab, one for what is asked beside it (tables, Explore), one for a file that is opened.
constexpr std::size_t workers = 3;

}  // namespace

Workspace::Workspace(Content loaded, models::Result<UserPaths> user, std::function<void()> wake)
    : documents_(std::move(user)), content(std::move(loaded)), jobs(workers, std::move(wake)) {
  documents_.load(messages_);
  if (documents_.folders) load_lessons(documents_.folders->data / "lessons", content);
  for (const auto& error : content.errors) say(error);
  describe_labs();
  learner.find_drilled();
  if (chapters::all_labs().empty()) return;
  show(chapters::has_lab(settings.last_lab) ? settings.last_lab : chapters::all_labs().front().id, [] {});
  trail_ = {std::string(lab().info().id)};
}

Workspace::~Workspace() = default;  // here, where Json is complete

void Workspace::describe_labs() {
  prototypes_.clear();  // and not described anew where they are: a job may look at them
  for (const auto& entry : chapters::all_labs()) {
    auto lab = entry.make();
    const std::string title(lab->info().title);
    prototypes_.push_back({std::string(entry.id), title, std::move(lab)});
  }
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
    place_.restore(*lab);
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
  if (current_) place_.note(lab());
  // A choice goes along even where what it asks for is still being computed.
  if (current_ && settings.keep_my_scenario) shared_.gather(lab());
  current_ = &session(id);
  shared_.group(lab());
  set_up();
  name_config();
  learner.fill(lab());
  shared_.settle(lab());
  current_->update(false);
}

void Workspace::enter(std::string_view id, const std::function<void()>& set_up) {
  constexpr std::size_t longest = 100;
  show(id, set_up);
  if (trail_[trail_at_] != id) {
    trail_.resize(trail_at_ + 1);
    trail_.emplace_back(id);
    if (trail_.size() > longest) trail_.erase(trail_.begin());
    trail_at_ = trail_.size() - 1;
  }
  progress.visit(
      id,
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  settings.last_lab = id;
  ++openings_;
}

bool Workspace::can_go(int by) const { return by < 0 ? trail_at_ > 0 : trail_at_ + 1 < trail_.size(); }

void Workspace::go(int by) {
  if (!can_go(by)) return;
  trail_at_ = by < 0 ? trail_at_ - 1 : trail_at_ + 1;
  enter(std::string(trail_[trail_at_]), [] {});
}

bool Workspace::update(bool control_held) {
  name_config();
  const bool changed = current_->update(control_held);
  if (changed) learner.gather(lab());
  if (lab().shows_published())
    if (const auto* table = figures.of(lab().info().id)) lab().show_published(table->figures);
  if (changed && settings.keep_my_scenario) shared_.gather(lab());
  return changed;
}

void Workspace::share(const std::string& name, const Json& value) {
  shared_.set(name, value, std::string(lab().info().title));
  settings.keep_my_scenario = true;       // choosing for every lab is asking for it
  (void)shared_.apply(lab(), messages_);  // which has just been set, so that it is newer than what the lab has seen
  current_->update(false);
}

void Workspace::apply_shared() {
  if (!settings.keep_my_scenario) return;
  const std::string carried = shared_.apply(lab(), messages_);
  if (carried.empty()) return;
  say("Carried over: " + carried + ".", {"Put back", [this, id = std::string(lab().info().id)] {
                                           if (lab().info().id != id) return;
                                           current_->undo();
                                           settle();
                                         }});
}

void Workspace::reset() {
  current_->reset();
  settle();
}

}  // namespace app
