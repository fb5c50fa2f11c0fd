#include <cmath>

#include "chapters/precision/accumulation/lab.h"

namespace chapters::precision::accumulation {
namespace {

using models::SumMethod;
using models::UpdateMethod;

void fill_sums(const std::string& format, Outputs& out) {
  const std::array<std::string, models::sum_method_count> names{
      "one " + format + " accumulator", "stochastic rounding", "Kahan, two " + format + " numbers",
      "pairwise in " + format,          "blocks into FP32",    "one FP32 accumulator"};
  double least = 1e300;
  for (std::size_t m = 0; m < models::sum_method_count; ++m) {
    const models::SumTrace& t = out.sum_run.methods[m];
    out.error[m] = 100 * t.final_error;
    out.sums.push_back({names[m], t.final, out.error[m], t.moved_last, t.overflows > 0});
    if (m <= static_cast<std::size_t>(SumMethod::pairwise) && t.final_error < least) {
      least = t.final_error;
      out.best = names[m];
    }
  }
  out.exact_sum = out.sum_run.exact.back();
}

void fill_updates(Outputs& out) {
  constexpr std::array<std::string_view, models::update_method_count> names{"in the format", "stochastic, mean",
                                                                            "compensated", "FP32 master's copy"};
  const models::UpdateRun& run = out.update_run;
  const double all = run.exact_final - run.start;
  for (std::size_t m = 0; m < models::update_method_count; ++m) {
    out.weight[m] = run.weight[m].back();
    out.gained[m] = all != 0 ? 100 * (out.weight[m] - run.start) / all : 100;
    out.updates.push_back({std::string(names[m]), out.weight[m], out.gained[m], run.first_move[m]});
  }
  out.spacing = 2 * run.smallest_visible;
}

}  // namespace

Outputs compute(const Inputs& in) {
  const models::FloatFormat* format = models::find_float_format(in.format);
  auto sum_run = models::run_low_precision_sum({
      .format = format,
      .terms = in.terms,
      .count = in.count,
      .size = in.size,
      .block = in.block,
      .seed = in.seed,
  });
  if (!sum_run) return {.reason = sum_run.error};
  auto update_run = models::run_weight_updates({
      .format = format,
      .weight = in.weight,
      .update = in.update,
      .steps = in.steps,
      .replicas = in.replicas,
      .seed = in.seed,
  });
  if (!update_run) return {.reason = update_run.error};
  Outputs out;
  out.sum_run = std::move(*sum_run);
  out.update_run = std::move(*update_run);
  out.epsilon = std::ldexp(1.0, -format->mantissa_bits);
  out.ones_stop_at = models::ones_stop_at(*format);
  fill_sums(std::string(format->name), out);
  fill_updates(out);
  return out;
}

}  // namespace chapters::precision::accumulation
