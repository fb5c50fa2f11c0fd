#include <algorithm>
#include <limits>

#include "chapters/distributed/memory_split/lab.h"
#include "models/parallel/memory_split/memory_split_estimators.h"

namespace chapters::distributed::memory_split {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool sends_to_host(const Inputs& in) { return in.offload != models::memory::Offload::none || in.host_activations; }

/// Shares of (weights, gradients, optimizer) of the paper, of parameters that tensor and pipeline divide evenly.
double zero_formula(const Inputs& in, double parameters) {
  const double n = static_cast<double>(in.data_parallel * in.context_parallel);
  const auto part = [&](double bytes, std::int64_t from) { return in.zero_stage >= from ? bytes / n : bytes; };
  const double each = part(in.weight_bytes, 3) + part(in.gradient_bytes, 2) + part(in.optimizer_bytes, 1);
  return each * parameters / static_cast<double>(in.tensor_parallel * in.pipeline_parallel);
}

double deepspeed(const Inputs& in, const Outputs& out, double parameters) {
  if (in.zero_stage < 2 || in.tensor_parallel * in.pipeline_parallel * in.context_parallel > 1) return unknown;
  const double largest = out.largest_unit_bytes / std::min(2.0, in.weight_bytes);
  const models::parallel::DeepSpeedSetting s{
      .parameters = parameters,
      .largest_layer = largest,
      .gpus_per_node = in.data_parallel,
      .offload_optimizer = in.offload != models::memory::Offload::none,
      .offload_parameters = in.offload == models::memory::Offload::parameters,
  };
  return (in.zero_stage == 3 ? models::parallel::deepspeed_zero3_estimate(s)
                             : models::parallel::deepspeed_zero2_estimate(s))
      .gpu_bytes;
}

double megatron(const Inputs& in, const TrainingCase& s) {
  if (in.zero_stage > 1 || in.context_parallel > 1 || sends_to_host(in)) return unknown;
  models::memory::TrainingPlan plan = s.plan;
  plan.recipe = models::memory::StateRecipe::megatron;
  plan.own_bytes = {};
  const models::Architecture& a = s.architecture;
  const models::parallel::MegatronShapes shapes{
      .layers = static_cast<double>(a.layers),
      .hidden = static_cast<double>(a.hidden),
      .ffn = static_cast<double>(a.ffn),
      .vocab = static_cast<double>(a.vocab),
      .sequence = static_cast<double>(in.sequence),
      .micro_batch = static_cast<double>(in.batch),
      .tensor = static_cast<double>(in.tensor_parallel),
      .pipeline = static_cast<double>(in.pipeline_parallel),
      .virtual_pipeline = static_cast<double>(in.virtual_pipeline),
  };
  const bool both = plan.sequence_parallel && in.recompute == models::Recompute::selective;
  return models::memory::state_bytes(a, plan).total() +
         (both ? models::parallel::megatron_activation_bytes(shapes)
               : models::parallel::megatron_activation_without_sp_bytes(shapes));
}

double cookbook(const Inputs& in, const TrainingCase& s) {
  const models::Architecture& a = s.architecture;
  if (a.moe.routed > 0 || in.context_parallel > 1 || sends_to_host(in)) return unknown;
  return models::parallel::cookbook_estimate(
             {
                 .layers = static_cast<double>(a.layers),
                 .hidden = static_cast<double>(a.hidden),
                 .heads = static_cast<double>(a.heads),
                 .vocab = static_cast<double>(a.vocab),
                 .sequence = static_cast<double>(in.sequence),
                 .batch = static_cast<double>(in.batch),
                 .ffn_ratio = static_cast<double>(a.ffn) / static_cast<double>(a.hidden),
                 .tensor = static_cast<double>(in.tensor_parallel),
                 .pipeline = static_cast<double>(in.pipeline_parallel),
                 .gpus = static_cast<double>(models::parallel::gpus_of(s.plan)),
                 .zero_stage = in.zero_stage,
                 .checkpoint = in.recompute != models::Recompute::none,
             })
      .total();
}

}  // namespace

std::vector<CalculatorRow> calculators_of(const Inputs& set, const TrainingCase& s, const Outputs& out) {
  const Inputs in = in_force(set);
  const double parameters =
      in.parameters > 0 ? in.parameters : static_cast<double>(models::count_parameters(s.architecture).total);
  std::vector<CalculatorRow> rows{
      {"this lab", "fragments of the allocator", out.peak_bytes},
      {"ZeRO's formula", "activations, and what is whole for a while", zero_formula(in, parameters)},
      {"DeepSpeed's estimator", "activations, the unit gathered ahead; 18 or 16 bytes whatever is kept",
       deepspeed(in, out, parameters)},
      {"Megatron-LM's report", "gated feed-forwards, grouped queries; 18 bytes whatever is kept", megatron(in, s)},
      {"EleutherAI's cookbook", "fused attention; tensor and pipeline cuts of gradients and optimizer",
       cookbook(in, s)},
  };
  // None of the others knows frozen weights.
  if (s.plan.frozen)
    for (std::size_t i = 1; i < rows.size(); ++i) rows[i].bytes = unknown;
  return rows;
}

}  // namespace chapters::distributed::memory_split
