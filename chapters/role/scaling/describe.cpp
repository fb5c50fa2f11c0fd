#include "chapters/mechanism/shared_choices.h"
#include "chapters/role/scaling/lab.h"

namespace chapters::role::scaling {
namespace {

const Choices rules{
    {"shared_batch", "One batch, shared", "Strong scaling: the batch stays, and each replica gets a smaller part."},
    {"own_batch", "A batch each", "Weak scaling: each replica keeps its own, so that the whole batch grows."}};
static_assert(models::batch_rule_count == 2);
const Choices algorithms{
    {"ring", "Ring", "One ring through all ranks, as many at once as a node has ports."},
    {"tree", "Tree", "A chain inside nodes, a double binary tree of nodes; pipelined."},
    {"hierarchical", "Hierarchical", "Reduce-scatter inside nodes, rings between them, all-gather inside."},
    {"fastest", "Fastest", "The one of these that takes least."}};
static_assert(models::all_reduce_algorithm_count == 4);
const Choices kinds{{"normal", "Normal", "Each GPU and step by itself."},
                    {"exponential", "Exponential tail", "A least time and pauses beyond it."},
                    {"uniform", "Uniform", "Within fixed limits."},
                    {"rare", "Rare and slow", "Nearly all alike; now and then one is slow."}};
static_assert(models::slowness_kind_count == 4);
const Choices series{{"internlm_shared", "InternLM 7B, one batch", "A100, 2,048 sequences of 2,048 tokens."},
                     {"internlm_own", "InternLM 7B, a batch each", "A100, eight sequences a GPU."},
                     {"llama_405b", "Llama 3.1 405B, MLPerf", "H100, brought to 1,152 sequences of 8,192 tokens."},
                     {"gpt_177b", "GPT 177B, Megatron", "H100, 1,152 sequences of 4,096 tokens."},
                     {"decode_7b", "Llama-2-7B decode, gpt-fast", "A100, a token of one sequence, tensor parallel."},
                     {"maxtext_16b", "MaxText 16B, TPU v5e", "Pods of 256 chips; known up to a factor."},
                     {"points", "Your own points", "The table below; a point that is dragged goes there."}};
static_assert(series_count == 7);
constexpr std::string_view amdahl = "Amdahl, AFIPS 1967";
constexpr std::string_view orders = "David, Nagaraja, Order Statistics, 2003";
constexpr std::string_view nccl = "steps as NCCL's tuner counts them, bytes as 2 (N - 1) / N";
constexpr std::string_view no_fit =
    "With a batch each there is nothing to share out, and a fit needs points at two counts of GPUs.";

}  // namespace

void describe(Fields& f, PointRow& r) {
  f.integer("gpus", r.gpus, {.label = "GPUs", .lo = 1, .hi = 1e6, .scale = Scale::log});
  f.real("step_s", r.step_s, {.label = "A step", .unit = "s", .lo = 1e-6, .hi = 1e6, .scale = Scale::log});
}

void describe(Fields& f, Inputs& in) {
  f.group("The run");
  shared::cluster_chips(f, "gpus", in.gpus, {.label = "GPUs", .help = "That work on one step together."});
  f.choice("rule", in.rule, rules, {.label = "Scaling", .help = "What happens to the batch when there are more GPUs."});
  shared::batch(f, "batch", in.batch,
                {.help = "Sequences of one step, shared by all.", .when = {"rule", "shared_batch"}});
  f.integer("own_sequences", in.own_sequences,
            {
                .label = "Sequences a replica",
                .help = "Of one step, whatever the number of replicas.",
                .lo = 1,
                .hi = 4096,
                .scale = Scale::log,
                .when = {"rule", "own_batch"},
            });
  f.real("sequence_gpu_s", in.sequence_gpu_s,
         {
             .label = "One sequence",
             .unit = "s",
             .help = "GPU-seconds of its forward and backward pass: seconds on one GPU alone.",
             .lo = 1e-6,
             .hi = 1e4,
             .scale = Scale::log,
             .typical_lo = 1e-3,
             .typical_hi = 100,
         });
  f.integer("replica_gpus", in.replica_gpus,
            {
                .label = "GPUs a replica",
                .help = "Tensor x pipeline x context parallel: one copy of the model.",
                .lo = 1,
                .hi = 1024,
                .scale = Scale::log,
            });
  f.real("fixed_s", in.fixed_s,
         {
             .label = "Not shared",
             .unit = "s",
             .help = "Takes as long on any number of GPUs: Amdahl's serial part.",
             .lo = 0,
             .hi = 100,
             .typical_hi = 1,
         });
  f.group("Gradients");
  f.choice("algorithm", in.algorithm, algorithms,
           {.label = "All-reduce", .help = "How the gradients of all replicas are summed.", .headline = true});
  f.real("overlap", in.overlap,
         {.label = "Overlap",
          .unit = "%",
          .help = "Share of the all-reduce that runs beside the backward pass, which is two thirds of the compute. "
                  "Where micro-batches are accumulated, the last one's alone can hide it.",
          .lo = 0,
          .hi = 100,
          .headline = true});
  f.real("gradient_bytes", in.gradient_bytes,
         {
             .label = "Gradients",
             .unit = "B",
             .help = "Of the whole model, in the format that is summed.",
             .lo = 1e3,
             .hi = 1e13,
             .scale = Scale::log,
             .typical_lo = 1e8,
             .typical_hi = 1e12,
         });
  f.integer("buckets", in.buckets,
            {
                .label = "Buckets",
                .help = "All-reduces that the gradients are cut into; each has the latency anew.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::log,
            });
  f.group("Links");
  f.real("between_bytes_per_s", in.between_bytes_per_s,
         {
             .label = "Between nodes",
             .unit = "B/s",
             .help = "Of one GPU, one direction, as reached: 47 GB/s of a 400 Gb/s port.",
             .lo = 1e8,
             .hi = 1e12,
             .scale = Scale::log,
         });
  f.real("inside_bytes_per_s", in.inside_bytes_per_s,
         {
             .label = "Inside a node",
             .unit = "B/s",
             .help = "Of one GPU, one direction, as reached: NVLink of an A100 240 GB/s, of an H100 370.",
             .lo = 1e8,
             .hi = 1e13,
             .scale = Scale::log,
         });
  f.integer("gpus_per_node", in.gpus_per_node,
            {.label = "GPUs a node", .help = "Behind one fast switch.", .lo = 1, .hi = 576, .scale = Scale::log});
  f.real("between_hop_s", in.between_hop_s,
         {
             .label = "A step between",
             .unit = "s",
             .help = "Latency to a neighbour in another node; NCCL's table: 14 us for large messages, 2.7 for small.",
             .lo = 1e-8,
             .hi = 1e-2,
             .scale = Scale::log,
         });
  f.real("inside_hop_s", in.inside_hop_s,
         {
             .label = "A step inside",
             .unit = "s",
             .help = "Latency to a neighbour in the node; NCCL's table: 3.4 us for large messages, 0.6 for small.",
             .lo = 1e-8,
             .hi = 1e-2,
             .scale = Scale::log,
         });
  f.group("The slowest");
  f.choice("slowness", in.slowness, kinds,
           {.label = "Times vary", .help = "How the compute time differs from GPU to GPU and step to step."});
  f.real("spread", in.spread,
         {
             .label = "Spread",
             .unit = "%",
             .help = "Standard deviation over the compute time; with rare and slow, how much longer a slow one takes.",
             .lo = 0,
             .hi = 100,
             .typical_hi = 10,
             .headline = true,
         });
  f.real("rare_share", in.rare_share,
         {
             .label = "Slow GPUs",
             .unit = "%",
             .help = "Probability that a GPU is slow in a step.",
             .lo = 1e-5,
             .hi = 100,
             .scale = Scale::log,
             .when = {"slowness", "rare"},
         });
  f.integer("seed", in.seed, {.label = "Seed", .help = "Of the steps that are drawn.", .lo = 1, .hi = 999});
  f.group("Money");
  f.real("price", in.price,
         {.label = "A GPU-hour",
          .unit = "$",
          .help = "What one GPU costs an hour.",
          .lo = 0.01,
          .hi = 100,
          .scale = Scale::log});
  f.integer("steps", in.steps,
            {.label = "Steps",
             .help = "Of the run; with a batch each, those that the smallest cluster would take.",
             .lo = 1,
             .hi = 1e8,
             .scale = Scale::log});
  f.group("Measured");
  f.choice("series", in.series, series, {.label = "Points", .help = "A published table of the same job on more GPUs."});
  f.table("points", in.points,
          {.label = "Your points", .help = "Measured steps.", .when = {"series", "points"}, .max_items = 16});
}

void describe(Fields& f, ComparedRow& r) {
  f.integer("gpus", r.gpus, {.label = "GPUs"});
  f.real("measured_s", r.measured_s, {.label = "Measured", .unit = "s", .help = "One step."});
  f.real("model_s", r.model_s,
         {.label = "Model",
          .unit = "s",
          .help = "Of this lab's inputs.",
          .may_be_missing = true,
          .absent = "No whole number of replicas, or more GPUs than this lab computes."});
  f.real("model_error", r.model_error,
         {.label = "Error",
          .unit = "%",
          .may_be_missing = true,
          .absent = "There is no model's figure.",
          .formula = "model / measured - 1"});
  f.real("fit_s", r.fit_s,
         {.label = "Amdahl", .unit = "s", .may_be_missing = true, .absent = no_fit, .source = amdahl});
  f.real("fit_error", r.fit_error,
         {.label = "Error", .unit = "%", .may_be_missing = true, .absent = no_fit, .formula = "fit / measured - 1"});
}

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.step.step_s,
         {.label = "One step",
          .unit = "s",
          .headline = true,
          .formula = "compute + slowest + exposed communication + not shared"});
  f.real("speedup", o.speedup,
         {.label = "Speed-up",
          .help = "Work per time over that of one GPU; one replica counts as perfect.",
          .headline = true,
          .formula = "GPUs x efficiency"});
  f.real("efficiency", o.efficiency,
         {.label = "Efficiency", .unit = "%", .headline = true, .formula = "ideal step / step"});
  f.real("ideal_step_s", o.ideal_step_s,
         {.label = "Ideal step", .unit = "s", .help = "One replica's, shared out without any loss."});
  f.real("compute_s", o.step.compute_s,
         {.label = "Compute",
          .unit = "s",
          .help = "Of the replica with most sequences.",
          .formula = "ceil(sequences / replicas) x one sequence / GPUs a replica"});
  f.real("uneven_s", o.step.loss_s[0],
         {.label = "Unevenly shared", .unit = "s", .help = "Some replicas have a sequence more, and the others wait."});
  f.real("slowest_s", o.step.slowest_s,
         {.label = "Waiting for the slowest", .unit = "s", .formula = "compute x (E[max of N] - 1)", .source = orders});
  f.real("all_reduce_s", o.all_reduce_s, {.label = "All-reduce", .unit = "s", .source = nccl});
  f.real("latency_s", o.step.all_reduce.latency_s, {.label = "of it latency", .unit = "s", .source = nccl});
  f.real("hidden_s", o.step.hidden_s,
         {.label = "Hidden", .unit = "s", .formula = "min(overlap x all-reduce, 2/3 compute)"});
  f.real("exposed_s", o.step.exposed_s, {.label = "Exposed", .unit = "s", .formula = "all-reduce - hidden"});
  f.real("communication_share", o.communication_share,
         {.label = "Exposed, of the step", .unit = "%", .formula = "exposed / step"});
  f.group("More GPUs");
  f.integer("fastest_gpus", o.fastest.gpus,
            {.label = "Fastest with",
             .help = "GPUs; of 1, 2, 4, ... replicas, up to 16,384 GPUs or yours.",
             .headline = true});
  f.real("fastest_step_s", o.fastest.step_s,
         {.label = "Its step",
          .unit = "s",
          .help = "The shortest of those; with a batch each, of the most work per time."});
  f.real("next_time", o.next_time,
         {.label = "Twice as many save",
          .unit = "%",
          .help = "Of the run's time; below 0 where it gets longer.",
          .formula = "1 - time with 2 N / time"});
  f.real("next_cost", o.next_cost, {.label = "and cost more", .unit = "%", .formula = "2 x time with 2 N / time - 1"});
  f.real("run_s", o.run_s,
         {.label = "The run", .unit = "s", .formula = "steps x one replica's step x its GPUs / speed-up"});
  f.real("cost", o.cost, {.label = "costs", .unit = "$", .formula = "GPUs x time x price"});
  f.real("ideal_cost", o.ideal_cost,
         {.label = "and would ideally", .unit = "$", .help = "On one replica, however long that takes."});
  f.group("Gradients");
  f.real("ring_bytes", o.ring_bytes,
         {.label = "Sent by each GPU",
          .unit = "B",
          .help = "Through a ring.",
          .formula = "2 (N - 1) / N x gradients a GPU",
          .source = "Patarasuk, Yuan 2009"});
  f.real("ring_s", o.ring_s, {.label = "Ring", .unit = "s", .source = nccl});
  f.real("tree_s", o.tree_s, {.label = "Tree", .unit = "s", .source = nccl});
  f.real("hierarchical_s", o.hierarchical_s, {.label = "Hierarchical", .unit = "s", .source = nccl});
  f.group("The slowest of N");
  f.real("slowest", o.slowest,
         {.label = "Expected", .unit = "%", .help = "Beyond the compute time.", .source = orders});
  f.real("slowest_simulated", o.slowest_simulated,
         {.label = "Drawn",
          .unit = "%",
          .help = "Every GPU of some steps, and the slowest of each.",
          .may_be_missing = true,
          .absent = "More than 65,536 GPUs are not drawn one by one."});
  f.real("slowest_error", o.slowest_error,
         {.label = "Standard error",
          .unit = "%",
          .help = "Of the mean over the steps drawn.",
          .may_be_missing = true,
          .absent = "More than 65,536 GPUs are not drawn one by one."});
  f.group("Measured points");
  f.real("measured_speedup", o.measured_speedup,
         {.label = "First to last",
          .help = "Times as fast as the smallest of the measured runs.",
          .may_be_missing = true,
          .absent = "There are no points.",
          .formula = "work per time at most GPUs / at least"});
  f.real("measured_efficiency", o.measured_efficiency,
         {.label = "Efficiency between",
          .unit = "%",
          .may_be_missing = true,
          .absent = "There are no points.",
          .formula = "first to last / ratio of GPUs"});
  f.real("serial_share", o.serial_share,
         {.label = "Serial share",
          .unit = "%",
          .may_be_missing = true,
          .absent = no_fit,
          .formula = "a / (a + b) of a + b / N",
          .source = amdahl});
  f.real("serial_s", o.serial_s,
         {.label = "Serial time",
          .unit = "s",
          .help = "Of a step, by the fit.",
          .may_be_missing = true,
          .absent = no_fit,
          .source = amdahl});
  f.real("limit", o.limit,
         {.label = "Never more than",
          .help = "Times as fast as one GPU, by the fit.",
          .may_be_missing = true,
          .absent = "The fit has no serial part, or there is none.",
          .formula = "1 / serial share"});
  f.real("fit_rms", o.fit_rms,
         {.label = "Fit's error", .unit = "%", .help = "Root mean square.", .may_be_missing = true, .absent = no_fit});
  f.real("model_rms", o.model_rms,
         {.label = "Model's error",
          .unit = "%",
          .help = "Root mean square over the points.",
          .may_be_missing = true,
          .absent = "None of the points is one that the model can compute."});
  f.table("compared", o.compared, {.label = "Points"});
}

void describe(Fields& f, View& v) {
  f.toggle(
      "linear", v.linear,
      {.label = "Linear axes", .help = "Without logarithms, as far as four times the most GPUs that were measured."});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "role/scaling", .title = "Scaling", .question = "How much faster are more GPUs, and at what price?"},
      compute, arrange, draw);
}

}  // namespace chapters::role::scaling
