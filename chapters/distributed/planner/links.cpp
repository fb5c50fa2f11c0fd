#include <algorithm>
#include <array>

#include "chapters/described/training_software.h"
#include "chapters/distributed/planner/links.h"
#include "models/memory/state_bytes.h"

/// The labs that show one side of a plan, with the plan in them: the doors of memory and of the pipeline.
namespace chapters::distributed::planner {

using models::as_double;
using models::memory::TrainingPlan;

namespace {

using Link = models::Result<std::string>;

constexpr std::array<DoorTo, plan_door_count> doors{{
    {"open the memory", "Memory", "framework/training-memory"},
    {"open the split", "Split", "distributed/memory-split"},
    {"open the timeline", "Timeline", "framework/memory-timeline"},
    {"open the pipeline", "Pipeline", "distributed/pipeline"},
    {"open the overlap", "Overlap", "distributed/overlap"},
    {"open the tensor cut", "Tensor", "distributed/tensor-parallel"},
    {"open the context", "Context", "distributed/context"},
    {"open the experts", "Experts", "distributed/moe"},
    {"open the collective", "Collective", "distributed/collectives"},
    {"open the machine", "Topology", "distributed/topology"},
    {"open the staircase", "Scaling tax", "fleet/scaling-tax"},
}};

/// The id of an option, by its place among the choices.
template <class E>
std::string_view id_of(const Choices& choices, E option) {
  return choices[static_cast<std::size_t>(option)].id;
}

/// What the labs of memory say beside axes and recipe.
void write_details(LinkWriter& w, const TrainingPlan& p) {
  w.choice("order", id_of(pass_order_choices(), order_of(p.schedule)));
  w.toggle("ends_take_slots", p.ends_take_slots);
  w.toggle("step_gradients", p.step_gradients);
  w.exactly("shard_group", as_double(p.shard_group));
  w.choice("given_up", id_of(given_up_choices(), given_up_of(p.modules, p.every_second_product)));
  w.choice("kept_inputs", !(p.kept_input_bytes > 0) ? "wide" : p.kept_input_bytes > 1.0 ? "eight_bits" : "four_bits");
  w.toggle("gathered_inputs", p.gathered_inputs);
}

/// What both labs of memory count; the stack says what a GPU holds beside tensors.
void write_memory(LinkWriter& w, const Inputs& in, const PlannerDoor& door, std::string_view pipeline) {
  const TrainingPlan& p = door.plan;
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  const auto exactly = [&](std::string_view key, std::int64_t n) { w.exactly(key, as_double(n)); };
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
  w.toggle("fused_attention", p.fused_attention);
  w.toggle("dropout", p.dropout);
  w.toggle("fused_gradients", p.fused_gradients);
  w.choice("recompute", recompute_key(p));
  w.choice("loss", loss_key(p));
  w.exactly("fixed_bytes", door.job.stack.reserve_bytes);
  w.exactly("slack", 100 * door.job.stack.slack_share);
  w.exactly("adapter_rank", as_double(in.adapter_rank));
  w.choice("adapter_targets", id_of(adapter_target_choices(), in.adapter_targets));
  w.choice("frozen", id_of(frozen_in_choices(), in.frozen));
  write_details(w, p);
}

/// Whether the software keeps more of a pipeline than the labs of memory count.
bool keeps_outputs(const TrainingPlan& p) { return p.kept_outputs && p.pipeline > 1; }
constexpr const char* no_kept_outputs =
    "That lab frees what a stage has sent on, and this software's stages keep it until the step ends.";
constexpr const char* no_expert_tensor = "There every expert is shared by all GPUs that share the layers.";

Link write_split(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  if (door.plan.expert_tensor > 0) return Link::fail(no_expert_tensor);
  if (keeps_outputs(door.plan)) return Link::fail(no_kept_outputs);
  write_memory(w, in, door, "pipeline_parallel");
  const auto each = models::memory::bytes_per_parameter(door.job.architecture, door.plan);
  w.exactly("weight_bytes", each.weights);
  w.exactly("gradient_bytes", each.gradients);
  w.exactly("optimizer_bytes", each.master + each.optimizer);
  w.choice("offload", door.plan.offload == models::memory::Offload::none ? "none" : "optimizer");
  w.toggle("host_activations", door.plan.host_activations);
  w.toggle("whole_in_pipeline", door.plan.whole_in_pipeline && door.plan.pipeline > 1);
  return w.link();
}

/// Recipe and optimizer that keep the plan's bytes of every parameter; false where none do.
bool write_recipe(LinkWriter& w, const PlannerDoor& door) {
  using models::memory::OptimizerKind, models::memory::StateRecipe;
  const auto each = models::memory::bytes_per_parameter(door.job.architecture, door.plan);
  std::vector<StateRecipe> recipes{door.plan.recipe};
  for (std::size_t i = 0; i < models::memory::state_recipe_count; ++i) recipes.push_back(static_cast<StateRecipe>(i));
  for (const StateRecipe recipe : recipes)
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adamw_16bit}) {
      if (!(models::memory::bytes_per_parameter(door.job.architecture, recipe, kind) == each)) continue;
      w.choice("recipe", id_of(state_recipe_choices(), recipe));
      w.choice("optimizer", id_of(optimizer_choices(), kind));
      return true;
    }
  return false;
}

