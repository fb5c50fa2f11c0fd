#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "models/fleet/checkpoint_interval.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// A long training on the clock: how far failures throw it back with the checkpoints that are set and with the best.
namespace chapters::fleet::train_time {

/// Defaults: Llama 3.1 405B as published (54 days of the run, 419 unexpected failures on 16,384 GPUs); what a save and
/// a restart take is assumed.
struct Inputs {
  double interval_s = 7200, save_s = 15, restart_s = 300, mtbf_s = 11'135;
  std::string model = "llama-3.1-405b", chip = "h100_sxm";
  double parameters = 0, tokens = 15.6e12;
  std::int64_t gpus = 16384;
  double mfu = 40;
  double price_per_hour = 2, power_w = 0, pue = 1.1;
  double repair_s = 86'400;
  std::int64_t seed = 36;
  bool operator==(const Inputs&) const = default;
};

/// Shares of the clock in percent.
struct Shares {
  double kept = 0, saving = 0, redone = 0, restarting = 0;
};

/// One cause of failures, at the published shares.
struct CauseRow {
  std::string cause;
  std::int64_t counted = 0;                 ///< in the published run
  double share = 0, gap_s = 0, in_run = 0;  ///< percent; mean time between two of them in your run, and how many
};

struct Outputs {
  double wall_s = 0, best_wall_s = 0, compute_s = 0, lost_s = 0, over_best_s = 0;
  double efficiency = 0, best_efficiency = 0;  ///< percent
  double interval_used_s = 0, exact_s = 0, young_s = 0, daly_first_s = 0, daly_higher_s = 0;
  double flat_from_s = 0, flat_to_s = 0;  ///< within a percentage point of the best
  Shares shares, best;
  double estimate = 0;  ///< percent lost, to first order
  double lost_work_s = 0, failures = 0, failures_per_day = 0, gpu_hours_per_failure = 0, spares = 0;
  double dollars = 0, best_dollars = 0, dollars_over_best = 0, energy_kwh = 0, gpu_hours = 0;
  double flops = 0, parameters_counted = 0, power_per_gpu_w = 0;
  double twice_efficiency = 0;                              ///< percent kept by twice the GPUs at their best
  double shown_s = 0, shown_kept = 0, shown_best_kept = 0;  ///< the stretch that is drawn; kept in percent
  std::int64_t shown_failures = 0;
  double gpu_share = 0;  ///< percent of the published failures that the GPU itself caused
  std::vector<CauseRow> causes;
  std::string reason;
};

/// The same failures for the interval that is set and for the best one.
struct Run {
  models::fleet::SimulatedRun yours, best;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<widgets::Curve> climb;   ///< work over the clock: what is redone, the best, yours
  std::vector<widgets::Curve> losses;  ///< share lost over the interval
  std::vector<widgets::Curve> fleet;   ///< efficiency over GPUs
  double window = 1;                   ///< length of both axes, in `unit`
  double unit_s = 3600;                ///< seconds in the unit of the clock
  std::string unit, clock_label, work_label;
  double yours_end = 0, best_end = 0;  ///< in `unit`
  std::string yours_words, best_words, lost_words, draw_words;
  double worst_at = 0, worst_work = 0;    ///< where the largest fall begins, in `unit`; 0: there is none
  double handle_at = 0, handle_work = 0;  ///< the first checkpoint of yours; 0: none in the window
  double least_interval = 1, most_interval = 1, most_lost = 100;
  std::string yours_lost, best_lost;
  std::vector<double> days;  ///< seconds of both bars: kept, saving, redone, restarting
  double most_gpus = 1;
  LabDoors doors;
};

struct View {
  widgets::PlotView climb, losses, fleet;
  widgets::StackedBarView days;
  DescribedTable<CauseRow> causes;
  Requests requests;
};

/// Runs that would take longer than this are refused.
inline constexpr double max_wall_s = 1000 * 365.25 * 86400;

void describe(Fields& f, CauseRow& r);
models::fleet::RunReliability reliability(const Inputs& in);
Computed<Outputs, Run> compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
/// Labs that show the same run otherwise.
LabDoors doors_of(const Inputs& in, const Outputs& out);
std::string answer_of(const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::fleet::train_time
