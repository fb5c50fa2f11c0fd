#include <algorithm>
#include <cmath>

#include "chapters/fleet/train_time/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/debugging/failure_causes.h"
#include "models/transformer/flops.h"

namespace chapters::fleet::train_time {
namespace {

using models::fleet::RunReliability;

constexpr double day_s = 86400;

Shares shares_of(const RunReliability& run, double interval_s) {
  const models::fleet::ClockShares s = models::fleet::clock_shares(run, interval_s);
  return {100 * s.kept, 100 * s.saving, 100 * s.redone, 100 * s.restarting};
}

/// The interval between `near_s`, which is good, and `far_s`, which is not, at which efficiency falls below `least`.
double edge_of(const RunReliability& run, double near_s, double far_s, double least) {
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(near_s * far_s);
    (models::fleet::checkpoint_efficiency(run, middle) >= least ? near_s : far_s) = middle;
  }
  return near_s;
}

/// What is drawn: about seven failures, in a length that people count in, and no more than a few thousand checkpoints.
double shown_length_s(const Inputs& in, double interval_s) {
  const double wanted = std::clamp(7 * in.mtbf_s, 3600.0, 20'000 * interval_s);
  for (const double length : {3600.0, 6 * 3600.0, day_s, 3 * day_s, 7 * day_s, 30 * day_s, 90 * day_s, 365 * day_s})
    if (length >= wanted) return length;
  return 3650 * day_s;
}

/// Flops of the run, or a sentence that says what is missing.
std::string read_work(const Inputs& in, Outputs& out, double& flops_per_s) {
  const auto chip = find_chip(in.chip);
  if (!chip) return chip.error;
  const auto peak = (*chip)->peak_flops_per_s(models::Format::bf16);
  if (!peak) return (*chip)->name + " has no BF16 peak to take a share of: choose another chip.";
  out.parameters_counted = in.parameters;
  if (!(in.parameters > 0)) {
    const auto model = find_model(in.model);
    if (!model) return model.error;
    out.parameters_counted = static_cast<double>(models::count_parameters((*model)->architecture).active);
  }
  out.power_per_gpu_w = in.power_w > 0 ? in.power_w : (*chip)->tdp_w.value_or(0);
  if (!(out.power_per_gpu_w > 0)) return (*chip)->name + " states no power: set the power of a GPU.";
  out.flops = models::flops_6nd(out.parameters_counted, in.tokens);
  flops_per_s = static_cast<double>(in.gpus) * *peak * in.mfu / 100;
  return {};
}

void fill_intervals(const Inputs& in, Outputs& out) {
  const RunReliability run = reliability(in);
  out.exact_s = models::fleet::exact_interval_s(run);
  out.young_s = models::fleet::young_interval_s(run);
  out.daly_first_s = models::fleet::daly_first_interval_s(run);
  out.daly_higher_s = models::fleet::daly_higher_interval_s(run);
  out.interval_used_s = in.interval_s > 0 ? in.interval_s : out.exact_s;
  const double best = models::fleet::checkpoint_efficiency(run, out.exact_s);
  out.efficiency = 100 * models::fleet::checkpoint_efficiency(run, out.interval_used_s);
  out.best_efficiency = 100 * best;
  out.flat_from_s = edge_of(run, out.exact_s, 1e-6 * out.exact_s, best - 0.01);
  out.flat_to_s = edge_of(run, out.exact_s, 1e6 * out.exact_s, best - 0.01);
  out.shares = shares_of(run, out.interval_used_s);
  out.best = shares_of(run, out.exact_s);
  out.estimate = 100 * models::fleet::first_order_waste(run, out.interval_used_s);
  out.lost_work_s = models::fleet::mean_lost_work_s(out.interval_used_s, in.mtbf_s);
  RunReliability twice = run;
  twice.mtbf_s /= 2;
  out.twice_efficiency = 100 * models::fleet::checkpoint_efficiency(twice, models::fleet::exact_interval_s(twice));
}

void fill_run(const Inputs& in, Outputs& out, double flops_per_s) {
  out.compute_s = out.flops / flops_per_s;
  out.wall_s = out.compute_s / (out.efficiency / 100);
  out.best_wall_s = out.compute_s / (out.best_efficiency / 100);
  out.lost_s = out.wall_s - out.compute_s;
  out.over_best_s = std::max(0.0, out.wall_s - out.best_wall_s);
  out.failures = out.wall_s / in.mtbf_s;
  out.failures_per_day = day_s / in.mtbf_s;
  const auto gpus = static_cast<double>(in.gpus);
  out.gpu_hours_per_failure = gpus * in.mtbf_s / 3600;
  out.gpu_hours = gpus * out.wall_s / 3600;
  out.dollars = out.gpu_hours * in.price_per_hour;
  out.best_dollars = gpus * out.best_wall_s / 3600 * in.price_per_hour;
  out.dollars_over_best = std::max(0.0, out.dollars - out.best_dollars);
  out.energy_kwh = out.gpu_hours * out.power_per_gpu_w * in.pue / 1000;
  // Each failure takes one node away, and a spare takes its place: the job fails as often whatever is away.
  out.spares = static_cast<double>(models::fleet::spare_machines_of_job(in.repair_s / in.mtbf_s, 0.01));
}

/// Your failures, if they come in the published shares.
void fill_causes(const Inputs& in, Outputs& out) {
  const auto causes = models::debugging::llama3_causes();
  const auto all = static_cast<double>(models::debugging::count_all(causes));
  out.gpu_share = 100 * static_cast<double>(models::debugging::count_gpu(causes)) / all;
  for (const models::debugging::FailureCause& cause : causes) {
    const double share = static_cast<double>(cause.count) / all;
    out.causes.push_back({std::string(cause.name), cause.count, 100 * share, in.mtbf_s / share, share * out.failures});
  }
}

}  // namespace

RunReliability reliability(const Inputs& in) { return {in.save_s, in.restart_s, in.mtbf_s}; }

Computed<Outputs, Run> compute(const Inputs& in) {
  Outputs out;
  double flops_per_s = 0;
  out.reason = read_work(in, out, flops_per_s);
  if (!out.reason.empty()) return {std::move(out)};
  fill_intervals(in, out);
  fill_run(in, out, flops_per_s);
  fill_causes(in, out);
  if (!(out.wall_s <= max_wall_s)) {
    out.reason =
        "This run would take more than a thousand years: save more often, restart faster, or take GPUs that fail less.";
    return {std::move(out)};
  }
  out.shown_s = shown_length_s(in, std::min(out.interval_used_s, out.exact_s));
  const auto failures = models::fleet::failure_times_s(in.mtbf_s, out.shown_s, in.seed);
  const RunReliability reliable = reliability(in);
  // Single checkpoints are drawn where there is room for them; beyond that whole turns are one stretch.
  const auto play = [&](double interval_s) {
    const bool join = out.shown_s / interval_s > 60;
    return models::fleet::simulate_run(reliable, interval_s, failures, out.shown_s, join);
  };
  Run run{play(out.interval_used_s), play(out.exact_s)};
  out.shown_failures = static_cast<std::int64_t>(run.yours.failures.size());
  out.shown_kept = 100 * run.yours.kept_s / out.shown_s;
  out.shown_best_kept = 100 * run.best.kept_s / out.shown_s;
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::fleet::train_time