Link write_training_memory(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  if (door.plan.expert_tensor > 0) return Link::fail(no_expert_tensor);
  if (keeps_outputs(door.plan)) return Link::fail(no_kept_outputs);
  if (door.plan.offload != models::memory::Offload::none)
    return Link::fail("That lab keeps all states on the GPU, and this plan's optimizer is on the host.");
  if (door.plan.host_activations)
    return Link::fail("That lab keeps activations on the GPU, and this plan's wait in the host's memory.");
  if (models::memory::stays_whole(door.plan))
    return Link::fail("That lab gives gathered weights up after each use, and this software's stages keep them whole.");
  write_memory(w, in, door, "pipeline");
  w.exactly("stage", as_double(door.plan.stage + 1));
  w.choice("count", "operations");
  if (!write_recipe(w, door)) return Link::fail("That lab has no recipe with this plan's bytes of a parameter.");
  return w.link();
}

/// The timeline is of one GPU that shares its layers at most: why a plan is not there; nothing where it is.
std::string not_in_timeline(const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  if (p.pipeline > 1) return "The timeline follows a GPU that has all layers, and this plan has stages.";
  if (p.data * p.context > 1) return "The timeline follows a GPU without replicas, and this plan has some.";
  if (p.offload != models::memory::Offload::none) return "The timeline keeps all states on the GPU.";
  if (p.host_activations) return "The timeline keeps activations on the GPU.";
  if (p.expert > 1) return "The timeline follows a GPU that has all experts, and this plan splits them.";
  if (p.micro_batches > 4) return "The timeline follows up to 4 micro-batches, and this plan has more.";
  if (p.fused_gradients || p.dropout || p.kept_input_bytes > 0 || door.job.stack.slack_share > 0)
    return "The timeline knows no fused weight gradients, dropout, 8-bit inputs or slack, and this plan has some.";
  if (p.gathered_inputs && p.sequence_parallel)
    return "The timeline keeps each GPU's part of gathered inputs, and this software keeps them whole.";
  if (door.job.stack.reserve_bytes > 0)
    return "The timeline counts tensors alone, and this software keeps buffers next to them.";
  if (p.recompute == models::Recompute::selective && (p.every_second_product || p.fused_attention))
    return "The timeline recomputes scores or whole layers, and this plan other parts.";
  return {};
}

Link write_timeline(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  if (std::string why = not_in_timeline(door); !why.empty()) return Link::fail(std::move(why));
  const TrainingPlan& p = door.plan;
  constexpr std::array<std::string_view, 3> which{"none", "selective", "every_layer"};
  w.choice("which", which[static_cast<std::size_t>(p.recompute)]);
  w.choice("loss", loss_key(p));
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.exactly("batch", as_double(p.batch));
  w.exactly("sequence", as_double(p.sequence));
  w.exactly("micro_batches", as_double(p.micro_batches));
  w.exactly("tensor_parallel", as_double(p.tensor));
  w.toggle("sequence_parallel", p.sequence_parallel || p.tensor == 1);
  w.toggle("fused_attention", p.fused_attention);
  if (!write_recipe(w, door)) return Link::fail("That lab has no recipe with this plan's bytes of a parameter.");
  return w.link();
}

