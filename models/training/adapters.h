#pragma once
#include <cstdint>
#include <vector>

#include "models/base/result.h"
#include "models/machine/op_cost.h"
#include "models/machine/roofline.h"
#include "models/memory/training_plan.h"

/// Fine-tuning with the base model frozen: what is trained, what memory holds, which FLOPs stay, and how long a step
/// takes by the roofline.
namespace models::adapters {

enum class Method : std::uint8_t {
  full,        ///< every weight is trained
  lora,        ///< W + A B beside frozen 16-bit matrices (Hu et al. 2021)
  qlora,       ///< the same beside matrices of 4-bit NormalFloat (Dettmers et al. 2023)
  bottleneck,  ///< two small networks in series in each layer, down, activation, up (Houlsby et al. 2019)
};
inline constexpr std::size_t method_count = 4;

using Targets = memory::AdapterTargets;
inline constexpr std::size_t targets_count = memory::adapter_targets_count;

/// What is kept of each number that is trained, beside the number.
enum class States : std::uint8_t {
  master,       ///< weights and gradients of 16 bits, FP32 master and two FP32 moments: 16 B
  pure_bf16,    ///< weights, gradients and two moments of 16 bits: 8 B
  moments_8bit  ///< weights and gradients of 16 bits, two 8-bit moments with a scale for 256: 6.03 B
};
inline constexpr std::size_t states_count = 3;

/// Bits of a 4-bit weight's scales: one of 32 bits for 64 weights, or one of 8 bits and, for 256 of those, one of 32.
/// Source: Dettmers et al. 2023, section 3: 0.5 and 0.127.
double scale_bits(bool double_quantized);

struct Job {
  Method method = Method::lora;
  Targets targets = Targets::query_value;
  double rank = 16;  ///< columns of A and rows of B, and the inner width of a bottleneck
  std::int64_t batch = 1, sequence = 2048;
  double micro_batches = 1;  ///< How many a step has, one after the other: the optimizer runs once for all of them
  double gpus = 1;           ///< weights, gradients and states are split evenly; each has sequences of its own
  bool recompute = true;     ///< layers keep their input alone
  bool double_quantized = true;
  bool fused = false;  ///< a pair's result is added where the product writes it, and not in a kernel of its own
  States states = States::master;
  memory::LossKind loss = memory::LossKind::chunked;
};

/// What stands beside the kept activations at the fullest moment of a step.
enum class Fullest : std::uint8_t {
  logits,  ///< those of the loss, with what it writes beside them
  output,  ///< the gradient of the output matrix, most of all, as it passes through in 16 bits
  layer,   ///< one layer run again; of 4 bits, its largest matrix written out too
  matrix   ///< a 4-bit matrix written out in 16 bits
};
inline constexpr std::size_t fullest_count = 4;

/// Bytes of one GPU by owner, at the end of the forward pass or in the backward pass, whichever is more.
struct Held {
  double base = 0;      ///< frozen weights; all of them where they are trained
  double adapters = 0;  ///< weights that were added
  double gradients = 0, master = 0, moments = 0;
  double activations = 0;             ///< kept for the backward pass, all layers
  double temporary = 0;               ///< what the loss holds, or the layer that is at work, whichever is more
  Fullest fullest = Fullest::logits;  ///< What `temporary` is.
  double total() const { return base + adapters + gradients + master + moments + activations + temporary; }
  double states() const { return gradients + master + moments; }
};

/// FLOPs of matrix products in one step of one GPU.
struct StepFlops {
  double forward = 0, recomputed = 0;
  double input_gradient = 0;   ///< what goes on to the layer below
  double weight_gradient = 0;  ///< For the weights that are trained.
  double total() const { return forward + recomputed + input_gradient + weight_gradient; }
};

/// Seconds of one step of one GPU, each kernel at its roofline.
struct StepSeconds {
  double base = 0;      ///< the model's own operations, the weight gradients that are left among them
  double adapters = 0;  ///< kernels of what was added
  double unpack = 0;    ///< 4-bit weights written out in 16 bits before each product
  double optimizer = 0;
  double total() const { return base + adapters + unpack + optimizer; }
};

struct TunedStep {
  double parameters = 0;     ///< The base model's.
  double trained = 0;        ///< numbers that are trained
  double pairs = 0;          ///< matrices that got one; 0 without
  double quantized = 0;      ///< weights in 4 bits
  double base_bits = 16;     ///< What a weight takes on average, scales counted
  double adapter_bytes = 0;  ///< what is saved, in 16 bits; of full fine-tuning the whole model
  double tokens = 0;         ///< What one GPU's step reads.
  Held held;
  StepFlops flops;
  StepSeconds time;
};

/// One step. Infeasible: a workload out of range, a machine without peak or bandwidth, a model without the matrices
/// that are asked for (their names differ under latent attention), a rank beyond a matrix's smaller side.
///
/// A frozen weight has no gradient and no states, and its product needs no gradient of the weight: of forward, input
/// gradient and weight gradient, which cost the same, one goes. Its input is then kept only where a pair reads it, or
/// where attention itself does. Left out: that nothing below the lowest adapter needs gradients at all.
Result<TunedStep> tuned_step(const Architecture& architecture, const Job& job, const Machine& machine);

/// Kernels of a pair beside one product, forward and backward, as plain operations do them: `rows` of
/// `k` elements through all `groups` matrices of k x n. `fused`: the sum is written by the second product itself.
struct PairCost {
  OpCost forward, backward;
  OpCost weights;  ///< The part of `backward` that makes the gradients of the pair's own matrices.
  double forward_kernels = 0, backward_kernels = 0, weights_kernels = 2;
  double pass_flops = 0;  ///< forward; as much again for the input gradient, and for the weight gradient
};
PairCost pair_cost(double rows, double k, double n, double rank, double groups, double bytes, bool fused);
/// What one GPU has of a pair that several cut: `middle` columns of A, the rows of all `rank` in B, and the result's
/// elements that it adds. Of an uncut one rank, and rows x n.
struct PairPart {
  double middle = 0, added = 0;
};
PairCost pair_cost(double rows, double k, double n, double rank, double groups, double bytes, bool fused,
                   const PairPart& part);

/// Matrices inside the layers that get a pair, with how often: input and output width.
struct TargetMatrix {
  double inputs = 0, outputs = 0;
  double count = 0;
};
std::vector<TargetMatrix> target_matrices(const Architecture& architecture, Targets targets);

}  // namespace models::adapters
