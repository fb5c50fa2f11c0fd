#include <algorithm>
#include <cmath>

#include "chapters/role/scaling/lab.h"

namespace chapters::role::scaling {
namespace {

constexpr std::int64_t max_drawn = 65536, draws = 60'000;

double algorithm_s(const models::ScalingSetup& setup, models::AllReduceAlgorithm algorithm, std::int64_t gpus) {
  models::ScalingSetup other = setup;
  other.algorithm = algorithm;
  const auto step = models::scaled_step(other, gpus);
  return step ? step->all_reduce.total_s() : 0;
}

void compare_points(const Inputs& in, const models::ScalingSetup& setup, const std::optional<models::AmdahlFit>& fit,
                    Outputs& out) {
  const auto points = points_of(in);
  const models::BatchRule rule = rule_of_points(in);
  const bool fitted = fit && rule == models::BatchRule::shared_batch;
  if (fitted) {
    out.serial_share = 100 * fit->serial_share;
    out.serial_s = fit->serial_s;
    if (fit->serial_share > 0) out.limit = 1 / fit->serial_share;
    out.fit_rms = 100 * fit->rms_error;
  }
  double squares = 0;
  std::size_t known = 0;
  for (const models::MeasuredStep& p : points) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    ComparedRow row{static_cast<std::int64_t>(p.gpus), p.step_s, none, none, none, none};
    if (const auto step = models::scaled_step(setup, row.gpus); step && in.rule == rule) {
      row.model_s = step->step_s;
      row.model_error = 100 * (row.model_s / p.step_s - 1);
      squares += row.model_error * row.model_error;
      ++known;
    }
    if (fitted) {
      row.fit_s = fit->at(p.gpus);
      // Through two points the curve goes exactly; what is left then is rounding.
      const double off = 100 * (row.fit_s / p.step_s - 1);
      row.fit_error = std::abs(off) < 1e-6 ? 0 : off;
    }
    out.compared.push_back(row);
  }
  if (!points.empty()) {
    const auto [least, most] =
        std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.gpus < b.gpus; });
    const double faster = least->step_s / most->step_s, more = most->gpus / least->gpus;
    out.measured_speedup = rule == models::BatchRule::own_batch ? faster * more : faster;
    out.measured_efficiency = 100 * out.measured_speedup / more;
  }
  if (known > 0) out.model_rms = std::sqrt(squares / static_cast<double>(known));
}

/// Fewer steps the more GPUs each of them has.
std::vector<DrawnSteps> drawn_steps(const models::Slowness& slowness, std::int64_t seed) {
  std::vector<DrawnSteps> all;
  for (std::int64_t n = 2; n <= max_doubled; n *= 4)
    all.push_back({n, models::simulate_slowest(slowness, n, std::clamp<std::int64_t>(20'000 / n, 4, 200), seed)});
  return all;
}

}  // namespace

models::ScalingSetup setup_of(const Inputs& in) {
  models::ScalingSetup s;
  s.rule = in.rule;
  s.sequence_gpu_s = in.sequence_gpu_s;
  s.sequences = in.rule == models::BatchRule::own_batch ? in.own_sequences : in.batch;
  s.replica_gpus = in.replica_gpus;
  s.gradient_bytes = in.gradient_bytes;
  s.buckets = in.buckets;
  s.algorithm = in.algorithm;
  s.links = {in.inside_bytes_per_s, in.between_bytes_per_s, in.inside_hop_s, in.between_hop_s, 0};
  s.gpus_per_node = in.gpus_per_node;
  s.overlap = in.overlap / 100;
  s.slowness = {in.slowness, in.spread / 100, in.rare_share / 100};
  s.fixed_s = in.fixed_s;
  return s;
}

std::vector<models::MeasuredStep> points_of(const Inputs& in) {
  if (in.series != Series::points) {
    const auto steps = published_series(in.series).steps;
    return {steps.begin(), steps.end()};
  }
  std::vector<models::MeasuredStep> points;
  for (const PointRow& row : in.points) points.push_back({static_cast<double>(row.gpus), row.step_s});
  return points;
}

models::BatchRule rule_of_points(const Inputs& in) {
  return in.series == Series::points ? in.rule : published_series(in.series).rule;
}

double one_gpu_s(const Inputs& in) {
  const auto one = models::scaled_step(setup_of(in), in.replica_gpus);
  return one ? one->step_s * static_cast<double>(in.replica_gpus) : 0;
}

double step_work_s(const Inputs& in, double one_gpu_s, double gpus) {
  return one_gpu_s * (in.rule == models::BatchRule::own_batch ? gpus / static_cast<double>(in.replica_gpus) : 1);
}

Computed compute(const Inputs& in, Progress& progress) {
  Outputs out;
  const models::ScalingSetup setup = setup_of(in);
  const auto step = models::scaled_step(setup, in.gpus);
  const auto fastest = models::fastest_step(setup, std::max(max_doubled, in.gpus));
  if (!step || !fastest) {
    out.reason = step ? fastest.error : step.error;
    return {.facts = std::move(out)};
  }
  out.step = *step;
  out.fastest = *fastest;
  out.speedup = step->speedup;
  out.efficiency = 100 * step->efficiency;
  out.ideal_step_s = step->useful_s;
  out.all_reduce_s = step->all_reduce.total_s();
  out.communication_share = 100 * step->exposed_s / step->step_s;
  out.ring_bytes =
      models::ring_all_reduce_bytes(step->replicas, in.gradient_bytes / static_cast<double>(in.replica_gpus));
  out.ring_s = algorithm_s(setup, models::AllReduceAlgorithm::ring, in.gpus);
  out.tree_s = algorithm_s(setup, models::AllReduceAlgorithm::tree, in.gpus);
  out.hierarchical_s = algorithm_s(setup, models::AllReduceAlgorithm::hierarchical, in.gpus);
  out.slowest = 100 * models::expected_slowest(setup.slowness, in.gpus);
  if (in.gpus <= max_drawn) {
    const std::int64_t steps = std::clamp<std::int64_t>(draws / in.gpus, 8, 400);
    const auto drawn = models::simulate_slowest(setup.slowness, in.gpus, steps, in.seed);
    out.slowest_simulated = 100 * drawn.mean;
    out.slowest_error = 100 * drawn.standard_error;
  }
  const auto twice = models::scaled_step(setup, 2 * in.gpus);
  const double gain = twice ? step->speedup / twice->speedup : 1;  // time of the same work with twice as many
  out.next_time = 100 * (1 - gain);
  out.next_cost = 100 * (2 * gain - 1);
  // With a batch each, a step of more replicas does more of the run.
  const double one_s = one_gpu_s(in);
  out.run_s = static_cast<double>(in.steps) * one_s / step->speedup;
  out.cost = out.run_s / 3600 * static_cast<double>(in.gpus) * in.price;
  out.ideal_cost = static_cast<double>(in.steps) * one_s / 3600 * in.price;
  Run run;
  run.fit = models::fit_amdahl(points_of(in)).value;
  compare_points(in, setup, run.fit, out);
  if (!progress.facts_alone) run.drawn = drawn_steps(setup.slowness, in.seed);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::role::scaling
