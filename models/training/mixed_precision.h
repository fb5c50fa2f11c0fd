#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/transformer/layer_ops.h"

/// A training step under a precision recipe: which operation runs in which format, what is kept in which, and what both
/// cost. One chip; communication and the host are left out, so times are lower bounds and only their ratios should be
/// trusted far.
namespace models {

enum class PrecisionRecipe : std::uint8_t { fp32, tf32, amp_bf16, amp_fp16, fp8 };
inline constexpr std::size_t recipe_count = 5;
inline constexpr std::array<PrecisionRecipe, recipe_count> all_recipes{PrecisionRecipe::fp32, PrecisionRecipe::tf32,
                                                                       PrecisionRecipe::amp_bf16,
                                                                       PrecisionRecipe::amp_fp16, PrecisionRecipe::fp8};
std::string_view recipe_label(PrecisionRecipe recipe);  ///< "AMP BF16"
Format recipe_product_format(PrecisionRecipe recipe);   ///< what its matrix products run in

/// What the 16-bit and 8-bit recipes keep of a parameter between steps, with AdamW.
enum class StateKeeping : std::uint8_t {
  zero,        ///< 16 B: weights 2, gradients 2, FP32 master 4, moments 8. Source: Rajbhandari et al. 2019 (ZeRO),
               ///< section 3.1
  megatron,    ///< 18 B: gradients are accumulated in FP32 and nowhere else. Source: Megatron-LM,
               ///< theoretical_memory_usage.py
  accumulate,  ///< 20 B: 16-bit gradients and an FP32 sum of them. Source: Hugging Face, Ultra-Scale Playbook
  autocast,  ///< 16 B and a 16-bit copy of the product weights while a step runs: weights and gradients FP32, moments 8
             ///< (torch.autocast)
};

/// Where the scales of 8-bit operands come from.
enum class Fp8Scaling : std::uint8_t {
  delayed,  ///< one scale a tensor from the largest values of earlier steps: E4M3 forward, E5M2 for gradients
  current,  ///< one scale a tensor from its own largest value: one more pass over it
  mx,       ///< one power of two for 32 values (OCP MX v1.0): E4M3 throughout, 1/32 B of scales a value
};

enum class NumberFormat : std::uint8_t { fp32, tf32, bf16, fp16, e4m3, e5m2 };
std::string_view number_label(NumberFormat format);  ///< "BF16"
double number_bytes(NumberFormat format);            ///< in memory: TF32 takes 4

enum class StepPart : std::uint8_t { products, attention, vector, casts, optimizer };
inline constexpr std::size_t step_part_count = 5;

struct MixedSettings {
  PrecisionRecipe recipe = PrecisionRecipe::amp_bf16;
  StateKeeping keeping = StateKeeping::megatron;  ///< how recipes below 32 bits keep their states
  Fp8Scaling scaling = Fp8Scaling::delayed;
  bool fp8_primary = false;  ///< FP8: no 16-bit weights beside the 8-bit ones
  std::int64_t batch = 1, sequence = 4096;
  Recompute recompute = Recompute::none;  ///< selective runs fused attention again and saves nothing
  double shards = 1;  ///< chips over which states are split (ZeRO-3); activations are those of one chip's batch
};

/// One row: an operation of the model, or what the recipe adds (casts, scales, the optimizer). Figures are of one of
/// `count`, whole step.
struct MixedOperation {
  std::string name, layer;
  std::int64_t count = 1;
  NumberFormat forward = NumberFormat::fp32,
               backward = NumberFormat::fp32;  ///< operands of products; what anything else computes in
  NumberFormat result = NumberFormat::fp32;    ///< what is written
  bool has_backward = true;
  StepPart part = StepPart::vector;
  double flops = 0, bytes = 0;
  double compute_s = 0, memory_s = 0, time_s = 0;  ///< time: the longer of the two
  double share = 0;                                ///< share of the step that all of these take, 0 to 1
  std::string_view why;                            ///< why in this format
};

/// Bytes on one chip.
struct MixedMemory {
  double weights = 0, copies = 0, gradients = 0, master = 0, moments = 0;  ///< states
  double activations = 0, logits = 0;
  double states() const { return weights + copies + gradients + master + moments; }
  double total() const { return states() + activations + logits; }
};

struct MixedStep {
  PrecisionRecipe recipe{};
  std::vector<MixedOperation> operations;
  MixedMemory memory;
  double bytes_per_parameter = 0;         ///< bytes of states, before they are split
  double activation_bytes_per_token = 0;  ///< bytes in all layers, nothing recomputed
  double time_s = 0;
  std::array<double, step_part_count> part_s{};
  double product_flops = 0;  ///< matrix products of the step, recomputed and rescored ones too
  double recipe_flops_share =
      0;  ///< share of product_flops in the recipe's own product format, 0 to 1: an 8-bit recipe leaves some in 16 bits
  double peak_flops_per_s = 0;  ///< this chip's peak for the recipe's products
};

/// One step of `architecture` on `chip`. Products run at the dense peak of their format, everything else at the FP32
/// peak of the vector units; each operation takes the longer of arithmetic and traffic. Infeasible: a chip without a
/// peak for the recipe's format, lengths out of range, less than one shard.
Result<MixedStep> mixed_precision_step(const Architecture& architecture, const Chip& chip,
                                       const MixedSettings& settings);

/// What one token leaves behind for the backward pass in one layer, in elements, by what decides their format.
/// Attention is fused (one FP32 number a row and head is kept), there is no dropout.
struct SavedElements {
  double stream = 0;    ///< inputs of norms: the residual stream
  double operands = 0;  ///< inputs of products that are kept for nothing else
  double values =
      0;  ///< what other operations read: queries, keys, values, attention's output, what the activation acts on
  double reused = 0;    ///< the part of `values` that is a product's input as well: an 8-bit recipe keeps it twice
  double row_sums = 0;  ///< FP32
};
SavedElements saved_per_token(const Architecture& architecture, const LayerForm& form);

}  // namespace models
