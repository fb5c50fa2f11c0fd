#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/store/json_file.h"

namespace app::store {

/// A number that the learner committed to before the answer showed.
struct Prediction {
  std::string question;  ///< id of the question
  double committed = 0;  ///< what the learner said, in the SI unit of the output asked for
  double answer = 0;     ///< what compute said then
  std::int64_t time_unix_s = 0;
  bool operator==(const Prediction&) const = default;
};

/// How far a lab is, in the four quarters of its ring.
///  - opened: the lab was open.
///  - predicted: each of its questions was answered once, right or wrong.
///  - explored: a preset was tried, a claim was opened in the lab, or a sweep, sensitivity, solve or comparison was
///  run.
///  - drilled: a drill on this lab was answered right once.
/// A quarter for which a lab has nothing (no question, no drill) fills with `opened`.
struct Quarters {
  bool opened = false, predicted = false, explored = false, drilled = false;
  int count() const { return int{opened} + int{predicted} + int{explored} + int{drilled}; }
  double fraction() const { return count() / 4.0; }
  bool operator==(const Quarters&) const = default;
};

struct LabProgress {
  bool visited = false;
  std::int64_t opened_unix_s = 0;       ///< first opened; 0 where that was before it was kept
  bool explored = false;                ///< one of the four ways to think was used, or a claim opened
  std::set<std::string> presets;        ///< tried, by name
  std::vector<Prediction> predictions;  ///< in order of time
  double spent_s = 0;                   ///< with a hand on it; of two copies the longer counts
  bool operator==(const LabProgress&) const = default;
};

/// A chapter's test as it was taken.
struct TestResult {
  std::string chapter;  ///< its slug
  std::int64_t time_unix_s = 0, right = 0, near = 0, asked = 0;
  double score() const { return static_cast<double>(right) + static_cast<double>(near) / 2; }
  bool operator==(const TestResult&) const = default;
};

/// What the learner has done. It only grows, so two copies merge by union.
struct Progress {
  std::map<std::string, LabProgress, std::less<>> labs;  ///< by lab id, "chapter/lab"
  std::set<std::string> lessons;                         ///< played to the end, by id
  std::vector<TestResult> tests;                         ///< in order of time

  bool operator==(const Progress&) const = default;
  void visit(std::string_view lab, std::int64_t time_unix_s = 0);
  void try_preset(std::string_view lab, std::string_view preset);
  /// A prediction whose numbers are not finite is not kept.
  void predict(std::string_view lab, const Prediction& prediction);
  void explore(std::string_view lab);
  void play_lesson(std::string_view lesson);
  void keep_test(const TestResult& result);
  const TestResult* latest_test(std::string_view chapter) const;  ///< null when it was never taken
  /// Time with the lab open and a hand on mouse or keyboard.
  void spend(std::string_view lab, double seconds);
  double spent_s() const;  ///< in all labs
  /// The latest prediction for a question of a lab, or null.
  const Prediction* latest(std::string_view lab, std::string_view question) const;
  void merge(const Progress& other);
  /// `answered`: was each of the lab's questions answered; `drilled`: was a drill on it answered right. Nothing where
  /// the lab has no question, or no drill.
  Quarters quarters(std::string_view lab, std::optional<bool> answered, std::optional<bool> drilled) const;
};

/// Adds what the file holds to `progress`.
LoadReport load(const std::filesystem::path& path, Progress& progress);
/// Merges what other instances saved meanwhile into `progress` and saves it.
SaveReport save(const std::filesystem::path& path, Progress& progress);
/// Saves without merging: how a learner starts over.
models::Status replace(const std::filesystem::path& path, const Progress& progress);

}  // namespace app::store
