#include "app/workspace/file_look.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/platform/file.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::Kind;
using models::Result;
using models::Status;

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

/// Many things are text or JSON: only one that the lab can read is its own. What one kind of file alone is named like
/// is read by the lab's own job, which says then what is wrong with it.
bool must_be_tried(const Field& f, std::string_view path) {
  return !f.file_spec.by_bytes || path.ends_with(".json") || path.ends_with(".JSON");
}

/// Does this beginning show events of a recording? Then the file is no document of ours, however it goes on.
bool shows_recording(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  return head[first] == '[' ? head.find("\"ph\"") != std::string_view::npos
                            : head[first] == '{' && head.find("\"traceEvents\"") != std::string_view::npos;
}

FoundFile refused(std::string why) { return RefusedFile{std::move(why)}; }

FoundFile scenario_in(const std::string& path, std::string_view text) {
  const auto scenario = parse_scenario(text);
  if (!scenario) return refused(scenario.error);
  const auto lab = chapters::make_lab_by_id(scenario->lab);
  Json inputs = parse_own_json(scenario->inputs_text);
  make_paths_whole(lab->inputs(), inputs, fs::path(path).parent_path());
  auto files = named_files(lab->inputs(), inputs);
  return FoundScenario{scenario->lab, std::make_shared<const Json>(std::move(inputs)),
                       std::make_shared<const Json>(parse_own_json(scenario->view_text)), std::move(files)};
}

FoundFile lesson_in(const std::string& path, std::string_view text) {
  auto lesson = parse_lesson(text, path);
  if (!lesson) return refused(std::move(lesson.error));
  FoundLesson found{std::move(*lesson), {}};
  for (LessonStep& step : found.lesson.steps) {
    const auto lab = chapters::make_lab_by_id(step.lab);
    Json inputs = parse_own_json(step.inputs);
    make_paths_whole(lab->inputs(), inputs, fs::path(path).parent_path());
    for (auto& file : named_files(lab->inputs(), inputs))
      if (std::find(found.files.begin(), found.files.end(), file) == found.files.end())
        found.files.push_back(std::move(file));
    step.inputs = to_text(inputs);
  }
  return found;
}

FoundFile chips_in(const std::string& path, std::string text) {
  const auto chips = models::parse_chips(text, file_name(path));
  if (!chips) return refused(whole_sentence(chips.error));
  if (chips->empty()) return refused("\"" + file_name(path) + "\" names no chip.");
  return FoundChips{std::move(text), chips->front().name, chips->size()};
}

/// One file input that was tried, and why its lab refuses the file.
struct Refusal {
  const FileTaker* taker = nullptr;
  std::string key{}, reason{};
  bool by_bytes = false, open_lab_reads_such = false;
};

/// Leaves the refusals that say something: the open lab's alone where it reads such files; and of a JSON object that is
/// no recording, not that the trace viewer finds no recording in it.
void keep_telling(std::vector<Refusal>& refusals, bool is_object) {
  const auto of_bytes = [](const Refusal& r) { return r.by_bytes; };
  if (is_object && !std::all_of(refusals.begin(), refusals.end(), of_bytes)) std::erase_if(refusals, of_bytes);
  if (refusals.front().open_lab_reads_such) refusals.resize(1);
}

class Look {
 public:
  Look(const std::string& path, const std::vector<FileTaker>& takers, chapters::Progress& progress)
      : path_(path), takers_(takers), progress_(progress) {
    read_.text = [this](const std::string&) { return text(); };
    read_.bytes = [this](const std::string&) { return bytes(); };
  }

