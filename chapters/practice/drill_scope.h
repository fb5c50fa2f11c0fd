#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/drill_template.h"
#include "chapters/mechanism/field.h"

namespace chapters {

/// A lab that the learner has opened; one row without a lab says when they first used the program.
struct OpenedLab {
  std::string lab;
  double time_s = 0;  ///< the first time, in seconds since 1970; 0: not known, long ago
  bool operator==(const OpenedLab&) const = default;
};
void describe(Fields& f, OpenedLab& r);

inline constexpr std::string_view opened_table = "labs.opened";  ///< the shared name under which labs take these rows
inline constexpr std::size_t max_opened_labs = 500;

/// From which templates a learner is asked where nobody chose a topic.
struct DrillScope {
  std::vector<std::string> chapters;      ///< opened by now
  std::vector<std::string> day_chapters;  ///< opened before today: the question of the day stays what it is all day
  bool first_week = false;                ///< the program is new to them: the easiest templates are asked

  /// Is the template about a lab of one of the chapters?
  static bool holds(const std::vector<std::string>& chapters, const Drill& drill);
};

/// Nothing opened, or chapters without templates alone: the first chapter of the course that has some, so that there
/// always is something to ask. Without any row nothing is known of the learner: every chapter, and no first week.
DrillScope scope_of(const std::vector<Drill>& drills, std::span<const OpenedLab> opened, double now_s);

}  // namespace chapters
