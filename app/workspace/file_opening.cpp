#include "app/workspace/file_opening.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/scenario/file_input.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "app/workspace/tried_scenario.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::Kind;
using models::Status;

bool reads(const FileTaker& taker, chapters::FileKind kind) {
  const auto& inputs = taker.copy->inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Field& f) { return f.kind == Kind::file && f.file_spec.reads.has(kind); });
}

Json without_files(std::string_view lab, const Json& inputs) {
  Json left = inputs;
  leave_files_out(chapters::make_lab_by_id(lab)->inputs(), left);
  return left;
}

}  // namespace

/// What the job has found.
struct FileOpening::Read {
  FoundFile found;
  models::Result<TriedScenario> scenario;  ///< where it found one that names no files, or was to try one
};

void FileOpening::submit(std::string name, std::string path, std::function<void(Read&, chapters::Progress&)> work) {
  name_ = std::move(name);
  path_ = std::move(path);
  // What was read before and not taken may be large: it goes where there is time for it.
  std::shared_ptr<Read> old = std::exchange(read_, std::make_shared<Read>());
  job_ = workspace_.jobs.submit(
      "opening", [work = std::move(work), to = read_, old = std::move(old)](chapters::Progress& progress) mutable {
        old.reset();
        work(*to, progress);
        if (progress.cancelled) *to = {};
      });
}

void FileOpening::open(std::vector<std::string> paths) {
  asked_reader_.reset();
  if (paths.size() > 1) {
    waiting_.clear();
    return look_at_all(std::move(paths));
  }
  wait_for(std::move(paths));
}

void FileOpening::wait_for(std::vector<std::string> paths) {
  waiting_ = std::move(paths);
  std::reverse(waiting_.begin(), waiting_.end());
  look_at_next();
}

std::vector<FileTaker> FileOpening::takers() const {
  std::vector<FileTaker> out{workspace_.open_taker()};
  for (const FileTaker& taker : workspace_.labs())
    if (taker.lab != out.front().lab) out.push_back(taker);
  return out;
}

void FileOpening::look_at_all(std::vector<std::string> paths) {
  const bool folder = paths.size() == 1;
  std::string name = folder ? file_name(paths.front()) : std::to_string(paths.size()) + " files";
  std::string path = folder ? paths.front() : std::string();
  submit(std::move(name), std::move(path),
         [paths = std::move(paths), takers = takers()](Read& read, chapters::Progress& progress) {
           read.found = look_at_set(paths, takers, progress);
         });
}

void FileOpening::look_at_next() {
  if (waiting_.empty()) return;
  const std::string path = std::move(waiting_.back());
  waiting_.pop_back();
  look_at(path);
}

void FileOpening::look_at(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return look_at_all({path});
  submit(file_name(path), path, [path, takers = takers()](Read& read, chapters::Progress& progress) {
    read.found = look_at_file(path, takers, progress);
    if (const auto* s = std::get_if<FoundScenario>(&read.found); s && s->files.empty() && s->own.empty())
      read.scenario = try_scenario(s->lab, s->inputs, s->view);
  });
}

void FileOpening::stop() {
  waiting_.clear();
  job_.cancel();
  job_ = {};
}

void FileOpening::update() {
  if (!job_ || !job_.ended()) return;
  Action remedy;
  if (auto taken = take(&remedy); !taken) workspace_.say_failure(std::move(taken.error), std::move(remedy));
  if (!job_ && !asks()) look_at_next();
}

void FileOpening::wait() {
  while (job_) {
    job_.wait();
    update();
  }
  workspace_.finish_catalog();
}

Status FileOpening::open_and_wait(const std::string& path, Action* remedy) {
  open(path);
  job_.wait();
  Status taken = take(remedy);
  workspace_.finish_catalog();
  return taken;
}

Status FileOpening::take(Action* remedy) {
  const Job ended = std::exchange(job_, {});
  if (ended.cancelled()) return Status::ok();
  if (!ended.done()) return Status::fail(ended.error());
  Read read = std::move(*read_);
  read_.reset();
  const std::string path = path_;
  Status taken = std::visit(
      [&]<class Found>(Found& found) -> Status {
        if constexpr (std::is_same_v<Found, FoundScenario>) {
          return take_document(std::move(found), read);
        } else if constexpr (std::is_same_v<Found, FoundLesson>) {
          return take_document(std::move(found), name_);
        } else if constexpr (std::is_same_v<Found, FoundOwn>) {
          take_own(std::move(found), path);
          return Status::ok();
        } else if constexpr (std::is_same_v<Found, FoundInput>) {
          take_input(found, path);
          return Status::ok();
        } else if constexpr (std::is_same_v<Found, FoundSingles>) {
          wait_for(std::move(found.paths));
          return Status::ok();
        } else if constexpr (std::is_same_v<Found, FoundReaders>) {
          asked_reader_ = AskedReader{name_, path, std::move(found)};
          return Status::ok();
        } else {
          if (remedy && !found.reader_lab.empty() && found.reader_lab != workspace_.lab().info().id)
            *remedy = {"Open " + found.reader_title, [&w = workspace_, id = found.reader_lab] { w.open(id); }};
          return Status::fail(std::move(found.why));
        }
      },
      read.found);
  const bool opened = !asked_reader_ && !std::holds_alternative<FoundSingles>(read.found);
  if (taken && !path.empty() && opened) note_opened(path);
  return taken;
}

void FileOpening::take_input(FoundInput& found, const std::string& path) {
  workspace_.take_file(found.lab, found.key, std::move(*found.trial), found.table);
  if (found.files > 1)
    workspace_.say(found.title + ": " + std::to_string(found.files) + " files" + (path.empty() ? "." : " of " + path));
  else
    workspace_.say(found.label + ": " + path);
}

