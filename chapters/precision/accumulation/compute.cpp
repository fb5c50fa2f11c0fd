#include <algorithm>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

using models::SumMethod;
using models::UpdateMethod;
using widgets::format_text;

double wide(std::int64_t n) { return static_cast<double>(n); }

/// A small power of two reads as one: "1/512", "2^-20".
std::string power_text(double value) {
  int exponent = 0;
  if (std::frexp(value, &exponent) != 0.5 || value > 0.05) return format_text(value, "");
  return exponent > -13 ? "1/" + format_text(1 / value, "", 6) : "2^" + std::to_string(exponent - 1);
}

void fill_sums(const models::SumRun& run, const std::string& format, Outputs& out) {
  const std::array<std::string, models::sum_method_count> names{"one " + format + " accumulator",
                                                                "the same, stochastic rounding",
                                                                "Kahan, two " + format + " numbers",
                                                                "pairwise in " + format,
                                                                "blocks into FP32",
                                                                "one FP32 accumulator"};
  double least = 1e300;
  for (std::size_t m = 0; m < models::sum_method_count; ++m) {
    const auto& t = run.methods[m];
    out.sums.push_back({names[m], t.final, 100 * t.final_error, t.moved_last, t.overflows > 0});
    if (m <= static_cast<std::size_t>(SumMethod::pairwise) && t.final_error < least)
      least = t.final_error, out.best = names[m];
    out.shown_error[m].resize(t.error.size());
    std::transform(t.error.begin(), t.error.end(), out.shown_error[m].begin(),
                   [&](double e) { return std::max(e, out.floor); });
  }
  const auto error = [&](SumMethod m) { return 100 * run.methods[static_cast<std::size_t>(m)].final_error; };
  out.naive_error = error(SumMethod::naive);
  out.stochastic_error = error(SumMethod::stochastic);
  out.kahan_error = error(SumMethod::kahan);
  out.pairwise_error = error(SumMethod::pairwise);
  out.blocked_error = error(SumMethod::blocked);
  out.wide_error = error(SumMethod::wide);
  out.exact_sum = run.exact.back();
  out.naive_sum = run.methods[0].final;
  out.stops_after = run.methods[0].moved_last;
  out.bound.resize(run.first_order.size());
  std::transform(run.first_order.begin(), run.first_order.end(), out.bound.begin(),
                 [&](double b) { return std::max(b, out.floor); });
}

void fill_updates(const Inputs& in, const models::UpdateRun& trial, Outputs& out) {
  constexpr std::array<std::string_view, models::update_method_count> names{
      "in the format", "stochastic, mean", "with a compensation", "copy of an FP32 master"};
  const double all = trial.exact_final - trial.start;
  const auto last = [&](std::size_t m) { return trial.weight[m].back(); };
  for (std::size_t m = 0; m < models::update_method_count; ++m)
    out.updates.push_back(
        {std::string(names[m]), last(m), all != 0 ? 100 * (last(m) - trial.start) / all : 100, trial.first_move[m]});
  out.weight_lo = out.weight_hi = trial.start;
  const auto show = [&](const std::vector<double>& values) {
    const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
    out.weight_lo = std::min(out.weight_lo, *lo), out.weight_hi = std::max(out.weight_hi, *hi);
  };
  show(trial.exact), show(trial.stochastic_one);
  for (const auto& values : trial.weight) show(values);
  const double margin = 0.06 * std::max(out.weight_hi - out.weight_lo, 1e-9);
  out.weight_lo -= margin, out.weight_hi += margin;
  out.start = trial.start;
  out.smallest_visible = trial.smallest_visible;
  out.spacing = 2 * trial.smallest_visible;
  out.update_seen = trial.first_seen;
  out.exact_weight = trial.exact_final;
  out.plain_weight = last(0);
  out.stochastic_weight = last(1);
  out.kahan_weight = last(2);
  out.master_weight = last(3);
  out.plain_gained = out.updates[0].gained;
  out.stochastic_gained = out.updates[1].gained;
  out.kahan_gained = out.updates[2].gained;
  out.master_gained = out.updates[3].gained;
  out.stochastic_deviation = trial.stochastic_deviation;
  out.master_first_move = trial.first_move[3];
  out.update_story = "Neighbours of " + format_text(out.start, "") + " are " + power_text(out.spacing) +
                     " apart: updates of " + power_text(in.update) +
                     (out.update_seen ? " move it, by whole gaps alone." : " round away, every time.");
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const models::FloatFormat* format = models::find_float_format(in.format);
  auto run = models::run_low_precision_sum({
      .format = format,
      .terms = in.terms,
      .count = in.count,
      .size = in.size,
      .block = in.block,
      .seed = in.seed,
  });
  auto trial = models::run_weight_updates({
      .format = format,
      .weight = in.weight,
      .update = in.update,
      .steps = in.steps,
      .replicas = in.replicas,
      .seed = in.seed,
  });
  for (const std::string* error : {&run.error, &trial.error})
    if (!error->empty()) {
      out.reason = *error;
      return out;
    }
  out.format_name = std::string(format->name);
  out.epsilon = std::ldexp(1.0, -format->mantissa_bits);
  out.ones_stop_at = models::ones_stop_at(*format);
  fill_sums(*run, out.format_name, out);
  fill_updates(in, *trial, out);
  const bool stalled = out.stops_after < in.count * 9 / 10;
  out.sum_story = stalled ? "The " + out.format_name + " accumulator holds " + format_text(out.naive_sum, "", 5) +
                                " after " + format_text(wide(out.stops_after), "", 6) +
                                " terms and never moves again; the sum is " + format_text(out.exact_sum, "", 5) + "."
                          : "One " + out.format_name + " accumulator ends at " + format_text(out.naive_sum, "", 5) +
                                "; the sum is " + format_text(out.exact_sum, "", 5) + ", an error of " +
                                format_text(out.naive_error, "%") + " of the magnitudes added.";
  if (out.sums[0].overflowed)
    out.sum_story = "The sum is too large for " + out.format_name + ": its accumulator ends at the largest value, " +
                    format_text(out.naive_sum, "", 5) + ".";
  widgets::Fingerprint mark;
  mark.add(std::string_view(in.format));
  for (const auto& r : out.sums) mark.add(r.sum), mark.add(r.error);
  for (const auto& r : out.updates) mark.add(r.weight), mark.add(r.gained);
  mark.add(wide(in.count)), mark.add(in.size), mark.add(wide(in.steps)), mark.add(in.weight), mark.add(in.update),
      mark.add(wide(in.seed));
  out.version = mark.value | 1;
  out.run = std::make_shared<models::SumRun>(std::move(*run));
  out.trial = std::make_shared<models::UpdateRun>(std::move(*trial));
  return out;
}

}  // namespace chapters::precision::accumulation
