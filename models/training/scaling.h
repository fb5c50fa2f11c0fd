#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/result.h"
#include "models/machine/all_reduce_time.h"
#include "models/training/slowest_rank.h"

/// A synchronous training step on N GPUs: the work is shared out, gradients are summed, and everybody waits for the
/// slowest.
namespace models {

enum class BatchRule : std::uint8_t {
  shared_batch,  ///< strong scaling: one batch, shared by all replicas
  own_batch      ///< weak scaling: a batch of its own for every replica
};
inline constexpr std::size_t batch_rule_count = 2;

struct ScalingSetup {
  BatchRule rule = BatchRule::shared_batch;
  double sequence_gpu_s = 0.5;      ///< forward and backward of one sequence, in GPU-seconds
  std::int64_t sequences = 2048;    ///< sequences in the batch; with own_batch in each replica's
  std::int64_t replica_gpus = 1;    ///< GPUs that hold one copy of the model (tensor x pipeline x context)
  double gradient_bytes = 14.64e9;  ///< gradients of the whole model; each GPU of a replica reduces its part
  std::int64_t buckets = 1;         ///< all-reduces that the gradients are cut into, one after the other
  AllReduceAlgorithm algorithm = AllReduceAlgorithm::ring;
  AllReduceLinks links;
  std::int64_t gpus_per_node = 8;
  double overlap = 0;  ///< share of the all-reduce that may run beside the backward pass, 0 to 1
  Slowness slowness;
  double fixed_s = 0;  ///< takes the same on any number of GPUs
};

/// What keeps N GPUs from being N times as fast.
enum class ScalingLoss : std::uint8_t { uneven, slowest, communication, fixed };
inline constexpr std::size_t scaling_loss_count = 4;

/// One step on `gpus` GPUs. useful_s and loss_s add up to step_s.
struct ScaledStep {
  std::int64_t gpus = 1, replicas = 1;
  double compute_s = 0;      ///< time of the replica with most sequences
  double slowest_s = 0;      ///< the slowest GPU's time beyond that
  AllReduceTime all_reduce;  ///< all-reduce of all buckets
  double hidden_s = 0;       ///< the part of the all-reduce behind the backward pass
  double exposed_s = 0, fixed_s = 0, step_s = 0;
  double useful_s = 0;  ///< the step of one replica, divided by how many times more work is done per time
  std::array<double, scaling_loss_count> loss_s{};
  double speedup = 1;     ///< work per time over that of one GPU, where one replica counts as perfect
  double efficiency = 1;  ///< speedup / gpus, which is useful_s / step_s
};

/// The share of forward and backward that is the backward pass, with which an all-reduce can overlap.
inline constexpr double backward_share = 2.0 / 3.0;

/// Fails in a sentence where `gpus` is no whole number of replicas, or a quantity is out of range.
Result<ScaledStep> scaled_step(const ScalingSetup& setup, std::int64_t gpus);
/// The same for many counts of GPUs, with one check; counts below a replica are left out, others rounded down to whole
/// replicas.
Result<std::vector<ScaledStep>> scaled_steps(const ScalingSetup& setup, std::span<const std::int64_t> gpus);

/// The step with the shortest time among the counts replica, 2 replicas, 4 replicas, ... up to `most`; with own_batch
/// the one with most work per time.
Result<ScaledStep> fastest_step(const ScalingSetup& setup, std::int64_t most);

/// A measured step.
struct MeasuredStep {
  double gpus = 1, step_s = 1;
};

/// Amdahl's law through measured steps: T(N) = serial_s + shared_s / N.
struct AmdahlFit {
  double serial_s = 0, shared_s = 0;
  double serial_share = 0;  ///< serial_s / (serial_s + shared_s)
  double rms_error = 0;     ///< root mean square of (fit - measured) / measured
  double at(double gpus) const { return serial_s + shared_s / gpus; }
  double one_gpu_s() const { return serial_s + shared_s; }
};
/// Least squares of relative errors, both parts at least 0. Fails where there are fewer than two counts of GPUs or a
/// figure is not above 0. Source: Amdahl, "Validity of the single processor approach", AFIPS 1967.
Result<AmdahlFit> fit_amdahl(std::span<const MeasuredStep> points);

}  // namespace models
