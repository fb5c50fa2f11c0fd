#include "models/parallel/topology/topology_traffic.h"

#include <string>

#include "models/base/integer_math.h"

namespace models::parallel {
namespace {

constexpr double number_bytes = 2;

/// Elements of keys and values that one token has in a layer.
double key_value_width(const Architecture& a) {
  if (a.has_latent()) return static_cast<double>(a.heads * (a.latent.nope_dim + a.latent.rope_dim + a.latent.v_dim));
  return static_cast<double>(2 * a.kv_heads * a.head_dim);
}

}  // namespace

Result<std::vector<TopologyCall>> topology_calls(const Architecture& architecture, const TopologyWork& work,
                                                 const TopologyPlan& plan) {
  using Calls = Result<std::vector<TopologyCall>>;
  const Architecture& a = architecture;
  if (plan.expert > 1 && a.moe.routed == 0)
    return Calls::fail("This model has no experts to spread; set expert parallel to 1 or choose a mixture of experts.");
  if (plan.expert > 1 && a.moe.routed % plan.expert != 0)
    return Calls::fail("The model's " + std::to_string(a.moe.routed) + " experts cannot be dealt evenly to " +
                       std::to_string(plan.expert) + " ranks.");
  if (plan.pipeline > a.layers)
    return Calls::fail("The model has " + std::to_string(a.layers) + " layers, too few for " +
                       std::to_string(plan.pipeline) + " pipeline stages.");
  if (work.tokens % plan.context != 0)
    return Calls::fail("A sequence of " + std::to_string(work.tokens) + " tokens cannot be cut evenly into " +
                       std::to_string(plan.context) + " parts.");
  if (a.heads % plan.tensor != 0)
    return Calls::fail("The model's " + std::to_string(a.heads) + " heads cannot be dealt evenly to " +
                       std::to_string(plan.tensor) + " tensor-parallel ranks.");
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const double tensor = real(plan.tensor), micro_batches = real(work.micro_batches),
               layers = real(ceil_div(a.layers, plan.pipeline)),
               tokens = real(work.sequences) * real(work.tokens) / real(plan.context),
               activations = tokens * real(a.hidden) * number_bytes;
  std::vector<TopologyCall> calls;
  if (plan.tensor > 1)
    calls.push_back({TopologyAxis::tensor, TopologyPattern::all_reduce, activations, 4 * layers * micro_batches});
  if (plan.context > 1)
    calls.push_back({TopologyAxis::context, TopologyPattern::all_gather,
                     real(work.sequences) * real(work.tokens) * key_value_width(a) / tensor * number_bytes,
                     3 * layers * micro_batches});
  if (plan.pipeline > 1)
    calls.push_back({TopologyAxis::pipeline, TopologyPattern::next_rank, activations / tensor, 2 * micro_batches});
  const ParameterCount parameters = count_parameters(a);
  const double cut = tensor * real(plan.pipeline);
  const double experts = plan.expert > 1 ? real(parameters.layers.routed_experts) : 0;
  if (plan.size(TopologyAxis::data) > 1)
    calls.push_back(
        {TopologyAxis::data, TopologyPattern::all_reduce, (real(parameters.total) - experts) / cut * number_bytes, 1});
  if (plan.expert > 1) {
    std::int64_t expert_layers = 0;
    for (std::int64_t i = 0; i < a.layers; ++i) expert_layers += layer_form(a, i).experts ? 1 : 0;
    if (a.layer_forms.empty()) expert_layers = a.layers;
    calls.push_back({TopologyAxis::expert, TopologyPattern::all_to_all, activations / tensor * real(a.moe.per_token),
                     4 * real(ceil_div(expert_layers, plan.pipeline)) * micro_batches});
    if (plan.size(TopologyAxis::expert_data) > 1)
      calls.push_back({TopologyAxis::expert_data, TopologyPattern::all_reduce,
                       experts / cut / real(plan.expert) * number_bytes, 1});
  }
  return Calls::ok(std::move(calls));
}

}  // namespace models::parallel
