#include <algorithm>
#include <cmath>

#include "chapters/precision/loss_scaling/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::loss_scaling {
namespace {

using models::ScalerHealth;
using widgets::figure, widgets::format_text;

std::string count_text(std::int64_t n) { return figure(static_cast<double>(n), "", 9); }
std::string times_text(double times) { return figure(times, widgets::times_unit); }
/// A rate of steps: "1 step in `50`", and "`80 %` of the steps" where that would be 1 in 1.
std::string rate_text(double percent, double every) {
  return every < 2 ? figure(percent, "%") + " of the steps" : "1 step in " + figure(every, "", 9);
}
/// "`12` of its last `48,000` steps", or of all steps where the first interval fills the run.
std::string skipped_text(const Inputs& in, const Outputs& out) {
  if (out.late_steps == 0) return count_text(out.skips) + " of its " + count_text(in.steps) + " steps";
  return (out.late_skips == 0 ? "none" : count_text(out.late_skips)) + " of its last " + count_text(out.late_steps) +
         " steps";
}
std::string to_zero(double percent) { return share_words(percent) + " of the gradients become zero"; }

/// The answer for a run without a scale that adapts: nothing there has a normal rate.
std::string answer_without_scaler(const Inputs& in, const Outputs& out) {
  if (in.policy == models::ScalerPolicy::none)
    return "Without a scaler no step is skipped, and " + to_zero(out.zero_scaled) + ".\n" +
           (out.skips == 0 ? "Nothing overflows here; BF16, which has the range of FP32, turns " +
                                 share_words(out.zero_bf16) + " of them into zero."
                           : count_text(out.skips) + (out.skips == 1 ? " step puts" : " steps put") +
                                 " inf or NaN into the weights, since nothing looks for them.");
  return "A fixed scale of " + figure(in.init_scale, "") + " never adapts: it skips " +
         (out.skips == 0 ? "none" : count_text(out.skips)) + " of " + count_text(in.steps) + " steps.\nUnder it " +
         to_zero(out.zero_scaled) + "; only a scale that adapts has a normal rate.";
}

/// How often a healthy scaler skips at most, and what 1 in 50 is next to that.
std::string normal_text(const Outputs& out) {
  if (out.balance_rate > 50)
    return "These settings have no healthy rate: growth outweighs backoff, and up to " + figure(out.balance_rate, "%") +
           " of the steps may be skipped.";
  const std::string most = "A healthy scaler skips at most " + rate_text(out.balance_rate, out.normal_every);
  if (out.fifty_over_normal < 1.05) return most + " with these settings, so 1 in 50 is normal.";
  return most + ": 1 in 50 is " + times_text(out.fifty_over_normal) + " as often and not normal.";
}

/// Why skips come more often than is normal, and what they end in, as the second line.
std::string trouble_text(const Outputs& out) {
  const std::string end =
      out.health == ScalerHealth::collapsed ? ", and at worst " + to_zero(out.worst_zero_scaled) + "." : "";
  const auto of_all = [&](std::int64_t n) {
    return n == out.skips ? "All " + count_text(n) : count_text(n) + " of its " + count_text(out.skips);
  };
  if (2 * out.figures.bad_skips > out.skips)
    return of_all(out.figures.bad_skips) + " skipped steps hold inf or NaN at any scale" +
           (end.empty() ? ": a smaller one cannot help." : end);
  return of_all(out.figures.overflow_skips) + " skipped steps overflow" +
         (end.empty() ? ": the gradients keep growing or spiking." : end);
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.health == ScalerHealth::unscaled) return answer_without_scaler(in, out);
  if (out.health == ScalerHealth::searching)
    return normal_text(out) + "\nThis run is too short to say: " +
           (out.skips == 0   ? "it skips no step."
            : out.skips == 1 ? "its only skip is the scale being found."
                             : "its " + count_text(out.skips) + " skips are the scale being found.");
  const bool often = out.times_balance > 2;
  if (out.health == ScalerHealth::collapsed && !often)
    return "The scale is of no use here: at worst " + to_zero(out.worst_zero_scaled) +
           ".\nSkips do not show it: it skips " + skipped_text(in, out) + ".";
  if (out.health == ScalerHealth::collapsed || out.health == ScalerHealth::investigate)
    return "This run skips " + rate_text(out.late_skip_rate, out.late_every) + ": that is " +
           times_text(out.times_balance) + " as often as a healthy scaler skips at most.\n" + trouble_text(out);
  // More skips than growths can make up for: the scale ends lower than it began.
  if (out.times_balance > 1)
    return normal_text(out) + "\nThis run skips " + skipped_text(in, out) +
           ", a little more often: on the whole its scale sinks.";
  if (in.spike_rate > out.balance_rate && in.spike_binades > 0)
    return normal_text(out) + "\nSpikes come in " + figure(in.spike_rate, "%") +
           " of the steps, yet the scale settles where they fit: it skips " + skipped_text(in, out) + ".";
  return normal_text(out) + (out.balance_rate > 50 ? "\nThis run skips " : "\nThis run is healthy: it skips ") +
         skipped_text(in, out) + ".";
}

