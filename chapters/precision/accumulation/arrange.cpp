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

std::string whole(double n) { return widgets::figure(n, "", 9); }

/// The answer where ones are added: where that stops, and what their sum is.
std::string answer_of_ones(const Inputs& in, const Outputs& out, const std::string& name) {
  const auto sum_of = [&](models::SumMethod m) { return whole(out.sums[static_cast<std::size_t>(m)].sum); };
  const std::string stop = name + " stops at " + whole(out.ones_stop_at), ones = whole(static_cast<double>(in.count)),
                    apart = "From there on its values are 2 apart, so a one falls off the end";
  if (static_cast<double>(in.count) <= out.ones_stop_at)
    return stop + "; these " + ones + " ones " +
           (static_cast<double>(in.count) < out.ones_stop_at ? "do not get there, and sum to "
                                                             : "just get there, to ") +
           sum_of(models::SumMethod::naive) + ".\n" + apart + ".";
  const double blocked = out.sums[static_cast<std::size_t>(models::SumMethod::blocked)].sum;
  const std::string blocks = "In blocks of " + whole(static_cast<double>(in.block)) + ", whose sums are added in FP32";
  return stop + ": adding one then changes nothing, and " + ones + " ones sum to " + sum_of(models::SumMethod::naive) +
         ".\n" + blocks +
         (blocked >= out.exact_sum ? ", they sum to " + whole(blocked) + "."
                                   : ", they sum to " + whole(blocked) + ", since each block stops there too.");
}

/// The answer for a sum: where adding ones stops, or how far the sum in the format is from the exact one.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const SumRow& naive = out.sums.front();
  const std::string name(models::find_float_format(in.format)->name);
  if (in.terms == models::SumTerms::ones && in.size == 1) return answer_of_ones(in, out, name);
  const int digits = format_text(naive.sum, "") == format_text(out.exact_sum, "") ? 4 : 3;
  const auto figure = [digits](double v) { return widgets::figure(v, "", digits); };
  const bool apart = format_text(naive.sum, "", digits) != format_text(out.exact_sum, "", digits);
  const std::string terms = "These " + whole(static_cast<double>(in.count)) + " terms ",
                    ones = "Adding ones in " + name + " would stop at " + whole(out.ones_stop_at);
  if (naive.overflowed)
    return terms + "overflow " + name + " and end at " + figure(naive.sum) + " instead of " + figure(out.exact_sum) +
           ".\nA sum that is too large stays at the largest value of " + name + ".";
  if (naive.error == 0)
    return terms + "sum to " + figure(naive.sum) + " in " + name + ", which is exact.\n" + ones + ".";
  const std::string error = widgets::figure(naive.error, "%") + " of all magnitudes together";
  if (!apart) return terms + "sum to " + figure(naive.sum) + " in " + name + ", off by " + error + ".\n" + ones + ".";
  return terms + "sum to " + figure(naive.sum) + " in " + name + " instead of " + figure(out.exact_sum) + ".\n" + ones +
         "; here the error is " + error + ".";
}

/// The results of the other methods, at the end of the plot, the most exact first: those that lie as near to each other
/// as a pixel share a mark and a name.
void add_end_marks(const models::SumRun& run, Picture& p) {
  const double last = run.count.back();
  constexpr double pixels = 100;  // of a low plot
  const double apart = p.positive ? std::log(p.sum_hi / p.sum_lo) / pixels : (p.sum_hi - p.sum_lo) / pixels;
  std::vector<widgets::Curve> marks;
  std::vector<int> more;
  for (std::size_t m = sum_names.size(); m-- > 1;) {
    const double sum = run.methods[m].final;
    const auto near = std::find_if(marks.begin(), marks.end(), [&](const widgets::Curve& c) {
      return std::abs(p.positive ? std::log(c.y.back() / sum) : c.y.back() - sum) <= apart;
    });
    if (near != marks.end()) {
      near->info += ", " + std::string(sum_names[m]);
      ++more[static_cast<std::size_t>(near - marks.begin())];
      continue;
    }
    more.push_back(0);
    marks.push_back({.label = std::string(sum_names[m]),
                     .info = "the sum at the end: " + std::string(sum_names[m]),
                     .tint = widgets::Tint::series(sum_series[m]),
                     .width = 4,
                     .legend = false,
                     .x = {last * 0.96, last},
                     .y = {sum, sum}});
  }
  for (std::size_t i = 0; i < marks.size(); ++i)
    marks[i].label +=
        (more[i] > 0 ? " and " + std::to_string(more[i]) + " more: " : ": ") + format_text(marks[i].y.back(), "");
  std::move(marks.begin(), marks.end(), std::back_inserter(p.sums));
}

