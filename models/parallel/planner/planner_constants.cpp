#include "models/parallel/planner/planner_constants.h"

#include <array>

namespace models::parallel {
namespace {

using memory::LossKind;
using memory::StateRecipe;

// product_share, product_half: set to the published runs of the generation, all of them together (docs/planner.md).
// memory_share of Ampere: STREAM 1.73 of 2.04 TB/s (chip catalog). Attention of Hopper: our H100 with cuDNN and
// FlashAttention 2, assets/measured/h100-attention.json; of Ampere: Dao 2023 (FlashAttention 2), figures 4 and 5.
// inside_share: 235 of 300, 370 of 450 and 682 of 900 GB/s of bus bandwidth (chip catalog). kernel_s of Hopper: time of
// the smallest products of assets/measured/h100-gemm.json.
constexpr PlannerCurve curves[chip_generation_count] = {
    // Volta
    {.product_share = 0.84,
     .product_half = 40,
     .memory_share = 0.88,
     .kernel_s = 6e-6,
     .inside_share = 0.60,
     .network_bytes_per_s = 12.5e9},
    // Ampere
    {.product_share = 0.755,
     .product_half = 170,
     .attention_share = 0.58,
     .attention_half = 500,
     .attention_backward_share = 0.52,
     .attention_backward_half = 700,
     .misaligned_head_rate = 0.11,
     .memory_share = 0.85,
     .kernel_s = 6e-6,
     .inside_share = 0.78,
     .network_bytes_per_s = 25e9},
    // Hopper
    {.product_share = 0.66,
     .fast_share = 0.68,
     .product_half = 160,
     .attention_share = 0.62,
     .attention_half = 1500,
     .attention_backward_share = 0.58,
     .attention_backward_half = 2200,
     .flash2_factor = 0.52,
     .memory_share = 0.88,
     .kernel_s = 3e-6,
     .inside_share = 0.80,
     .network_bytes_per_s = 50e9},
    // Blackwell: product_share and fast_share near the best measured products of the chip catalog
    {.product_share = 0.76,
     .fast_share = 0.71,
     .product_half = 160,
     .attention_share = 0.50,
     .attention_half = 1500,
     .attention_backward_share = 0.48,
     .attention_backward_half = 2200,
     .memory_share = 0.88,
     .kernel_s = 3e-6,
     .inside_share = 0.76,
     .network_bytes_per_s = 50e9},
    // CDNA: no run of grade A or B is held against it; shares of Hopper
    {.product_share = 0.55,
     .fast_share = 0.50,
     .product_half = 160,
     .attention_share = 0.40,
     .attention_backward_share = 0.35,
     .memory_share = 0.80,
     .kernel_s = 5e-6,
     .network_bytes_per_s = 50e9},
};

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
      .attention_factor = 0.90,
      .tensor_exposed_forward = 0.20,
      .tensor_exposed_backward = 0.30,
      .data_hidden = 0.33,
      .pipeline_exposed = 0,
      .expert_exposed = 0.50,
      .expert_factor = 0.55,
      .expert_fast_factor = 0.45,
      .kernel_factor = 2}},
    {"megatron_2022",
     {.id = StackId::megatron_2022,
      .fused_attention = false,
      .dropout = true,
      .tensor_exposed_forward = 0.50,
      .tensor_exposed_backward = 0.30,
      .pipeline_exposed = 0}},
    {"megatron_2021",
     {.id = StackId::megatron_2021,
      .fused_attention = false,
      .sequence_parallel = false,
      .dropout = true,
      .tensor_exposed_backward = 0.48,
      .gradient_bytes = 2}},
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
      .slack_share = 0.09,
      .product_factor = 1.0,
      .element_passes = 4,
      .pipeline_exposed = 0,
      .gradient_bytes = 2,
      .layer_s = 1.4e-3,
      .kernel_factor = 1}},
    {"megatron_golden",
     {.id = StackId::megatron_golden,
      .sequence_parallel = false,
      .loss = LossKind::parallel,
      .fused_gradients = false,
      .product_factor = 0.85,
      .element_passes = 1.4}},
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
      .fused_gradients = false,
      .selective_by_operation = true,
      .product_factor = 0.97,
      .attention_factor = 0.72,
      .data_hidden = 0.95,
      .data_link = 0.30,
      .step_s = 7e-3}},
    {"fsdp_compiled",
     {.id = StackId::fsdp_compiled,
      .flash2 = true,
      .recipe = StateRecipe::zero,
      .fused_gradients = false,
      .selective_by_operation = true,
      .attention_factor = 0.80,
      .tensor_exposed_forward = 0.40,
      .tensor_exposed_backward = 0.80,
      .data_hidden = 0.75}},
    {"internevo",
     {.id = StackId::internevo,
      .flash2 = true,
      .recipe = StateRecipe::zero,
      .fused_gradients = false,
      .product_factor = 0.93,
      .data_hidden = 0.28,
      .data_link = 0.80,
      .gradient_bytes = 2,
      .straggler = 0.001}},
    {"nanotron",
     {.id = StackId::nanotron,
      .flash2 = true,
      .recipe = StateRecipe::accumulate,
      .loss = LossKind::eager,
      .product_factor = 0.98,
      .data_hidden = 0.35,
      .data_link = 0.34,
      .step_s = 50e-3}},
    {"xla", {.id = StackId::xla, .product_factor = 0.90, .element_passes = 1.2, .data_hidden = 0.50}},
    {"primus", {.id = StackId::primus, .data_hidden = 0.50}},
    {"megatron_2023",
     {.id = StackId::megatron_2023,
      .attention_factor = 0.90,
      .tensor_exposed_backward = 0.80,
      .data_hidden = 0.33,
      .pipeline_exposed = 0.5,
      .kernel_factor = 2}},
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