/// What the figures of the answer are in the picture: the run's own line, the normal one, or that of one in fifty.
std::vector<widgets::FigureMeaning> meanings_of(const Inputs& in, const Outputs& out) {
  const auto bare = [](double v, int digits) { return format_text(v, "", digits); };
  const auto counted = [&](std::int64_t n) { return bare(static_cast<double>(n), 9); };
  constexpr const char* run = "late_skip_rate";
  const auto times = [](double v) { return format_text(v, widgets::times_unit); };
  return {{bare(out.normal_every, 9), "balance_rate"},
          {times(out.fifty_over_normal), "one_in_fifty"},
          {bare(out.late_every, 9), run},
          {times(out.times_balance), run},
          {counted(out.late_skips), run},
          {counted(out.late_steps), run},
          {counted(out.skips), run},
          {counted(in.steps), run}};
}

/// The density of log2 |g|, which is normal, over multiples of the median; and what FP16 tells apart.
void arrange_bell(const Inputs& in, Picture& p) {
  constexpr double reach = 4.2;  // These standard deviations are drawn either way: outside is less than a pixel.
  for (std::size_t i = 0; i < bell_points; ++i) {
    const double z = reach * (2 * static_cast<double>(i) / (bell_points - 1) - 1);
    p.bell_multiple[i] = std::exp2(z * in.spread_binades);
    p.bell_density[i] = std::exp(-z * z / 2);
  }
  const auto fp16 = models::fp16_magnitudes();
  p.zero_below = std::exp2(fp16.zero_log2);
  p.smallest_normal = std::exp2(fp16.normal_log2);
  p.infinite_from = std::exp2(fp16.overflow_log2);
  p.infinite_label = format_text(p.infinite_from, "", 5) + ": inf";
}

std::array<double, 4> percent_of(const models::MagnitudeShares& s) {
  return {100 * s.zero, 100 * s.subnormal, 100 * s.normal, 100 * s.overflow};
}

/// What the lower pictures show of a sample; needs the bell.
StepPicture picture_of(const models::ScalerSample& s, const Picture& p) {
  StepPicture step;
  step.median = std::exp2(s.centre_log2);
  step.scaled_median = std::exp2(s.centre_log2 + s.scale_log2);
  step.shares = {percent_of(s.scaled), percent_of(s.unscaled), percent_of(s.bf16)};
  const std::array<double, 3> limits{p.zero_below, p.smallest_normal, p.infinite_from};
  for (std::size_t k = 0; k < limits.size(); ++k)
    step.ends[k + 1] = static_cast<std::size_t>(
        std::partition_point(p.bell_multiple.begin(), p.bell_multiple.end(),
                             [&](double multiple) { return step.scaled_median * multiple < limits[k]; }) -
        p.bell_multiple.begin());
  step.ends.back() = bell_points;
  step.lo = std::min(std::min(step.median, step.scaled_median) * p.bell_multiple.front(), p.zero_below / 4);
  step.hi = std::max(std::max(step.median, step.scaled_median) * p.bell_multiple.back(), p.infinite_from * 4);
  return step;
}

/// The largest scaled gradient of steps `first` to `end`, as a power of two.
double largest_log2(const models::ScalerHistory& run, std::size_t first, std::size_t end) {
  double largest = -1e9;
  for (std::size_t i = first; i < end; ++i)
    largest = std::max(largest, static_cast<double>(run.largest_log2[i]) + static_cast<double>(run.scale_log2[i]));
  return largest;
}

void arrange_samples(const Inputs& in, const models::ScalerHistory& run, Picture& p) {
  p.largest = {.label = "largest",
               .info = "the largest scaled gradient of each stretch of steps",
               .tint = widgets::Tint::strong(),
               .width = 1.5f,
               .named = false};
  p.middle = {.kind = widgets::Curve::Kind::area,
              .label = "95 % of the gradients",
              .info = "centre ± 2 spreads, under the scale",
              .tint = widgets::Tint::strong(),
              .alpha = 0.2f};
  for (std::size_t k = 0; k < run.samples.size(); ++k) {
    const auto& s = run.samples[k];
    const auto first = static_cast<std::size_t>(s.step),
               end = k + 1 < run.samples.size() ? static_cast<std::size_t>(run.samples[k + 1].step) : run.fate.size();
    p.middle.add(static_cast<double>(s.step), std::exp2(s.centre_log2 + s.scale_log2 + 2 * in.spread_binades));
    p.middle.lower.push_back(std::exp2(s.centre_log2 + s.scale_log2 - 2 * in.spread_binades));
    p.largest.add(static_cast<double>(s.step), std::exp2(largest_log2(run, first, end)));
    p.steps_shown.push_back(picture_of(s, p));
  }
  // There is room above the largest and the limit of FP16, and below the smallest; what lies 40 binades under FP16 is
  // cut.
  p.range_hi = 256 * std::max(*std::max_element(p.largest.y.begin(), p.largest.y.end()), p.infinite_from);
  p.range_lo = std::clamp(*std::min_element(p.middle.lower.begin(), p.middle.lower.end()),
                          std::ldexp(p.zero_below, -40), p.zero_below) /
               16;
}

