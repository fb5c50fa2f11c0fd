#include "models/parallel/planner/planner_constants.h"

#include <array>

namespace models::parallel {
namespace {

using memory::LossKind;
using memory::StateRecipe;

/// What PyTorch's torch.distributed.pipelining runs of compiled layers besides GPipe and 1F1B, plain and interleaved.
/// Orders that take a backward pass apart (zero bubble, ZB-V, DualPipe-V) crash on them (pytorch/pytorch, pull request
/// 143599 and issue 161904), which became an error that says so (pull request 162511); torchtitan's benchmark of one
/// ran without the compiler (pytorch/torchtitan, issue 773).
constexpr std::uint16_t of_pytorch = schedule_bit(PipelineSchedule::breadth_first);

// product_share, product_half: set to the published runs of the generation, all of them together (docs/planner.md).
// memory_share of Ampere: STREAM 1.73 of 2.04 TB/s (chip catalog). Attention of Hopper: our H100 with cuDNN and
// FlashAttention 2, assets/measured/h100-attention.json; of Ampere: Dao 2023 (FlashAttention 2), figures 4 and 5.
// inside_share: 235 of 300, 370 of 450 and 682 of 900 GB/s of bus bandwidth (chip catalog). kernel_s of Hopper: time of
// the smallest products of assets/measured/h100-gemm.json.
constexpr PlannerCurve curves[chip_generation_count] = {
    // Volta
    {.product_share = 0.764,
     .product_half = 73.6,
     .row_half = 5,
     .memory_share = 0.95,
     .kernel_s = 6e-6,
     .inside_share = 0.60,
     .network_bytes_per_s = 12.5e9},
    // Ampere
    {.product_share = 0.764,
     .product_half = 164,
     .row_half = 79.3,
     .attention_share = 0.58,
     .attention_half = 500,
     .attention_backward_share = 0.52,
     .attention_backward_half = 700,
     .misaligned_head_rate = 0.11,
     .memory_share = 0.844,
     .kernel_s = 6e-6,
     .inside_share = 0.78,
     .network_bytes_per_s = 25e9},
    // Hopper
    {.product_share = 0.7,
     .fast_share = 0.71,
     .product_half = 69,
     .row_half = 235,
     .attention_share = 0.62,
     .attention_half = 1500,
     .attention_backward_share = 0.58,
     .attention_backward_half = 2200,
     .flash2_factor = 0.52,
     .memory_share = 0.88,
     .kernel_s = 3e-6,
     .inside_share = 0.80,
     .network_bytes_per_s = 50e9},
    // Blackwell
    {.product_share = 0.832,
     .fast_share = 0.666,
     .product_half = 153,
     .row_half = 250,
     .attention_share = 0.6,
     .attention_half = 1500,
     .attention_backward_share = 0.44,
     .attention_backward_half = 2200,
     .memory_share = 0.88,
     .kernel_s = 3e-6,
     .inside_share = 0.76,
     .network_bytes_per_s = 50e9},
    // CDNA: no run of grade A or B is held against it; shares of Hopper
    {.product_share = 0.55,
     .fast_share = 0.50,
     .product_half = 160,
     .row_half = 160,
     .attention_share = 0.40,
     .attention_backward_share = 0.35,
     .memory_share = 0.80,
     .kernel_s = 5e-6,
     .network_bytes_per_s = 50e9},
    // Blackwell Ultra: runs at a sixth more than Blackwell with the same peaks, and has its own shares
    {.product_share = 0.98,
     .fast_share = 0.98,
     .product_half = 47.2,
     .row_half = 30,
     .attention_share = 0.504,
     .attention_half = 1500,
     .attention_backward_share = 0.476,
     .attention_backward_half = 2200,
     .memory_share = 0.88,
     .kernel_s = 3e-6,
     .inside_share = 0.76,
     .network_bytes_per_s = 50e9},
    // Others: priors, as of CDNA
    {.product_share = 0.55,
     .fast_share = 0.50,
     .product_half = 160,
     .row_half = 160,
     .attention_share = 0.40,
     .attention_backward_share = 0.35,
     .memory_share = 0.80,
     .kernel_s = 5e-6},
};

/// PyTorch's FSDP2 with torch.compile, as torchtitan runs it. The loss is compiled with the rest, and was not until
/// January 2025 (`early`): 8B holds 50 to 51 GB on H200, and held 66.6 GB on 128 H100. Gradients of several
/// micro-batches are summed since June 2025 (pytorch/torchtitan, pull request 1238; in November 2024, issue 292, that
/// was not to be). GPipe and 1F1B of fewer micro-batches than stages hung, and are refused since January 2025
/// (pytorch/torchtitan, issue 775; pytorch/pytorch, pull request 144702). Copies without sharding come from DDP, which
/// torchtitan refuses beside any other axis ("DDP has not supported > 1D parallelism").
constexpr PlannerStack fsdp_compiled(StackId id, bool early) {
  return {.id = id,
          .flash2 = true,
          .recipe = StateRecipe::zero,
          .loss = early ? LossKind::eager : LossKind::parallel,
          .sharded_loss = early,
          .gathered_inputs = true,
          .accumulates = !early,
          .kept_outputs = early,
          .copies_alone = true,
          .fills_stages = true,
          .fused_gradients = false,
          .selective_by_operation = true,
          .product_factor = 1.06,
          .attention_factor = 0.74,
          .tensor_exposed_forward = 0.05,
          .tensor_exposed_backward = 0.1 / 3,
          .data_hidden = 0.818,
          .data_link = 0.939,
          .schedules = of_pytorch,
          .most_zero_of_pipeline = 3,
          .zero_1 = false,
          .whole_in_pipeline = true,
          .pipeline_exposed = 0.25,
          .layer_s = 0,
          .step_s = 0.00344,
          .kernel_factor = 2.78};
}

struct NamedStack {
  std::string_view name;
  PlannerStack habits;
};

// tensor_exposed: 1 where all-reduces block; the backward one overlaps the weight gradient's product from Narayanan et
// al. 2021 on; Megatron Core and Transformer Engine pipeline gathers with products. data_hidden: 0 where gradients wait
// for the end of the backward pass. All shares but these 0 and 1 are set to the published runs of that software, all of
// them together.
constexpr std::array<NamedStack, stack_count> stacks{{
    {"megatron_core",
     {.id = StackId::megatron_core,
      .product_factor = 1.1,
      .attention_factor = 1.1,
      .element_passes = 2.83,
      .tensor_exposed_forward = 0.276,
      .tensor_exposed_backward = 0.52,
      .data_hidden = 0.48,
      .data_link = 0.892,
      .bucket_elements = 40e6,
      .bucket_elements_per_rank = 1e6,
      .pipeline_exposed = 0.502,
      .expert_exposed = 0.724,
      .expert_once_per_node = true,
      .expert_factor = 0.481,
      .expert_fast_factor = 0.3,
      .expert_layer_host_s = 0.0028,
      .step_s = 0.002,
      .kernel_factor = 0.5}},
    {"megatron_2022",
     {.id = StackId::megatron_2022,
      .fused_attention = false,
      .dropout = true,
      .product_factor = 1.1,
      .element_passes = 1.99,
      .tensor_exposed_forward = 0.585,
      .tensor_exposed_backward = 0.387,
      .pipeline_exposed = 0,
      .step_s = 0.016,
      .kernel_factor = 1.45}},
    {"megatron_2021",
     {.id = StackId::megatron_2021,
      .fused_attention = false,
      .sequence_parallel = false,
      .dropout = true,
      .product_factor = 1.02,
      .element_passes = 1.54,
      .tensor_exposed_forward = 0.642,
      .tensor_exposed_backward = 0.29,
      .data_link = 0.3,
      .gradient_bytes = 2,
      .kernel_factor = 0.5}},
    {"megatron_2020",
     {.id = StackId::megatron_2020,
      .fused_attention = false,
      .sequence_parallel = false,
      .dropout = true,
      .tensor_exposed_backward = 0.72,
      .gradient_bytes = 2}},
    {"megatron_deepspeed",
     {.id = StackId::megatron_deepspeed,
      .fused_attention = false,
      .sequence_parallel = false,
      .recipe = StateRecipe::zero,
      .loss = LossKind::parallel,
      .fused_gradients = false,
      .step_gradients = true,
      .reserve_bytes = 6e9,
      .slack_share = fixed_segments_slack,
      .product_factor = 1.05,
      .element_passes = 5,
      .data_link = 0.311,
      .pipeline_exposed = 0,
      .gradient_bytes = 2,
      .layer_s = 0.00038,
      .step_s = 0.002,
      .kernel_factor = 4}},
    {"megatron_golden",
     {.id = StackId::megatron_golden,
      .sequence_parallel = false,
      .loss = LossKind::parallel,
      .fused_gradients = false,
      .product_factor = 0.85,
      .element_passes = 1.4,
      .bucket_elements = 40e6,
      .bucket_elements_per_rank = 1e6}},
    {"deepspeed_zero3",
     {.id = StackId::deepspeed_zero3,
      .fused_attention = false,
      .sequence_parallel = false,
      .data_hidden = 0.50,
      .data_link = 0.117,
      .gradient_bytes = 2}},
    {"fsdp_eager",
     {.id = StackId::fsdp_eager,
      .flash2 = true,
      .recipe = StateRecipe::zero,
      .gathered_inputs = true,
      .fused_gradients = false,
      .selective_by_operation = true,
      .product_factor = 0.98,
      .attention_factor = 0.67,
      .data_hidden = 0.93,
      .data_link = 0.30,
      .most_zero_of_pipeline = 3,
      .zero_1 = false,
      .whole_in_pipeline = true,
      .step_s = 0.002,
      .kernel_factor = 0.5}},
    {"fsdp_compiled", fsdp_compiled(StackId::fsdp_compiled, false)},
    {"internevo",
     {.id = StackId::internevo,
      .flash2 = true,
      .recipe = StateRecipe::zero,
      .fused_gradients = false,
      .product_factor = 1.08,
      .attention_factor = 1.07,
      .tensor_exposed_backward = 2.0 / 3,
      .data_hidden = 0.28,
      .data_link = 1,
      .gradient_bytes = 2,
      .broadcast_s = 0.0008,
      .layer_s = 0.0006,
      .step_s = 0.002,
      .kernel_factor = 3.38}},
    {"nanotron",
     {.id = StackId::nanotron,
      .flash2 = true,
      .recipe = StateRecipe::accumulate,
      .loss = LossKind::eager,
      .product_factor = 1.1,
      .attention_factor = 1.1,
      .tensor_exposed_forward = 0.886,
      .tensor_exposed_backward = 1.81 / 3,
      .data_hidden = 0.35,
      .data_link = 0.214,
      .pipeline_exposed = 0,
      .step_s = 0.002,
      .kernel_factor = 0.5}},
    {"xla", {.id = StackId::xla, .product_factor = 0.90, .element_passes = 1.2, .data_hidden = 0.50}},
    {"primus",
     {.id = StackId::primus,
      .data_hidden = 0.50,
      .schedules = schedule_bit(PipelineSchedule::zb_h1) | schedule_bit(PipelineSchedule::zb_v) |
                   schedule_bit(PipelineSchedule::v_half) | schedule_bit(PipelineSchedule::v_min),
      .bucket_elements = 40e6,
      .bucket_elements_per_rank = 1e6}},
    {"megatron_2023",
     {.id = StackId::megatron_2023,
      .attention_factor = 0.90,
      .tensor_exposed_backward = 1.6 / 3,
      .data_hidden = 0.33,
      .bucket_elements = 40e6,
      .bucket_elements_per_rank = 1e6,
      .pipeline_exposed = 0.5,
      .kernel_factor = 2}},
    {"megatron_2026",
     {.id = StackId::megatron_2026,
      .product_factor = 0.982,
      .attention_factor = 0.966,
      .element_passes = 1.08,
      .tensor_exposed_forward = 0.447,
      .tensor_exposed_backward = 2.0 / 3,
      .data_hidden = 0,
      .data_link = 0.775,
      .bucket_elements = 40e6,
      .bucket_elements_per_rank = 1e6,
      .pipeline_exposed = 0.12,
      .expert_exposed = 0.432,
      .expert_once_per_node = true,
      .expert_factor = 0.55,
      .expert_fast_factor = 0.806,
      .step_s = 0.0222,
      .kernel_factor = 0.5}},
    {"deepseek",
     {.id = StackId::deepseek,
      .state_bytes = {.weights = 2, .gradients = 4, .master = 4, .optimizer = 4},
      .attention_factor = 0.90,
      .data_hidden = 0.33,
      .schedules = schedule_bit(PipelineSchedule::dualpipe) | schedule_bit(PipelineSchedule::dualpipe_v),
      .bucket_elements = 40e6,
      .bucket_elements_per_rank = 1e6,
      .pipeline_exposed = 0,
      .expert_once_per_node = true,
      .expert_fast_dispatch = true,
      .expert_factor = 0.73,
      .expert_fast_factor = 0.73,
      .kernel_factor = 2}},
    {"fsdp_compiled_2024", fsdp_compiled(StackId::fsdp_compiled_2024, true)},
}};
static_assert([] {
  for (std::size_t i = 0; i < stack_count; ++i)
    if (stacks[i].habits.id != static_cast<StackId>(i)) return false;
  return true;
}());

}  // namespace

PlannerCurve planner_curve(ChipGeneration generation) { return curves[static_cast<std::size_t>(generation)]; }

std::string_view stack_name(StackId id) { return stacks[static_cast<std::size_t>(id)].name; }

PlannerStack planner_stack(StackId id) { return stacks[static_cast<std::size_t>(id)].habits; }

}  // namespace models::parallel
