#include <algorithm>
#include <cmath>

#include "chapters/profiling/measure/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::measure {
namespace {

using widgets::Curve, widgets::format_text, widgets::Marker, widgets::Tint;

constexpr Tint tint_of_a = Tint::series(0), tint_of_b = Tint::series(2);

double place(std::size_t slot) { return static_cast<double>(slot) + 1; }

Curve dots_of(std::string label, Tint tint, Marker marker) {
  return {.kind = Curve::Kind::dots, .label = std::move(label), .tint = tint, .marker = marker, .radius = 4.5f};
}

/// What is compared, over the runs that it is of.
Curve level_of(const std::vector<std::size_t>& of, double time_s, std::string label, std::string output, Tint tint) {
  Curve out{.label = std::move(label), .output = std::move(output), .tint = tint, .width = 2.5f, .legend = false};
  if (of.empty()) return out;
  out.add(place(of.front()), time_s);
  out.add(place(of.back()), time_s);
  return out;
}

void arrange_range(const Inputs& in, const Run& run, Picture& p) {
  std::vector<double> kept;
  for (std::size_t k = 0; k < run.slots.size(); ++k)
    if (run.slots[k].kept) kept.push_back(run.times_s[k]);
  if (kept.empty()) return;
  std::sort(kept.begin(), kept.end());
  // Interrupted runs would leave no room for the others: they stand at the upper edge.
  const double lowest = kept.front(), usual = kept[kept.size() * 17 / 20];
  double lo = lowest, hi = std::min(kept.back(), usual + 3 * (usual - lowest));
  if (p.drawn) {
    const double hot = run.base_s * (1 + in.drift / 100);
    lo = std::min({lo, run.base_s, hot});
    hi = std::max({hi, run.base_s, hot});
  }
  const double room = std::max(0.12 * (hi - lo), 1e-6 * hi);
  p.time_lo = std::max(0.0, lo - room);
  p.time_hi = hi + 2 * room;
  p.slots_hi = static_cast<double>(run.slots.size()) + 1;
}

/// What the machine alone makes of A's time, cold starts left out.
void arrange_machine(const Inputs& in, const Run& run, Picture& p) {
  Curve machine{.label = "the machine", .info = "A's time without noise", .tint = Tint::strong(), .dashed = true};
  models::measure::Bench bench = bench_of(in);
  const auto at = [&](double k) { return run.base_s * models::measure::heat_factor(bench, k); };
  constexpr int steps = 60;
  const double last = static_cast<double>(run.slots.size()) - 1;
  for (int i = 0; i <= steps; ++i) {
    const double k = last * i / steps;
    machine.add(k + 1, at(k));
  }
  p.drift_at = at(last);
  bench.drift = 1;
  p.heated = std::max(1e-3, models::measure::heat_factor(bench, last) - 1);
  p.cold_time = run.base_s;
  p.drift_words = "drag: hot " + format_text(in.drift, "%", 2);
  p.runs.push_back(std::move(machine));
}

/// What the next timing is of, where it is not what is shown: "; next: tile and spill".
std::string next_words(const Inputs& in) {
  const ChosenRungs chosen = rungs_of(in);
  if (!chosen.ladder) return {};
  const TimedPair next{in.ladder, std::string(chosen.a->id), std::string(chosen.b->id), chosen.size, in.cold_caches};
  if (!in.timed_runs.empty() && !in.timed.empty() && in.timed.front() == next) return {};
  return "; next: " + next.a + " and " + next.b;
}

std::string where_words(const Inputs& in, const Run& run) {
  if (in.source == Source::drawn) return "in the order of the clock";
  return in.source == Source::machine ? run.where + next_words(in) : run.where;
}

void arrange_runs(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  arrange_range(in, run, p);
  if (p.drawn) arrange_machine(in, run, p);
  if (in.paired) {
    Curve links{.label = "pairs", .alpha = 0.45f, .width = 1, .named = false};
    for (std::size_t i = 0; i < run.kept.pairs(); ++i) {
      for (const std::size_t k : {run.kept.a[i], run.kept.b[i]})
        links.add(place(k), std::min(run.times_s[k], p.time_hi));
      links.add(place(run.kept.b[i]), no_figure);
    }
    p.runs.push_back(std::move(links));
  }
  Curve a = dots_of(run.a_name, tint_of_a, Marker::circle), b = dots_of(run.b_name, tint_of_b, Marker::triangle);
  Curve away = dots_of("thrown away", Tint(), Marker::square);
  away.alpha = 0.55f;
  away.radius = 3.5f;
  away.info = "first runs of each version; at the upper edge where they take longer";
  for (std::size_t k = 0; k < run.slots.size(); ++k) {
    Curve& to = !run.slots[k].kept ? away : run.slots[k].is_b ? b : a;
    to.add(place(k), std::min(run.times_s[k], p.time_hi));
  }
  p.runs.push_back(level_of(run.kept.a, out.a_time_s, run.a_name, "a_time_s", tint_of_a));
  p.runs.push_back(level_of(run.kept.b, out.b_time_s, run.b_name, "b_time_s", tint_of_b));
  p.runs.push_back(std::move(a));
  p.runs.push_back(std::move(b));
  if (!away.x.empty()) p.runs.push_back(std::move(away));
  p.runs_words = std::to_string(run.slots.size()) + " runs, " + where_words(in, run);
}

void arrange_funnel(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve band{.kind = Curve::Kind::area,
             .label = "95 % interval",
             .info = "after so many pairs, by the method that is set",
             .tint = Tint::series(4),
             .alpha = 0.3f,
             .width = 1};
  Curve found{.label = "gain found", .output = "found", .tint = Tint::strong(), .width = 2.5f};
  for (const FunnelPoint& f : run.funnel) {
    const double at = static_cast<double>(f.pairs);
    band.add(at, f.hi);
    band.lower.push_back(f.lo);
    found.add(at, f.found);
  }
  const double reach = 3.5 * std::max(out.half_width, 0.02);
  p.gain_lo = std::min({0.0, out.found - reach, in.gain});
  p.gain_hi = std::max({0.0, out.found + reach, in.gain});
  if (!std::isnan(out.order_bias)) {
    p.gain_lo = std::min(p.gain_lo, out.order_bias);
    p.gain_hi = std::max(p.gain_hi, out.order_bias);
  }
  const double room = 0.08 * (p.gain_hi - p.gain_lo);
  p.gain_lo -= room;
  p.gain_hi += room;
  p.pairs_hi = 1.3 * static_cast<double>(out.pairs) + 1;
  Curve pairs = dots_of("pairs", Tint(), Marker::circle);
  pairs.alpha = 0.5f;
  pairs.radius = 3;
  pairs.info = "gain of each pair; at the edge where it lies beyond";
  for (std::size_t i = 0; i < run.pair_gains.size(); ++i)
    pairs.add(static_cast<double>(i) + 1, std::clamp(run.pair_gains[i], p.gain_lo, p.gain_hi));
  p.funnel = {std::move(band), std::move(pairs), std::move(found)};
  // What lies together on the picture is one line with one name.
  const double together = 0.04 * (p.gain_hi - p.gain_lo);
  const bool known = !std::isnan(out.order_bias), no_gain = std::abs(in.gain) <= together;
  const bool no_bias = known && std::abs(out.order_bias) <= together;
  p.order_apart = known && (!no_bias || no_gain);
  p.zero_is_order = no_bias && !no_gain;
  p.zero_words = no_gain ? "" : no_bias ? "no difference, nor by the order" : "no difference";
  p.funnel_words = (p.drawn ? "really " : "looked for: ") + format_text(in.gain, "%", 2);
}

void arrange_power(const Inputs& in, const Run& run, Picture& p) {
  Curve computed{.label = "t test, by formula",
                 .info = "where runs spread as a normal does",
                 .output = "power_computed",
                 .tint = Tint::strong(),
                 .named = false};
  Curve simulated = dots_of("as set, simulated", Tint::series(4), Marker::circle);
  simulated.info = "the method that is set, experiments repeated; bars: 95 % interval";
  for (const PowerPoint& q : run.power) {
    computed.add(q.gain, q.computed);
    simulated.add(q.gain, q.simulated);
    p.power_at.push_back(q.gain);
    p.power_from.push_back(q.lo);
    p.power_to.push_back(q.hi);
  }
  p.power_hi = run.power.empty() ? 1 : std::max({1e-3, 1.02 * run.power.back().gain, std::abs(in.gain)});
  p.power = {std::move(computed), std::move(simulated)};
}

void arrange_looks(const Run& run, Picture& p) {
  Curve peeking{.kind = Curve::Kind::steps,
                .label = "5 % at each look",
                .info = "called different at some look so far",
                .output = "peeking",
                .tint = Tint::bad(),
                .width = 2.5f};
  Curve split{.kind = Curve::Kind::steps, .label = "5 % over all looks", .output = "split", .tint = Tint::good()};
  Curve single{.label = "one look", .tint = Tint(), .dashed = true};
  const auto& t = run.trials;
  for (std::size_t i = 0; i < t.looks.size(); ++i) {
    const double at = static_cast<double>(t.looks[i]);
    peeking.add(at, 100 * t.peeking_by[i]);
    split.add(at, 100 * t.split_by[i]);
    single.add(at, 100 * t.single_by[i]);
  }
  p.looks_hi = t.looks.empty() ? 1 : static_cast<double>(t.looks.back()) + 1;
  const double most = t.peeking_by.empty() ? 0 : 100 * t.peeking_by.back();
  p.alarms_hi = std::clamp(1.25 * most, 12.0, 102.0);
  p.looks = {std::move(single), std::move(split), std::move(peeking)};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.slots.empty()) return p;
  p.drawn = in.source == Source::drawn;
  p.answer = answer_of(in, out);
  p.doors = doors_of(in, out);
  p.more = in.runs < (p.drawn ? max_runs : static_cast<std::int64_t>(run.runs_there));
  if (in.source == Source::machine) p.request = turns_request(in);
  arrange_runs(in, out, run, p);
  arrange_funnel(in, out, run, p);
  arrange_power(in, run, p);
  arrange_looks(run, p);
  return p;
}

}  // namespace chapters::profiling::measure
