#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/memory/pipeline_schedule.h"
#include "models/memory/training_plan.h"

/// Every constant of the planner that is neither a figure of a chip's catalog nor counted from the model: shares of
/// peaks by generation of chips, and habits of training software. Each has its source; docs/planner.md lists them.
namespace models::parallel {

/// `other`: chips of other makers, whose shares are priors that no run was held against; those of cdna are too.
enum class ChipGeneration : std::uint8_t { volta, ampere, hopper, blackwell, cdna, blackwell_ultra, other };
inline constexpr std::size_t chip_generation_count = 7;

/// What kernels and links of a generation reach of their peaks.
struct PlannerCurve {
  double product_share = 0.8;  ///< Share of the dense peak that a large 16-bit product reaches.
  double fast_share = 0.7;     ///< the same of 8 bits and less
  double product_half = 100;   ///< a side of so many elements halves the rate: each side d counts d / (d + half)
  double row_half = 100;       ///< The same of the side of tokens, which tiles cut finely.
  double attention_share = 0.6, attention_half = 1500;  ///< fused forward: s / (s + half) of that share
  double attention_backward_share = 0.5, attention_backward_half = 2000;
  double flash2_factor = 1;  ///< Times both shares where the software runs FlashAttention 2, not the vendor's kernel.
  double misaligned_head_rate = 0.1;  ///< left of unfused attention's products where a head is no multiple of 16 bytes
  double memory_share = 0.85;         ///< Share of the memory's bandwidth that element-wise kernels reach.
  double kernel_s = 3e-6;             ///< start and tail of a kernel
  double inside_share = 0.8, between_share = 0.85;  ///< Shares of the printed link rates that large collectives get.
  double inside_hop_s = 3.4e-6, between_hop_s = 14e-6;
  double exchange_s = 25e-6;          ///< start of one dispatch or combine of experts (DeepEP's, as the moe lab has it)
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
  megatron_2023,       ///< Megatron Core of 2023 and later without overlapped tensor parallelism
  megatron_2026,       ///< Megatron Core of June 2026 and later: whole layers in CUDA graphs, faster grouped products
  deepseek,            ///< DeepSeek's own of the V3 report: DualPipe, exchanges behind work, dispatch in 8 bits
  fsdp_compiled_2024  ///< the same until the end of 2024: the loss not compiled, no gradients summed over micro-batches
};
inline constexpr std::size_t stack_count = 17;
std::string_view stack_name(StackId id);  ///< "megatron_core"

/// What the caching allocator leaves in fragments over what is in use, with segments of fixed size: set to the memory
/// of BLOOM's runs, as Megatron-DeepSpeed's constant.
inline constexpr double fixed_segments_slack = 0.09;

struct PlannerStack {
  StackId id = StackId::megatron_core;
  bool fused_attention = true;
  bool flash2 = false;            ///< FlashAttention 2 rather than the vendor's newest kernel
  bool sequence_parallel = true;  ///< where tensor parallelism is on
  bool dropout = false;
  memory::StateRecipe recipe = memory::StateRecipe::megatron;
  memory::BytesPerParameter state_bytes{};  ///< in place of the recipe's, where their sum is above 0
  memory::LossKind loss = memory::LossKind::fused;
  bool sharded_loss = false;  ///< LossKind::eager_sharded in its place where tensor parallelism splits the words
  /// Matmuls keep whole inputs that sequence parallelism gathered (TrainingPlan::gathered_inputs).
  bool gathered_inputs = false;
  /// Gradients of several micro-batches can be summed where there is no pipeline; otherwise a replica's sequences are
  /// one micro-batch there, whatever their number. A pipeline cuts them into micro-batches either way.
  bool accumulates = true;
  bool kept_outputs = false;  ///< a pipeline's stages keep what they sent on (TrainingPlan::kept_outputs)
  /// Whole copies of the states on several ranks (ZeRO-0) are there where data parallelism is the only axis.
  bool copies_alone = false;
  bool fills_stages = false;  ///< GPipe and plain 1F1B need at least as many micro-batches as stages
  bool fused_gradients = true, step_gradients = false;
  bool selective_by_operation = false;  ///< selective recomputation runs every second product again, not attention
  double reserve_bytes = 0;             ///< beyond tensors: communication buffers, workspaces, context
  double slack_share = 0;               ///< Fragments of the allocator, over what is allocated.
  double product_factor = 1;            ///< Multiplies the product curve.
  double attention_factor = 1;          ///< Multiplies the attention curve.
  double element_passes = 1;            ///< traffic of element-wise work over that of perfectly fused kernels
  double tensor_exposed_forward = 1, tensor_exposed_backward = 1;  ///< part of the traffic that no product hides
  double data_hidden = 0;  ///< Part of the window of backward work that hides gradients; likewise forward.
  double data_link = 1;    ///< Share of the links' rates that data parallelism's collectives reach.
  /// Schedules beside plain and interleaved 1F1B that the software runs, one bit each, by PipelineSchedule.
  std::uint16_t schedules = 0;
  /// ZeRO that the software runs with a pipeline: Megatron's and DeepSpeed's engines stop at 1, PyTorch's fully_shard
  /// goes on to 3.
  std::int64_t most_zero_of_pipeline = 1;
  /// The software splits moments alone (ZeRO-1). PyTorch's fully_shard does not: it splits gradients with them, and
  /// weights too unless they stay whole from the forward to the backward pass.
  bool zero_1 = true;
  bool hybrid_sharding = true;  ///< states may be split over fewer ranks than there are
  /// ZeRO-3 under a pipeline keeps weights and gradients whole for all micro-batches (TrainingPlan::whole_in_pipeline).
  bool whole_in_pipeline = false;
  /// Elements of a bucket in which gradients are summed and weights gathered: the larger of a number and a number times
  /// the data-parallel ranks. 0: everything at once.
  double bucket_elements = 0, bucket_elements_per_rank = 0;
  double pipeline_exposed = 1;  ///< part of the stages' transfers that nothing hides
  double gradient_bytes = 4;    ///< Bytes of an element as it is reduced.
  double expert_exposed = 1;    ///< Part of the experts' traffic that nothing hides.
  double broadcast_s = 0;  ///< Weights come back as one broadcast of each rank's part after the other; 0: as a gather.
  bool expert_once_per_node = false;  ///< a token crosses the network once for each node (DeepEP, HybridEP)
  bool expert_fast_dispatch = false;  ///< tokens go out in 8 bits where the products are, and come back in 16
  double expert_factor = 1, expert_fast_factor = 1;  ///< What grouped products of experts reach of the product curve.
  /// Time added to one pass of a layer of any size: launches of many small kernels that the host does not run ahead of.
  double layer_s = 0;
  /// A forward pass of a layer of experts takes at least so long, and its backward pass twice that: the host launches
  /// its many kernels no faster where they are in no CUDA graph.
  double expert_layer_host_s = 0;
  double step_s = 5e-3;      ///< Time added to every step: the loop of the host, gradient norm.
  double kernel_factor = 1;  ///< host-bound launches: kernels take so many times the curve's start
  /// Standard deviation of the GPUs' speeds over their mean: a step waits for the slowest of all (expected_slowest).
  double spread = 0.004;
  /// Share of the multiprocessors that send and receive while an exchange of experts runs beside work: 20 of an H800's
  /// 132 (DeepSeek-V3 technical report, section 3.2.2).
  double exchange_multiprocessors = 20.0 / 132;
};
PlannerStack planner_stack(StackId id);
inline constexpr std::uint16_t schedule_bit(PipelineSchedule schedule) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(schedule));
}

}  // namespace models::parallel