/// The one accumulator under the exact sum; what lies between them is lost.
void arrange_sums(const Inputs& in, const models::SumRun& run, Picture& p) {
  const std::vector<double>& sum = run.methods[0].sum;
  widgets::Curve lost{.kind = widgets::Curve::Kind::area,
                      .label = "lost",
                      .tint = widgets::Tint::bad(),
                      .alpha = 0.16f,
                      .width = 0,
                      .legend = false,
                      .x = run.count,
                      .y = run.exact};
  lost.lower = sum;
  p.sums.push_back(std::move(lost));
  p.sums.push_back({.label = "exact",
                    .info = "of the same terms, in compensated double",
                    .width = 1.5f,
                    .dashed = true,
                    .legend = false,
                    .given = in.terms == models::SumTerms::ones,  // it follows from the inputs
                    .x = run.count,
                    .y = run.exact});
  p.sums.push_back({.label = "one accumulator: " + format_text(sum.back(), ""),
                    .output = "naive_sum",
                    .tint = widgets::Tint::yours(),
                    .width = 3,
                    .legend = false,
                    .x = run.count,
                    .y = sum});
  const auto [lo, hi] = std::minmax_element(run.exact.begin(), run.exact.end());
  const auto [own_lo, own_hi] = std::minmax_element(sum.begin(), sum.end());
  p.sum_lo = std::min(*lo, *own_lo);
  p.sum_hi = std::max(*hi, *own_hi);
  for (std::size_t m = 1; m < sum_names.size(); ++m) {
    p.sum_lo = std::min(p.sum_lo, run.methods[m].final);
    p.sum_hi = std::max(p.sum_hi, run.methods[m].final);
  }
  p.positive = p.sum_lo > 0;
  const double margin = 0.06 * std::max(p.sum_hi - p.sum_lo, 1e-9);
  p.sum_lo -= p.positive ? 0 : margin;
  p.sum_hi = p.positive ? p.sum_hi * 1.3 : p.sum_hi + margin;
  const double exact = std::abs(run.exact.back());
  p.exact_top = exact > 0 && std::isfinite(exact) ? std::max(1, std::ilogb(exact)) : 1;
  add_end_marks(run, p);
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
                    .given = true,  // it follows from the inputs
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
  // The plain weight comes first, so that lines which lie on it go by its name.
  for (std::size_t m = 0; m < out.updates.size(); ++m)
    p.weights.push_back({.kind = widgets::Curve::Kind::steps,
                         .label = out.updates[m].name,
                         .tint = widgets::Tint::series(update_series[m]),
                         .width = m == 0 ? 3.5f : 1.7f,
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

/// "1/128", which reads as the output 0.0078125 does, or a figure.
std::string power_figure(double value) {
  const std::string text = power_text(value);
  return text == format_text(value, "") ? widgets::figure(text) : text;
}

/// Whether an update changes the weight, and what it takes.
std::string answer_of_the_updates(const Inputs& in, const Outputs& out) {
  using models::UpdateMethod;
  const models::UpdateFigures& run = out.update;
  const std::string name(models::find_float_format(in.format)->name), weight = widgets::figure(run.start, ""),
                                                                      update = power_figure(std::abs(in.update)),
                                                                      apart = power_figure(out.spacing);
  if (run.first_seen)
    return "Updates of " + update + " move a weight of " + weight + " in " + name + ": " +
           widgets::figure(out.gained[static_cast<std::size_t>(UpdateMethod::plain)], "%") +
           " of their sum arrives.\nIts neighbours are " + apart + " apart, and each update is rounded to whole gaps.";
  const std::int64_t moves = run.first_move[static_cast<std::size_t>(UpdateMethod::master)];
  return "A weight of " + weight + " in " + name + " never moves: its neighbours are " + apart +
         " apart, and updates of " + update + " round away.\nAn FP32 master copy gathers them: its " + name + " copy " +
         (moves > 0 ? "moves after " + whole(static_cast<double>(moves)) + (moves == 1 ? " update." : " updates.")
                    : "has not moved after " + whole(static_cast<double>(in.steps)) +
                          (in.steps == 1 ? " update either." : " updates either."));
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
  p.format = models::find_float_format(in.format);
  arrange_sums(in, sums, p);
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
