#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/role/platform_map/lab.h"

namespace chapters::role::platform_map {
namespace {

const Choices part_choices = [] {
  Choices out;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string name(models::platform::part_name(static_cast<models::platform::Part>(i)));
    out.push_back({i == 4 ? "engine" : name, name, ""});
  }
  return out;
}();
const Choices holder_choices = [] {
  Choices out = part_choices;
  out.push_back({"data_and_training", "data and training", "They overlap: halving one alone saves little."});
  return out;
}();
static_assert(holder_count == parts + 1);
constexpr std::array<std::array<std::string_view, 4>, parts> output_keys{{
    {"data_s", "data_usd", "data_time_share", "data_usd_share"},
    {"training_s", "training_usd", "training_time_share", "training_usd_share"},
    {"profiling_s", "profiling_usd", "profiling_time_share", "profiling_usd_share"},
    {"compression_s", "compression_usd", "compression_time_share", "compression_usd_share"},
    {"engine_s", "engine_usd", "engine_time_share", "engine_usd_share"},
    {"serving_s", "serving_usd", "serving_time_share", "serving_usd_share"},
    {"monitoring_s", "monitoring_usd", "monitoring_time_share", "monitoring_usd_share"},
}};
constexpr std::array<std::array<std::string_view, 4>, parts> labels{{
    {"Data", "Data, paid", "Data, of the hours", "Data, of the money"},
    {"Training", "Training, paid", "Training, of the hours", "Training, of the money"},
    {"Profiling", "Profiling, paid", "Profiling, of the hours", "Profiling, of the money"},
    {"Compression", "Compression, paid", "Compression, of the hours", "Compression, of the money"},
    {"Inference engine", "Engine, paid", "Engine, of the hours", "Engine, of the money"},
    {"Serving", "Serving, paid", "Serving, of the hours", "Serving, of the money"},
    {"Monitoring", "Monitoring, paid", "Monitoring, of the hours", "Monitoring, of the money"},
}};
constexpr std::array<std::string_view, parts> time_formulas{
    "steps x the GPU's wait for a batch",
    "steps x (kernels + waits for network and launches)",
    "runs x (start + steps x recorded step)",
    "recipes x (calibration + solving + requests / rate of a replica)",
    "trials x (start + requests / rate of a replica)",
    "waves x start + replicas x weights / storage",
    "requests of the canary / (its share x rate)",
};
constexpr std::array<std::string_view, parts> usd_formulas{
    "its hours x GPUs x price",
    "its hours x GPUs x price",
    "its hours x profiled GPUs x price",
    "its hours x chips of a replica x price",
    "(trials + requests x GPU time of each) x price",
    "(replicas - those that work) x chips x days x price",
    "shadow requests x GPU time of each in 16 bits x price",
};
constexpr std::array<std::string_view, parts> helps{
    "Hours in which the GPUs of training wait for batches.",
    "Hours in which they compute, or wait for the network or for launches.",
    "Hours of short runs under a profiler, before the long one.",
    "Hours in which recipes are calibrated, solved and evaluated, one after the other, on one replica.",
    "Hours in which the engine is tried under load; what it costs is what the requests take.",
    "Until every replica runs the new version; what it costs is capacity that is paid and idle.",
    "Until a drop in quality would have been seen on the canary; what it costs is the shadow.",
};

void describe_run(Fields& f, Outputs& o) {
  auto& run = o.release.run;
  f.group("The training run");
  f.real("run_s", run.time_s, {"The run", "s"}, "Data and training together.", {.formula = "steps x step"});
  f.real("run_gpu_s", o.run_gpu_s, {"GPU time of the run", "s"}, {.formula = "the run x GPUs"});
  f.real("run_usd", o.run_usd, {"The run, paid", "$"}, {.formula = "GPU hours x price"});
  f.real("step_s", run.step.period_s, {"One step", "s"},
         {.source = "models/training, a simulation of loader, host and GPU"});
  f.real("steps", run.steps, "Steps", {.formula = "samples / batch"});
  f.real("busy", o.busy, {"GPUs busy", "%"}, "Share of the run in which kernels of any kind run.");
  f.real("kernels_s", run.kernels_s, {"Kernels", "s"}, {.source = "roofline of every operation"});
  f.real("network_s", run.network_s, {"Waiting for the network", "s"}, "For gradients that no backward pass hides.");
  f.real("host_s", run.host_s, {"Waiting for launches", "s"}, "Over the whole run.");
  f.text("training_waits", o.training_waits, "Most of training");
  f.real("training_kernels_share", o.training_kernels_share, {"Kernels, of all hours", "%"},
         {.formula = "kernels / all hours"});
  f.real("memory_bytes", run.memory_bytes, {"Held by a GPU", "B"},
         {.source = "models/memory, ZeRO-1 with BF16 gradients"});
  f.real("storage_ceiling", run.storage_ceiling, "The loaders bring", "Samples per second at most, all GPUs together.");
  f.real("profiled_step_s", run.profiled_step_s, {"Step while profiled", "s"}, "Its launches are slower.");
}

void describe_service(Fields& f, Outputs& o) {
  auto& s = o.release.service;
  f.group("The service");
  f.real("replicas", s.replicas, "Replicas", "At the peak.", {.source = "Erlang C"});
  f.real("mean_replicas", s.mean_replicas, "Replicas, mean", "Over a day.");
  f.real("busy_replicas", s.busy_replicas, "Replicas that work", {.formula = "rate / rate of a full replica"});
  f.real("replica_per_s", s.per_s, "A replica answers", "Requests per second, full.",
         {.formula = "slots / time of a request"});
  f.real("request_s", s.request_s, {"Request", "s"}, {.formula = "(output - 1) x decode step + slots x prefill"});
  f.real("prefill_s", s.prefill_s, {"Prefill", "s"}, "What one prompt takes.");
  f.real("decode_step_s", s.decode_s, {"Decode step", "s"}, "One token for every slot.");
  f.real("gpu_s_per_request", s.gpu_s_per_request, {"GPU time of a request", "s"},
         {.formula = "chips x time of a request / slots"});
  f.real("reference_gpu_s", s.reference_gpu_s, {"The same in 16 bits", "s"}, "What a shadow request takes.");
  f.real("weights_bytes", s.weights_bytes, {"Weights", "B"}, "What one replica holds, under the recipe.");
  f.real("canary_requests", o.release.canary_requests, "The canary must answer",
         "Requests until a drop would be seen: 80 % power, two-sided test at 5 %.",
         {.formula = "2.80^2 good (1 - good) / (drop^2 (1 - share))",
          .source = "two independent proportions, normal approximation"});
}

}  // namespace

