#include <algorithm>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

using widgets::format_text;

/// A small power of two reads as one: "1/512", or 2 with a raised exponent.
std::string power_text(double value) {
  int exponent = 0;
  if (std::frexp(value, &exponent) != 0.5 || value > 0.05) return format_text(value, "");
  return exponent > -13 ? "1/" + format_text(1 / value, "", 6)
                        : std::string(widgets::power_of_two(exponent - 1).view());
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

/// One sentence: from where on adding one changes nothing, and what becomes of the terms that are added.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const SumRow& naive = out.sums.front();
  int digits = 3;  // as many as tell the sum from the exact one
  while (digits < 15 && naive.sum != out.exact_sum &&
         format_text(naive.sum, "", digits) == format_text(out.exact_sum, "", digits))
    ++digits;
  const auto figure = [digits](double v) { return widgets::figure(v, "", digits); };
  const std::string name(models::find_float_format(in.format)->name);
  const std::string stops_at = widgets::figure(out.ones_stop_at, "", 9), stop = "From " + stops_at + " on in " + name;
  if (in.terms == models::SumTerms::ones && in.size == 1) {
    if (static_cast<double>(in.count) > out.ones_stop_at)
      return stop + ", where neighbours are `2` apart: of " + figure(out.exact_sum) + " ones " + figure(naive.sum) +
             " arrive, in blocks of `" + std::to_string(in.block) + "` added up in FP32 " +
             figure(out.sums[static_cast<std::size_t>(models::SumMethod::blocked)].sum) + ".";
    return stop + ", where neighbours are `2` apart; " + figure(static_cast<double>(in.count)) +
           (static_cast<double>(in.count) < out.ones_stop_at ? " ones do not get there." : " ones just get there.");
  }
  const std::string ones = "Adding ones in " + name + " stops at " + stops_at + "; these " +
                           widgets::figure(static_cast<double>(in.count), "", 9) + " terms ";
  if (naive.overflowed)
    return ones + "overflow and end at " + figure(naive.sum) + ", where " + figure(out.exact_sum) + " is exact.";
  if (naive.error == 0) return ones + "add up to " + figure(naive.sum) + ", which is exact.";
  return ones + "add up to " + figure(naive.sum) + ", where " + figure(out.exact_sum) + " is exact.";
}

/// The sums over the exact one.
void arrange_shares(const models::SumRun& run, Picture& p) {
  p.one.assign(run.count.size(), 1);
  double highest = 1;
  for (std::size_t m = 0; m < p.share.size(); ++m)
    for (std::size_t i = 0; i < run.count.size(); ++i) {
      p.share[m].push_back(run.methods[m].sum[i] / run.exact[i]);
      highest = std::max(highest, p.share[m].back());
    }
  p.share_hi = std::max(1.15, 1.05 * highest);
  for (std::size_t m = 0; m < p.share.size(); ++m)
    p.right[m] = std::all_of(p.share[m].begin(), p.share[m].end(), [](double s) { return std::abs(s - 1) <= 0.01; });
  const auto others = std::count(p.right.begin(), p.right.end(), true);
  if (others > 0) p.exact_name += ", " + std::to_string(others) + (others == 1 ? " other" : " others");
}

/// The least error that is not 0, over all methods, with room below it.
double least_error_of(const models::SumRun& run) {
  double least = 1;
  for (const models::SumTrace& method : run.methods)
    for (const double e : method.error)
      if (e > 0) least = std::min(least, e);
  return std::max(least / 3, 1e-12);
}

/// The first addition that is lost on the naive sum, or else the first that is inexact, or else the last; from 1.
std::int64_t telling_addition(const Run& run) {
  auto first = static_cast<std::int64_t>(run.terms.size());
  double sum = 0;
  bool inexact = false;
  for (std::size_t i = 0; i < run.terms.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i) + 1;
    if (run.stored[i] == sum && run.terms[i] != 0) return n;
    if (!inexact && run.stored[i] != sum + run.terms[i]) {
      first = n;
      inexact = true;
    }
    sum = run.stored[i];
  }
  return first;
}

/// One sentence: whether an update changes the weight, and what it takes.
std::string answer_of_the_updates(const Inputs& in, const Outputs& out) {
  using models::UpdateMethod;
  const models::UpdateFigures& run = out.update;
  const std::string weight = "a weight of " + widgets::figure(run.start, "") + " in " +
                             std::string(models::find_float_format(in.format)->name) + ", where neighbours are " +
                             widgets::figure(power_text(out.spacing)) + " apart";
  const std::string update = widgets::figure(power_text(std::abs(in.update)));
  if (in.update == 0) return "Updates of `0` change nothing.";
  if (run.first_seen)
    return "Updates of " + update + " move " + weight + ": " +
           widgets::figure(out.gained[static_cast<std::size_t>(UpdateMethod::plain)], "%") + " of their sum arrives.";
  const std::int64_t moves = run.first_move[static_cast<std::size_t>(UpdateMethod::master)];
  return "Updates of " + update + " never move " + weight + "; an FP32 master's copy " +
         (moves > 0 ? "moves after " + widgets::figure(static_cast<double>(moves), "", 9) + "."
                    : "has not moved after " + widgets::figure(static_cast<double>(in.steps), "", 9) + " either.");
}

std::string story_of_the_updates(const Inputs& in, const Outputs& out) {
  return "Neighbours of " + format_text(out.update.start, "") + " are " + power_text(out.spacing) +
         " apart: updates of " + power_text(in.update) +
         (out.update.first_seen ? " move it, by whole gaps alone." : " round away, every time.");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  const models::SumRun& sums = run.sums;
  p.positive = *std::min_element(sums.exact.begin(), sums.exact.end()) > 0;
  p.format = models::find_float_format(in.format);
  if (p.positive) arrange_shares(sums, p);
  p.least_error = least_error_of(sums);
  p.shown_first = telling_addition(run);
  fit_weights(run.updates, p);
  const Inputs shipped;
  p.of_weight = in.weight != shipped.weight || in.update != shipped.update || in.steps != shipped.steps;
  p.answer = p.of_weight ? answer_of_the_updates(in, out) : answer_of(in, out);
  p.update_story = story_of_the_updates(in, out);
  return p;
}

}  // namespace chapters::precision::accumulation
