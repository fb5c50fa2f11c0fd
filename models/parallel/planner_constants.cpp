#include "models/parallel/planner_constants.h"

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
    {
        .product_share = 0.84,
        .product_half = 40,
        .memory_share = 0.88,
        .kernel_s = 6e-6,
        .inside_share = 0.60,
        .network_bytes_per_s = 12.5e9,
    },
    // Ampere
    {
        .product_share = 0.755,
        .product_half = 170,
        .attention_share = 0.58,
        .attention_half = 500,
        .attention_backward_share = 0.52,
        .attention_backward_half = 700,
        .misaligned_head_rate = 0.11,
        .memory_share = 0.85,
        .kernel_s = 6e-6,
        .inside_share = 0.78,
        .network_bytes_per_s = 25e9,
    },
    // Hopper
    {
        .product_share = 0.66,
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
        .network_bytes_per_s = 50e9,
    },
    // Blackwell: product_share and fast_share near the best measured products of the chip catalog
    {
        .product_share = 0.76,
        .fast_share = 0.71,
        .product_half = 160,
        .attention_share = 0.50,
        .attention_half = 1500,
        .attention_backward_share = 0.48,
        .attention_backward_half = 2200,
        .memory_share = 0.88,
        .kernel_s = 3e-6,
        .inside_share = 0.76,
        .network_bytes_per_s = 50e9,
    },
    // CDNA: no run of grade A or B is held against it; shares of Hopper
    {
        .product_share = 0.55,
        .fast_share = 0.50,
        .product_half = 160,
        .attention_share = 0.40,
        .attention_backward_share = 0.35,
        .memory_share = 0.80,
        .kernel_s = 5e-6,
        .network_bytes_per_s = 50e9,
    },
};

// tensor_exposed: 1 where all-reduces block; the backward one overlaps the weight gradient's product from Narayanan et
// al. 2021 on; Megatron Core and Transformer Engine pipeline gathers with products. data_hidden: 0 where gradients wait
// for the end of the backward pass. All shares but these 0 and 1 are set to the published runs of that software, all of
// them together.
PlannerStack make_stack(StackId id) {
  PlannerStack s;
  s.id = id;
  switch (id) {
    case StackId::megatron_core:
      s.attention_factor = 0.90;
      s.tensor_exposed_forward = 0.20;
      s.tensor_exposed_backward = 0.30;
      s.data_hidden = 0.33;
      s.pipeline_exposed = 0;
      s.expert_exposed = 0.50;
      s.expert_factor = 0.55;
      s.expert_fast_factor = 0.45;
      s.kernel_factor = 2;
      break;
    case StackId::megatron_2022:
      s.fused_attention = false;
      s.dropout = true;
      s.tensor_exposed_forward = 0.50;
      s.tensor_exposed_backward = 0.30;
      s.pipeline_exposed = 0;
      break;
    case StackId::megatron_2021:
      s.fused_attention = false;
      s.sequence_parallel = false;
      s.dropout = true;
      s.tensor_exposed_backward = 0.48;
      s.gradient_bytes = 2;
      break;
    case StackId::megatron_2020:
      s.fused_attention = false;
      s.sequence_parallel = false;
      s.dropout = true;
      s.tensor_exposed_backward = 0.72;
      s.gradient_bytes = 2;
      break;
    case StackId::megatron_deepspeed:
      s.fused_attention = false;
      s.sequence_parallel = false;
      s.recipe = StateRecipe::zero;
      s.loss = LossKind::parallel;
      s.fused_gradients = false;
      s.step_gradients = true;
      s.reserve_bytes = 6e9;
      s.slack_share = 0.09;
      s.product_factor = 1.0;
      s.element_passes = 4;
      s.layer_s = 1.4e-3;
      s.pipeline_exposed = 0;
      s.gradient_bytes = 2;
      s.kernel_factor = 1;
      break;
    case StackId::megatron_golden:
      s.fused_gradients = false;
      s.loss = LossKind::parallel;
      s.sequence_parallel = false;
      s.product_factor = 0.85;
      s.element_passes = 1.4;
      break;
    case StackId::deepspeed_zero3:
      s.fused_attention = false;
      s.sequence_parallel = false;
      s.gradient_bytes = 2;
      s.data_hidden = 0.50;
      s.data_link = 0.117;
      break;
    case StackId::fsdp_eager:
      s.recipe = StateRecipe::zero;
      s.fused_gradients = false;
      s.flash2 = true;
      s.selective_by_operation = true;
      s.product_factor = 0.97;
      s.attention_factor = 0.72;
      s.data_hidden = 0.95;
      s.data_link = 0.30;
      s.step_s = 7e-3;
      break;
    case StackId::fsdp_compiled:
      s.recipe = StateRecipe::zero;
      s.fused_gradients = false;
      s.flash2 = true;
      s.selective_by_operation = true;
      s.attention_factor = 0.80;
      s.tensor_exposed_forward = 0.40;
      s.tensor_exposed_backward = 0.80;
      s.data_hidden = 0.75;
      break;
    case StackId::internevo:
      s.recipe = StateRecipe::zero;
      s.fused_gradients = false;
      s.flash2 = true;
      s.product_factor = 0.93;
      s.gradient_bytes = 2;
      s.data_hidden = 0.28;
      s.data_link = 0.80;
      s.straggler = 0.001;
      break;
    case StackId::nanotron:
      s.recipe = StateRecipe::accumulate;
      s.loss = LossKind::eager;
      s.flash2 = true;
      s.product_factor = 0.98;
      s.data_hidden = 0.35;
      s.data_link = 0.34;
      s.step_s = 50e-3;
      break;
    case StackId::xla:
      s.product_factor = 0.90;
      s.element_passes = 1.2;
      s.data_hidden = 0.50;
      break;
    case StackId::megatron_2023:
      s.attention_factor = 0.90;
      s.tensor_exposed_backward = 0.80;
      s.data_hidden = 0.33;
      s.pipeline_exposed = 0.5;
      s.kernel_factor = 2;
      break;
    case StackId::primus:
      s.data_hidden = 0.50;
      break;
  }
  return s;
}

}  // namespace

PlannerCurve planner_curve(ChipGeneration generation) { return curves[static_cast<std::size_t>(generation)]; }

std::string_view stack_name(StackId id) {
  constexpr std::array<std::string_view, stack_count> names{
      "megatron_core",   "megatron_2022", "megatron_2021", "megatron_2020", "megatron_deepspeed", "megatron_golden",
      "deepspeed_zero3", "fsdp_eager",    "fsdp_compiled", "internevo",     "nanotron",           "xla",
      "primus",          "megatron_2023"};
  return names[static_cast<std::size_t>(id)];
}

PlannerStack planner_stack(StackId id) { return make_stack(id); }

}  // namespace models::parallel
