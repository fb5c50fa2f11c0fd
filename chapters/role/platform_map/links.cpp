#include <algorithm>
#include <cmath>
#include <string>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/link_writer.h"
#include "chapters/role/platform_map/lab.h"
#include "models/base/integer_math.h"
#include "widgets/base/parts.h"

/// The lab of each part with the scenario that is set here.
namespace chapters::role::platform_map {
namespace {

using models::platform::Part;

/// What a GPU of the run loads; the loader lab knows one GPU, whose share of the storage is set by hand.
void write_loader(LinkWriter& w, const models::StepSetup& step) {
  const models::LoaderSetup& l = step.loader;
  w.choice("storage", "own");
  w.number("storage_bytes_per_s", l.storage_bytes_per_s);
  w.number("request_latency_s", l.request_latency_s);
  w.number("samples_per_request", l.samples_per_request);
  w.number("sample_bytes", l.sample_bytes);
  w.number("workers", static_cast<double>(l.workers));
  w.number("cores", static_cast<double>(l.cores));
  w.number("samples", static_cast<double>(l.samples));
  w.number("decode_s", l.decode_s);
  w.number("batch_bytes", l.batch_bytes);
  w.number("gpu_s", step.forward_s * (step.recompute ? 2 : 1) + step.backward_s);
}

/// The step on one GPU of the run, as found and as changed alike.
void write_step(LinkWriter& w, const Inputs& in, const models::StepSetup& step) {
  const models::LoaderSetup& l = step.loader;
  const auto passes = static_cast<double>(step.micro_batches);
  for (const bool found : {true, false}) {
    const auto key = [&](std::string_view name) { return (found ? "found_" : "") + std::string(name); };
    w.number(key("workers"), static_cast<double>(l.workers));
    w.choice(key("copy"), "copy_stream");
    w.number(key("sync_every"), 0);
    w.choice(key("optimizer"), "fused");
    w.toggle(key("overlap"), in.setup.overlap);
    w.number(key("buckets"), static_cast<double>(step.buckets));
  }
  w.number("samples", static_cast<double>(l.samples) * passes);
  w.number("sample_bytes", l.sample_bytes);
  w.number("request_latency_s", l.request_latency_s / l.samples_per_request);
  w.number("storage_bytes_per_s", l.storage_bytes_per_s);
  w.number("decode_s", l.decode_s);
  w.number("cores", static_cast<double>(l.cores));
  w.number("batch_bytes", l.batch_bytes * passes);
  w.number("forward_s", step.forward_s * passes);
  w.number("backward_s", (step.backward_s + (step.recompute ? step.forward_s : 0)) * passes);
  w.number("layers", static_cast<double>(step.layers));
  w.number("kernels_per_layer", static_cast<double>(step.kernels_per_layer));
  w.number("launch_s", step.launch_s);
  // That lab updates and exchanges the same parameters. Here a GPU updates its part of them and exchanges all: the part
  // stands there, on a ring that is as much slower, so that both take as long as here.
  const double part = 2 * step.parameters / step.gradient_bytes;
  w.number("parameters", step.parameters);
  w.number("optimizer_bytes_per_s", step.optimizer_bytes_per_s);
  w.number("ranks", static_cast<double>(step.ranks));
  w.toggle("bf16_gradients", true);
  w.number("bus_bytes_per_s", step.bus_bytes_per_s * part);
  w.number("hop_latency_s", step.hop_latency_s);
}

void write_operations(LinkWriter& w, const Inputs& in, bool training) {
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.choice("phase", training ? "train" : "decode");
  const auto& s = in.setup;
  const std::int64_t local = models::ceil_div(s.batch, s.gpus);
  w.number("batch", static_cast<double>(training ? std::min(s.micro_batch, local) : s.slots));
  w.number("sequence", static_cast<double>(s.sequence));
  w.number("context", s.prompt + s.output / 2);
  const models::Recipe* recipe = models::find_recipe(in.recipe);
  const double bits = recipe ? recipe->weight_bits : 16;
  const std::string_view weights = training             ? std::string_view(in.format)
                                   : bits >= 16         ? "bf16"
                                   : bits < 8           ? "fp4"
                                   : in.recipe == "fp8" ? "fp8"
                                                        : "int8";
  // Weights alone are narrow where the recipe leaves the activations wide.
  const bool narrow = training ? in.format == "fp8" : in.recipe == "fp8" || in.recipe == "w8a8" || in.recipe == "nvfp4";
  w.choice("format", weights);
  w.choice("activation_format", narrow ? weights : "bf16");
  w.choice("recompute", training && s.recompute ? "full" : "none");
}

void write_deployment(LinkWriter& w, const Inputs& in) {
  const auto& s = in.setup;
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.choice("recipe", in.recipe);
  w.choice("kv", in.kv);
  w.number("chips", static_cast<double>(s.replica_chips));
  w.number("batch", static_cast<double>(s.slots));
  w.number("context", s.prompt + s.output / 2);
  w.number("prompt", s.prompt);
  w.number("roof_share", s.serving_roof);
}

/// One replica: at the peak, or one that runs the canary at the mean rate.
void write_replica(LinkWriter& w, const Inputs& in, const Outputs& out, bool canary) {
  const auto& s = in.setup;
  const double rate = canary ? s.rate_per_s * s.canary : s.rate_per_s * s.peak / out.release.service.replicas;
  const models::Recipe* recipe = models::find_recipe(in.recipe);
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.choice("policy", "continuous");
  w.choice("service", "llm");
  w.number("chips", static_cast<double>(s.replica_chips));
  w.choice("format", recipe ? models::format_id(recipe->product) : "bf16");
  w.choice("kv_format", in.kv == "bf16" ? "bf16" : "fp8");
  w.number("slots", static_cast<double>(s.slots));
  w.number("arrival_rate", rate);
  w.number("prompt_tokens", s.prompt);
  w.number("output_tokens", s.output);
}

/// What any lab of training may take.
void write_shared(LinkWriter& w, const Inputs& in) {
  const auto& s = in.setup;
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.number("batch", static_cast<double>(std::min(s.micro_batch, models::ceil_div(s.batch, s.gpus))));
  w.number("sequence", static_cast<double>(s.sequence));
}

}  // namespace

std::string_view lab_of(const Outputs& out, Part part) {
  const auto& run = out.release.run;
  switch (part) {
    case Part::data:
      return "training/data-loader";
    case Part::training:
      return run.kernels_s >= run.network_s + run.host_s ? "roofline/transformer-layer" : "profiling/step-trace";
    case Part::profiling:
      return "profiling/step-trace";
    case Part::compression:
      return "compression/deploy";
    case Part::engine:
      return "roofline/transformer-layer";
    default:
      return "serving/batching";
  }
}

std::string link_of(const Inputs& in, const Outputs& out, const Run& run, Part part) {
  return link_to_lab(in, out, run, part, lab_of(out, part));
}

std::string link_to_lab(const Inputs& in, const Outputs& out, const Run& run, Part part, std::string_view lab) {
  const auto& step = run.step;
  if (!has_lab(lab) || !step) return {};
  LinkWriter w(lab);
  if (lab == "training/data-loader")
    write_loader(w, *step);
  else if (lab == "profiling/step-trace")
    write_step(w, in, *step);
  else if (lab == "roofline/transformer-layer")
    write_operations(w, in, part == Part::training);
  else if (lab == "compression/deploy")
    write_deployment(w, in);
  else if (lab == "serving/batching")
    write_replica(w, in, out, part == Part::monitoring);
  else
    write_shared(w, in);
  return w.text();
}

}  // namespace chapters::role::platform_map
