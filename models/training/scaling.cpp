#include "models/training/scaling.h"

#include <algorithm>
#include <cmath>
#include <string>
#include "models/base/integer_math.h"

namespace models {
namespace {

std::string fault_of(const ScalingSetup& s) {
  for (const double positive : {s.sequence_gpu_s, s.links.inside_bytes_per_s, s.links.between_bytes_per_s})
    if (!(positive > 0 && positive < 1e18)) return "Make the time of a sequence and every bandwidth larger than 0.";
  for (const double least0 : {s.gradient_bytes, s.links.inside_hop_s, s.links.between_hop_s, s.links.base_s, s.fixed_s,
                              s.slowness.spread, s.slowness.rare_share})
    if (!(least0 >= 0 && least0 < 1e18)) return "No time, no spread and no number of bytes may be below 0.";
  if (!(s.overlap >= 0 && s.overlap <= 1 && s.slowness.rare_share <= 1))
    return "The overlap and the share of slow GPUs lie between 0 and 1.";
  if (s.sequences < 1 || s.replica_gpus < 1 || s.buckets < 1 || s.gpus_per_node < 1)
    return "Sequences, buckets, GPUs of a replica and GPUs of a node are at least 1.";
  return {};
}

/// The parts of a step as they are, before they are compared with one replica's.
ScaledStep parts_of(const ScalingSetup& s, std::int64_t replicas) {
  ScaledStep step;
  step.replicas = replicas;
  step.gpus = replicas * s.replica_gpus;
  const std::int64_t most = s.rule == BatchRule::own_batch ? s.sequences : ceil_div(s.sequences, replicas);
  step.compute_s = static_cast<double>(most) * s.sequence_gpu_s / static_cast<double>(s.replica_gpus);
  step.slowest_s = step.compute_s * expected_slowest(s.slowness, step.gpus);
  const AllReduceGroup group{replicas, std::max<std::int64_t>(1, s.gpus_per_node / s.replica_gpus)};
  const auto buckets = static_cast<double>(s.buckets);
  step.all_reduce =
      all_reduce_time(s.algorithm, group, s.links, s.gradient_bytes / static_cast<double>(s.replica_gpus) / buckets);
  step.all_reduce.latency_s *= buckets;
  step.all_reduce.transfer_s *= buckets;
  const double whole = step.all_reduce.total_s();
  step.hidden_s = std::min(s.overlap * whole, backward_share * step.compute_s);
  step.exposed_s = whole - step.hidden_s;
  step.fixed_s = s.fixed_s;
  step.step_s = step.compute_s + step.slowest_s + step.exposed_s + step.fixed_s;
  return step;
}

/// Sets what a step loses against `one`, that of a single replica.
void compare(const ScalingSetup& s, const ScaledStep& one, ScaledStep& step) {
  // Per-replica share of one replica's work: a shared batch is cut, an own one is not.
  const double share = s.rule == BatchRule::own_batch ? 1 : 1 / static_cast<double>(step.replicas);
  step.useful_s = one.step_s * share;
  step.loss_s = {step.compute_s - one.compute_s * share, step.slowest_s - one.slowest_s * share, step.exposed_s,
                 step.fixed_s - one.fixed_s * share};
  step.efficiency = step.useful_s / step.step_s;
  step.speedup = step.efficiency * static_cast<double>(step.gpus);
}

}  // namespace

Result<ScaledStep> scaled_step(const ScalingSetup& setup, std::int64_t gpus) {
  using Out = Result<ScaledStep>;
  if (std::string fault = fault_of(setup); !fault.empty()) return Out::fail(std::move(fault));
  if (gpus < setup.replica_gpus || gpus % setup.replica_gpus != 0)
    return Out::fail("One copy of the model takes " + std::to_string(setup.replica_gpus) +
                     " GPUs: choose a whole multiple of that.");
  const ScaledStep one = parts_of(setup, 1);
  ScaledStep step = parts_of(setup, gpus / setup.replica_gpus);
  compare(setup, one, step);
  return Out::ok(step);
}

Result<std::vector<ScaledStep>> scaled_steps(const ScalingSetup& setup, std::span<const std::int64_t> gpus) {
  using Out = Result<std::vector<ScaledStep>>;
  if (std::string fault = fault_of(setup); !fault.empty()) return Out::fail(std::move(fault));
  const ScaledStep one = parts_of(setup, 1);
  std::vector<ScaledStep> steps;
  for (const std::int64_t n : gpus) {
    const std::int64_t replicas = n / setup.replica_gpus;
    if (replicas < 1 || (!steps.empty() && steps.back().replicas == replicas)) continue;
    steps.push_back(parts_of(setup, replicas));
    compare(setup, one, steps.back());
  }
  return Out::ok(std::move(steps));
}

Result<ScaledStep> fastest_step(const ScalingSetup& setup, std::int64_t most) {
  using Out = Result<ScaledStep>;
  std::vector<std::int64_t> counts;
  for (std::int64_t n = setup.replica_gpus; n >= 1 && n <= most; n *= 2) counts.push_back(n);
  const auto steps = scaled_steps(setup, counts);
  if (!steps) return Out::fail(steps.error);
  if (steps->empty())
    return Out::fail("One copy of the model takes " + std::to_string(setup.replica_gpus) + " GPUs, and there are " +
                     std::to_string(most) + ".");
  return Out::ok(*std::max_element(steps->begin(), steps->end(),
                                   [](const ScaledStep& a, const ScaledStep& b) { return a.speedup < b.speedup; }));
}

Result<AmdahlFit> fit_amdahl(std::span<const MeasuredStep> points) {
  using Out = Result<AmdahlFit>;
  // Of the relative errors serial / T + shared / (N T) - 1.
  double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  bool two_counts = false;
  for (const MeasuredStep& p : points) {
    if (!(p.gpus > 0 && p.step_s > 0 && std::isfinite(p.gpus) && std::isfinite(p.step_s)))
      return Out::fail("Every point needs a number of GPUs and a time above 0.");
    two_counts = two_counts || p.gpus != points.front().gpus;
    const double a = 1 / p.step_s, b = 1 / (p.gpus * p.step_s);
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  if (!two_counts) return Out::fail("A fit needs points at two different numbers of GPUs at least.");
  AmdahlFit fit;
  const double determinant = aa * bb - ab * ab;
  fit.serial_s = (a1 * bb - b1 * ab) / determinant;
  fit.shared_s = (b1 * aa - a1 * ab) / determinant;
  if (!(fit.serial_s > 0)) {
    fit.serial_s = 0;
    fit.shared_s = b1 / bb;
  } else if (!(fit.shared_s > 0)) {
    fit.shared_s = 0;
    fit.serial_s = a1 / aa;
  }
  fit.serial_share = fit.serial_s / fit.one_gpu_s();
  double squares = 0;
  for (const MeasuredStep& p : points) squares += std::pow(fit.at(p.gpus) / p.step_s - 1, 2);
  fit.rms_error = std::sqrt(squares / static_cast<double>(points.size()));
  return Out::ok(fit);
}

}  // namespace models
