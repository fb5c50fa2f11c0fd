#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "chapters/fleet/scaling_tax/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::fleet::scaling_tax {
namespace {

using models::as_double;
using widgets::Curve, widgets::format_text, widgets::Meaning, widgets::Tint;

/// What a tread and its riser are called, coloured and lit with.
struct Look {
  std::string_view name, why;
  Tint tint;
  std::string_view output;
};
const std::array<Look, models::fleet::tax_cause_count>& looks() {
  static const std::array<Look, models::fleet::tax_cause_count> all{{
      {"one matmul", "kernels below the peak", Meaning::compute_bound, "kernel_mfu"},
      {"one GPU", "attention, norms, shapes", Meaning::memory_bound, "gpu_mfu"},
      {"recomputed", "run twice", Meaning::forward, ""},
      {"one node", "tensor parallel", Meaning::communication, "node_mfu"},
      {"one node", "copies in the node", Meaning::communication, "node_mfu"},
      {"one sequence", "context parallel", Meaning::communication, ""},
      {"all experts", "expert exchanges", Meaning::communication, ""},
      {"one copy", "bubble, uneven stages", Meaning::idle, ""},
      {"all copies", "gradients, optimizer", Meaning::optimizer, ""},
      {"GPUs in use", "GPUs left over", Meaning::idle, ""},
      {"in lockstep", "the slowest GPU", Meaning::data_loading, "model_mfu"},
      {"as published", "not explained by this model", Tint(), "published_mfu"},
      {"a slow node", "one node of all", Tint::bad(), "slow_points"},
      {"a month of it", "failures, saves", Tint::bad(), "effective_mfu"},
  }};
  return all;
}

/// With one place after the point, a small riser's with two.
std::string points_text(double points) {
  if (std::abs(points) < 0.005) return "0";
  char text[24];
  std::snprintf(text, sizeof text, std::abs(points) < 0.995 ? "%.2f" : "%.1f", std::abs(points));
  return (points < 0 ? "+" : "\xE2\x88\x92") + std::string(text);
}

/// In so few letters that a narrow tread holds them.
std::string dollars_text(double dollars) {
  if (dollars < 500) return format_text(dollars, "$", 2);
  char text[32];
  const bool millions = dollars >= 999'500;
  std::snprintf(text, sizeof text, millions ? "$%.1f M" : "$%.0f k", dollars / (millions ? 1e6 : 1e3));
  return text;
}

void arrange_treads(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const models::fleet::TaxStairs& s = run.stairs;
  double most = 0;
  bool any_lifted = false;
  for (std::size_t row = 0; row < run.causes.size(); ++row) {
    const TaxCause cause = run.causes[row];
    const std::size_t i = place_of(cause);
    const Look& look = looks()[i];
    const RiserRow& r = out.risers[row];
    Tread t{.cause = cause,
            .name = std::string(look.name),
            .why = std::string(look.why),
            .tint = look.tint,
            .output = std::string(look.output),
            .lift = lift_of(cause)};
    t.gpus = r.gpus == 1 ? "1 GPU" : format_text(as_double(r.gpus), "") + " GPUs";
    t.before = 100 * s.before[i];
    t.after = 100 * s.mfu[i];
    t.untouched = 100 * s.untouched[i];
    t.before_share = 1 / s.before[i];
    t.found_share =
        cause == TaxCause::failures ? t.before_share * (100 / out.goodput_used - 1) : s.found_s[i] / s.ideal_s;
    t.points = points_text(r.points);
    char mfu[16];
    std::snprintf(mfu, sizeof mfu, "%.1f", t.after);
    t.mfu = mfu;
    t.work = (r.work_gpus < -0.005 ? "+" : "") + format_text(std::abs(r.work_gpus), "", 3) +
             (std::abs(r.work_gpus) < 10'000 ? " GPUs" : "");
    t.dollars = dollars_text(std::abs(r.dollars_per_month));
    if (cause == TaxCause::slow_node)
      t.why = in.slow_node > 0 ? format_text(in.slow_node, "%") + " slower" : "no node is slower";
    if (cause == TaxCause::tensor && r.gpus < 8) t.name = "cut layers";
    // The same seconds are more points where the step is shorter.
    if (cause == TaxCause::unexplained && any_lifted) t.why = "not explained: the same seconds";
    any_lifted = any_lifted || t.after > t.untouched + 1e-9;
    if (t.lift != Lift::none && cause != TaxCause::kernel && r.points > most) {
      most = r.points;
      p.pointed = p.treads.size();
    }
    p.treads.push_back(std::move(t));
  }
  p.lifted = any_lifted;
  // A published run had room, whatever the memory model says.
  if (!out.fits)
    p.memory_words = "at the foot: work lost per month; memory by the model: " + format_text(out.memory_bytes, "B", 3) +
                     " per GPU, too much";
  if (!out.plan_problem.empty())
    p.plan_words = "shown: " + out.plan_used + ", batch " + format_text(as_double(out.batch_used), "") +
                   (out.fits ? "" : "; " + format_text(out.memory_bytes, "B", 3) + " per GPU: too much");
  if (any_lifted) p.lift_words = "lifted: " + format_text(out.won_gpus, "", 3) + " GPUs won";
}

/// What past releases reach on ever more GPUs, the band of their looks, and the new release.
void arrange_canary(const Inputs& in, const Outputs& out, Picture& p) {
  if (out.rungs.empty()) return;
  const double width = (in.rule == models::fleet::Rule::ratio ? in.threshold : in.threshold * in.run_spread) / 100;
  Curve band{.kind = Curve::Kind::area,
             .label = "past releases",
             .info = "within the threshold of one look",
             .tint = Meaning::forward,
             .alpha = 0.25f,
             .width = 0};
  Curve past{.label = "past releases, mean", .tint = Tint::strong(), .named = false, .legend = false};
  Curve fresh{.label = in.release == models::fleet::Release::as_before ? "the release" : "the release, an example",
              .output = "full_shortfall",
              .tint = Tint::bad(),
              .dashed = true,
              .named = false};
  Curve dots{.kind = Curve::Kind::dots,
             .label = "the release by GPUs",
             .tint = Tint::bad(),
             .marker = widgets::Marker::triangle,
             .radius = 5,
             .legend = false};
  double low = 100, high = 0;
  for (const CanaryRow& r : out.rungs) {
    const double gpus = as_double(r.gpus);
    band.add(gpus, r.past_mfu * (1 + width));
    band.lower.push_back(r.past_mfu * (1 - width));
    past.add(gpus, r.past_mfu);
    fresh.add(gpus, r.mfu);
    dots.add(gpus, r.mfu);
    low = std::min({low, r.mfu, r.past_mfu * (1 - width)});
    high = std::max({high, r.mfu, r.past_mfu * (1 + width)});
  }
  const double room = std::max(0.5, 0.12 * (high - low));
  p.canary_lo = std::max(0.0, low - room);
  p.canary_hi = high + room;
  p.gpus_lo = 0.88 * as_double(out.rungs.front().gpus);
  p.gpus_hi = std::max(2 * p.gpus_lo, 1.14 * as_double(out.rungs.back().gpus));
  p.canary = {std::move(band), std::move(past), std::move(fresh), std::move(dots)};
  const bool found = std::isfinite(out.canary_gpus);
  p.canary_note = found ? "found after " + format_text(out.canary_wait_s, "s", 2) : "found on none of them";
  if (out.full_dollars_per_day > 0) p.canary_note += "; unnoticed " + dollars_text(out.full_dollars_per_day) + " a day";
  p.canary_note += "; a false alarm in " + format_text(out.false_alarm, "%", 2) + " of canaries";
  if (found) {
    p.found_at = out.canary_gpus;
    p.canary_words = "found on " + format_text(out.canary_gpus, "");
  }
}

void arrange_slow(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve cost{.label = "one slow node", .output = "slow_points", .tint = Tint::yours(), .width = 2.5f, .named = false};
  for (const SlowPoint& s : run.slow) cost.add(s.slower, s.points);
  Curve failures{.label = "all failures",
                 .info = in.goodput > 0 ? "at the goodput that is set"
                                        : "with saves of " + format_text(in.save_s, "s", 2) + " and restarts of " +
                                              format_text(in.restart_s, "s", 2),
                 .output = "failure_points",
                 .tint = Tint::bad(),
                 .dashed = true};
  failures.add(0, out.failure_points);
  failures.add(max_slower, out.failure_points);
  p.slow_hi = 1.05 * std::max({run.slow.back().points, out.failure_points, 0.1});
  p.slow_label = format_text(out.slow_points, "", 2) + " points";
  p.slow = {std::move(failures), std::move(cost)};
}

}  // namespace

std::string_view cause_words(TaxCause cause) { return looks()[place_of(cause)].why; }

double lift_at(const Tread& tread, double mfu) {
  if (!(std::abs(tread.found_share) > 1e-12)) return 0;
  const double kept = (100 / std::max(mfu, 0.01) - tread.before_share) / tread.found_share;
  return std::clamp(std::round(100 * (1 - kept)), 0.0, 100.0);
}

double slower_at(const Run& run, double mfu) {
  const auto& curve = run.slow;
  for (std::size_t i = 1; i < curve.size(); ++i)
    if (curve[i].mfu <= mfu) {
      const double span = curve[i - 1].mfu - curve[i].mfu;
      const double part = span > 1e-12 ? std::clamp((curve[i - 1].mfu - mfu) / span, 0.0, 1.0) : 1;
      return std::round(10 * (curve[i - 1].slower + part * (curve[i].slower - curve[i - 1].slower))) / 10;
    }
  return max_slower;
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.causes.empty()) return p;
  p.answer = answer_of(in, out);
  arrange_treads(in, out, run, p);
  arrange_canary(in, out, p);
  arrange_slow(in, out, run, p);
  arrange_published(out, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::fleet::scaling_tax
