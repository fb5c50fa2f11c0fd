#include <algorithm>

#include "chapters/serving/slo/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::slo {
namespace {

using models::LimitVerdict;
using widgets::Curve, widgets::format_text, widgets::Tint;

constexpr std::size_t dots_of_a_load = 110, dots_over_time = 1600;

/// A time that dots are drawn at; those sent away have none, and stand under the upper end of the axis.
using TimeOf = double (*)(const models::RequestFate&);
double first_token_of(const models::RequestFate& fate) { return fate.ttft_s; }
double pace_of(const models::RequestFate& fate) { return fate.tpot_s; }

Smear empty_smear(bool tokens) {
  Smear out;
  const auto dots = [](std::string label, Tint tint, widgets::Marker marker, float radius) {
    return Curve{
        .kind = Curve::Kind::dots,
        .label = std::move(label),
        .tint = tint,
        .alpha = 0.85f,
        .marker = marker,
        .radius = radius,
    };
  };
  out.dots[0] = dots("in time", Tint::series(1), widgets::Marker::circle, 1.9f);
  out.dots[1] = dots(tokens ? "too late a first token" : "too late", Tint::bad(), widgets::Marker::circle, 1.9f);
  out.dots[2] = dots("too slow a token", Tint::series(3), widgets::Marker::triangle, 2.6f);
  out.dots[3] = dots("sent away", Tint::bad(), widgets::Marker::square, 2.4f);
  return out;
}

/// Every so many of the requests that end in the time measured, in that order; at most `most`.
template <class Add>
void each_measured(const models::LoadRun& run, std::size_t most, const Add& add) {
  std::vector<const models::RequestFate*> ended;
  for (const models::RequestFate& fate : run.fates)
    if (models::end_of(fate) >= run.from_s && models::end_of(fate) < run.until_s) ended.push_back(&fate);
  std::sort(ended.begin(), ended.end(),
            [](const auto* a, const auto* b) { return models::end_of(*a) < models::end_of(*b); });
  const std::size_t every = std::max<std::size_t>(1, (ended.size() + most - 1) / most);
  for (std::size_t i = every / 2; i < ended.size(); i += every) add(*ended[i]);
}

/// The dots of all loads: a column a load, in it from left to right as time goes on.
void fill_smear(const Run& run, const Inputs& in, double width, double most_rate, TimeOf time, double top, Smear& out) {
  const models::LatencyLimits limits = limits_of(in);
  for (const auto& load : run.ladder) {
    if (load->rate_per_s > most_rate) continue;
    const double span_s = std::max(1e-9, load->until_s - load->from_s);
    each_measured(*load, dots_of_a_load, [&](const models::RequestFate& fate) {
      const double at = (models::end_of(fate) - load->from_s) / span_s - 0.5;
      const LimitVerdict verdict = models::verdict_of(fate, limits);
      const double value = fate.sent_away ? top : time(fate);
      if (value > 0) out.dots[static_cast<std::size_t>(verdict)].add(load->rate_per_s + at * width, value);
    });
  }
}

/// The least and the most that dots say, as decades around them and the limit.
struct Decades {
  double lo = 1e300, hi = 0;
  void add(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    lo = std::min(lo, value);
    hi = std::max(hi, value);
  }
  void round(double& least, double& most) const {
    if (!(hi > 0)) return;
    least = std::pow(10, std::floor(std::log10(lo) * 2) / 2);
    most = std::pow(10, std::ceil(std::log10(hi * 1.15) * 2) / 2);
  }
};

/// P50 or P99 over the loads: one line while queues are steady, dashed where they grow.
void add_tails(const Run& run, double most_rate, bool paces, std::vector<Curve>& out) {
  struct Line {
    std::string_view label;
    double models::ServingSummary::*figure;
    float width;
  };
  const std::array<Line, 2> lines{
      Line{"p99", paces ? &models::ServingSummary::tpot_p99_s : &models::ServingSummary::ttft_p99_s, 2.2f},
      Line{"p50", paces ? &models::ServingSummary::tpot_p50_s : &models::ServingSummary::ttft_p50_s, 1.2f}};
  for (const Line& line : lines) {
    Curve steady{.label = std::string(line.label), .tint = Tint::strong(), .width = line.width, .named = false};
    Curve grows = steady;
    grows.label += ", while the queue grows";
    grows.info = "Says how long the run was.";
    grows.dashed = true;
    grows.legend = false;
    for (const auto& load : run.ladder) {
      const double value = load->figures.*line.figure;
      if (load->rate_per_s > most_rate || !(value > 0)) continue;
      if (load->figures.overloaded) {
        if (grows.x.empty() && !steady.x.empty()) grows.add(steady.x.back(), steady.y.back());
        grows.add(load->rate_per_s, value);
      } else {
        steady.add(load->rate_per_s, value);
      }
    }
    out.push_back(std::move(steady));
    if (!grows.x.empty()) out.push_back(std::move(grows));
  }
}

void arrange_hill(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  p.served = {.label = "served", .output = "throughput_per_s", .tint = Tint::strong(), .width = 2.2f, .named = false};
  p.in_time = {.kind = Curve::Kind::area,
               .label = "in time",
               .output = "goodput_per_s",
               .tint = Tint::series(1),
               .alpha = 0.34f,
               .width = 2.2f};
  p.lost = {.kind = Curve::Kind::area,
            .label = "served for nothing",
            .output = "lost_per_s",
            .tint = Tint::bad(),
            .alpha = 0.3f,
            .width = 0};
  p.offered = {.label = "arrivals", .tint = {}, .width = 1, .dashed = true, .named = false, .given = true};
  p.served.add(0, 0);
  p.in_time.add(0, 0);
  p.lost.add(0, 0);
  p.lost.lower.push_back(0);
  for (const auto& load : run.ladder) {
    if (load->rate_per_s > p.most_rate) continue;
    const models::LoadFigures f = models::figures_under(*load, limits_of(in));
    p.served.add(load->rate_per_s, f.throughput_per_s);
    p.in_time.add(load->rate_per_s, f.goodput_per_s);
    p.lost.add(load->rate_per_s, f.throughput_per_s);
    p.lost.lower.push_back(f.goodput_per_s);
    p.most_per_s = std::max(p.most_per_s, f.throughput_per_s);
    if (!f.overloaded || std::isfinite(p.unstable_from)) continue;
    p.unstable_from = load->rate_per_s;
    p.unstable_words = "queue grows: waits hold for runs of " +
                       format_text(static_cast<double>(std::min(load->window.count, load->fates.size())), "") +
                       " requests";
  }
  p.most_per_s *= 1.12;
  p.offered.x = {0, std::min(p.most_rate, p.most_per_s)};
  p.offered.y = p.offered.x;
  p.here_served = out.throughput_per_s;
  p.here_good = out.goodput_per_s;
  p.knee = out.knee_rate_per_s;
  if (out.lost_per_s > 0.06 * p.most_per_s) {
    p.lost_bold = format_text(out.lost_per_s, "", 3) + " per second";
    p.lost_words = "served for nothing";
  }
  if (std::isfinite(p.knee)) p.knee_words = "limits hold up to " + format_text(p.knee, "");
}

/// The run at the load over time: its requests, who waits, and the replicas.
void arrange_time(const Inputs& in, const Run& run, Picture& p) {
  const models::LatencyLimits limits = limits_of(in);
  const models::LoadRun& here = *run.here;
  p.times = empty_smear(p.has_tokens);
  const std::size_t every = std::max<std::size_t>(1, here.fates.size() / dots_over_time);
  for (std::size_t i = 0; i < here.fates.size(); i += every) {
    const models::RequestFate& fate = here.fates[i];
    const double value = fate.sent_away ? p.most_ttft_s / 1.3 : fate.ttft_s;
    if (value > 0) p.times.dots[static_cast<std::size_t>(models::verdict_of(fate, limits))].add(fate.arrival_s, value);
  }
  Curve waiting{
      .kind = Curve::Kind::area, .label = "in the queues", .tint = Tint::series(4), .alpha = 0.35f, .width = 1.5f};
  Curve serving{.kind = Curve::Kind::steps, .label = "replicas that serve", .tint = Tint::series(0), .width = 2};
  Curve starting{
      .kind = Curve::Kind::steps, .label = "and that start", .tint = Tint::series(2), .width = 1.5f, .dashed = true};
  for (const models::FleetPoint& point : here.history) {
    waiting.add(point.time_s, point.waiting);
    serving.add(point.time_s, point.serving + point.leaving);
    starting.add(point.time_s, point.serving + point.leaving + point.starting);
    p.scales = p.scales || point.serving != here.history.front().serving || point.starting > 0;
  }
  p.fleet = {std::move(waiting), std::move(serving), std::move(starting)};
  p.end_s = std::max(1e-6, here.fates.back().arrival_s);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  p.has_tokens = in.service == ServiceKind::llm;
  if (!out.reason.empty() || !run.here) return p;
  p.answer = answer_of(in, out);
  const double top_rung = run.scenario->ladder.rate(run.scenario->ladder.rungs.back());
  p.step_per_s = run.scenario->ladder.step_per_s;
  p.here_rate = in.arrival_rate;
  p.beyond_words = format_text(in.arrival_rate, "") + " \xE2\x86\x92";
  p.most_rate = 1.03 * std::max(top_rung, in.arrival_rate <= 1.6 * top_rung ? in.arrival_rate : 0);
  Decades first_tokens, paces;
  first_tokens.add(in.ttft_limit_s);
  paces.add(in.tpot_limit_s);
  std::size_t shown = 1;
  for (const auto& load : run.ladder) {
    each_measured(*load, dots_of_a_load, [&](const models::RequestFate& fate) {
      first_tokens.add(fate.ttft_s);
      paces.add(fate.tpot_s);
    });
    shown = std::max(shown, load->fates.size() / dots_of_a_load);
  }
  first_tokens.round(p.least_ttft_s, p.most_ttft_s);
  paces.round(p.least_tpot_s, p.most_tpot_s);
  p.first_tokens = empty_smear(p.has_tokens);
  const double width = 0.026 * top_rung;
  fill_smear(run, in, width, p.most_rate, first_token_of, p.most_ttft_s / 1.3, p.first_tokens);
  add_tails(run, p.most_rate, false, p.tails);
  if (p.has_tokens) {
    p.paces = empty_smear(true);
    fill_smear(run, in, width, p.most_rate, pace_of, p.most_tpot_s / 1.1, p.paces);
    add_tails(run, p.most_rate, true, p.pace_tails);
  }
  p.stick_label = p.has_tokens ? "time to first token" : "time in the system";
  if (shown > 1) p.stick_label += ", 1 of " + std::to_string(shown) + " shown";
  arrange_hill(in, out, run, p);
  arrange_time(in, run, p);
  return p;
}

}  // namespace chapters::serving::slo
