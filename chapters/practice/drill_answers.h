#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chapters/practice/drill.h"

/// Answers of many instances of one template. Most templates have fewer states than a thousand, so that ten thousand
/// instances compute each of them once.
namespace chapters {

class DrillAnswers {
 public:
  /// Both must outlive this.
  DrillAnswers(const Drill& drill, const std::vector<Drill>& drills) : drill_(drill), drills_(drills) {}
  /// Number and unit of the question that `seed` makes, as make_question has them, or the same failure.
  models::Result<DrillQuestion> instance(std::uint64_t seed);
  std::size_t states() const { return known_.size(); }  ///< that were computed, infeasible ones too

 private:
  const Drill& drill_;
  const std::vector<Drill>& drills_;
  DrillLabs labs_;
  std::unordered_map<std::string, double> known_;  ///< by what was drawn; 0: no answer there
  std::string_view unit_;
  bool binary_ = false;
};

}  // namespace chapters
