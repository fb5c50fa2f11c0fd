#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/debugging/stragglers/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::stragglers {
namespace {

using models::fleet::Rule;
using widgets::Curve, widgets::format_text, widgets::Meaning, widgets::Tint;

constexpr std::size_t max_lanes = 16, max_calls = 48;

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// The rows that are painted: all, or those that cause and wait most, in the job's order.
std::vector<std::size_t> lane_rows(const Run& run) {
  std::vector<std::size_t> rows(run.calls.ranks.size());
  std::iota(rows.begin(), rows.end(), 0);
  if (rows.size() > max_lanes) {
    const auto weight = [&](std::size_t r) {
      return r == run.moved ? INT64_MAX : run.blame.caused_ns[r] * 4 + run.blame.waited_ns[r];
    };
    std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) { return weight(a) > weight(b); });
    rows.resize(max_lanes);
  }
  std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return run.calls.ranks[a] < run.calls.ranks[b]; });
  return rows;
}

/// Milliseconds, as the matrix writes them.
std::string ms_text(double s) { return format_text(s * 1e3, "", s < 9.95e-3 ? 2 : 3); }

void arrange_calls(const Run& run, Picture& p) {
  const auto& c = run.calls;
  p.calls.resize(c.calls.size());
  std::iota(p.calls.begin(), p.calls.end(), 0);
  if (p.calls.size() > max_calls) {
    std::vector<std::int64_t> cost(c.calls.size(), 0);
    for (std::size_t k = 0; k < c.calls.size(); ++k)
      for (std::size_t r = 0; r < c.ranks.size(); ++r)
        if (c.takes_part(r, k)) cost[k] += c.start_ns[c.at(run.blame.last[k], k)] - c.start_ns[c.at(r, k)];
    std::stable_sort(p.calls.begin(), p.calls.end(), [&](auto a, auto b) { return cost[a] > cost[b]; });
    p.folded = "the " + std::to_string(max_calls) + " costliest of " + std::to_string(p.calls.size()) + " collectives";
    p.calls.resize(max_calls);
    std::sort(p.calls.begin(), p.calls.end());
  }
  for (const std::size_t k : p.calls) {
    const std::size_t last = run.blame.last[k];
    const auto lane = std::find_if(p.lanes.begin(), p.lanes.end(), [&](const Lane& l) { return l.row == last; });
    p.plumbs.push_back({in_seconds(c.start_ns[c.at(last, k)]), k, static_cast<std::size_t>(lane - p.lanes.begin())});
    p.call_names.push_back(c.calls[k]);
    p.last_names.push_back("rank " + std::to_string(c.ranks[last]));
  }
}

void arrange_matrix(const Run& run, Picture& p) {
  const std::size_t n = run.calls.ranks.size();
  for (const Lane& a : p.lanes)
    for (const Lane& b : p.lanes) {
      const double s = in_seconds(run.blame.matrix_ns[a.row * n + b.row]);
      p.matrix_s.push_back(s);
      p.matrix_text.push_back(s >= 5e-5 ? ms_text(s) : std::string());
      p.most_wait_s = std::max(p.most_wait_s, s);
    }
  for (const Lane& l : p.lanes) {
    p.blamed_s.push_back(in_seconds(run.blame.caused_ns[l.row]));
    p.blamed_text.push_back(p.blamed_s.back() > 0 ? ms_text(p.blamed_s.back()) : std::string());
  }
}

/// Blame beside gain, of the ranks that are blamed most.
void arrange_blame(const Run& run, Picture& p) {
  std::vector<std::size_t> rows(run.calls.ranks.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](auto a, auto b) { return run.blame.caused_ns[a] > run.blame.caused_ns[b]; });
  rows.resize(std::min<std::size_t>(rows.size(), 4));
  for (const std::size_t r : rows) {
    const std::string name = "rank " + std::to_string(run.calls.ranks[r]);
    p.bar_names.push_back(name + ", blamed");
    p.bar_values.push_back(in_seconds(run.blame.caused_ns[r]));
    p.bar_tints.push_back(Tint::series(0));
    p.bar_names.push_back(name + ", saved on time");
    p.bar_values.push_back(in_seconds(run.blame.won_ns[r]));
    p.bar_tints.push_back(Tint::good());
  }
  p.bar_unit = "s";
  p.bars_title = "Blame and gain";
}

void arrange_ranks(const Inputs& in, const Run& run, Picture& p) {
  const auto& c = run.calls;
  for (const std::size_t r : lane_rows(run))
    p.lanes.push_back({r, "rank " + std::to_string(c.ranks[r]), ms_text(in_seconds(c.computing_ns[r]))});
  if (p.lanes.size() < c.ranks.size())
    p.folded = std::to_string(p.lanes.size()) + " of " + std::to_string(c.ranks.size()) + " ranks";
  const std::string folded = p.folded;
  arrange_calls(run, p);
  if (!folded.empty() && p.folded != folded) p.folded = folded + ", " + p.folded;
  arrange_matrix(run, p);
  p.end_s = std::max(1e-9, in_seconds(c.last_ns));
  for (std::size_t i = 0; i < p.lanes.size(); ++i) {
    if (p.lanes[i].row == run.moved) p.moved_lane = i;
    if (run.blame.culprit >= 0 && p.lanes[i].row == static_cast<std::size_t>(run.blame.culprit)) p.culprit_lane = i;
  }
  for (std::size_t k = c.calls.size(); k-- > 0;)
    if (c.takes_part(run.moved, k)) p.handle_s = in_seconds(c.start_ns[c.at(run.moved, k)]);
  p.handle_words = in.advance_s > 0 ? "rank " + std::to_string(c.ranks[run.moved]) + ", " +
                                          format_text(in.advance_s, "s") + " earlier"
                                    : "drag rank " + std::to_string(c.ranks[run.moved]) + " earlier";
  arrange_blame(run, p);
}

