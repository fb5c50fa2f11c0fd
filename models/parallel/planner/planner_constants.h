#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/memory/training_plan.h"

/// Every constant of the planner that is neither a figure of a chip's catalog nor counted from the model: shares of
/// peaks by generation of chips, and habits of training software. Each has its source; docs/planner.md lists them.
namespace models::parallel {

enum class ChipGeneration : std::uint8_t { volta, ampere, hopper, blackwell, cdna };
inline constexpr std::size_t chip_generation_count = 5;

/// What kernels and links of a generation reach of their peaks.
struct PlannerCurve {
  double product_share = 0.8;  ///< Share of the dense peak that a large 16-bit product reaches.
  double fast_share = 0.7;     ///< the same of 8 bits and less
  double product_half = 100;   ///< a side of so many elements halves the rate: each side d counts d / (d + half)
  double attention_share = 0.6, attention_half = 1500;  ///< fused forward: s / (s + half) of that share
  double attention_backward_share = 0.5, attention_backward_half = 2000;
  double flash2_factor = 1;  ///< Times both shares where the software runs FlashAttention 2, not the vendor's kernel.
  double misaligned_head_rate = 0.1;  ///< left of unfused attention's products where a head is no multiple of 16 bytes
  double memory_share = 0.85;         ///< Share of the memory's bandwidth that element-wise kernels reach.
  double kernel_s = 3e-6;             ///< start and tail of a kernel
  double inside_share = 0.8, between_share = 0.85;  ///< Shares of the printed link rates that large collectives get.
  double inside_hop_s = 1e-6, between_hop_s = 5e-6;
  double network_bytes_per_s = 25e9;  ///< The rate of one GPU's port where the job says nothing.
};
PlannerCurve planner_curve(ChipGeneration generation);

/// Habits of a training software and its time.
enum class StackId : std::uint8_t {
  megatron_core,       ///< Megatron Core of 2024 and later: flash attention, overlapped data and tensor parallelism
  megatron_2022,       ///< Korthikanti et al. 2022: unfused attention, nothing of data parallelism hidden
  megatron_2021,       ///< Narayanan et al. 2021
  megatron_2020,       ///< Megatron-LM, 2020
  megatron_deepspeed,  ///< BigScience's BLOOM, 2021 and 2022
  megatron_golden,     ///< Megatron Core in its deterministic mode, as its own tests run it
  deepspeed_zero3,     ///< DeepSpeed of 2021 with ZeRO-3
  fsdp_eager,          ///< PyTorch FSDP without a compiler, 2023
  fsdp_compiled,       ///< FSDP2 with torch.compile
  internevo,           ///< InternEvo, 2023
  nanotron,            ///< nanotron 0.5
  xla,                 ///< JAX with XLA
  primus,              ///< Primus on ROCm
  megatron_2023        ///< Megatron Core of 2023 and later without overlapped tensor parallelism
};
inline constexpr std::size_t stack_count = 14;
std::string_view stack_name(StackId id);  ///< "megatron_core"

struct PlannerStack {
  StackId id = StackId::megatron_core;
  bool fused_attention = true;
  bool flash2 = false;            ///< FlashAttention 2 rather than the vendor's newest kernel
  bool sequence_parallel = true;  ///< where tensor parallelism is on
  bool dropout = false;
  memory::StateRecipe recipe = memory::StateRecipe::megatron;
  memory::LossKind loss = memory::LossKind::fused;
  bool fused_gradients = true, step_gradients = false;
  bool selective_by_operation = false;  ///< selective recomputation runs every second product again, not attention
  double reserve_bytes = 0;             ///< beyond tensors: communication buffers, workspaces, context
  double slack_share = 0;               ///< Fragments of the allocator, over what is allocated.
  double product_factor = 1;            ///< Multiplies the product curve.
  double attention_factor = 1;          ///< Multiplies the attention curve.
  double element_passes = 1;            ///< traffic of element-wise work over that of perfectly fused kernels
  double tensor_exposed_forward = 1, tensor_exposed_backward = 1;  ///< part of the traffic that no product hides
  double data_hidden = 0;       ///< Part of the window of backward work that hides gradients; likewise forward.
  double data_link = 1;         ///< Share of the links' rates that data parallelism's collectives reach.
  double pipeline_exposed = 1;  ///< part of the stages' transfers that nothing hides
  double gradient_bytes = 4;    ///< Bytes of an element as it is reduced.
  double expert_exposed = 1;
  double expert_factor = 1, expert_fast_factor = 1;  ///< What grouped products of experts reach of the product curve.
  /// Time added to one pass of a layer of any size: launches of many small kernels that the host does not run ahead of.
  double layer_s = 0;
  double step_s = 5e-3;      ///< Time added to every step: the loop of the host, gradient norm.
  double kernel_factor = 1;  ///< host-bound launches: kernels take so many times the curve's start
  double straggler = 0;      ///< per doubling of nodes: share of a step lost to the slowest
};
PlannerStack planner_stack(StackId id);

}  // namespace models::parallel
