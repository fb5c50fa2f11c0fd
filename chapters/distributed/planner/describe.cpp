#include "chapters/described/training_memory.h"
#include "chapters/described/training_software.h"
#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::planner {
namespace {

/// What the planner's own choice of software leaves to the learner: all but every second matmul.
const Choices& given_up() {
  static const Choices choices(given_up_choices().begin(), given_up_choices().end() - 1);
  return choices;
}

}  // namespace

std::string_view software_label(models::parallel::StackId id) {
  return training_software_choices()[static_cast<std::size_t>(id)].label;
}

namespace {

void describe_filters(Fields& f, Inputs& in) {
  f.group("Only these");
  f.integer("max_tensor", in.max_tensor, "Tensor at most", "Plans whose layers are shared by more GPUs are left out.",
            {.range = {1, 72, Scale::log}, .typical = {1, 8}});
  f.integer("max_pipeline", in.max_pipeline, "Stages at most", "Plans with more stages are left out.",
            {.range = {1, 128, Scale::log}, .typical = {1, 64}});
  f.integer("max_zero", in.max_zero, "ZeRO at most", "Plans that split more than this stage of ZeRO are left out.",
            {.range = {0, 3}});
  f.toggle("context_plans", in.context_plans, "Context parallel too", "Whether plans may split sequences over GPUs.");
  f.toggle("recompute_plans", in.recompute_plans, "Recomputation too",
           "Whether plans may recompute layers in the backward pass.");
  f.real(
      "keep_free_bytes", in.keep_free_bytes, {"Keep free", "B"},
      "What of each GPU's memory stays free: CUDA context, communication buffers, fragments of the allocator. With 2 "
      "GB a context of half a gigabyte and the buffers of a few communicators have room.",
      {.range = {0, 64e9}, .typical = {0, 16e9}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The job");
  shared::model(f, "model", in.model, {.help = "What is trained."});
  shared::chip(f, "chip", in.chip, {.help = "Its memory is the wall, its peaks and links set the times."});
  shared::cluster_chips(f, "gpus", in.gpus, {.label = "GPUs", .help = "All of them train this one model."});
  shared::global_batch(f, "global_batch", in.global_batch,
                       {.help = "Sequences of one optimizer step, over all GPUs.", .headline = true});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  describe_step_format(f, in);
  describe_adapters(f, in.adapter_rank, in.adapter_targets, in.frozen);
  f.group("Your plan");
  describe_plan_axes(f, in);
  f.integer("shard_group", in.shard_group, "ZeRO splits over",
            "Data-parallel ranks that share one copy of the states; the groups are replicas of each other (hybrid "
            "sharding). 0: all ranks.",
            {.range = {0, 1'000'000}, .typical = {0, 1024}});
  f.integer("expert_tensor", in.expert_tensor, "An expert is shared by",
            "GPUs that share every expert, where the model has some. 0: all that share the layers, as far as they go.",
            {.range = {0, 64}, .typical = {0, 8}});
  f.toggle("offload", in.offload, "Optimizer on the host",
           "Master weights and moments lie in the host's memory, and the host updates them: gradients go down and "
           "weights come up through PCIe. The host's memory gives each GPU 50 GB/s, which is assumed.");
  f.toggle("host_activations", in.host_activations, "Activations on the host",
           "What layers keep goes to the host's memory and comes back for their backward pass, next to the arithmetic; "
           "what PCIe or the host's 50 GB/s a GPU, which is assumed, takes longer is waited for.");
  describe_plan_passes(f, in, true);
  f.choice("given_up", in.given_up, given_up(), "Selective gives up",
           "What selective recomputation runs again. Software that recomputes every second matmul does that instead.");
  f.choice("order", in.order, pass_order_choices(), "Order of the passes",
           "When each stage of the pipeline does which pass; the search tries those that the software runs.");
  describe_sequence_parallel(f, in);
  f.toggle("ends_take_slots", in.ends_take_slots, "Ends count as layers",
           "Embedding and loss take a layer's place each where layers do not divide over the chunks, as for Llama 3 "
           "405B.");
  f.group("Software and network");
  describe_step_software(f, in);
  f.choice("gradients", in.gradients, kept_width_choices(), "Gradients in",
           "The format in which gradients are summed over micro-batches and GPUs.");
  f.choice("moments", in.moments, kept_width_choices(), "Moments in", "The format of the optimizer's two moments.");
  f.choice("context_by", in.context_by, context_by_choices(), "Sequences shared by",
           "How the GPUs that share a sequence bring queries and keys together, in your plan and in all others.");
  shared::network(f, "network", in.network, {.help = "The port of each GPU between nodes."});
  f.real("port_bytes_per_s", in.port_bytes_per_s, {"Port of each GPU", "B/s"},
         "One direction, in place of the named network's: 3.125 GB/s is a GPU's eighth of 200 Gb/s a node, 50 GB/s a "
         "400 Gb/s port of its own. 0: the named network's.",
         {.range = {0, 1e12}, .typical = {0, 1e11}});
  f.real("hop_s", in.hop_s, {"Step to another node", "s"},
         "Latency of one step of a ring that leaves a node: 14 us as NCCL's tuner has it.",
         {.range = {0, 1e-3}, .typical = {0, 5e-5}, .source = "NCCL, src/graph/tuning.cc"});
  f.integer(
      "gpus_per_node", in.gpus_per_node, "GPUs per node",
      "GPUs that the fast links join. 0: the chip's usual box, 8, 72 of an NVL72 rack, or a slice of a TPU's torus.",
      {.range = {0, 1024}, .typical = {0, 72}});
  f.toggle("in_switch", in.in_switch, "Switches add",
           "All-reduces inside one node may be summed in its switches (NVLink SHARP, Hopper and later). Scatters and "
           "gathers, of sequence parallelism and ZeRO, gain nothing. The constants were set without.");
  f.toggle("in_network", in.in_network, "InfiniBand adds",
           "All-reduces that leave a node may be summed in InfiniBand's switches (SHARP), as the lab of collectives "
           "times them. Scatters and gathers gain nothing. The constants were set without.");
  f.choice("segments", in.segments, segment_choices(), "Allocator", "What the caching allocator leaves in fragments.");
  describe_filters(f, in);
}

void describe(Fields& f, PlanRow& r) {
  f.text("plan", r.plan, "Plan", "Tensor, context, pipeline, expert and data parallel.");
  f.text("details", r.details, "Details", "Micro-batches, chunks, ZeRO, recomputation.");
  f.real("step_s", r.step_s, {"Step", "s"}, "One optimizer step.");
  f.real("memory_bytes", r.memory_bytes, {"Memory", "B"}, "What the fullest GPU holds.");
  f.real("mfu", r.mfu, {"MFU", "%"}, "Model flops over the peak.");
  f.real("later", r.later, {"Longer than the best", "%"}, "By how much its step is longer.");
}

void describe(Fields& f, LostRow& r) {
  f.text("cause", r.cause, "Cause", "What a step's time goes to.");
  f.real("seconds", r.seconds, {"More", "s"}, "Seconds that the runner-up needs more; negative: it needs less.");
}

namespace {

constexpr std::string_view no_plan = "No plan fits this memory.", no_run = "Your plan cannot run.";

void describe_yours(Fields& f, Outputs& o) {
  f.group("Your plan");
  f.real("step_time_s", o.yours.step_s, {"Your step", "s"},
         {.headline = true,
          .absent = no_run,
          .formula = "micro-batches x slowest stage + bubble + exposed communication + optimizer"});
  f.real("mfu", o.mfu, {"MFU", "%"}, "Causal attention counted at half, recomputation not counted.",
         {
             .headline = true,
             .absent = no_run,
             .formula = "model flops / (step x GPUs x peak of the format)",
             .source = "Chowdhery et al. 2022, appendix B, with causal attention at half",
         });
  f.real("memory_bytes", o.yours.memory_bytes, {"Your memory per GPU", "B"}, "On the stage that needs most.",
         {.headline = true, .absent = no_run, .formula = "states + activations in flight + spike + buffers"});
  f.toggle("fits", o.fits, "Fits", "Its memory is within the chip's, less what is kept free.");
  f.toggle("chip_compared", o.chip_compared, "Chip compared",
           "Published runs of this chip are among those that the times were held against. Where not, the shares of its "
           "peaks are those of its generation, or assumed.");
  f.real("plan_rank", o.plan_rank, "Your rank",
         "By time alone: a plan beyond the wall is given the place that it would have.",
         {.headline = true, .absent = no_run, .formula = "1 + plans that fit and are faster"});
  f.real("behind_best", o.behind_best, {"Longer than the best", "%"},
         {.absent = "No plan fits this memory, or yours cannot run.", .formula = "step / best step - 1"});
  f.real("tokens_per_s", o.tokens_per_s, {"Tokens a second", "tokens/s"},
         {.absent = no_run, .formula = "batch x sequence / step"});
  f.text("plan_problem", o.plan_problem, "Why it cannot run", "Why your plan cannot run; empty where it can.");
}

void describe_all_plans(Fields& f, Outputs& o) {
  f.group("All plans");
  f.integer("plans_total", o.plans_total, "Plans that can run", "Priced, whether or not they fit.",
            {.range = {0, 1e9}});
  f.integer("plans_fit", o.plans_fit, "Plans that fit", "Within the memory.", {.range = {0, 1e9}});
  f.real("wall_bytes", o.wall_bytes, {"Memory to fit in", "B"}, {.formula = "the chip's memory - what is kept free"});
  f.real("least_memory_bytes", o.least_memory_bytes, {"Least memory", "B"},
         {.absent = "No plan can run.", .formula = "least memory of all plans that can run"});
  f.real("best_step_time_s", o.best_step_time_s, {"Best step", "s"},
         {.absent = no_plan, .formula = "least step time of all plans that fit"});
  f.real("best_mfu", o.best_mfu, {"Its MFU", "%"}, {.absent = no_plan, .formula = "as of yours"});
  f.real("best_memory_bytes", o.best_memory_bytes, {"Its memory", "B"}, {.absent = no_plan, .formula = "as of yours"});
  f.text("best_plan", o.best_plan, "Best plan", "The fastest that fits; empty where none does.");
  f.text("runner_up", o.runner_up, "Runner-up", "The second fastest that fits.");
  f.real("runner_up_lost_s", o.runner_up_lost_s, {"It lost", "s"},
         {.absent = "Fewer than two plans fit.", .formula = "its step - best step"});
  f.real("runner_up_later", o.runner_up_later, {"Longer than the best", "%"},
         {.absent = "Fewer than two plans fit.", .formula = "its step / best step - 1"});
  f.table("lost", o.lost, "Why it lost",
          "By cause, the largest difference first; causes under a thousandth of the step are left out.",
          {.max_items = 12});
  f.real("near_best", o.near_best, "Within 5 %",
         {.absent = no_plan, .formula = "plans that fit whose step is at most 1.05 of the best"});
  f.real("beyond_step_s", o.beyond_step_s, {"Without the memory limit", "s"},
         {.absent = "No plan that needs more memory is faster.", .formula = "least step time of all plans"});
  f.real("beyond_memory_bytes", o.beyond_memory_bytes, {"It would take", "B"},
         {.absent = "No plan that needs more memory is faster.", .formula = "its memory"});
}

void describe_parts(Fields& f, Outputs& o) {
  f.group("Seconds of your step");
  using models::parallel::PlanCause;
  const auto part = [&](std::string_view key, PlanCause cause, std::string_view label, std::string_view help) {
    f.real(key, o.yours.parts[cause], {label, "s"}, help, {.absent = no_run});
  };
  part("products_s", PlanCause::products, "Matmuls", "Those of the slowest stage.");
  part("attention_s", PlanCause::attention, "Attention", "Scores, softmax and values.");
  part("elements_s", PlanCause::elements, "Element-wise", "Norms, activation functions, casts, the loss.");
  part("recompute_s", PlanCause::recompute, "Recomputed", "What the backward pass computes once more.");
  part("tensor_s", PlanCause::tensor, "Tensor parallel", "Its communication, as far as nothing hides it.");
  part("context_s", PlanCause::context, "Context parallel", "Keys and values that attention waits for, and merging.");
  part("expert_s", PlanCause::expert, "Expert parallel", "Tokens on their way to experts and back.");
  part("pipeline_s", PlanCause::pipeline, "Between stages", "Transfers that nothing hides.");
  part("bubble_s", PlanCause::bubble, "Bubble", "Filling and draining the pipeline.");
  part("data_s", PlanCause::data, "Data parallel", "Gradients and weights that nothing hides.");
  part("optimizer_s", PlanCause::optimizer, "Optimizer", "Reading and writing states.");
  part("other_s", PlanCause::other, "Host and stragglers", "The loop of the host, waiting for the slowest node.");
  part("host_s", PlanCause::host, "Copies to the host", "Activations on their way, as far as nothing hides them.");
  f.group("Bytes of your fullest GPU");
  using models::memory::MemoryOwner;
  const auto bytes = [&](std::string_view key, MemoryOwner owner, std::string_view label) {
    f.real(key, o.held[owner], {label, "B"}, "On your plan's fullest stage, at its fullest moment.",
           {.absent = no_run});
  };
  bytes("weights_bytes", MemoryOwner::weights, "Weights");
  bytes("gradients_bytes", MemoryOwner::gradients, "Gradients");
  bytes("master_bytes", MemoryOwner::master, "Master weights");
  bytes("optimizer_bytes", MemoryOwner::optimizer, "Moments");
  bytes("activations_bytes", MemoryOwner::activations, "Activations");
  bytes("logits_bytes", MemoryOwner::logits, "Logits");
  bytes("temporary_bytes", MemoryOwner::temporary, "Temporary");
  bytes("buffers_bytes", MemoryOwner::buffers, "Buffers");
  bytes("slack_bytes", MemoryOwner::slack, "Slack");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_yours(f, o);
  describe_all_plans(f, o);
  describe_parts(f, o);
  f.group("The fastest that fit");
  f.table("plans", o.plans, "Plans", "The fastest forty that fit.", {.max_items = 64});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/planner", "Planner", "Which plan is fastest, and what does it have to fit through?", {.job = true}},
      [searches = std::make_shared<Searches>()](const Inputs& in, Progress& progress) {
        return compute(in, progress, *searches);
      },
      arrange, draw);
}

}  // namespace chapters::distributed::planner