void FileOpening::choose_reader(std::size_t reader) {
  if (!asked_reader_) return;
  AskedReader asked = std::move(*asked_reader_);
  asked_reader_.reset();
  if (reader < asked.found.readers.size()) {
    take_input(asked.found.readers[reader], asked.path);
    if (!asked.path.empty()) note_opened(asked.path);
  }
  if (!job_) look_at_next();
}

void FileOpening::note_opened(const std::string& path) {
  std::error_code ignored;
  workspace_.files.add_opened(fs::absolute(path, ignored).lexically_normal().string());
  workspace_.save();
}

Status FileOpening::take_document(FoundScenario scenario, const Read& read) {
  if (scenario.files.empty() && !scenario.own.empty()) {
    auto brought = bring_own(scenario);
    return brought ? workspace_.open_with(scenario.lab, *scenario.inputs, *scenario.view) : brought;
  }
  if (scenario.files.empty() || path_.empty())
    return read.scenario ? workspace_.open_tried(*read.scenario) : Status::fail(read.scenario.error);
  auto files = scenario.files;
  asked_ = AskedFiles{name_, std::move(files), std::move(scenario)};
  return Status::ok();
}

Status FileOpening::take_document(FoundLesson lesson, std::string origin) {
  if (lesson.files.empty()) {
    load_lesson(std::move(lesson), true);
  } else {
    auto files = lesson.files;
    asked_ = AskedFiles{std::move(origin), std::move(files), std::move(lesson)};
  }
  return Status::ok();
}

void FileOpening::take_own(FoundOwn own, const std::string& path) {
  const std::string name = name_;
  std::vector<TakenEntry> taken =
      workspace_.take_own(std::move(own.set), own.is_model ? std::string() : fs::path(path).stem().string());
  const TakenEntry& first = taken.front();
  auto& messages = workspace_.messages();
  const std::size_t said_before = messages.size();
  bool used = workspace_.use_own(first, name);
  if (!used && own.is_model) {  // no choice of a model here: the lab that reads such files shows it
    for (const FileTaker& taker : workspace_.labs())
      if (reads(taker, chapters::FileKind::model_config)) {
        workspace_.open(taker.lab);
        used = workspace_.use_own(first, name);
        break;
      }
  }
  const std::string kind(kind_name(first.kind)), others = taken.size() > 1 ? " and others are" : " is";
  const bool kept = !first.kept.empty();
  const std::string where = !first.is_new ? " there already" : kept ? " kept with your own" : " there until you quit";
  std::string sentences = taken_words(first) + others + where + ": choose it anywhere a " + kind + " is chosen.";
  // What a lab that was opened for it carried over is said with it: one file, one message.
  for (std::size_t i = said_before; i < messages.size();) {
    if (messages[i].failure) {
      ++i;
      continue;
    }
    sentences += " " + messages[i].text;
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
  }
  workspace_.say_kept(std::move(sentences), taken);
}

Status FileOpening::bring_own(FoundScenario& scenario) {
  const auto brought = workspace_.bring_own(scenario.own, "the scenario");
  if (!brought) return Status::fail(brought.error);
  scenario.own.clear();
  Json inputs = *scenario.inputs;
  rename_own(chapters::make_lab_by_id(scenario.lab)->inputs(), *brought, inputs);
  scenario.inputs = std::make_shared<const Json>(std::move(inputs));
  return Status::ok();
}

void FileOpening::load_lesson(FoundLesson lesson, bool with_files) {
  Lesson taken = std::move(lesson.lesson);
  if (!with_files)
    for (LessonStep& step : taken.steps) step.inputs = to_text(without_files(step.lab, parse_own_json(step.inputs)));
  workspace_.say("Lesson \"" + taken.title + "\" is loaded: start it from the palette (Ctrl+K).");
  workspace_.content.lessons.push_back(std::move(taken));
}

Status FileOpening::open_scenario(FoundScenario scenario, std::string origin) {
  if (scenario.files.empty()) return workspace_.open_with(scenario.lab, *scenario.inputs, *scenario.view);
  auto files = scenario.files;
  asked_ = AskedFiles{std::move(origin), std::move(files), std::move(scenario)};
  return Status::ok();
}

void FileOpening::answer(FilesAnswer answer) {
  if (!asked_) return;
  AskedFiles asked = std::move(*asked_);
  asked_.reset();
  const bool with = answer == FilesAnswer::open;
  if (auto* lesson = std::get_if<FoundLesson>(&asked.document); lesson && answer != FilesAnswer::cancel)
    load_lesson(std::move(*lesson), with);
  if (auto* scenario = std::get_if<FoundScenario>(&asked.document); scenario && answer != FilesAnswer::cancel) {
    if (auto brought = bring_own(*scenario); !brought) return workspace_.say_failure(brought);
    if (with)
      return submit(asked.origin, {}, [scenario = *scenario](Read& read, chapters::Progress&) {
        read.scenario = try_scenario(scenario.lab, scenario.inputs, scenario.view);
        read.found = scenario;
      });
    workspace_.say_failure(
        workspace_.open_with(scenario->lab, without_files(scenario->lab, *scenario->inputs), *scenario->view));
  }
  if (!job_) look_at_next();
}

std::vector<std::string> FileOpening::suffixes() const { return readable_suffixes(workspace_.labs()); }

std::string FileOpening::readers_of(std::string_view path) const {
  std::vector<std::string> titles;
  for (const FileTaker& taker : workspace_.labs())
    if (std::any_of(taker.copy->inputs().begin(), taker.copy->inputs().end(),
                    [&](const Field& f) { return f.kind == Kind::file && accepts(f, path); }))
      titles.push_back(taker.title);
  return sentence_list(titles, 4);
}

}  // namespace app