std::string_view schedule_key(const TrainingPlan& p) {
  constexpr std::array<std::string_view, models::pipeline_schedule_count> keys{
      "gpipe",      "1f1b",      "interleaved",   "zb_h1",          "zb_h2",         "zb_v",   "dualpipe",
      "dualpipe_v", "pipedream", "pipedream_2bw", "interleaved_zb", "breadth_first", "v_half", "v_min"};
  static_assert(keys.back() == "v_min");
  return p.virtual_pipeline > 1 && !models::loops_over_chunks(p.schedule) ? "interleaved"
                                                                          : keys[static_cast<std::size_t>(p.schedule)];
}

/// Schedules, times of a chunk's passes, and the stage that takes longer than the others.
Link write_pipeline(LinkWriter& w, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  if (p.pipeline == 1) return Link::fail("This plan has one stage: no stage waits for another.");
  // That lab draws up to 4,096 operations, so many micro-batches at most.
  constexpr std::int64_t most_drawn = 4096;
  models::parallel::PipelineSpec spec = models::parallel::schedule_spec(p);
  const std::int64_t drawn = spec.ranks * models::parallel::chunks_of(spec);
  spec.micro_batches = std::min(p.micro_batches, std::max<std::int64_t>(1, most_drawn / drawn / 2 * 2));
  if (p.virtual_pipeline > 1) spec.micro_batches = spec.micro_batches / p.pipeline * p.pipeline;
  if (spec.micro_batches < 1 || !models::parallel::check(spec))
    return Link::fail("The lab of pipelines draws up to 4,096 operations, and this order needs more.");
  const double chunks = as_double(models::memory::chunks_of_model(p) / p.pipeline);
  w.choice("schedule", schedule_key(p));
  w.choice("beside", "gpipe");
  w.exactly("stages", as_double(p.pipeline));
  w.exactly("micro_batches", as_double(spec.micro_batches));
  if (p.virtual_pipeline > 1) w.exactly("chunks", as_double(p.virtual_pipeline));
  const models::parallel::PassSplit& pass = door.work.other_pass;
  w.exactly("t_forward", pass.forward_s / chunks);
  w.exactly("t_backward_input", pass.input_s / chunks);
  w.exactly("t_backward_weight", pass.weight_s / chunks);
  // The planner's bubble is that of equal stages beside the slowest one, which 1F1B runs as long only where that is the
  // last.
  constexpr std::int64_t named_ranks = 64;
  const double slower = door.work.slowest_pass.total_s() / pass.total_s();
  const bool last = door.work.slowest_stage == p.pipeline - 1;
  if (last && schedule_key(p) == "1f1b" && p.pipeline <= named_ranks && slower > 1 && slower <= 10) {
    std::vector<double> factors(static_cast<std::size_t>(door.work.slowest_stage) + 1, 1.0);
    factors.back() = slower;
    w.numbers("rank_factors", factors);
  }
  return w.link();
}

