#include "chapters/described/step_choices.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/role/scaling/lab.h"

namespace chapters::role::scaling {
namespace {

const Choices rules{
    {"shared_batch", "One batch, shared", "Strong scaling: the batch stays, and each replica gets a smaller part."},
    {"own_batch", "A batch each", "Weak scaling: each replica keeps its own, so that the whole batch grows."}};
static_assert(models::batch_rule_count == 2);
const Choices kinds{{"normal", "Normal", "Each GPU and step by itself."},
                    {"exponential", "Exponential tail", "A least time and pauses beyond it."},
                    {"uniform", "Uniform", "Within fixed limits."},
                    {"rare", "Rare and slow", "Nearly all alike; now and then one is slow."}};
static_assert(models::slowness_kind_count == 4);
const Choices series{{"internlm_shared", "InternLM 7B, one batch", "A100, 2,048 sequences of 2,048 tokens."},
                     {"internlm_own", "InternLM 7B, a batch each", "A100, eight sequences per GPU."},
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
  f.integer("gpus", r.gpus, "GPUs", {.range = {1, 1e6, Scale::log}});
  f.real("step_s", r.step_s, {"Step", "s"}, {.range = {1e-6, 1e6, Scale::log}});
}

void describe(Fields& f, Inputs& in) {
  f.group("The run");
  shared::cluster_chips(f, "gpus", in.gpus, {.label = "GPUs", .help = "That work on one step together."});
  f.choice("rule", in.rule, rules, "Scaling", "What happens to the batch when there are more GPUs.");
  shared::global_batch(
      f, "batch", in.batch,
      {.label = "Batch", .help = "Sequences of one step, shared by all.", .when = {"rule", "shared_batch"}});
  f.integer("own_sequences", in.own_sequences, "Sequences per replica",
            "Each replica's part of one step, whatever the number of replicas.",
            {.range = {1, 4096, Scale::log}, .when = {"rule", "own_batch"}});
  f.real("sequence_gpu_s", in.sequence_gpu_s, {"One sequence", "s"},
         "GPU-seconds of its forward and backward pass: seconds on one GPU alone.",
         {.range = {1e-6, 1e4, Scale::log}, .typical = {1e-3, 100}});
  f.integer("replica_gpus", in.replica_gpus, "GPUs per replica",
            "Tensor × pipeline × context parallel: one copy of the model.", {.range = {1, 1024, Scale::log}});
  f.real("fixed_s", in.fixed_s, {"Not shared", "s"}, "Takes as long on any number of GPUs: Amdahl's serial part.",
         {.range = {0, 100}, .typical = {0, 1}});
  f.group("Gradients");
  f.choice("algorithm", in.algorithm, all_reduce_choices(), "All-reduce",
           "How the gradients of all replicas are summed.", {.headline = true});
  f.real("overlap", in.overlap, {"Overlap", "%"},
         "Share of the all-reduce that runs during the backward pass, which is two thirds of the compute. Where "
         "micro-batches are accumulated, only the last one can hide it.",
         {.range = {0, 100}, .headline = true});
  f.real("gradient_bytes", in.gradient_bytes, {"Gradients", "B"},
         "Those of the whole model, in the format that is summed.",
         {.range = {1e3, 1e13, Scale::log}, .typical = {1e8, 1e12}});
  f.integer("buckets", in.buckets, "Buckets", "All-reduces that the gradients are cut into; each has the latency anew.",
            {.range = {1, 1000, Scale::log}});
  f.group("Links");
  f.real("between_bytes_per_s", in.between_bytes_per_s, {"Between nodes", "B/s"},
         "What one GPU reaches in one direction: 47 GB/s of a 400 Gb/s port.", {.range = {1e8, 1e12, Scale::log}});
  f.real("inside_bytes_per_s", in.inside_bytes_per_s, {"Inside a node", "B/s"},
         "What one GPU reaches in one direction: 240 GB/s over NVLink of an A100, 370 of an H100.",
         {.range = {1e8, 1e13, Scale::log}});
  f.integer("gpus_per_node", in.gpus_per_node, "GPUs per node", "Behind one fast switch.",
            {.range = {1, 576, Scale::log}});
  describe_between_hop(f, in.between_hop_s, 1e-2);
  describe_inside_hop(f, in.inside_hop_s, 1e-2);
  f.group("The slowest");
  f.choice("slowness", in.slowness, kinds, "Times vary",
           "How the compute time differs from GPU to GPU and step to step.");
  f.real("spread", in.spread, {"Spread", "%"},
         "Standard deviation over the compute time; with rare and slow, how much longer a slow one takes.",
         {.range = {0, 100}, .typical = {0, 10}, .headline = true});
  f.real("rare_share", in.rare_share, {"Slow GPUs", "%"}, "Probability that a GPU is slow in a step.",
         {.range = {1e-5, 100, Scale::log}, .when = {"slowness", "rare"}});
  f.integer("seed", in.seed, "Seed", "Another seed draws other steps.", {.range = {1, 999}});
  f.group("Money");
  f.real("price", in.price, {"Price per GPU-hour", "$"}, "What one GPU costs per hour.",
         {.range = {0.01, 100, Scale::log}});
  f.integer("steps", in.steps, "Steps",
            "Steps of the run; with a batch each, those that the smallest cluster would take.",
            {.range = {1, 1e8, Scale::log}});
  f.group("Measured");
  f.choice("series", in.series, series, "Points", "A published table of the same job on more GPUs.");
  f.table("points", in.points, "Your points", "Measured steps.", {.when = {"series", "points"}, .max_items = 16});
}

void describe(Fields& f, ComparedRow& r) {
  f.integer("gpus", r.gpus, "GPUs");
  f.real("measured_s", r.measured_s, {"Measured", "s"}, "One step.");
  f.real("model_s", r.model_s, {"Model", "s"}, "What this lab says of its inputs.",
         {.absent = "No whole number of replicas, or more GPUs than this lab computes."});
  f.real("model_error", r.model_error, {"Error", "%"},
         {.absent = "There is no model's figure.", .formula = "model / measured - 1"});
  f.real("fit_s", r.fit_s, {"Amdahl", "s"}, {.absent = no_fit, .source = amdahl});
  f.real("fit_error", r.fit_error, {"Error", "%"}, {.absent = no_fit, .formula = "fit / measured - 1"});
}

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.step.step_s, {"One step", "s"},
         {.headline = true,
          .against = {"ideally", "ideal_step_s"},
          .formula = "compute + slowest + exposed communication + not shared"});
  f.real("speedup", o.speedup, {"Speed-up", "\xC3\x97"},
         "Work per time over that of one GPU; one replica counts as perfect.",
         {.headline = true, .formula = "GPUs x efficiency"});
  f.real("efficiency", o.efficiency, {"Efficiency", "%"}, {.headline = true, .formula = "ideal step / step"});
  f.real("ideal_step_s", o.ideal_step_s, {"Ideal step", "s"}, "One replica's, shared out without any loss.");
  f.real("compute_s", o.step.compute_s, {"Compute", "s"}, "Time of the replica with most sequences.",
         {.formula = "ceil(sequences / replicas) x one sequence / GPUs per replica"});
  f.real("uneven_s", o.step.loss_s[0], {"Unevenly shared", "s"},
         "Some replicas have a sequence more, and the others wait.");
  f.real("slowest_s", o.step.slowest_s, {"Waiting for the slowest", "s"},
         {.formula = "compute x (E[max of N] - 1)", .source = orders});
  f.real("all_reduce_s", o.all_reduce_s, {"All-reduce", "s"}, {.source = nccl});
  f.real("latency_s", o.step.all_reduce.latency_s, {"Latency in it", "s"}, {.source = nccl});
  f.real("hidden_s", o.step.hidden_s, {"Hidden", "s"}, {.formula = "min(overlap x all-reduce, 2/3 compute)"});
  f.real("exposed_s", o.step.exposed_s, {"Exposed", "s"}, {.formula = "all-reduce - hidden"});
  f.real("communication_share", o.communication_share, {"Exposed, of the step", "%"}, {.formula = "exposed / step"});
  f.group("More GPUs");
  f.integer("fastest_gpus", o.fastest.gpus, "Fastest tried",
            "GPUs; 1, 2, 4, ... replicas are tried, up to 16,384 GPUs or yours.", {.headline = true});
  f.real("fastest_step_s", o.fastest.step_s, {"Its step", "s"},
         "The shortest of those; with a batch each, of the most work per time.");
  f.real("next_time", o.next_time, {"Twice as many save", "%"},
         "Share of the run's time; below 0 where it gets longer.", {.formula = "1 - time with 2 N / time"});
  f.real("next_cost", o.next_cost, {"Twice as many cost more", "%"}, {.formula = "2 x time with 2 N / time - 1"});
  f.real("run_s", o.run_s, {"The run", "s"}, {.formula = "steps x one replica's step x its GPUs / speed-up"});
  f.real("cost", o.cost, {"The run costs", "$"}, {.formula = "GPUs x time x price"});
  f.real("ideal_cost", o.ideal_cost, {"It would cost ideally", "$"}, "On one replica, however long that takes.");
  f.group("Gradients");
  f.real("ring_bytes", o.ring_bytes, {"Sent by each GPU", "B"}, "Through a ring.",
         {.formula = "2 (N - 1) / N x gradients per GPU", .source = "Patarasuk, Yuan 2009"});
  f.real("ring_s", o.ring_s, {"Ring", "s"}, {.source = nccl});
  f.real("tree_s", o.tree_s, {"Tree", "s"}, {.source = nccl});
  f.real("hierarchical_s", o.hierarchical_s, {"Hierarchical", "s"}, {.source = nccl});
  f.group("The slowest of N");
  f.real("slowest", o.slowest, {"Expected", "%"}, "Beyond the compute time.", {.source = orders});
  f.real("slowest_simulated", o.slowest_simulated, {"Drawn", "%"}, "Every GPU of some steps, and the slowest of each.",
         {.absent = "More than 65,536 GPUs are not drawn one by one."});
  f.real("slowest_error", o.slowest_error, {"Standard error", "%"}, "How far the mean over the steps drawn may be off.",
         {.absent = "More than 65,536 GPUs are not drawn one by one."});
  f.group("Measured points");
  f.real("measured_speedup", o.measured_speedup, {"First to last", "\xC3\x97"},
         "Times as fast as the smallest of the measured runs.",
         {.absent = "There are no points.", .formula = "work per time at most GPUs / at least"});
  f.real("measured_efficiency", o.measured_efficiency, {"Efficiency between", "%"},
         {.absent = "There are no points.", .formula = "first to last / ratio of GPUs"});
  f.real("serial_share", o.serial_share, {"Serial share", "%"},
         {.absent = no_fit, .formula = "a / (a + b) of a + b / N", .source = amdahl});
  f.real("serial_s", o.serial_s, {"Serial time", "s"}, "The part of a step that no GPU shares, by the fit.",
         {.absent = no_fit, .source = amdahl});
  f.real("limit", o.limit, {"Never more than", "\xC3\x97"}, "Times as fast as one GPU, by the fit.",
         {.absent = "The fit has no serial part, or there is none.", .formula = "1 / serial share"});
  f.real("fit_rms", o.fit_rms, {"Fit's error", "%"}, "Root mean square.", {.absent = no_fit});
  f.real("model_rms", o.model_rms, {"Model's error", "%"}, "Root mean square over the points.",
         {.absent = "None of the points is one that the model can compute."});
  f.table("compared", o.compared, "Points");
}

void describe(Fields& f, View& v) {
  f.toggle("linear", v.linear, "Linear axes",
           "Without logarithms, as far as four times the most GPUs that were measured.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"role/scaling",
                                                   "Scaling",
                                                   "How much faster are more GPUs, and at what price?",
                                                   {.published_keys = "rule replica_gpus gradient_bytes"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::role::scaling
