#include <cmath>
#include <memory>
#include <utility>

#include "chapters/precision/accumulation/lab.h"

namespace chapters::precision::accumulation {
namespace {

using models::SumMethod;
using models::UpdateMethod;

void fill_sums(const std::string& format, const models::SumRun& run, Outputs& out) {
  const std::array<std::string, models::sum_method_count> names{
      "one " + format + " accumulator", "stochastic rounding", "Kahan, two " + format + " numbers",
      "pairwise in " + format,          "blocks into FP32",    "one FP32 accumulator"};
  double least = 1e300;
  for (std::size_t m = 0; m < models::sum_method_count; ++m) {
    const models::SumTrace& t = run.methods[m];
    out.error[m] = 100 * t.final_error;
    out.sums.push_back({names[m], t.final, out.error[m], t.moved_last, t.overflows > 0});
    if (m <= static_cast<std::size_t>(SumMethod::pairwise) && t.final_error < least) {
      least = t.final_error;
      out.best = names[m];
    }
  }
  out.naive = run.methods[static_cast<std::size_t>(SumMethod::naive)];
  out.exact_sum = run.exact.back();
}

void fill_updates(const models::UpdateRun& run, Outputs& out) {
  constexpr std::array<std::string_view, models::update_method_count> names{"in the format", "stochastic, mean",
                                                                            "compensated", "FP32 master's copy"};
  const double all = run.exact_final - run.start;
  for (std::size_t m = 0; m < models::update_method_count; ++m) {
    out.weight[m] = run.weight[m].back();
    out.gained[m] = all != 0 ? 100 * (out.weight[m] - run.start) / all : 100;
    out.updates.push_back({std::string(names[m]), out.weight[m], out.gained[m], run.first_move[m]});
  }
  out.update = run;
  out.spacing = 2 * run.smallest_visible;
}

/// The naive sum addition by addition.
void trace_additions(const models::SumInputs& in, Run& run) {
  run.terms = models::low_precision_terms(in);
  run.stored.reserve(run.terms.size());
  models::FormatRounder rounder(*in.format);
  double sum = 0;
  for (const double term : run.terms) run.stored.push_back(sum = rounder.nearest(sum + term));
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const models::FloatFormat* format = models::find_float_format(in.format);
  const models::SumInputs sum{
      .format = format,
      .terms = in.terms,
      .count = in.count,
      .size = in.size,
      .block = in.block,
      .seed = in.seed,
  };
  auto sums = models::run_low_precision_sum(sum);
  if (!sums) return {.facts = {.reason = sums.error}};
  auto updates = models::run_weight_updates({
      .format = format,
      .weight = in.weight,
      .update = in.update,
      .steps = in.steps,
      .replicas = in.replicas,
      .seed = in.seed,
  });
  if (!updates) return {.facts = {.reason = updates.error}};
  auto run = std::make_shared<Run>(Run{std::move(*sums), std::move(*updates), {}, {}});
  if (!progress.facts_alone) trace_additions(sum, *run);
  Outputs out;
  out.epsilon = std::ldexp(1.0, -format->mantissa_bits);
  out.ones_stop_at = models::ones_stop_at(*format);
  fill_sums(std::string(format->name), run->sums, out);
  fill_updates(run->updates, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::precision::accumulation
