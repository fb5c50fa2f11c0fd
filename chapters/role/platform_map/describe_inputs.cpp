#include "chapters/mechanism/shared_choices.h"
#include "chapters/role/platform_map/lab.h"

namespace chapters::role::platform_map {
namespace {

const Choices products = {
    {"bf16", "BF16", "All matmuls of training in BF16."},
    {"fp8", "FP8", "Matmuls inside the layers in FP8; attention and logits stay in BF16."},
};
const Choices recipes = [] {
  Choices out;
  for (const models::Recipe& r : models::deployment_recipes())
    out.push_back({std::string(r.id), std::string(r.label), std::string(r.loss_source)});
  return out;
}();
const Choices caches = [] {
  Choices out;
  for (const models::KvRecipe& r : models::kv_recipes())
    out.push_back({std::string(r.id), std::string(r.label), std::string(r.loss_source)});
  return out;
}();

struct Range {
  double lo, hi, typical_lo, typical_hi;
};
void number(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view unit,
            std::string_view help, Range r) {
  f.real(key, slot, {label, unit}, help, {.range = {r.lo, r.hi, Scale::log}, .typical = {r.typical_lo, r.typical_hi}});
}
void count(Fields& f, std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help,
           Range r) {
  f.integer(key, slot, label, help,
            {.range = {r.lo, r.hi, r.lo > 0 ? Scale::log : Scale::step}, .typical = {r.typical_lo, r.typical_hi}});
}
void share(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help, Range r) {
  f.real(key, slot, label, help, {.range = {r.lo, r.hi}, .typical = {r.typical_lo, r.typical_hi}});
}

void describe_release(Fields& f, Inputs& in) {
  auto& s = in.setup;
  f.group("The release");
  shared::cluster_chips(f, "gpus", s.gpus,
                        {.label = "GPUs", .help = "That train; each holds a whole replica of the model."});
  shared::model(f, "model", in.model, {.help = "It takes each sample as so many tokens, and is then served."});
  shared::chip(f, "chip", in.chip, {.help = "Training and serving both run on it."});
  number(f, "samples", s.samples, "Samples", "", "Seen by the run in all; a sample that is repeated counts each time.",
         {1e4, 1e11, 1e6, 1e9});
  number(f, "usd_per_gpu_hour", s.usd_per_gpu_hour, "Price per GPU-hour", "$",
         "Assumed. An H100 hour is 2 to 3.50 at smaller clouds and 6.88 at AWS on demand (2026).", {0.05, 100, 1.5, 7});
}

void describe_data(Fields& f, Inputs& in) {
  auto& s = in.setup;
  f.group("Data");
  f.real("storage_bytes_per_s", s.storage_bytes_per_s, {"Storage", "B/s"}, "Read by all GPUs together.",
         {.range = {1e8, 1e14, Scale::log}, .typical = {1e9, 1e11}, .headline = true});
  number(f, "sample_bytes", s.sample_bytes, "Sample size", "B", "As stored, and as copied to the GPU.",
         {100, 1e9, 1e4, 2e7});
  number(f, "samples_per_request", s.samples_per_request, "Samples per request", "",
         "1: one file per sample; more: shards that are read in sequence.", {1, 1e5, 1, 1000});
  number(f, "request_latency_s", s.request_latency_s, "First byte", "s", "From asking the storage to its first byte.",
         {1e-5, 1, 1e-4, 0.1});
  number(f, "decode_s", s.decode_s, "Decoding one", "s", "What one sample takes on one core.", {1e-6, 10, 1e-4, 0.1});
  count(f, "workers", s.workers, "Loader workers",
        "Processes that load for each GPU; with none the training process loads itself.", {0, 64, 2, 16});
  count(f, "cores", s.cores, "Cores", "Cores that decode for each GPU.", {1, 256, 4, 32});
}

void describe_training(Fields& f, Inputs& in) {
  auto& s = in.setup;
  f.group("Training");
  shared::global_batch(f, "batch", s.batch,
                       {.label = "Samples per step", .help = "Over all GPUs; it stays when GPUs are added."});
  shared::sequence(f, "sequence", s.sequence,
                   {.label = "Tokens per sample", .help = "What the model sees of a sample."});
  count(f, "micro_batch", s.micro_batch, "Micro-batch", "Samples of one pass on one GPU, at most.", {1, 64, 1, 8});
  shared::format(f, "format", in.format, products, {.help = "In which the layers multiply while they are trained."});
  f.toggle("recompute", s.recompute, "Recompute", "Every layer's forward pass is recomputed in the backward pass.");
  share(f, "training_roof", s.training_roof, "Share of the roof",
        "Share of peak and bandwidth that training's kernels reach. Assumed.", {0.05, 1, 0.4, 0.8});
  f.toggle("overlap", s.overlap, "Overlap",
           "Gradients are exchanged, in 8 buckets, while the last backward pass runs.");
  number(f, "bus_bytes_per_s", s.bus_bytes_per_s, "Network", "B/s",
         "Rate of the ring between replicas: 2 (n - 1) / n of two bytes per parameter pass in each step.",
         {1e8, 1e13, 5e9, 4e11});
  number(f, "launch_s", s.launch_s, "Launch", "s", "From one launch of the host to its next.",
         {1e-7, 1e-3, 4e-6, 3e-5});
}

void describe_before_serving(Fields& f, Inputs& in) {
  auto& s = in.setup;
  f.group("Profiling");
  count(f, "profile_runs", s.profile_runs, "Profiled runs", "Short runs, each after a change. Assumed.",
        {1, 1000, 3, 30});
  count(f, "profile_steps", s.profile_steps, "Steps per run", "With warm-up. Assumed.", {1, 10000, 10, 200});
  share(f, "profile_slowdown", s.profile_slowdown, "Launches take",
        "Times as long while the profiler records. Assumed.", {1, 10, 1.2, 4});
  f.toggle("profile_one_node", s.profile_one_node, "On one node",
           "Eight GPUs with the same work each; they see neither the shared storage's limit nor the network's.");
  number(f, "start_s", s.start_s, "Start of a job", "s",
         "Container, weights, warm-up, graphs: paid by profiled runs, trials and waves. Assumed.", {1, 36000, 60, 900});
  f.group("Compression");
  f.choice("recipe", in.recipe, recipes, "Recipe", "W: bits of weights, A: of activations.");
  count(f, "recipes_tried", s.recipes_tried, "Recipes tried", "Each is calibrated and evaluated. Assumed.",
        {1, 100, 1, 10});
  number(f, "calibration_prompts", s.calibration_prompts, "Calibration", "",
         "Prompts that pass through the model for a recipe below 16 bits.", {1, 1e6, 128, 1024});
  number(f, "solve_s_per_billion", s.solve_s_per_billion, "Solving", "s",
         "For each billion of parameters, below 8 bits: GPTQ took 4.2 A100 hours for 175 billion. Assumed.",
         {0.1, 3600, 30, 200});
  number(f, "evaluation_requests", s.evaluation_requests, "Evaluation", "", "Requests that a recipe answers. Assumed.",
         {1, 1e8, 2e3, 2e5});
}

void describe_serving(Fields& f, Inputs& in) {
  auto& s = in.setup;
  f.group("Inference engine");
  f.choice("kv", in.kv, caches, "Cache", "How keys and values are stored.");
  count(f, "slots", s.slots, "Slots", "Sequences that a replica decodes at once.", {1, 1024, 8, 256});
  count(f, "replica_chips", s.replica_chips, "Chips per replica", "They share every layer.", {1, 64, 1, 8});
  number(f, "prompt", s.prompt, "Prompt", "tokens", "Length of a request.", {1, 131072, 128, 8192});
  number(f, "output", s.output, "Answer", "tokens", "Length of an answer.", {1, 32768, 32, 2048});
  share(f, "serving_roof", s.serving_roof, "Roof of serving",
        "Share of peak and bandwidth that its kernels reach. Assumed.", {0.05, 1, 0.5, 0.85});
  count(f, "trials", s.trials, "Trials", "Settings of the engine that are tried under load. Assumed.",
        {1, 1000, 4, 40});
  number(f, "trial_requests", s.trial_requests, "Requests per trial", "", "Assumed.", {1, 1e7, 500, 1e4});
  f.group("Serving");
  f.real("rate_per_s", s.rate_per_s, "Requests per second", "Mean over a day.",
         {.range = {0.01, 1000, Scale::log}, .typical = {0.5, 100}, .headline = true});
  share(f, "peak", s.peak, "Peak", "The highest hour over the mean.", {1, 2, 1.2, 2});
  number(f, "days", s.days, "Days served", "", "That are paid for.", {0.1, 3650, 7, 180});
  number(f, "may_wait", s.may_wait, "May wait", "", "Share of the peak's requests that may find all slots taken.",
         {1e-4, 0.9, 0.01, 0.2});
  f.toggle("autoscale", s.autoscale, "Replicas follow",
           "Each hour has the replicas that it needs, at no cost of its own.");
  count(f, "waves", s.waves, "Waves", "In which the new version replaces the old. Assumed.", {1, 100, 2, 10});
  f.group("Monitoring");
  number(f, "canary", s.canary, "Canary", "", "Share of requests that the new version gets while it is watched.",
         {1e-4, 0.5, 0.01, 0.2});
  share(f, "good", s.good, "Good answers", "Share of answers that are judged good. Assumed.", {0.01, 0.999, 0.5, 0.99});
  number(f, "change", s.change, "Drop to see", "", "In that share, from which the release would be stopped.",
         {1e-3, 0.5, 0.005, 0.05});
  number(f, "shadow", s.shadow, "Shadow", "", "Share of requests that the 16-bit model answers as well. Assumed.",
         {1e-5, 1, 0.001, 0.1});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_release(f, in);
  describe_data(f, in);
  describe_training(f, in);
  describe_before_serving(f, in);
  describe_serving(f, in);
}

}  // namespace chapters::role::platform_map
