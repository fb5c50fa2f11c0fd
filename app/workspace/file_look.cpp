#include "app/workspace/file_look.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/platform/file.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/file_input.h"
#include "app/scenario/file_mode.h"
#include "app/scenario/file_sniff.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::FileKind;
using chapters::Kind;
using models::Result;
using models::Status;

FoundFile refused(std::string why) { return RefusedFile{std::move(why)}; }

FoundFile scenario_in(const std::string& path, std::string_view text) {
  const auto scenario = parse_scenario(text);
  if (!scenario) return refused(scenario.error);
  const auto lab = chapters::make_lab_by_id(scenario->lab);
  Json inputs = parse_own_json(scenario->inputs_text);
  make_paths_whole(lab->inputs(), inputs, fs::path(path).parent_path());
  const auto modes = missing_modes(*lab, inputs);
  if (!modes) return refused(modes.error);
  inputs.update(*modes);
  auto files = named_files(lab->inputs(), inputs);
  return FoundScenario{scenario->lab, std::make_shared<const Json>(std::move(inputs)),
                       std::make_shared<const Json>(parse_own_json(scenario->view_text)), std::move(files),
                       scenario->own_text};
}

FoundFile lesson_in(const std::string& path, std::string_view text) {
  auto lesson = parse_lesson(text, path);
  if (!lesson) return refused(std::move(lesson.error));
  FoundLesson found{std::move(*lesson), {}};
  for (LessonStep& step : found.lesson.steps) {
    const auto lab = chapters::make_lab_by_id(step.lab);
    Json inputs = parse_own_json(step.inputs);
    make_paths_whole(lab->inputs(), inputs, fs::path(path).parent_path());
    const auto modes = missing_modes(*lab, inputs);
    if (!modes) return refused(modes.error);
    inputs.update(*modes);
    for (auto& file : named_files(lab->inputs(), inputs))
      if (std::find(found.files.begin(), found.files.end(), file) == found.files.end())
        found.files.push_back(std::move(file));
    step.inputs = to_text(inputs);
  }
  return found;
}

FoundFile chips_in(const std::string& path, const std::string& text) {
  auto set = read_own_hardware(text, file_name(path), path);
  if (!set) return refused(whole_sentence(set.error));
  if (set->size() == 0) return refused("\"" + file_name(path) + "\" names no chip and no network.");
  return FoundOwn{std::move(*set), false};
}

/// One file input that was tried, and why its lab refuses the file.
struct Refusal {
  const FileTaker* taker = nullptr;
  std::string reason{};
};

/// So many reasons are read in one sentence; beyond that the labs are named alone.
constexpr std::size_t max_reasons = 3;

class Look {
 public:
  Look(const std::string& path, const std::vector<FileTaker>& takers, bool first_is_open, chapters::Progress& progress)
      : path_(path), takers_(takers), first_is_open_(first_is_open), progress_(progress) {
    read_.text = [this](const std::string&) { return text(); };
    read_.bytes = [this](const std::string&) { return bytes(); };
  }

