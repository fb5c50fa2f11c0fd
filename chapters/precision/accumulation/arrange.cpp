#include <algorithm>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

using widgets::format_text;

/// A small power of two reads as one: "1/512", "2^-20".
std::string power_text(double value) {
  int exponent = 0;
  if (std::frexp(value, &exponent) != 0.5 || value > 0.05) return format_text(value, "");
  return exponent > -13 ? "1/" + format_text(1 / value, "", 6) : "2^" + std::to_string(exponent - 1);
}

std::vector<double> not_below(double least, const std::vector<double>& values) {
  std::vector<double> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), [&](double v) { return std::max(v, least); });
  return out;
}

/// The range of all weights drawn, with a margin.
void fit_weights(const models::UpdateRun& run, Picture& p) {
  p.weight_lo = run.start;
  p.weight_hi = run.start;
  const auto take_in = [&](const std::vector<double>& values) {
    const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
    p.weight_lo = std::min(p.weight_lo, *lo);
    p.weight_hi = std::max(p.weight_hi, *hi);
  };
  take_in(run.exact);
  take_in(run.stochastic_one);
  for (const auto& values : run.weight) take_in(values);
  const double margin = 0.06 * std::max(p.weight_hi - p.weight_lo, 1e-9);
  p.weight_lo -= margin;
  p.weight_hi += margin;
}

std::string story_of_the_sum(const Inputs& in, const Outputs& out) {
  const SumRow& naive = out.sums.front();
  const std::string format(models::find_float_format(in.format)->name), sum = format_text(naive.sum, "", 5),
                                                                        exact = format_text(out.exact_sum, "", 5);
  if (naive.overflowed)
    return "The sum is too large for " + format + ": its accumulator ends at the largest value, " + sum + ".";
  if (naive.moved_last < in.count * 9 / 10)
    return "The " + format + " accumulator holds " + sum + " after " +
           format_text(static_cast<double>(naive.moved_last), "", 6) + " terms and never moves again; the sum is " +
           exact + ".";
  return "One " + format + " accumulator ends at " + sum + "; the sum is " + exact + ", an error of " +
         format_text(naive.error, "%") + " of the magnitudes added.";
}

std::string story_of_the_updates(const Inputs& in, const Outputs& out) {
  return "Neighbours of " + format_text(out.update_run.start, "") + " are " + power_text(out.spacing) +
         " apart: updates of " + power_text(in.update) +
         (out.update_run.first_seen ? " move it, by whole gaps alone." : " round away, every time.");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  const models::SumRun& run = out.sum_run;
  p.positive = *std::min_element(run.exact.begin(), run.exact.end()) > 0;
  for (std::size_t m = 0; m < p.error.size(); ++m) p.error[m] = not_below(p.least_error, run.methods[m].error);
  p.bound = not_below(p.least_error, run.first_order);
  fit_weights(out.update_run, p);
  p.sum_story = story_of_the_sum(in, out);
  p.update_story = story_of_the_updates(in, out);
  return p;
}

}  // namespace chapters::precision::accumulation
