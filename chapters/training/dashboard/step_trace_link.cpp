#include <algorithm>
#include <cmath>

#include "chapters/mechanism/link_writer.h"
#include "chapters/training/dashboard/lab.h"
#include "models/base/integer_math.h"

namespace chapters::training::dashboard {

std::string step_trace_link(const Inputs& in, const Outputs& out) {
  const models::StepSetup& s = out.now.step.setup;
  if (s.recompute || s.micro_batches != 1) return {};
  // A sequence that loads for longer than that lab allows a sample is said as several samples.
  constexpr double longest_decode_s = 0.1;
  const double pieces = std::max(1.0, std::ceil(in.load_s / longest_decode_s - 1e-9));
  LinkWriter w("profiling/step-trace");
  w.number("workers", models::as_double(s.loader.workers));
  w.number("found_workers", models::as_double(in.found_workers));
  for (const std::string_view key : {"copy", "found_copy"}) w.choice(key, "copy_stream");
  for (const std::string_view key : {"sync_every", "found_sync_every"}) w.number(key, models::as_double(s.sync_every));
  w.choice("optimizer", s.optimizer == models::OptimizerCode::fused ? "fused" : "foreach");
  w.choice("found_optimizer", "foreach");
  w.toggle("overlap", s.overlap);
  w.toggle("found_overlap", false);
  for (const std::string_view key : {"amp", "compile"}) w.toggle(key, false);
  for (const std::string_view key : {"buckets", "found_buckets"}) w.number(key, models::as_double(s.buckets));
  w.exactly("samples", pieces * models::as_double(in.batch));
  w.exactly("decode_s", in.load_s / pieces);
  w.number("sample_bytes", 1e3);
  w.number("request_latency_s", 1e-6);
  w.number("storage_bytes_per_s", 1e13);
  w.number("cores", models::as_double(in.cores));
  w.number("batch_bytes", s.loader.batch_bytes);
  w.exactly("forward_s", s.forward_s);
  w.exactly("backward_s", s.backward_s);
  w.exactly("layers", models::as_double(s.layers));
  w.exactly("kernels_per_layer", models::as_double(s.kernels_per_layer));
  w.exactly("launch_s", s.launch_s);
  w.exactly("launch_latency_s", s.launch_latency_s);
  w.number("log_s", s.log_s);
  w.number("parameters", s.parameters);
  // That lab counts AdamW in FP32: the rate at which those bytes take the time of these.
  w.number("optimizer_bytes_per_s",
           s.optimizer_bytes_per_s * models::optimizer_bytes_per_parameter(s.optimizer) / s.update_bytes);
  w.number("ranks", models::as_double(s.ranks));
  w.toggle("bf16_gradients", in.on[static_cast<std::size_t>(StepSwitch::bf16)]);
  w.exactly("bus_bytes_per_s", s.bus_bytes_per_s);
  w.number("hop_latency_s", s.hop_latency_s);
  const models::memory::HeldBytes& held = out.now.held;
  w.number("state_bytes", held.states());
  w.number("activation_bytes", held.total() - held.states());
  return w.text();
}

}  // namespace chapters::training::dashboard
