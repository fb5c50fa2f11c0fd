#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/lab.h"

/// Drills: numeric questions that are data over labs. A template says what varies and what is asked; the answer is the
/// lab's `compute`.
namespace chapters {

inline constexpr int drill_levels = 6;  ///< recall, one step, two steps, a whole formula, compare, design

/// One input of the lab as text: a number in SI units, an option's id, true or false, options joined by commas.
struct DrillValue {
  std::string key, text;
};

enum class DrillScale : std::uint8_t { linear, log, step, power_of_two };
struct DrillVary {
  std::string key;  ///< or several with commas: they take the same value
  double lo = 0, hi = 1;
  DrillScale scale = DrillScale::linear;
  double step = 1;
  int digits = 2;                    ///< significant digits that the value keeps
  std::vector<std::string> options;  ///< if not empty: one of these instead
};

/// A common wrong answer: the same lab with other inputs, another output of it, or a multiple.
struct DrillSlip {
  std::vector<DrillValue> set;
  std::string output, says;
  double factor = 1;
};

/// A template.
struct Drill {
  std::string id, title, topic, topic_label, lab, output, ask, hint;
  int level = 1;
  double tolerance = 0.05;                 ///< relative
  std::vector<DrillValue> set, published;  ///< `published`: what seed 0 asks, a source's own numbers
  std::vector<DrillVary> vary;
  std::vector<std::string> steps;
  std::vector<DrillSlip> slips;
  std::string follows;                                     ///< the template whose answer this one builds on
  std::vector<std::pair<std::string, std::string>> carry;  ///< input or output there -> input here
};

/// Labs kept for reuse while many questions are made.
class DrillLabs {
 public:
  /// Null when there is no such lab, or drills may not ask about it.
  Lab* reset(std::string_view id);

 private:
  std::map<std::string, LabPtr, std::less<>> labs_;
};

/// A template with numbers.
struct DrillQuestion {
  const Drill* drill = nullptr;
  std::uint64_t seed = 0;
  double answer = 0;
  std::string_view unit;   ///< SI unit of the answer, of the lab's description
  std::string unit_label;  ///< "in B, any prefix" and so on
  std::string text, hint;
  std::vector<std::string> steps;  ///< the worked solution with these numbers
  std::vector<std::pair<double, std::string>> slips;
  std::string link;   ///< opens the lab with these numbers
  std::string error;  ///< not empty: the template's data is broken, or nothing feasible was found
};

/// The question that `seed` makes of a template; the same on every machine. `drills` holds the templates that it may
/// follow. `words` off: number and unit alone, for checking many.
DrillQuestion make_question(const Drill& drill, const std::vector<Drill>& drills, std::uint64_t seed, DrillLabs& labs,
                            bool words = true);

struct DrillMark {
  bool read = false, right = false, late = false;  ///< `late`: within the tolerance or not
  double said = 0;
  std::string verdict;  ///< one or two sentences; why it could not be read when not `read`
};
/// Grades what was typed: "1.07 GB", "310ms", "43 %". Right when |said - answer| <= tolerance |answer| and in time
/// (`limit_s` 0: no clock). A wrong unit is named and is not an answer; a known slip is named too.
DrillMark grade(const DrillQuestion& question, std::string_view said, double seconds, double limit_s);

}  // namespace chapters
