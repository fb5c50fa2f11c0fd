#pragma once
#include <cstdint>
#include <vector>

#include "models/fleet/step_times.h"

/// Rules that call a rank slow by its times alone, how often they cry wolf over a healthy fleet, and how soon they find
/// a slow rank. Times are judged against the other ranks of the same step: by the median, and the spread by the median
/// deviation from it (1.4826 MAD), which a few slow ranks do not move.
namespace models::fleet {

enum class Rule : std::uint8_t {
  deviation,  ///< one step more than `threshold` spreads above the median
  ratio,      ///< one step more than `threshold` (a share) above the median
  several,    ///< `hits` of the last `window` steps more than `threshold` spreads above the median
  cumulative  ///< sum of (spreads above the median - 0.5), never below 0, over `threshold` (CUSUM: Page, 1954)
};
inline constexpr std::size_t rule_count = 4;

struct Detector {
  Rule rule = Rule::several;
  double threshold = 4;
  std::int64_t hits = 3, window = 10;
};

/// A step counts in a cumulative sum as no more than this many spreads, so that one pause does not raise the alarm.
inline constexpr double cumulative_cap = 3;

/// Alarms of the rule for each rank that is healthy, per step: in closed form for the first three, and for the
/// cumulative sum by its Markov chain (Brook and Evans, 1972). A rank whose alarm stands raises no second one.
double false_alarm_rate(const Detector& detector, const Noise& noise);

/// What the rule says of a run.
struct Detection {
  std::vector<std::int64_t> first_alarm;  ///< by rank: step of the first alarm; -1: none
  std::int64_t alarms = 0;                ///< ranks with an alarm
  std::int64_t caught = 0;                ///< guilty ranks with an alarm after the onset
  std::int64_t missed = 0;                ///< guilty ranks without
  std::int64_t wrong = 0;                 ///< ranks with an alarm that are not guilty, or were not yet
  std::int64_t slow_steps = 0;            ///< from the onset to the first alarm of a guilty rank, both counted; 0: none
};
Detection detect(const Detector& detector, const Fleet& fleet, const FleetRun& run);

/// Over many slow ranks like the fleet's, each alone among healthy ones: the share that is found before the run ends,
/// and after how many steps from the onset on, that of the alarm counted, of those found.
struct DetectionPower {
  double found = 0, mean_slow_steps = 0;
};
DetectionPower detection_power(const Detector& detector, const Fleet& fleet, std::int64_t trials);

}  // namespace models::fleet