  FoundFile look() {
    std::error_code ignored;
    if (fs::is_directory(path_, ignored))
      return refused("\"" + file_name(path_) + "\" is a folder: choose a file in it.");
    if (fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored))
      return refused("\"" + file_name(path_) + "\" is a device or a pipe: choose a file on the disk.");
    if (!bytes()) return refused(bytes().error);
    sniffed_ = sniff_file(**bytes());
    if (progress_.cancelled) return {};
    const bool document =
        sniffed_.kind == FileKind::scenario || sniffed_.kind == FileKind::lesson || sniffed_.kind == FileKind::chips;
    if (document && !text()) return refused(text().error);
    if (sniffed_.kind == FileKind::scenario) return scenario_in(path_, *text());
    if (sniffed_.kind == FileKind::lesson) return lesson_in(path_, *text());
    if (sniffed_.kind == FileKind::chips) return chips_in(path_, *text());
    if (sniffed_.kind == FileKind::model_config && text())
      if (auto set = read_own_models(*text(), file_name(path_), path_, model_name(*text(), path_)))
        return FoundOwn{std::move(*set), true};  // else the lab that reads such files says why not
    return sniffed_.kind == FileKind::unknown ? by_name() : by_kind(sniffed_.holds);
  }

 private:
  bool is_open(const FileTaker& taker) const { return first_is_open_ && &taker == &takers_.front(); }
  const Result<std::string>& text() {
    if (!text_) text_ = read_text_file(path_);
    return *text_;
  }
  const Result<FileBytesPtr>& bytes() {
    if (!bytes_) bytes_ = read_file_bytes(path_);
    return *bytes_;
  }

  /// The inputs that read such files: the open lab's alone where it has one that takes this, else all that take it.
  FoundFile by_kind(FileKind kind) {
    std::vector<FoundInput> taken;
    for (const FileTaker& taker : takers_) {
      const bool open = is_open(taker);
      for (const Field& f : taker.copy->inputs()) {
        if (f.kind != Kind::file || !f.file_spec.offered(kind, open)) continue;
        auto trial = try_in(taker, f);
        if (progress_.cancelled) return {};
        if (trial)
          taken.push_back(std::move(*trial));
        else
          refuse(taker, std::move(trial.error));
        break;  // another input of the same lab is for a second file
      }
      if (open && !taken.empty()) return std::move(taken.front());
      if (open && !refusals_.empty()) return no_lab();
    }
    if (taken.empty()) return no_lab();
    if (taken.size() == 1) return std::move(taken.front());
    return FoundReaders{sniffed_.looks_like, std::move(taken)};
  }

  /// What is known by nothing in it: every text is offered to the open lab, and to those that read files of its name.
  FoundFile by_name() {
    if (!sniffed_.is_text) return no_lab();
    for (const FileTaker& taker : takers_)
      for (const Field& f : taker.copy->inputs()) {
        if (f.kind != Kind::file) continue;
        const bool open = is_open(taker), such = accepts(f, path_);
        if (!such && (f.file_spec.by_bytes || !open)) continue;
        if (!open && f.file_spec.only_in_its_lab) continue;
        auto trial = try_in(taker, f);
        if (progress_.cancelled) return {};
        if (trial) return std::move(*trial);
        refuse(taker, std::move(trial.error));
        if (open && such) return no_lab();
      }
    return no_lab();
  }

  /// A trial with the file in this input; fails with what cannot be read, or with why the lab refuses it.
  Result<FoundInput> try_in(const FileTaker& taker, const Field& f) {
    using Tried = Result<FoundInput>;
    std::shared_ptr<chapters::Lab> trial = taker.copy->with_inputs(*taker.copy->keep_inputs());
    const Field& input = *trial->inputs().find(f.key);
    if (auto loaded = load_file(input, path_, read_); !loaded) return Tried::fail(loaded.error);
    choose_mode(trial->inputs(), input);
    trial->compute(progress_);
    if (!progress_.cancelled && !trial->reason().empty()) return Tried::fail(trial->reason());
    if (!progress_.cancelled) trial->arrange();
    return Tried::ok({taker.lab, taker.title, std::string(f.key), std::string(f.spec.label), std::move(trial)});
  }

  /// What several labs say alike, since they read with one reader, is said once.
  void refuse(const FileTaker& taker, std::string reason) {
    if (const std::string start = file_name(path_) + ": "; reason.starts_with(start))
      reason.erase(0, start.size());  // its name is said already
    const bool said =
        std::any_of(refusals_.begin(), refusals_.end(), [&](const auto& r) { return r.reason == reason; });
    if (!said) refusals_.push_back({&taker, std::move(reason)});
  }

  FoundFile no_lab() {
    const std::string name = "\"" + file_name(path_) + "\"";
    if (refusals_.empty())
      return refused("No lab reads " + name + ": it looks like " + sniffed_.looks_like + ". " + similar());
    const FileTaker& first = *refusals_.front().taker;
    std::string why = first.title + " does not take " + name + ": " + refusals_.front().reason;
    if (refusals_.size() > 1) {
      why = "No lab reads " + name + ": it looks like " + sniffed_.looks_like + ".";
      if (refusals_.size() > max_reasons)
        why += " " + refused_titles() +
               " read other texts: open one of these labs and then the file, and it says what is missing.";
      else
        for (const Refusal& r : refusals_) why += " " + r.taker->title + ": " + r.reason;
    }
    return RefusedFile{std::move(why), first.lab, first.title};
  }

  std::string refused_titles() const {
    std::vector<std::string> titles;
    for (const Refusal& r : refusals_) titles.push_back(r.taker->title);
    return sentence_list(titles);
  }

  /// Who reads what is like it.
  std::string similar() const {
    const FileKind holds = sniffed_.holds;
    const FileKind near = holds == FileKind::flight_recorder ? FileKind::recording : holds;
    const std::vector<std::string> readers = readers_of(takers_, near);
    if (readers.empty())
      return "Labs read recordings, memory snapshots, dumps of the flight recorder, reports of kernels, logs of "
             "nccl-tests and of serving benchmarks, topology tables, arrivals, measurements, config.json and "
             "safetensors.";
    return sentence_list(readers) + (readers.size() == 1 ? " reads " : " read ") + std::string(kind_words(near)) + ".";
  }

  const std::string& path_;
  const std::vector<FileTaker>& takers_;
  bool first_is_open_;
  chapters::Progress& progress_;
  FileReader read_;
  SniffedFile sniffed_;
  std::optional<Result<std::string>> text_;
  std::optional<Result<FileBytesPtr>> bytes_;
  std::vector<Refusal> refusals_;
};

}  // namespace

