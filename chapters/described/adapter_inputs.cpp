#include "chapters/described/adapter_inputs.h"

#include <string>
#include <utility>

#include "models/parallel/planner/planner_price.h"
#include "models/training/adapters.h"

namespace chapters {

const Choices& frozen_in_choices() {
  static const Choices choices = {{"bf16", "BF16", "2 bytes each."},
                                  {"fp8", "FP8", "A byte each, and a byte of scale for 32."},
                                  {"nf4", "NF4", "4 bits each and their scales, 0.52 bytes, as QLoRA keeps them."}};
  return choices;
}

const Choices& adapter_target_choices() {
  static const Choices choices = {
      {"query_value", "queries, values", "Two matrices a layer, as in the paper of LoRA."},
      {"attention", "attention", "Queries, keys, values and output; of latent attention the output alone."},
      {"all_linear", "all linear", "Every matrix of a layer but the router."}};
  static_assert(models::memory::adapter_targets_count == 3);
  return choices;
}

models::parallel::PlannerAdapters planner_adapters(std::int64_t rank, models::memory::AdapterTargets targets,
                                                   FrozenIn frozen) {
  constexpr double nf4_bits = 4;
  const double bytes = frozen == FrozenIn::nf4   ? (nf4_bits + models::adapters::scale_bits(true)) / 8
                       : frozen == FrozenIn::fp8 ? models::parallel::kept_input_bytes(models::Format::fp8)
                                                 : 2;
  return {.rank = static_cast<double>(rank), .targets = targets, .frozen_bytes = bytes};
}

void describe_adapters(Fields& f, std::int64_t& rank, models::memory::AdapterTargets& targets, FrozenIn& frozen) {
  f.integer(
      "adapter_rank", rank, "Rank of adapters",
      "Low-rank pairs (LoRA) are trained beside frozen matrices: gradients and states are theirs alone. 0: all weights "
      "are trained.",
      {.range = {0, 1024}, .typical = {0, 128}});
  f.choice("adapter_targets", targets, adapter_target_choices(), "Adapters on",
           "The matrices that get a pair, where adapters are trained.");
  f.choice("frozen", frozen, frozen_in_choices(), "Frozen weights in",
           "What the layers' own matrices are kept in, where adapters are trained. NF4 is written out in 16 bits for a "
           "product: that time and copy are counted in the lab of adapters, not here. Shards travel in 16 bits.");
}

models::Status put_adapters(const models::Architecture& a, const AdapterInputs& in, models::memory::TrainingPlan& p) {
  using models::Status;
  const models::parallel::PlannerAdapters adapters = planner_adapters(in.rank, in.targets, in.frozen);
  if (std::string problem = adapters_problem(a, adapters); !problem.empty()) return Status::fail(std::move(problem));
  set_adapters(adapters, p);
  return Status::ok();
}

}  // namespace chapters
