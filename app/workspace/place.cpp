#include <bit>
#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "app/workspace/workspace.h"

/// Where the person was, so that a quit or a crash loses nothing: each lab's scenario and view, the lesson's step, the
/// drawer's tab.
namespace app {

using chapters::Field;
using chapters::Kind;

namespace {

std::uint64_t mixed(std::uint64_t stamp, std::uint64_t more) {
  return (stamp ^ more) * 0x9E3779B97F4A7C15u + (stamp >> 29);
}

std::uint64_t mixed(std::uint64_t stamp, std::string_view text) {
  return mixed(stamp, std::hash<std::string_view>()(text));
}

/// Members of a View that a restart must not bring back: what plays, and what it asked the program for.
bool fleeting(const Field& f) { return f.key == "playing" || f.key == "open_link" || f.key == "ticking"; }

/// Differs, as good as always, where a field differs. Allocates nothing; leaves out tables and lists.
std::uint64_t stamp_of_view(const chapters::Fields& view) {
  const Field* playing = view.find("playing");
  const bool plays = playing && playing->kind == Kind::toggle && playing->toggle();
  std::uint64_t stamp = 1;
  for (const Field& f : view) {
    if (fleeting(f) || (plays && f.key == "time")) continue;
    if (f.kind == Kind::real || f.kind == Kind::integer || f.kind == Kind::toggle || f.kind == Kind::choice)
      stamp = mixed(stamp, std::bit_cast<std::uint64_t>(f.number()));
    else if (f.kind == Kind::text)
      stamp = mixed(stamp, f.text());
    else if (f.kind == Kind::reals)
      for (const double x : f.reals()) stamp = mixed(stamp, std::bit_cast<std::uint64_t>(x));
    else if (f.kind == Kind::choices)
      for (const std::string& id : f.chosen()) stamp = mixed(stamp, id);
  }
  return stamp;
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void Workspace::restore(chapters::Lab& lab) {
  const auto left = resume.labs.find(lab.info().id);
  if (left == resume.labs.end()) return;
  const auto set = [&](const chapters::Fields& fields, const std::string& text) {
    const Json values = parse_own_json(text);
    for (const auto& [key, value] : values.items()) {
      const Field* f = fields.find(key);
      if (!f || is_personal(*f) || fleeting(*f)) continue;
      const auto taken = field_from_json(*f, value);
      // Of an older version a value may have gone, which nobody misses; a file of one's own is missed.
      if (!taken && f->kind == Kind::file) say_failure(taken.error);
    }
  };
  set(lab.inputs(), left->second.inputs);
  set(lab.view(), left->second.view);
  clear_service_state(lab);
}

void Workspace::note_place() {
  store::LabResume now{to_text(scenario_inputs(lab())), to_text(fields_to_json(lab().view())), 0};
  Json inputs = parse_own_json(now.inputs);
  for (const Field& f : lab().inputs())
    if (f.kind == Kind::file && !f.file().path.empty()) {
      std::error_code failed;
      const auto whole = std::filesystem::absolute(f.file().path, failed);
      if (!failed) inputs[std::string(f.key)] = whole.string();
      now.inputs = to_text(inputs);
    }
  const auto was = resume.labs.find(lab().info().id);
  if (was != resume.labs.end() && was->second.inputs == now.inputs && was->second.view == now.view) return;
  now.time_unix_s = unix_now();
  resume.labs.insert_or_assign(std::string(lab().info().id), std::move(now));
}

void Workspace::take_written_place() {
  if (!keeping_.job || !keeping_.job.ended()) return;
  const bool done = keeping_.job.done();
  if (done && keeping_.report->saved) resume_.saved = std::move(keeping_.writing);
  say_failure(resume_.take(done ? std::move(*keeping_.report) : store::SaveReport{false, keeping_.job.error()}));
  keeping_.job = {};
}

/// One who writes without a pause is not waited for for ever.
void Workspace::keep_notes(double now_s) {
  constexpr double pause_s = 1, longest_s = 10;
  if (notes.edits() != keeping_.note_edits) {
    keeping_.note_edits = notes.edits();
    keeping_.note_s = now_s;
    if (keeping_.first_note_s < 0) keeping_.first_note_s = now_s;
  }
  if (keeping_.first_note_s < 0) return;
  if (now_s - keeping_.note_s < pause_s && now_s - keeping_.first_note_s < longest_s) return;
  keeping_.first_note_s = -1;
  say_if_any(notes_.save(user_->data / "notes.json"));
}

void Workspace::keep_place(double now_s) {
  constexpr double retry_every_s = 30;
  take_written_place();
  if (!user_) return;
  keep_notes(now_s);
  if (keeping_.job || now_s - keeping_.last_s < 1) return;
  if (anything_unsaved() && now_s >= keeping_.retry_s) {
    keeping_.retry_s = now_s + retry_every_s;
    save();
  }
  const auto keep = [&](auto& stored, const std::filesystem::path& path) {
    if (!stored.may_save || stored.unsaved || stored.value == stored.saved) return;
    keeping_.last_s = now_s;
    say_if_any(stored.save(path));
  };
  keep(settings_, user_->config / "settings.json");
  keep(progress_, user_->data / "progress.json");
  std::uint64_t stamp = mixed(current_->version(), lab().info().id);
  stamp = mixed(mixed(stamp, openings_), stamp_of_view(lab().view()));
  if (stamp != keeping_.stamp) {
    keeping_.stamp = stamp;
    note_place();
  }
  if (!resume_.may_save || resume_.unsaved || resume == resume_.saved) return;
  keeping_.last_s = now_s;
  keeping_.writing = resume;
  keeping_.report = std::make_shared<store::SaveReport>();
  keeping_.job = jobs.submit("resume", [copy = resume, report = keeping_.report, path = user_->state / "resume.json"](
                                           chapters::Progress&) mutable { *report = store::save(path, copy); });
}

}  // namespace app
