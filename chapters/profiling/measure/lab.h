#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "kernels/kernel.h"
#include "models/measure/bench_power.h"
#include "models/measure/bench_runs.h"
#include "models/measure/timings_csv.h"
#include "models/measure/two_samples.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// Two versions, timed: is B faster, or is it the order of the runs, chance, or a look too many?
namespace chapters::profiling::measure {

using models::measure::Order, models::measure::Statistic, models::measure::Test;

enum class Source : std::uint8_t { drawn, machine, recorded_same, recorded_two, file };
enum class WorkSize : std::uint8_t { smallest, small, usual };
enum class Verdict : std::uint8_t { faster, slower, undecided };

/// What was timed on this machine: two rungs of a ladder.
struct TimedPair {
  std::string ladder, a, b;
  std::int64_t size = 0;
  bool cold = true;
  bool operator==(const TimedPair&) const = default;
};

/// One run, as it was timed.
struct TimedRow {
  bool is_b = false;
  double time_s = 1;
  bool operator==(const TimedRow&) const = default;
};

/// Defaults: two versions that are the same, the new one timed first on a machine that slows down as it heats. What the
/// machine does is assumed. Shares are in percent.
struct Inputs {
  Source source = Source::drawn;
  FileInput file;
  std::int64_t runs = 40;
  Order order = Order::new_first;
  double gain = 0;
  double drift = 8, heat_runs = 22;
  double noise = 2, correlation = 0.3;
  double cold = 30;
  std::int64_t discard = 2;
  double outlier_share = 0, outlier = 15;
  double tick_s = 0;
  Test test = Test::t;
  bool paired = false;
  Statistic statistic = Statistic::mean;
  std::int64_t look_every = 1, repeats = 200, seed = 7;
  std::string ladder = "cpu-fma";
  std::int64_t rung_a = 5, rung_b = 6;
  WorkSize size = WorkSize::small;
  bool cold_caches = true;
  std::vector<TimedPair> timed;  ///< one row, or none
  std::vector<TimedRow> timed_runs;
  bool operator==(const Inputs&) const = default;
};

/// What one method says of the same runs; percent of A's time.
struct MethodRow {
  std::string method;
  double found = 0, lo = 0, hi = 0, p = 1;
  std::string says;
};

/// One order of the same budget.
struct OrderRow {
  std::string order;
  double bias = 0, alarms = 0, seen = 0;  ///< %
};

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

struct Outputs {
  std::string reason;
  Verdict verdict = Verdict::undecided;
  double found = 0, found_lo = 0, found_hi = 0, found_size = 0;  ///< %, what B saves of A's time
  double p = 1, half_width = 0;
  double a_time_s = 0, b_time_s = 0, a_spread = 0, b_spread = 0, pair_spread = 0, pair_correlation = 0;
  std::int64_t pairs = 0, runs_used = 0, thrown_away = 0;
  std::string next;  ///< what is timed next
  double standard_error = no_figure, critical_t = no_figure;
  double order_bias = no_figure, expected_found = no_figure, real_gain = no_figure, clock_spread = no_figure;
  double run_spread = 0;
  double smallest = no_figure, smallest_other = no_figure;  ///< %, with the pairing that is set, and with the other
  double power_computed = 0, power_simulated = 0, power_error = 0;
  double runs_needed = no_figure, rule_pairs = no_figure;
  double alarm_computed = 0, alarm_simulated = 0, one_look = 0, peeking = 0, split = 0, fair_limit = 0, alarm_error = 0,
         independent_looks = 0;
  std::int64_t looks = 0, trials = 0;
  std::vector<MethodRow> methods;
  std::vector<OrderRow> orders;
};

/// The interval after the first pairs; percent.
struct FunnelPoint {
  std::int64_t pairs = 0;
  double found = 0, lo = 0, hi = 0;
};

/// The chance that B is called faster, by its real gain; percent.
struct PowerPoint {
  double gain = 0, computed = 0, simulated = 0;
  double lo = 0, hi = 0;  ///< 95 % interval of the simulated chance
};

struct Run {
  std::vector<models::measure::Slot> slots;
  std::vector<double> times_s;
  models::measure::KeptRuns kept;
  double base_s = 0;  ///< a run of A on the cold machine; 0: nobody knows
  std::string a_name = "A", b_name = "B";
  std::string where;           ///< measured runs: where they come from
  std::size_t runs_there = 0;  ///< measured runs: how many there are, also beyond the budget
  std::vector<FunnelPoint> funnel;
  std::vector<double> pair_gains;  ///< %, one a pair
  std::vector<PowerPoint> power;
  models::measure::TrialCounts trials;
};
using Computed = chapters::Computed<Outputs, Run>;

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  PublishedMarks published;
  LabDoors doors;
  std::vector<widgets::Curve> runs, funnel, power, looks;
  std::string runs_words, funnel_words, drift_words;
  std::string request;  ///< what the service is asked for: the rungs that are chosen, in the order that is set
  bool more = true;     ///< there are runs beyond the budget
  double time_lo = 0, time_hi = 1, slots_hi = 1;
  double drift_at = 0, cold_time = 0;  ///< where the machine's line ends, and what it starts at; s
  double heated = 1;                   ///< how much of the drift is there at the last run
  double gain_lo = -1, gain_hi = 1, pairs_hi = 1, power_hi = 1, looks_hi = 1, alarms_hi = 100;
  bool drawn = true;
  std::string zero_words;                              ///< at no gain; empty: B's real gain lies there and says so
  bool order_apart = true, zero_is_order = false;      ///< whether the order shows something else than no gain
  std::vector<double> power_at, power_from, power_to;  ///< bars of the simulated chances
};

struct View {
  widgets::PlotView runs, funnel, power, looks;
  DescribedTable<MethodRow> methods;
  DescribedTable<OrderRow> orders;
  Requests requests;
};

inline constexpr double alpha = 0.05, wanted_power = 0.8;
inline constexpr std::int64_t max_runs = 400;

models::measure::Bench bench_of(const Inputs& in);
models::measure::Method method_of(const Inputs& in);
Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// The two rungs that are chosen; null without a program's ladder of that name.
struct ChosenRungs {
  const ::kernels::Ladder* ladder = nullptr;
  const ::kernels::Rung *a = nullptr, *b = nullptr;
  std::int64_t size = 0;
};
ChosenRungs rungs_of(const Inputs& in);
/// "chains-8 and chains-12 of cpu-fma, size 50000, cold"
std::string next_of(const Inputs& in);
/// Lines "key value" that the app's service "kernels" reads.
std::string turns_request(const Inputs& in);
const Choices& timed_ladders();

void describe(Fields& f, TimedPair& pair);
void describe(Fields& f, TimedRow& row);
void describe(Fields& f, MethodRow& row);
void describe(Fields& f, OrderRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::profiling::measure
