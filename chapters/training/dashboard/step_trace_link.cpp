#include <algorithm>
#include <cmath>

#include "chapters/training/dashboard/lab.h"
#include "models/base/integer_math.h"
#include "widgets/base/parts.h"

namespace chapters::training::dashboard {

std::string step_trace_link(const Inputs& in, const Outputs& out) {
  using models::memory::MemoryOwner;
  const models::StepSetup& s = out.now.step.setup;
  if (s.recompute || s.micro_batches != 1) return {};
  // What the ranges of the step trace allow; a sequence that loads for longer is said as several samples.
  constexpr double longest_decode_s = 0.1, least_batch_bytes = 1e5, least_log_s = 1e-6, least_state_bytes = 1e8;
  const double pieces = std::max(1.0, std::ceil(in.load_s / longest_decode_s - 1e-9));
  const double samples = pieces * models::as_double(in.batch);
  const auto within = [](double value, double lo, double hi) { return value >= lo && value <= hi; };
  if (!within(s.forward_s, 1e-4, 10) || !within(s.backward_s, 1e-4, 10) || s.layers > 128 || s.kernels_per_layer > 64 ||
      s.launch_s < 1e-6 || !within(s.launch_latency_s, 1e-7, 1e-4) || samples > 2048 || in.load_s / pieces < 1e-6 ||
      !within(s.bus_bytes_per_s, 1e7, 1e13))
    return {};
  std::string link = "profiling/step-trace";
  char before = '?';
  const auto text = [&](std::string_view key, std::string_view value) {
    link += before;
    link += std::string(key) + "=" + std::string(value);
    before = '&';
  };
  const auto number = [&](std::string_view key, double value) { text(key, widgets::exact(value)); };
  const auto toggle = [&](std::string_view key, bool value) { text(key, value ? "true" : "false"); };
  number("workers", models::as_double(s.loader.workers));
  number("found_workers", models::as_double(in.found_workers));
  for (const std::string_view key : {"copy", "found_copy"}) text(key, "copy_stream");
  for (const std::string_view key : {"sync_every", "found_sync_every"}) number(key, models::as_double(s.sync_every));
  text("optimizer", s.optimizer == models::OptimizerCode::fused ? "fused" : "foreach");
  text("found_optimizer", "foreach");
  toggle("overlap", s.overlap);
  toggle("found_overlap", false);
  for (const std::string_view key : {"amp", "compile"}) toggle(key, false);
  for (const std::string_view key : {"buckets", "found_buckets"}) number(key, models::as_double(s.buckets));
  number("samples", samples);
  number("decode_s", in.load_s / pieces);
  number("sample_bytes", 1e3);
  number("request_latency_s", 1e-6);
  number("storage_bytes_per_s", 1e13);
  number("cores", models::as_double(in.cores));
  number("batch_bytes", std::max(least_batch_bytes, s.loader.batch_bytes));
  number("forward_s", s.forward_s);
  number("backward_s", s.backward_s);
  number("layers", models::as_double(s.layers));
  number("kernels_per_layer", models::as_double(s.kernels_per_layer));
  number("launch_s", s.launch_s);
  number("launch_latency_s", s.launch_latency_s);
  number("log_s", std::max(least_log_s, s.log_s));
  number("parameters", s.parameters);
  // That lab counts AdamW in FP32: the rate at which those bytes take the time of these.
  number("optimizer_bytes_per_s",
         s.optimizer_bytes_per_s * models::optimizer_bytes_per_parameter(s.optimizer) / s.update_bytes);
  number("ranks", models::as_double(s.ranks));
  toggle("bf16_gradients", in.on[static_cast<std::size_t>(StepSwitch::bf16)]);
  number("bus_bytes_per_s", s.bus_bytes_per_s);
  const models::memory::HeldBytes& held = out.now.held;
  const double states = held[MemoryOwner::weights] + held[MemoryOwner::gradients] + held[MemoryOwner::master] +
                        held[MemoryOwner::optimizer];
  number("state_bytes", std::clamp(states, least_state_bytes, 1e12));
  number("activation_bytes", std::clamp(held.total() - states, least_state_bytes, 1e12));
  return link;
}

}  // namespace chapters::training::dashboard
