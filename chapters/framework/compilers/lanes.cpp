#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/compilers/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::framework::compilers {
namespace {

using models::as_double;
using widgets::format_text, widgets::Tint;

/// Points of a line over the calls: every call at first, then ever fewer.
constexpr std::size_t max_points = 700;
/// Calls that are seen falling; steps in which the calls that wait are counted.
constexpr std::size_t max_falls = 44, max_waits = 320;

/// The factor from one of so many steps over `calls` to the next, even on a logarithmic axis.
double step_over(std::size_t calls, std::size_t steps) {
  return std::pow(static_cast<double>(std::max<std::size_t>(2, calls)), 1.0 / static_cast<double>(steps));
}

std::string calls_words(std::int64_t calls) {
  return format_text(as_double(calls), "") + (calls == 1 ? " call" : " calls");
}

/// What share of the calls waits in each lane, in steps that are even on the logarithmic axis.
void add_waits(const Run& run, Picture& p) {
  const auto& calls = run.stream.guards.calls;
  const std::size_t n = calls.size();
  const double step = step_over(n, max_waits);
  std::array<std::size_t, max_lanes + 1> waiting{};
  for (std::size_t from = 0; from < n;) {
    const auto wanted = static_cast<std::size_t>(static_cast<double>(from + 1) * step);
    const std::size_t to = std::clamp(wanted, from + 1, n);
    waiting.fill(0);
    for (std::size_t i = from; i < to; ++i)
      if (run.stream.compile_s[i] > 0 && calls[i].graph >= 0)
        ++waiting[std::min(static_cast<std::size_t>(calls[i].graph), max_lanes)];
    for (std::size_t lane = 0; lane < p.lanes.size(); ++lane)
      if (waiting[lane] > 0)
        p.lanes[lane].waits.push_back({static_cast<float>(from + 1), static_cast<float>(to + 1),
                                       static_cast<float>(waiting[lane]) / static_cast<float>(to - from)});
    from = to;
  }
}

/// The lane that a call falls into; the last one holds what runs eager.
std::size_t lane_of(const models::inference::GuardedCall& call, std::size_t eager_lane) {
  return call.graph < 0 ? eager_lane : std::min(static_cast<std::size_t>(call.graph), max_lanes);
}

void add_lanes(const Outputs& out, const Run& run, Picture& p) {
  const auto& graphs = run.stream.guards.graphs;
  std::int64_t rest = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    if (g >= max_lanes) {
      rest += graphs[g].calls;
      continue;
    }
    if (g >= out.cache.size()) break;
    p.lanes.push_back({.words = out.cache[g].takes + ": " + calls_words(graphs[g].calls),
                       .seconds = format_text(out.cache[g].compile_s, "s", 3),
                       .first_call = as_double(graphs[g].first_call + 1),
                       .tint = graph_tint(g)});
  }
  if (graphs.size() > max_lanes)
    p.lanes.push_back({.words = format_text(as_double(out.graphs) - static_cast<double>(max_lanes), "") +
                                " more graphs: " + calls_words(rest),
                       .first_call = as_double(graphs[max_lanes].first_call + 1),
                       .tint = graph_tint(max_lanes)});
}

}  // namespace

Tint graph_tint(std::size_t graph) { return graph < max_lanes ? Tint::series(graph) : Tint(); }

std::vector<std::size_t> shown_calls(const models::inference::StreamRun& run) {
  const std::size_t n = run.lead_s.size();
  std::vector<std::size_t> shown;
  const double step = step_over(n, max_points);
  // Every block of a few graphs is shown; of very many those that fall on a step, as all other calls.
  const bool few = run.guards.graphs.size() <= 64;
  double next = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const bool due = static_cast<double>(i + 1) >= next;
    if (!due && !(few && run.guards.calls[i].compiled) && i + 1 != n) continue;
    shown.push_back(i);
    if (due) next = std::max(next * step, static_cast<double>(i + 1) + 0.5);
  }
  return shown;
}

void arrange_lanes(const Outputs& out, const Run& run, const std::vector<std::size_t>& shown, Picture& p) {
  add_lanes(out, run, p);
  add_waits(run, p);
  const std::size_t eager_lane = p.lanes.size();
  const auto& calls = run.stream.guards.calls;
  double eager_from = 0;
  const double step = step_over(calls.size(), max_falls);
  double next = 1;
  std::vector<float> eager_hits;
  for (const std::size_t i : shown) {
    const double number = static_cast<double>(i + 1);
    const std::size_t lane = lane_of(calls[i], eager_lane);
    const bool waited = run.stream.compile_s[i] > 0;
    if (lane < eager_lane) {
      if (!waited) p.lanes[lane].hits.push_back(static_cast<float>(number));
    } else {
      if (eager_from == 0) eager_from = number;
      eager_hits.push_back(static_cast<float>(number));
    }
    if (number < next) continue;
    p.falls.push_back({number, as_double(calls[i].ran), lane, waited});
    next = std::max(next * step, number + 0.5);
  }
  if (!eager_hits.empty())
    p.lanes.push_back({.words = "no graph, eager: " + calls_words(out.eager_calls),
                       .first_call = eager_from,
                       .hits = std::move(eager_hits),
                       .tint = p.lanes.empty() ? Tint() : Tint::bad()});
}

}  // namespace chapters::framework::compilers
