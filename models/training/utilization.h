#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/roofline.h"
#include "models/training/launch_queue.h"
#include "models/training/step_simulation.h"
#include "models/transformer/layer_ops.h"

/// How much of a chip a job uses: GPU busy, HFU, MFU, MBU, by every convention that published figures have, and the
/// losses between them.
namespace models {

/// Attention's products between positions: the causal half, the whole square, or nothing of them.
enum class CountedAttention : std::uint8_t { half, full, none };
inline constexpr std::size_t counted_attention_count = 3;
/// Which parameters count. multiplied: every matrix that a token is multiplied with, the output matrix among them;
/// with_embedding: the input embedding too, which is looked up and not multiplied; inside_layers: without the output
/// matrix; all_experts: all experts of a mixture, chosen or not.
enum class CountedWeights : std::uint8_t { multiplied, with_embedding, inside_layers, all_experts };
inline constexpr std::size_t counted_weights_count = 4;

/// What a published number of flops counts. Biases, norms and the router are in none.
struct FlopConvention {
  CountedAttention attention = CountedAttention::half;
  CountedWeights weights = CountedWeights::multiplied;
  bool recompute = false;         ///< forward passes that the workload repeats count again
  bool frozen = false;            ///< weights have no gradients: forward 2, backward 2
  std::int64_t extra_layers = 0;  ///< multi-token prediction: a layer like the last, a projection of 2h x h, logits
  bool operator==(const FlopConvention&) const = default;
};

/// Flops of one step of the workload as the convention counts them, from the model's list of operations.
double counted_flops(const Architecture& architecture, Workload workload, const FlopConvention& convention);

/// A convention that somebody publishes figures by.
struct NamedConvention {
  std::string_view id, name, who;
  FlopConvention convention;
};
inline constexpr std::size_t named_convention_count = 6;
const std::array<NamedConvention, named_convention_count>& named_conventions();

/// Which bytes MBU counts. operands: what the operations must read and write, each once; weights_and_cache: the whole
/// model and the cache, once a step (Databricks 2023); weights: the whole model alone (gpt-fast 2023).
enum class CountedBytes : std::uint8_t { operands, weights_and_cache, weights };
inline constexpr std::size_t counted_bytes_count = 3;
double counted_bytes(const Architecture& architecture, const Workload& workload, CountedBytes bytes);

/// Where a second of the chip's matrix units goes that does not end as needed products.
enum class UtilizationLoss : std::uint8_t {
  data,           ///< no kernel: the host waits for a batch
  copies,         ///< no kernel: a copy is waited for
  launches,       ///< no kernel: the host launches, or the next kernel is on its way
  sync,           ///< no kernel: the host read a value and the queue ran dry
  idle,           ///< no kernel, and nobody says why
  communication,  ///< only a collective runs
  optimizer,      ///< kernels of the optimizer
  other_kernels,  ///< kernels that multiply no matrices
  uncounted,      ///< products of a recording whose flops nobody wrote
  below_peak,     ///< matrix products slower than the peak
  extra,          ///< multiplied and not asked for: masked pairs, scores made once more
  recompute       ///< multiplied a second time
};
inline constexpr std::size_t utilization_loss_count = 12;
inline constexpr std::size_t idle_loss_count = 5;  ///< the first of them are time without a kernel

/// A stretch of time on one chip. Losses and the needed products are shares of time x peak and add up to 1.
struct Utilization {
  double wall_s = 0;
  double product_s = 0;  ///< while a matrix product runs; not known of a measured rate
  double needed_flops = 0, recomputed_flops = 0, extra_flops = 0;
  double peak_flops_per_s = 0;
  std::array<double, utilization_loss_count> loss{};

  double issued_flops() const { return needed_flops + recomputed_flops + extra_flops; }
  double needed_share() const { return needed_flops / (wall_s * peak_flops_per_s); }  ///< MFU of what is needed
  double issued_share() const { return issued_flops() / (wall_s * peak_flops_per_s); }
  /// Time with a kernel, 0 to 1: what nvidia-smi prints as GPU-Util (NVML: one or more kernels was executing).
  double busy() const;
};

/// What a stretch of time consists of, in seconds: times without a kernel by cause, and with kernels that multiply
/// nothing; what is left of the wall multiplies.
struct UtilizationTimes {
  double wall_s = 0;
  std::array<double, idle_loss_count> idle_s{};
  double communication_s = 0, optimizer_s = 0, other_s = 0, uncounted_s = 0;
};
/// Flops of the same stretch.
struct UtilizationFlops {
  double needed = 0, recomputed = 0, extra = 0;
};
/// Infeasible where the times exceed the wall, or the products would have to run faster than the peak.
Result<Utilization> utilization_of(const UtilizationTimes& times, const UtilizationFlops& flops,
                                   double peak_flops_per_s);

/// What is trained of a model.
struct TrainedParts {
  bool frozen = false;          ///< weights have no gradients, as under LoRA: forward 2, backward 2
  std::int64_t mtp_layers = 0;  ///< modules of multi-token prediction (DeepSeek-V3: 1), as FlopConvention counts them
};
/// Flops of a step: what its mathematics needs, what it runs again, what its kernels add.
UtilizationFlops flops_of(const Architecture& architecture, const Workload& workload, const TrainedParts& trained = {});

/// A job that is simulated: the machine's roofs, and what of them kernels reach.
struct UtilizationRun {
  Machine machine;
  double product_share = 0.75, bandwidth_share = 0.85;  ///< share of the peak and of the bandwidth that kernels reach
  /// For training: loader, host, network and optimizer. Kernel times, layers and bytes come from the model.
  StepSetup step;
  bool autocast = false;  ///< weights and gradients are FP32, products run in a format of 16 bits or fewer
  /// For inference: host and queue; kernels take at least `least_kernel_s`.
  LaunchHost host;
  LaunchMode mode = LaunchMode::eager;
  double least_kernel_s = 2e-6;
};
/// One step: of training by simulate_steps, with a kernel's roofline time at the shares above; of prefill and decode by
/// run_launches, the host waiting after each step. `workload` is of one micro-batch; flops are of the whole step.
Result<Utilization> simulate_utilization(const Architecture& architecture, const Workload& workload,
                                         const UtilizationRun& run);

}  // namespace models
