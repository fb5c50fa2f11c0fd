#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Templates of drills as data: the Catalog holds them, chapters/practice makes questions of them.
namespace chapters {

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
  std::string ask_alone;                  ///< the question of one that follows, with all its givens; empty: never alone
  std::vector<std::string> red_herrings;  ///< keys of `vary` that the question shows and the answer does not need
};

}  // namespace chapters