/// The curves over the steps of the run, without their values.
void name_steps(Picture& p) {
  p.skipped = {.kind = widgets::Curve::Kind::steps,
               .label = "this run",
               .info = p.unguarded ? "steps that put inf or NaN into the weights" : "steps whose update was dropped",
               .output = "late_skip_rate",
               .tint = tint_of(Fate::overflow),
               .width = 2.5f};
  p.scale = {.kind = widgets::Curve::Kind::steps,
             .label = "scale",
             .info = "what the loss is multiplied by",
             .tint = widgets::Tint::yours(),
             .named = false,
             .legend = false};
  p.normal = {.label = "normal at most",
              .info = "ln growth / (ln growth - interval × ln backoff) of the steps",
              .output = "balance_rate",
              .width = 1.5f,
              .dashed = true,
              .named = false};
  p.fifty = {.label = "1 in 50",
             .info = "one step in fifty",
             .output = "one_in_fifty",
             .tint = widgets::Tint::bad(),
             .width = 1.5f,
             .dashed = true,
             .named = false};
  p.overflows = {.kind = widgets::Curve::Kind::dots,
                 .label = p.unguarded ? "overflow: not skipped" : "overflow: skipped",
                 .info = p.unguarded ? "nobody drops the step: the weights become inf or NaN"
                                     : "the step is dropped and the scale multiplied by the backoff",
                 .tint = tint_of(Fate::overflow),
                 .marker = widgets::Marker::triangle,
                 .radius = 4.5f};
}

/// Where the scale changes, and the steps that are skipped.
void arrange_steps(const Inputs& in, const Outputs& out, const models::ScalerHistory& run, Picture& p) {
  const std::size_t n = run.fate.size();
  p.steps = static_cast<double>(n);
  p.skipped.add(0, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto step = static_cast<double>(i);
    if (i == 0 || run.scale_log2[i] != run.scale_log2[i - 1]) {
      p.scale.add(step, std::exp2(static_cast<double>(run.scale_log2[i])));
    }
    if (run.fate[i] == models::StepFate::applied) continue;
    p.skips.push_back(step);
    p.skipped.add(step, static_cast<double>(p.skips.size()));
    if (run.fate[i] != models::StepFate::overflowed) continue;
    p.overflows.add(step, std::exp2(largest_log2(run, i, i + 1)));
  }
  const double last_scale = p.scale.y.back(), last_skipped = p.skipped.y.back();
  p.scale.add(p.steps, last_scale);
  p.skipped.add(p.steps, last_skipped);
  constexpr std::size_t apart = 150;  // More marks than that run into each other; the rug has them all.
  if (p.overflows.x.size() > apart) {
    p.overflows.x.clear();
    p.overflows.y.clear();
  }
  const double normal = std::isfinite(out.balance_rate) ? out.balance_rate / 100 : 0;
  // A rate counts from where the scale has been found: both lines begin where the run is then.
  if (out.late_steps > 0 && in.policy == models::ScalerPolicy::dynamic) {
    p.rates_from = p.steps - static_cast<double>(out.late_steps);
    p.rates_on = static_cast<double>(out.figures.early_skips);
  }
  p.normal.add(p.rates_from, p.rates_on);
  p.normal.add(p.steps, p.rates_on + normal * (p.steps - p.rates_from));
  p.skipped_hi = 1.15 * std::max({last_skipped, p.normal.y.back(), 4.0});
  if (!(out.fifty_over_normal >= 1.5)) return;
  const double end = std::min(p.steps, p.rates_from + 50 * (p.skipped_hi - p.rates_on));
  p.fifty.add(p.rates_from, p.rates_on);
  p.fifty.add(end, p.rates_on + (end - p.rates_from) / 50);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.history.samples.empty()) return p;
  p.unguarded = in.policy == models::ScalerPolicy::none;
  arrange_bell(in, p);
  arrange_samples(in, run.history, p);
  name_steps(p);
  arrange_steps(in, out, run.history, p);
  p.answer = answer_of(in, out);
  p.meanings = meanings_of(in, out);
  return p;
}

}  // namespace chapters::precision::loss_scaling
