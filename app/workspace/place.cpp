#include "app/workspace/place.h"

#include <bit>
#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/scenario/carried_file.h"
#include "app/scenario/scenario.h"
#include "app/workspace/services.h"

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
    if (f.is_scalar())
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

void Place::restore(chapters::Lab& lab) {
  const auto& labs = documents_.resume.value.labs;
  const auto left = labs.find(lab.info().id);
  if (left == labs.end()) return;
  const auto set = [&](const chapters::Fields& fields, const std::string& text) {
    const Json values = parse_own_json(text);
    for (const auto& [key, value] : values.items()) {
      const Field* f = fields.find(key);
      if (!f || is_personal(*f) || fleeting(*f)) continue;
      const auto taken = field_from_json(*f, value);
      // Of an older version a value may have gone, which nobody misses; a file of one's own is missed.
      if (!taken && f->kind == Kind::file) messages_.say_failure(taken.error);
    }
  };
  set(lab.inputs(), left->second.inputs);
  set(lab.view(), left->second.view);
  clear_service_state(lab);
}

void Place::note(const chapters::Lab& lab) {
  auto& labs = documents_.resume.value.labs;
  Json inputs = scenario_inputs(lab);
  for (const Field& f : lab.inputs())
    if (f.kind == Kind::file && !f.file().path.empty() && !is_carried(f.file())) {
      std::error_code failed;
      const auto whole = std::filesystem::absolute(f.file().path, failed);
      if (!failed) inputs[std::string(f.key)] = whole.string();
    }
  store::LabResume now{to_text(inputs), to_text(fields_to_json(lab.view())), 0};
  const auto was = labs.find(lab.info().id);
  if (was != labs.end() && was->second.inputs == now.inputs && was->second.view == now.view) return;
  now.time_unix_s = unix_now();
  labs.insert_or_assign(std::string(lab.info().id), std::move(now));
}

void Place::save(const chapters::Lab& open) {
  if (!documents_.folders) return;
  note(open);
  if (job_) {
    // It writes what was there before: written after this within one second, it would be taken for the newer.
    job_.cancel();  // work that still waits never starts
    job_.wait();
    take_written();
    documents_.resume.saved = {};
  }
  documents_.save_resume(messages_);
  documents_.save_all_but_resume(messages_);
}

void Place::take_written() {
  if (!job_ || !job_.ended()) return;
  const bool done = job_.done();
  auto& resume = documents_.resume;
  if (done && report_->saved) resume.saved = std::move(writing_);
  messages_.say_failure(resume.take(done ? std::move(*report_) : store::SaveReport{false, job_.error()}));
  job_ = {};
}

/// One who writes without a pause is not waited for for ever.
void Place::keep_notes(double now_s) {
  constexpr double pause_s = 1, longest_s = 10;
  const auto edits = documents_.notes.value.edits();
  if (edits != note_edits_) {
    note_edits_ = edits;
    note_s_ = now_s;
    if (first_note_s_ < 0) first_note_s_ = now_s;
  }
  if (first_note_s_ < 0) return;
  if (now_s - note_s_ < pause_s && now_s - first_note_s_ < longest_s) return;
  first_note_s_ = -1;
  documents_.save_notes(messages_);
}

void Place::keep(double now_s, const Session& open, std::uint64_t openings) {
  constexpr double retry_every_s = 30;
  take_written();
  if (!documents_.folders) return;
  keep_notes(now_s);
  if (job_ || now_s - last_s_ < 1) return;
  if (documents_.anything_unsaved() && now_s >= retry_s_) {
    retry_s_ = now_s + retry_every_s;
    save(open.lab());
  }
  const auto write_if_new = [&](const auto& document, void (Documents::*write)(Messages&)) {
    if (!document.may_save || document.unsaved || document.value == document.saved) return;
    last_s_ = now_s;
    (documents_.*write)(messages_);
  };
  write_if_new(documents_.settings, &Documents::save_settings);
  write_if_new(documents_.progress, &Documents::save_progress);
  std::uint64_t stamp = mixed(open.version(), open.lab().info().id);
  stamp = mixed(mixed(stamp, openings), stamp_of_view(open.lab().view()));
  if (stamp != stamp_) {
    stamp_ = stamp;
    note(open.lab());
  }
  auto& resume = documents_.resume;
  if (!resume.may_save || resume.unsaved || resume.value == resume.saved) return;
  last_s_ = now_s;
  writing_ = resume.value;
  report_ = std::make_shared<store::SaveReport>();
  job_ =
      jobs_.submit("resume", [copy = resume.value, report = report_, path = documents_.folders->state / "resume.json"](
                                 chapters::Progress&) mutable { *report = store::save(path, copy); });
}

}  // namespace app