std::string file_name(const std::string& path) { return excerpt(fs::path(path).filename().string()); }

std::vector<std::string> readers_of(const std::vector<FileTaker>& labs, FileKind kind) {
  std::vector<std::string> titles;
  for (const FileTaker& taker : labs)
    if (std::any_of(taker.copy->inputs().begin(), taker.copy->inputs().end(),
                    [&](const Field& f) { return f.kind == Kind::file && f.file_spec.offered(kind, false); }))
      titles.push_back(taker.title);
  std::sort(titles.begin(), titles.end());
  return titles;
}

std::vector<FileTaker> every_lab() {
  std::vector<FileTaker> out;
  for (const auto& entry : chapters::all_labs()) {
    auto lab = entry.make();
    std::string title(lab->info().title);
    out.push_back({std::string(entry.id), std::move(title), std::move(lab)});
  }
  return out;
}

std::vector<std::string> suffixes_of(std::string_view accepted) {
  std::vector<std::string> out;
  while (!accepted.empty()) {
    const auto comma = accepted.find(", ");
    out.push_back("." + std::string(accepted.substr(0, comma)));
    accepted = comma == std::string_view::npos ? std::string_view() : accepted.substr(comma + 2);
  }
  return out;
}

std::vector<std::string> readable_suffixes(const std::vector<FileTaker>& labs) {
  std::vector<std::string> out{".json"};
  for (const FileTaker& taker : labs)
    for (const Field& f : taker.copy->inputs())
      if (f.kind == Kind::file)
        for (auto& suffix : suffixes_of(f.file_spec.accepts))
          if (std::find(out.begin(), out.end(), suffix) == out.end()) out.push_back(std::move(suffix));
  return out;
}

FoundFile look_at_file(const std::string& path, const std::vector<FileTaker>& takers, chapters::Progress& progress,
                       bool first_is_open) try {
  return Look(path, takers, first_is_open, progress).look();
} catch (const std::bad_alloc&) {
  return refused("There is not enough memory to open \"" + file_name(path) + "\": close other programs.");
}

}  // namespace app
