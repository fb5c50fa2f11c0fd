#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

using widgets::format_text;

constexpr std::array<std::string_view, models::sum_method_count> sum_names{
    "one accumulator", "stochastic", "Kahan", "pairwise", "blocks into FP32", "FP32"};

widgets::Curve curve_of_method(std::size_t method) {
  return {.label = std::string(sum_names[method]),
          .tint = widgets::Tint::series(sum_series[method]),
          .dashed = method == 1,
          .legend = false};
}

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

/// The sums over the exact one, or as they are where that changes sign. Shares that are right to a hundredth all the
/// way lie under the exact one's line and are counted in its name.
void arrange_sums(const models::SumRun& run, Picture& p) {
  widgets::Curve exact{.label = "exact",
                       .info = "of the same terms, in compensated double",
                       .width = 5,
                       .named = p.positive,
                       .legend = false,
                       .x = run.count,
                       .y = p.positive ? std::vector<double>(run.count.size(), 1) : run.exact};
  double highest = 1;
  int others = 0;
  std::vector<widgets::Curve> methods;
  for (std::size_t m = sum_names.size(); m-- > 0;) {
    widgets::Curve& c = methods.emplace_back(curve_of_method(m));
    c.width = m == 0 ? 3.0f : 1.7f;
    c.x = run.count;
    c.y = run.methods[m].sum;
    if (!p.positive) continue;
    for (std::size_t i = 0; i < c.y.size(); ++i) {
      c.y[i] /= run.exact[i];
      highest = std::max(highest, c.y[i]);
    }
    c.named = !std::all_of(c.y.begin(), c.y.end(), [](double s) { return std::abs(s - 1) <= 0.01; });
    others += c.named ? 0 : 1;
  }
  if (p.positive) p.share_hi = std::max(1.15, 1.05 * highest);
  if (others > 0) exact.label += ", " + std::to_string(others) + (others == 1 ? " other" : " others");
  p.sums.push_back(std::move(exact));
  std::move(methods.begin(), methods.end(), std::back_inserter(p.sums));
}

void arrange_errors(const models::SumRun& run, Picture& p) {
  p.errors.push_back({.label = "bound (n - 1) u",
                      .info = "no sum of n terms in this format is worse, to first order",
                      .width = 1,
                      .dashed = true,
                      .legend = false,
                      .x = run.count,
                      .y = run.first_order});
  for (std::size_t m = sum_names.size(); m-- > 0;) {
    widgets::Curve& c = p.errors.emplace_back(curve_of_method(m));
    c.width = m == 0 ? 2.5f : 1.7f;
    c.x = run.count;
    c.y = run.methods[m].error;
  }
}

void arrange_weights(const Outputs& out, const models::UpdateRun& run, Picture& p) {
  p.exact_weight = {.label = "exact",
                    .info = "weight + steps × update",
                    .width = 5,
                    .named = false,
                    .legend = false,
                    .x = run.step,
                    .y = run.exact};
  p.weights.push_back({.label = "one stochastic weight",
                       .info = "the first of the replicas",
                       .tint = widgets::Tint::series(1),
                       .alpha = 0.45f,
                       .width = 1,
                       .named = false,
                       .legend = false,
                       .x = run.step,
                       .y = run.stochastic_one});
  for (std::size_t m = out.updates.size(); m-- > 0;)
    p.weights.push_back({.kind = widgets::Curve::Kind::steps,
                         .label = out.updates[m].name,
                         .tint = widgets::Tint::series(update_series[m]),
                         .width = m == 0 ? 2.5f : 1.7f,
                         .dashed = m == 2,
                         .legend = false,
                         .x = run.step,
                         .y = run.weight[m]});
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
  arrange_sums(sums, p);
  arrange_errors(sums, p);
  arrange_weights(out, run.updates, p);
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