void arrange_pipeline(const Outputs& out, const Run& run, Picture& p) {
  const auto& w = run.pipeline->what_if;
  p.heat_rows = static_cast<std::size_t>(run.pipeline->job.stages);
  p.heat_cols = static_cast<std::size_t>(run.pipeline->job.replicas);
  p.heat_hi = 5;
  for (const double s : w.worker) {
    p.heat.push_back(std::max(0.0, 100 * (s - 1)));
    p.heat_hi = std::max(p.heat_hi, p.heat.back());
  }
  for (std::size_t s = 0; s < p.heat_rows; ++s) p.heat_names.push_back("stage " + std::to_string(s));
  const double lost = out.length_s - w.ideal_s;
  const auto bar = [&](const char* name, double value, Tint tint) {
    p.bar_names.emplace_back(name);
    p.bar_values.push_back(std::max(0.0, value));
    p.bar_tints.push_back(tint);
  };
  bar("everything as usual", lost, {});
  bar("even micro-batches", w.even_batches_s, Tint::good());
  bar("even stages", w.even_stages_s, Tint::good());
  bar("last stage as usual", w.last_stage_share * lost, Tint::strong());
  bar("worst 3 % of workers as usual", w.worst_workers_share * lost, Tint::strong());
  p.bar_unit = "s";
  p.bars_title = "What a step would win";
  p.heat_note = "how much a step takes longer with this worker as it was and the others as usual";
}

void arrange_detector(const Inputs& in, const Run& run, Picture& p) {
  const bool ratio = in.rule == Rule::ratio;
  p.false_alarms = {.label = "false alarms per day", .output = "false_alarms_per_day", .tint = Tint::bad()};
  p.found = {.label = "slow GPUs found", .output = "found_share", .tint = Tint::strong()};
  models::fleet::Detector d{in.rule, 0, 3, 10};
  const double per_day = static_cast<double>(in.ranks) * 86400 / (run.run.mean_step * in.step_s);
  double most = 1e-3, least = 1e3;
  for (std::size_t i = 0; i < run.thresholds.size(); ++i) {
    d.threshold = run.thresholds[i];
    const double x = d.threshold * (ratio ? 100 : 1),
                 alarms = models::fleet::false_alarm_rate(d, run.fleet.noise) * per_day;
    p.found.add(x, run.found_share[i]);
    if (!(alarms > 1e-9)) continue;
    p.false_alarms.add(x, alarms);
    most = std::max(most, alarms);
    least = std::min(least, alarms);
  }
  p.alarms_hi = std::pow(10, std::ceil(std::log10(most)));
  p.alarms_lo = std::max(1e-6, std::pow(10, std::floor(std::log10(least))));
  if (p.alarms_lo >= p.alarms_hi) p.alarms_lo = p.alarms_hi / 100;
  p.threshold = in.threshold;
  if (!run.thresholds.empty()) {
    p.threshold_lo = run.thresholds.front() * (ratio ? 100 : 1);
    p.threshold_hi = run.thresholds.back() * (ratio ? 100 : 1);
  }
  p.threshold_label = ratio ? "threshold, % above the median" : "threshold, spreads";
}

void arrange_fleet(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto ranks = static_cast<std::size_t>(run.fleet.ranks), steps = static_cast<std::size_t>(run.fleet.steps);
  p.heat_rows = ranks;
  p.heat_cols = steps;
  p.heat.resize(ranks * steps);
  for (std::size_t i = 0; i < steps; ++i)
    for (std::size_t r = 0; r < ranks; ++r)
      p.heat[r * steps + i] = 100 * (static_cast<double>(run.run.time[i * ranks + r]) - 1);
  p.heat_lo = 0;
  p.heat_hi = std::max({in.spread * 5, in.slower * 1.2, 2.0});
  p.heat_note = "computing of each GPU over a healthy one";
  for (std::size_t r = 0; r < ranks; ++r)
    if (run.detection.first_alarm[r] >= 0) p.accused.push_back({r, !run.guilt.holds(static_cast<std::int64_t>(r))});
  p.accused_words = "marked at the right: accused by the rule";
  arrange_detector(in, run, p);
  const FleetFigures& f = out.fleet;
  const double hours = static_cast<double>(in.ranks) * 730;
  p.month_fault = f.lost_hours;
  p.month_noise = std::max(0.0, hours * (out.length_s <= 0 ? 0 : (f.healthy_step_s - in.step_s) / out.length_s));
  p.month_useful = std::max(0.0, hours - p.month_fault - p.month_noise);
  p.cost_note = "A month of " + format_text(static_cast<double>(in.ranks), "", 6) + " GPUs at " +
                format_text(in.price_per_hour, "$") + " per GPU-hour: the fault costs " +
                format_text(f.lost_dollars, "$") + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  p.shown = run.shown;
  if (!out.reason.empty() || run.shown == Shown::nothing) return p;
  p.answer = answer_of(in, out, run);
  if (run.shown == Shown::ranks) arrange_ranks(in, run, p);
  if (run.shown == Shown::pipeline) arrange_pipeline(out, run, p);
  if (run.shown == Shown::fleet) arrange_fleet(in, out, run, p);
  return p;
}

}  // namespace chapters::debugging::stragglers
