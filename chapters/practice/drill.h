#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/drill_template.h"
#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

/// Drills: numeric questions that are data over labs. A template says what varies and what is asked; the answer is the
/// lab's `compute`.
namespace chapters {

inline constexpr int drill_levels = 6;  ///< recall, one step, two steps, a whole formula, compare, design

/// The template with that id, or null.
const Drill* find_drill(const std::vector<Drill>& drills, std::string_view id);

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
  bool binary = false;     ///< shown in KiB and MiB, as the lab shows it
  std::string unit_label;  ///< "in B, any prefix" and so on
  std::string text, hint;
  std::vector<std::string> steps;  ///< the worked solution with these numbers
  std::vector<std::pair<double, std::string>> slips;
  std::string link;  ///< opens the lab with these numbers
};

/// `none`: number and unit alone, for checking many. A template that follows another has two questions: the one that is
/// understood after the other was answered, and the one that stands `alone`, with all its givens.
enum class DrillWords : std::uint8_t { none, following, alone };

/// The question that `seed` makes of a template; the same on every machine. `drills` holds the templates that it may
/// follow. Fails where the template's data is broken, nothing feasible was found, or one that follows has no words to
/// stand alone.
models::Result<DrillQuestion> make_question(const Drill& drill, const std::vector<Drill>& drills, std::uint64_t seed,
                                            DrillLabs& labs, DrillWords words = DrillWords::following);

/// Within so much of the answer a figure is near: it says the right thing on a whiteboard, and counts half.
inline constexpr double near_tolerance = 0.15;
/// A drill that asks for an exact figure, such as a count of GPUs or a rounded size, has a tolerance below this one;
/// there, beside it is wrong.
inline constexpr double exact_tolerance = 0.01;
/// Does a figure beside the tolerance count half in this drill?
bool takes_near(const Drill& drill);

struct DrillMark {
  bool read = false, right = false;
  bool near = false;  ///< in time and within near_tolerance, neither right nor a known slip: counts half
  bool late = false;  ///< within the tolerance or not
  double said = 0;
  std::string verdict;  ///< one or two sentences; why it could not be read when not `read`
};
/// Grades what was typed: "1.07 GB", "310ms", "43 %". Right when |said - answer| <= tolerance |answer| and in time
/// (`limit_s` 0: no clock), otherwise perhaps near. A wrong unit is named and is not an answer; a known slip is named
/// too.
DrillMark grade(const DrillQuestion& question, std::string_view said, double seconds, double limit_s);

}  // namespace chapters
