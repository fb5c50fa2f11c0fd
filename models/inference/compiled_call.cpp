#include "models/inference/compiled_call.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/inference/launch_chain.h"

namespace models::inference {
namespace {

double value_at(const std::array<double, 3>& w, double length) { return w[0] + length * (w[1] + length * w[2]); }

/// The polynomial through three points.
std::array<double, 3> through(const std::array<double, 3>& x, const std::array<double, 3>& y) {
  const double d01 = (y[1] - y[0]) / (x[1] - x[0]), d12 = (y[2] - y[1]) / (x[2] - x[1]);
  const double second = (d12 - d01) / (x[2] - x[0]);
  return {y[0] - d01 * x[0] + second * x[0] * x[1], d01 - second * (x[0] + x[1]), second};
}

bool agrees(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

CallPricer::Operations CallPricer::counted(bool compiled, std::int64_t length) const {
  Workload workload = setup_.workload;
  workload.fused_elementwise = compiled;
  (workload.phase == Phase::decode ? workload.batch : workload.sequence) = length;
  const std::vector<LayerOperation> all = model_operations(*setup_.architecture, workload);
  Operations out;
  out.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LayerOperation& op = all[i];
    Operation one;
    one.kernels = compiled ? 1 : eager_kernels(op, *setup_.architecture);
    one.repeats = op.layer == "embedding" || op.layer == "output" ? 1 : op.count;
    one.stretch = out.empty() ? 0 : out.back().stretch + (all[i - 1].layer != op.layer ? 1 : 0);
    one.parts = op.name == "cache write" ? as_double(one.kernels) : 1;
    one.product = op.shape.m > 0;
    one.flops[0] = op.forward.flops;
    one.bytes[0] = op.forward.bytes();
    out.push_back(one);
  }
  return out;
}

bool CallPricer::fit(bool compiled, Operations& out) const {
  if (setup_.longest < 16) return false;
  const std::array<std::int64_t, 3> at{2, setup_.longest / 2, setup_.longest};
  const std::array<Operations, 3> known{counted(compiled, at[0]), counted(compiled, at[1]), counted(compiled, at[2])};
  out = known[0];
  const std::array<double, 3> x{as_double(at[0]), as_double(at[1]), as_double(at[2])};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].flops = through(x, {known[0][i].flops[0], known[1][i].flops[0], known[2][i].flops[0]});
    out[i].bytes = through(x, {known[0][i].bytes[0], known[1][i].bytes[0], known[2][i].bytes[0]});
  }
  for (const std::int64_t length : {std::int64_t{1}, setup_.longest / 7, setup_.longest / 3}) {
    const Operations check = counted(compiled, length);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!agrees(value_at(out[i].flops, as_double(length)), check[i].flops[0]) ||
          !agrees(value_at(out[i].bytes, as_double(length)), check[i].bytes[0]))
        return false;
  }
  return true;
}

Result<CallPricer> CallPricer::make(const CallSetup& setup) {
  using Out = Result<CallPricer>;
  if (setup.architecture->moe.routed > 0)
    return Out::fail(
        "An eager layer of experts is a loop with a synchronisation, whose launches depend on the tokens and are not "
        "counted here: choose a model without experts.");
  // The list of the longest call says what is out of range.
  Workload workload = setup.workload;
  (workload.phase == Phase::decode ? workload.batch : workload.sequence) = setup.longest;
  const auto list = launch_list(*setup.architecture, workload, setup.machine, true, setup.least_kernel_s);
  if (!list) return Out::fail(list.error);
  CallPricer pricer;
  pricer.setup_ = setup;
  pricer.polynomial_ = pricer.fit(false, pricer.eager_) && pricer.fit(true, pricer.compiled_);
  return Out::ok(std::move(pricer));
}

CallPrice CallPricer::price(const CallStyle& style, std::int64_t length) const {
  const double x = polynomial_ ? as_double(length) : 0;
  const Operations direct = polynomial_ ? Operations() : counted(style.compiled, length);
  const Operations& operations = !polynomial_ ? direct : style.compiled ? compiled_ : eager_;
  const LaunchHost& host = setup_.host;
  const bool graph = style.launched == LaunchedBy::graph;
  const double gap_s = graph ? host.graph_between_s : host.between_s, breaks = as_double(style.breaks);
  // What a break hands over is written by one kernel and read by the next: the residual stream, twice.
  const double rows =
      setup_.workload.phase == Phase::decode ? as_double(length) : as_double(setup_.workload.batch) * as_double(length);
  const double break_bytes =
      2 * rows * as_double(setup_.architecture->hidden) * setup_.workload.activation_bytes * breaks;
  CallPrice out;
  for (const Operation& op : operations) out.kernels += as_double(op.kernels * op.repeats);
  out.kernels += breaks;
  out.launches = graph ? breaks + 1 : out.kernels;
  const double one_s = style.launched == LaunchedBy::python   ? host.launch_s
                       : style.launched == LaunchedBy::native ? setup_.native_launch_s
                                                              : host.graph_launch_s;
  // The breaks' own time is spread evenly over the launches.
  const double launch_s = one_s + breaks * setup_.break_s / out.launches;
  LaunchChain chain, stretch;
  double kernels_s = 0;
  const double slower = 1 + style.kernels_slower;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    const double n = as_double(op.kernels), bytes = value_at(op.bytes, x);
    const double flops_s = value_at(op.flops, x) / setup_.machine.peak_flops_per_s,
                 bytes_s = bytes / op.parts / setup_.machine.bandwidth_bytes_per_s;
    const double tuned = op.product ? 1 + style.products_faster : 1;
    const double duration_s = std::max(std::max(flops_s, bytes_s) * slower / tuned, setup_.least_kernel_s);
    stretch = stretch.then(one_launch(duration_s, gap_s, launch_s, host.latency_s).repeated(n));
    kernels_s += n * as_double(op.repeats) * duration_s;
    out.bytes += n / op.parts * as_double(op.repeats) * bytes;
    const bool ends = i + 1 == operations.size() || operations[i + 1].stretch != op.stretch;
    if (!ends) continue;
    chain = chain.then(stretch.repeated(as_double(op.repeats)));
    stretch = {};
  }
  if (breaks > 0) {
    const double each_s = std::max(break_bytes / breaks / setup_.machine.bandwidth_bytes_per_s, setup_.least_kernel_s);
    chain = chain.then(one_launch(each_s, gap_s, launch_s, host.latency_s).repeated(breaks));
    kernels_s += breaks * each_s;
    out.bytes += break_bytes;
  }
  out.device_s = kernels_s + out.kernels * gap_s;
  out.host_s = out.launches * launch_s;
  if (graph) {
    const double piece_s = out.device_s / out.launches - gap_s;
    chain = one_launch(piece_s, gap_s, launch_s, host.latency_s).repeated(out.launches);
  }
  out.call_s = chain.period_s(launch_s, host.latency_s);
  return out;
}

}  // namespace models::inference
