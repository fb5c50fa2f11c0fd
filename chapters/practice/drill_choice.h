#pragma once
#include "chapters/practice/drill_history.h"

/// What the choice of a drill shares with whoever asks for one of each topic.
namespace chapters {

/// What a history comes to, counted once.
struct CountedHistory {
  const DrillTallies& tallies;
  const DrillMemories& memories;
};
/// What choose_drill(drills, history, wish) says, of a history that is counted already.
DrillChoice choose_drill(const std::vector<Drill>& drills, std::span<const DrillRecord> history, const DrillWish& wish,
                         const CountedHistory& counted);

}  // namespace chapters