/// The plan's step as a staircase, with no slow node and without a published end.
Link write_stairs(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  const bool uneven = door.job.architecture.layers % (p.pipeline * p.virtual_pipeline) != 0;
  if (p.schedule != models::PipelineSchedule::one_f_one_b)
    return Link::fail("That lab knows 1F1B alone, plain and interleaved.");
  if (p.shard_group > 0) return Link::fail("There ZeRO splits over all ranks.");
  if (p.offload != models::memory::Offload::none || p.host_activations || p.expert_tensor > 0)
    return Link::fail("That lab keeps everything on the GPU, and experts are cut as the layers are.");
  const Inputs usual;
  if (in.port_bytes_per_s != usual.port_bytes_per_s || in.hop_s != usual.hop_s ||
      in.gpus_per_node != usual.gpus_per_node || in.in_switch || in.in_network || in.segments != usual.segments ||
      in.gradients != usual.gradients || in.moments != usual.moments || in.context_by != usual.context_by ||
      door.job.cluster.is_torus() ||
      (p.recompute == models::Recompute::selective && !p.every_second_product &&
       p.modules != models::memory::bit(models::memory::RecomputeModule::core_attention)) ||
      p.ends_take_slots != (p.virtual_pipeline > 1 && uneven))
    return Link::fail("That lab has the named network, the chip's usual box and the software's own habits alone.");
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.choice("network", in.network);
  w.choice("format", in.format);
  w.choice("software", training_software_choices()[static_cast<std::size_t>(in.software)].id);
  w.choice("recompute", recompute_key(p));
  w.toggle("sequence_parallel", p.sequence_parallel || p.tensor == 1);
  w.toggle("published", false);
  const auto exactly = [&](std::string_view key, std::int64_t n) { w.exactly(key, as_double(n)); };
  exactly("gpus", in.gpus);
  exactly("global_batch", in.global_batch);
  exactly("sequence", p.sequence);
  exactly("tensor_parallel", p.tensor);
  exactly("pipeline_parallel", p.pipeline);
  exactly("virtual_pipeline", p.virtual_pipeline);
  exactly("context_parallel", p.context);
  exactly("expert_parallel", p.expert);
  exactly("zero_stage", p.zero_stage);
  exactly("micro_batch", p.batch);
  w.exactly("slow_node", 0);
  w.exactly("spread", 100 * door.job.stack.spread);
  return w.link();
}

/// Why a lab cannot hold the adapters of a plan that trains some; nothing where it can, or where all of a plan's sides
/// that it shows are without them: an order of passes whose times are the plan's, an exchange, one collective.
std::string without_adapters(const PlannerDoor& door, std::string_view lab) {
  if (!door.plan.frozen) return {};
  if (lab == "framework/memory-timeline")
    return "The timeline gives every weight gradients and states, and in this plan adapters alone have some.";
  if (lab == "distributed/overlap")
    return "The lab of overlap exchanges gradients of all weights, and this plan those of adapters.";
  if (lab == "distributed/tensor-parallel")
    return "The lab of tensor parallelism has no adapters, and this plan's send something too.";
  if (lab == "distributed/context")
    return "The lab of context parallelism counts memory with all weights trained, and this plan trains adapters.";
  if (lab == "distributed/moe" && door.plan.adapter_targets == models::memory::AdapterTargets::all_linear)
    return "The lab of experts has none with adapters, and this plan's have some.";
  if (lab == "distributed/topology")
    return "The lab of topology sends gradients of all weights, and this plan those of adapters.";
  if (lab == "fleet/scaling-tax") return "That lab trains all weights, and this plan adapters beside frozen ones.";
  return {};
}

}  // namespace

std::span<const DoorTo, plan_door_count> plan_doors() { return doors; }

Link link_to(const Inputs& in, const PlanCard& card, std::string_view lab) {
  const auto job = job_of(in);
  if (!job) return Link::fail(job.error);
  const PlannerDoor door(*job, card.price);
  if (std::string why = without_adapters(door, lab); !why.empty()) return Link::fail(std::move(why));
  LinkWriter w(lab);
  if (lab == "framework/training-memory") return write_training_memory(w, in, door);
  if (lab == "distributed/memory-split") return write_split(w, in, door);
  if (lab == "framework/memory-timeline") return write_timeline(w, in, door);
  if (lab == "distributed/pipeline") return write_pipeline(w, door);
  if (lab == "fleet/scaling-tax") return write_stairs(w, in, door);
  return write_exchange(w, in, door, lab);
}

void add_doors(const Inputs& in, PlanCard& card) {
  card.doors.clear();
  if (card.name.empty()) return;
  card.doors = lab_doors(doors, [&](std::string_view lab) { return link_to(in, card, lab); });
}

}  // namespace chapters::distributed::planner