  FoundFile look() {
    std::error_code ignored;
    if (fs::is_directory(path_, ignored))
      return refused("\"" + file_name(path_) + "\" is a folder: choose a file in it.");
    if (fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored))
      return refused("\"" + file_name(path_) + "\" is a device or a pipe: choose a file on the disk.");
    if (shows_recording(head()))
      if (auto taken = try_all(Tried::bytes_alone)) return std::move(*taken);
    if (progress_.cancelled) return {};
    const bool readable = text() && is_text(*text());
    bool is_object = false;
    if (readable)
      if (const auto doc = parse_json(*text()); doc && doc->is_object()) {
        is_object = !doc->contains("traceEvents");
        if (doc->contains("lab") && doc->contains("inputs")) return scenario_in(path_, *text());
        if (doc->contains("steps")) return lesson_in(path_, *text());
        if (is_chip(*doc)) return chips_in(path_, *text());
      }
    if (auto taken = try_all(readable ? Tried::all : Tried::bytes_alone)) return std::move(*taken);
    return no_lab(is_object);
  }

 private:
  enum class Tried : unsigned char { bytes_alone, all };

  const Result<std::string>& text() {
    if (!text_) text_ = read_text_file(path_);
    return *text_;
  }
  const Result<FileBytesPtr>& bytes() {
    if (!bytes_) bytes_ = read_file_bytes(path_);
    return *bytes_;
  }
  std::string head() {
    constexpr std::uint64_t most = 64 << 10;
    std::string out;
    if (bytes() && !(*bytes())->read_part(0, std::min((*bytes())->size_bytes, most), out).empty()) out.clear();
    return out;
  }

  /// What the first input gives that takes the file, or what cannot be read at all; none: every lab refuses it.
  std::optional<FoundFile> try_all(Tried which) {
    refusals_.clear();
    for (const FileTaker& taker : takers_)
      for (const Field& f : taker.copy->inputs()) {
        if (f.kind != Kind::file || (!f.file_spec.by_bytes && which == Tried::bytes_alone)) continue;
        const bool open = &taker == &takers_.front(), such = accepts(f, path_);
        // The open lab is offered every text.
        if (!such && (f.file_spec.by_bytes || !open)) continue;
        if (progress_.cancelled) return FoundFile{};
        auto trial = try_in(taker, f);
        if (trial) return std::move(*trial);
        if (!open && !must_be_tried(f, path_)) return refused(std::move(trial.error));
        refusals_.push_back({&taker, std::string(f.key), std::move(trial.error), f.file_spec.by_bytes, open && such});
      }
    return std::nullopt;
  }

  /// A trial with the file in this input; fails with what cannot be read, or with why the lab refuses it.
  Result<FoundFile> try_in(const FileTaker& taker, const Field& f) {
    for (const Refusal& r : known_)
      if (r.taker == &taker && r.key == f.key) return Result<FoundFile>::fail(r.reason);
    const auto fail = [&](std::string why) {
      known_.push_back({&taker, std::string(f.key), why});
      return Result<FoundFile>::fail(std::move(why));
    };
    std::shared_ptr<chapters::Lab> trial = taker.copy->with_inputs(*taker.copy->keep_inputs());
    if (auto loaded = load_file(*trial->inputs().find(f.key), path_, read_); !loaded) return fail(loaded.error);
    const bool compute = must_be_tried(f, path_);
    if (compute) {
      trial->compute(progress_);
      if (progress_.cancelled) return Result<FoundFile>::ok({});
      if (!trial->reason().empty()) return fail(trial->reason());
      trial->arrange();
    }
    return Result<FoundFile>::ok(
        FoundInput{taker.lab, std::string(f.key), std::string(f.spec.label), std::move(trial), compute});
  }

  FoundFile no_lab(bool is_object) {
    if (refusals_.empty()) {
      if (!text()) return refused(text().error);
      std::string known;
      for (const auto& suffix : readable_suffixes(takers_)) known += (known.empty() ? "" : ", ") + suffix;
      return refused("No lab reads \"" + file_name(path_) + "\": they read " + known + ".");
    }
    keep_telling(refusals_, is_object);
    for (Refusal& r : refusals_)  // its name is said already
      if (const std::string start = file_name(path_) + ": "; r.reason.starts_with(start))
        r.reason.erase(0, start.size());
    const FileTaker& first = *refusals_.front().taker;
    std::string why = first.title + " does not take \"" + file_name(path_) + "\": " + refusals_.front().reason;
    if (refusals_.size() > 1) {
      why = "No lab takes \"" + file_name(path_) + "\".";
      for (const Refusal& r : refusals_) why += " " + r.taker->title + ": " + r.reason;
    }
    return RefusedFile{std::move(why), first.lab, first.title};
  }

  const std::string& path_;
  const std::vector<FileTaker>& takers_;
  chapters::Progress& progress_;
  FileReader read_;
  std::optional<Result<std::string>> text_;
  std::optional<Result<FileBytesPtr>> bytes_;
  std::vector<Refusal> refusals_;  ///< refusals of the last try_all
  std::vector<Refusal> known_;     ///< all refusals so far, so that nothing is tried twice
};

}  // namespace

std::string file_name(const std::string& path) { return excerpt(fs::path(path).filename().string()); }

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

FoundFile look_at_file(const std::string& path, const std::vector<FileTaker>& takers,
                       chapters::Progress& progress) try {
  return Look(path, takers, progress).look();
} catch (const std::bad_alloc&) {
  return refused("There is not enough memory to open \"" + file_name(path) + "\": close other programs.");
}

}  // namespace app