void describe(Fields& f, GpuRow& r) {
  f.integer("gpus", r.gpus, "GPUs");
  f.real("time_s", r.release.total.time_s, {"All hours", "s"});
  f.real("usd", r.release.total.usd, {"Paid", "$"});
  f.real("data_s", r.release.parts[0].time_s, {"Data", "s"});
  f.real("training_s", r.release.parts[1].time_s, {"Training", "s"});
  f.text("bottleneck", r.bottleneck, "Bottleneck");
  f.text("refused", r.refused, "Why not");
}

void describe(Fields& f, StretchRow& r) {
  f.integer("from_gpus", r.from_gpus, "From GPUs");
  f.integer("to_gpus", r.to_gpus, "To GPUs");
  f.text("bottleneck", r.bottleneck, "Bottleneck");
}

void describe(Fields& f, TechniqueRow& r) {
  f.text("part", r.part, "Part");
  f.text("name", r.name, "Technique");
  f.text("lab", r.lab, "Lab that explains it");
  f.real("saves_s", r.saves_s, {"Saves", "s"}, "Hours of the whole release, with this change alone; below 0: it costs.",
         {.absent = "It is in use, or cannot be added."});
  f.real("saves_usd", r.saves_usd, {"Saves", "$"},
         "Money of the whole release, with this change alone; below 0: it costs.",
         {.absent = "It is in use, or cannot be added."});
  f.toggle("added", r.added, "Can be added");
  f.text("then", r.then, "Then the bottleneck", "Or why it cannot be added.");
}

