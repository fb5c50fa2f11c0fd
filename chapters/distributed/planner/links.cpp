#include <algorithm>
#include <array>

#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/memory/state_bytes.h"

/// The labs that show one side of a plan, with the plan in them.
namespace chapters::distributed::planner {
namespace {

using models::memory::TrainingPlan;

constexpr std::array<std::string_view, models::memory::state_recipe_count> recipes{
    "mixed", "megatron", "accumulate", "no_master", "pure_bf16", "fp32"};
constexpr std::array<std::string_view, models::memory::loss_kind_count> losses{"eager", "parallel", "fused", "chunked"};
constexpr std::array<std::string_view, 3> kept{"none", "selective", "full"};

/// Why the labs of memory cannot show this plan; nothing where they can.
std::string not_in_memory_labs(const TrainingPlan& p) {
  using models::PipelineSchedule;
  if (p.schedule != PipelineSchedule::one_f_one_b)
    return "The labs of memory count activations of 1F1B alone, and this plan's passes come in another order.";
  if (p.ends_take_slots || (p.virtual_pipeline > 1 && p.in_flight > 0))
    return "The labs of memory deal layers alone to stages, and this plan counts embedding and output as layers.";
  if (p.shard_group > 0)
    return "The labs of memory split states over all data-parallel ranks, and this plan over groups of them.";
  if (p.recompute == models::Recompute::selective &&
      (p.every_second_product || p.modules != bit(models::memory::RecomputeModule::core_attention)))
    return "The labs of memory recompute attention's scores or whole layers, and this plan other parts.";
  if (p.kept_input_bytes > 0)
    return "The labs of memory keep the inputs of matmuls in 16 bits, and this plan in 8 or 4.";
  if (p.own_bytes.total() > 0)
    return "The labs of memory know the usual widths of states alone, and this software keeps moments in 16 bits.";
  return {};
}

std::string_view schedule_key(const TrainingPlan& p) {
  constexpr std::array<std::string_view, models::pipeline_schedule_count> keys{
      "gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v", "dualpipe", "dualpipe_v", "pipedream", "pipedream_2bw"};
  return p.virtual_pipeline > 1 ? "interleaved" : keys[static_cast<std::size_t>(p.schedule)];
}

void write_pipeline(LinkWriter& w, const TrainingPlan& p) {
  // That lab draws up to 4,096 operations.
  const std::int64_t most =
      std::max<std::int64_t>(1, 2048 / std::max<std::int64_t>(1, p.pipeline * p.virtual_pipeline));
  std::int64_t m = std::min(p.micro_batches, most);
  if (p.virtual_pipeline > 1) m = std::max(p.pipeline, m / p.pipeline * p.pipeline);
  w.choice("schedule", schedule_key(p));
  w.choice("beside", "gpipe");
  w.number("stages", static_cast<double>(p.pipeline));
  w.number("micro_batches", static_cast<double>(m));
  if (p.virtual_pipeline > 1) w.number("chunks", static_cast<double>(p.virtual_pipeline));
}

/// What both labs of memory count; `stack` says what a GPU holds beside tensors.
void write_memory(LinkWriter& w, const Inputs& in, const TrainingPlan& p, const models::parallel::PlannerStack& stack,
                  std::string_view pipeline) {
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  const auto exactly = [&](std::string_view key, std::int64_t n) { w.exactly(key, static_cast<double>(n)); };
  exactly("sequence", p.sequence);
  exactly("batch", p.batch);
  exactly("micro_batches", p.micro_batches);
  exactly("tensor_parallel", p.tensor);
  exactly(pipeline, p.pipeline);
  exactly("virtual_pipeline", p.virtual_pipeline);
  exactly("data_parallel", p.data);
  exactly("context_parallel", p.context);
  exactly("expert_parallel", p.expert);
  exactly("zero_stage", p.zero_stage);
  w.toggle("sequence_parallel", p.sequence_parallel);
  w.choice("recompute", kept[static_cast<std::size_t>(p.recompute)]);
  w.choice("loss", losses[static_cast<std::size_t>(p.loss)]);
  w.exactly("fixed_bytes", stack.reserve_bytes);
}

}  // namespace

models::Result<std::string> link_to(const Inputs& in, const PlanCard& card, std::string_view lab) {
  using Out = models::Result<std::string>;
  const TrainingPlan& p = card.price.plan;
  const models::parallel::PlannerStack stack = models::parallel::planner_stack(in.software);
  if (lab != "distributed/pipeline")
    if (std::string why = not_in_memory_labs(p); !why.empty()) return Out::fail(std::move(why));
  LinkWriter w(lab);
  if (lab == "distributed/pipeline") {
    write_pipeline(w, p);
  } else if (lab == "distributed/memory-split") {
    // That lab knows flash attention alone, and no slack of the allocator.
    if (!p.fused_attention || p.dropout || stack.slack_share > 0) return link_to(in, card, "framework/training-memory");
    write_memory(w, in, p, stack, "pipeline_parallel");
    const auto each = models::memory::bytes_per_parameter({}, p.recipe, p.optimizer);
    w.exactly("weight_bytes", each.weights);
    w.exactly("gradient_bytes", each.gradients);
    w.exactly("optimizer_bytes", each.master + each.optimizer);
    w.toggle("fused_gradients", p.fused_gradients);
  } else if (lab != "framework/training-memory") {
    return Out::fail("There is no lab " + std::string(lab) + " that shows one side of a plan.");
  } else {
    write_memory(w, in, p, stack, "pipeline");
    w.exactly("stage", static_cast<double>(p.stage + 1));
    w.choice("count", "operations");
    w.choice("recipe", recipes[static_cast<std::size_t>(p.recipe)]);
    w.toggle("fused_attention", p.fused_attention);
    w.toggle("dropout", p.dropout);
    w.toggle("fused_gradients", p.fused_gradients);
    w.exactly("slack", 100 * stack.slack_share);
  }
  return Out::ok(w.text());
}

}  // namespace chapters::distributed::planner
