#pragma once
#include <cstdint>

/// What a run of answers says about the person who gave them: how sure, and when to ask again.
namespace models {

/// Lower end of the Wilson score interval for a share of right answers, 0 to 1: what `right` of `asked` supports at `z`
/// standard deviations (1.96: 95 % two-sided). 0 when nothing was asked. `right` may hold halves: answers that count 0,
/// 1/2 or 1 have a variance of at most p (1 - p), which is what the interval takes, so that the bound errs low. Source:
/// Wilson 1927, JASA 22:209.
double wilson_lower(double right, double asked, double z = 1.959964);

/// Standard deviations of a two-sided confidence of `percent` (80, 90, 95 or 99; others give 95). Source: normal
/// quantiles.
double confidence_z(double percent);

/// Fewest further questions, answered right at the share `rate`, after which wilson_lower reaches `goal`; 0 when it
/// does already, -1 when it never does (`rate` not above `goal`) or not within a million.
std::int64_t questions_to_goal(double right, double asked, double rate, double goal, double z);

/// Days until an item is due again after `streak` right answers in a row: 1, 6, then 2.5 times the one before, a year
/// at most. 0 after a wrong one. Source: Wozniak 1990, SM-2, with its first easiness factor throughout.
double review_interval_days(std::int64_t streak);

/// The level to ask next, 1 to `most`: one up after a right answer at or above it, one down after a wrong one at or
/// below it.
int next_level(int level, int asked_level, bool right, int most);

}  // namespace models