void describe(Fields& f, Outputs& o) {
  auto& r = o.release;
  f.group("The release");
  f.real("time_s", r.total.time_s, {"Until it is out", "s"}, "Each part waits for the one before it.",
         {.headline = true, .formula = "sum of the parts"});
  f.real("usd", r.total.usd, {"Paid", "$"}, "For GPUs, until the end of the days that are served.",
         {.headline = true, .formula = "GPU hours x price"});
  f.real("bottleneck_saves_s", o.bottleneck_saves_s, {"The bottleneck holds up", "s"},
         "What the release would save, were the bottleneck twice as fast.",
         {.headline = true, .formula = "release - release with that part twice as fast"});
  f.real("compute_share", o.compute_share, {"GPUs compute", "%"},
         "Forward and backward kernels of training, of all hours.",
         {.headline = true, .formula = "steps x (forward + backward) / all hours"});
  f.choice("bottleneck", o.bottleneck, holder_choices, "Bottleneck",
           "The part that would shorten the release most, were it twice as fast; data and training together where "
           "they overlap and halving one alone saves less than half of what halving both does.");
  f.choice("dearest", o.dearest, part_choices, "Most expensive", "The part that most is paid for.");
  f.real("bottleneck_share", o.bottleneck_share, {"The bottleneck's share", "%"}, "Its share of the hours.",
         {.formula = "its hours / all hours"});
  f.real("twice_gain", o.twice_gain, {"Twice the GPUs save", "%"}, "Share of the hours until it is out.",
         {.absent = "A step has too few samples for twice the GPUs."});
  f.real("leaves_at", o.leaves_at, "It leaves training at", "GPUs from which on training alone is not the bottleneck.",
         {.absent = "Training stays the bottleneck."});
  f.real("next_at", o.next_at, "It moves on at", "GPUs, above yours, from which on something else is the bottleneck.",
         {.absent = "It stays, however many GPUs."});
  f.text("next_bottleneck", o.next_bottleneck, "It goes to");
  f.group("The parts");
  for (std::size_t i = 0; i < parts; ++i) {
    f.real(output_keys[i][0], r.parts[i].time_s, {labels[i][0], "s"}, helps[i], {.formula = time_formulas[i]});
    f.real(output_keys[i][1], r.parts[i].usd, {labels[i][1], "$"}, helps[i], {.formula = usd_formulas[i]});
    f.real(output_keys[i][2], o.time_share[i], {labels[i][2], "%"}, {.formula = "its hours / all hours"});
    f.real(output_keys[i][3], o.usd_share[i], {labels[i][3], "%"}, {.formula = "its money / all money"});
  }
  describe_run(f, o);
  describe_service(f, o);
  f.group("Against the GPUs");
  f.table("by_gpus", o.by_gpus, "By GPUs", "The same release on other numbers of GPUs.");
  f.table("stretches", o.stretches, "Bottleneck by GPUs", "Where it changes, to a GPU.");
  f.group("What acts on the parts");
  f.table("techniques", o.techniques, "Techniques", "The same release with one technique more.");
}

void describe(Fields& f, View& v) { f.text("open_link", v.requests.open_link, "Lab to open"); }

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"role/platform-map",
       "Platform map",
       "Which part of the platform holds the release up, and where does it go when you add GPUs?",
       {.job = true, .published_keys = "model chip"}},
      [](const Inputs& in, Progress&) { return compute(in); }, arrange, draw);
}

}  // namespace chapters::role::platform_map
