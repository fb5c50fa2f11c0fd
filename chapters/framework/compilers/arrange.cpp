#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "chapters/framework/compilers/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::framework::compilers {
namespace {

using models::as_double;
using widgets::Curve, widgets::format_text, widgets::Tint;

/// Graphs with a colour and a box of their own; all others share one.
constexpr std::size_t most_boxes = 6;
/// Points of a line over the calls: every call at first, then ever fewer.
constexpr std::size_t most_points = 700;

/// Calls to draw, from 0: all of the first hundreds, then evenly on a logarithmic axis; those that wait for a graph are
/// always among them.
std::vector<std::size_t> shown_calls(const models::inference::StreamRun& run) {
  const std::size_t n = run.lead_s.size();
  std::vector<std::size_t> shown;
  const double step =
      std::pow(static_cast<double>(std::max<std::size_t>(2, n)), 1.0 / static_cast<double>(most_points));
  double next = 1;
  std::size_t waits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool due = static_cast<double>(i + 1) >= next;
    const bool block = run.compile_s[i] > 0 && waits < 300;
    if (!due && !block && i + 1 != n) continue;
    waits += block ? 1 : 0;
    shown.push_back(i);
    if (due) next = std::max(next * step, static_cast<double>(i + 1) + 0.5);
  }
  return shown;
}

Tint graph_tint(std::size_t graph) { return graph < most_boxes ? Tint::series(graph) : Tint(widgets::Meaning::idle); }

std::string takes_words(const Outputs& out, std::size_t graph) {
  return graph < out.cache.size() ? out.cache[graph].takes : std::string();
}

void arrange_stream(const Outputs& out, const Run& run, const std::vector<std::size_t>& shown, Picture& p) {
  const auto& calls = run.stream.guards.calls;
  const std::size_t graphs = run.stream.guards.graphs.size();
  const std::size_t kinds = std::min(graphs, most_boxes) + (graphs > most_boxes ? 1 : 0);
  p.stream.clear();
  for (std::size_t g = 0; g < kinds; ++g)
    p.stream.push_back({.kind = Curve::Kind::dots,
                        .label = g < most_boxes ? "graph for " + takes_words(out, g) : "further graphs",
                        .tint = graph_tint(g),
                        .radius = 2.5f});
  Curve eager{.kind = Curve::Kind::dots,
              .label = "runs eager",
              .output = "eager_calls",
              .tint = Tint::bad(),
              .marker = widgets::Marker::triangle,
              .radius = 2.5f};
  Curve waits{.kind = Curve::Kind::dots,
              .label = "waits for its graph",
              .output = "graphs",
              .tint = Tint::strong(),
              .marker = widgets::Marker::diamond,
              .radius = 6};
  for (const std::size_t i : shown) {
    if (calls.empty()) break;
    const auto& call = calls[i];
    const double x = static_cast<double>(i + 1), y = call.ran;
    if (call.graph < 0)
      eager.add(x, y);
    else
      p.stream[std::min(static_cast<std::size_t>(call.graph), kinds - 1)].add(x, y);
    if (call.compiled && waits.x.size() < 64) waits.add(x, y);
  }
  if (!eager.x.empty()) p.stream.push_back(std::move(eager));
  if (!waits.x.empty()) p.stream.push_back(std::move(waits));
}

void arrange_lead(const Inputs& in, const Outputs& out, const Run& run, const std::vector<std::size_t>& shown,
                  Picture& p) {
  Curve lead{.kind = Curve::Kind::steps,
             .label = std::string(way_name(in.way)) + ", ahead of eager",
             .info = "eager - (compiling + calls), so far",
             .output = "won_s",
             .tint = Tint::yours(),
             .width = 2.5f,
             .named = false,
             .legend = false};
  double lo = 0, hi = 0;
  for (const std::size_t i : shown) {
    const double y = run.stream.lead_s[i];
    lead.add(static_cast<double>(i + 1), y);
    lo = std::min(lo, y);
    hi = std::max(hi, y);
  }
  Curve even{.label = "eager", .tint = Tint::strong(), .dashed = true, .given = true};
  even.add(1, 0);
  even.add(std::max(2.0, as_double(in.calls)), 0);
  const double room = std::max(1e-6, 0.1 * (hi - lo));
  p.lead_lo = lo - room;
  p.lead_hi = hi + room;
  p.lead = {std::move(even), std::move(lead)};
  p.lead_words = format_text(out.won_s, "s", 3);
  if (std::isfinite(out.ahead_from)) {
    p.ahead_from = out.ahead_from;
    p.ahead_words = "ahead from call " + format_text(out.ahead_from, "");
  }
}

/// A call's time with its share of the compiling, after each number of calls.
void arrange_mean(const Inputs& in, const Outputs& out, const Run& run, const std::vector<std::size_t>& shown,
                  Picture& p) {
  Curve paid{.label = std::string(way_name(in.way)) + ", all paid",
             .info = "(compiling + calls) / number of calls",
             .output = "mean_call_s",
             .tint = Tint::yours(),
             .width = 2.5f};
  Curve eager{.label = "eager", .output = "eager_call_s", .tint = Tint::strong(), .dashed = true};
  Curve bare{.label = "compiling aside", .output = "steady_call_s", .tint = Tint::series(2), .dashed = true};
  double lo = out.eager_call_s, hi = out.eager_call_s;
  for (const std::size_t i : shown) {
    const double n = static_cast<double>(i + 1);
    // What eager needs in the mean, less the lead a call.
    const double y = out.eager_call_s - run.stream.lead_s[i] / n;
    if (!(y > 0)) continue;
    paid.add(n, y);
    lo = std::min(lo, y);
    hi = std::max(hi, y);
  }
  lo = std::min(lo, out.steady_call_s);
  const double last = std::max(2.0, as_double(in.calls));
  for (const double x : {1.0, last}) {
    eager.add(x, out.eager_call_s);
    bare.add(x, out.steady_call_s);
  }
  p.mean_lo = 0.7 * lo;
  p.mean_hi = 1.5 * hi;
  p.mean = {std::move(eager), std::move(bare), std::move(paid)};
}

void arrange_boxes(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto& graphs = run.stream.guards.graphs;
  const double n = as_double(in.calls);
  const auto counted = [](std::int64_t calls) {
    return format_text(as_double(calls), "") + (calls == 1 ? " call" : " calls");
  };
  std::int64_t rest = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    if (g >= most_boxes) {
      rest += graphs[g].calls;
      continue;
    }
    p.boxes.push_back({.name = takes_words(out, g),
                       .calls = counted(graphs[g].calls),
                       .seconds = g < out.cache.size() ? format_text(out.cache[g].compile_s, "s", 3) : std::string(),
                       .share = as_double(graphs[g].calls) / n,
                       .tint = graph_tint(g)});
  }
  if (graphs.size() > most_boxes) {
    const auto more = static_cast<std::int64_t>(graphs.size() - most_boxes);
    p.boxes.push_back({.name = format_text(as_double(more), "") + " more",
                       .calls = counted(rest),
                       .seconds = "all: " + format_text(out.compile_s, "s", 3),
                       .share = as_double(rest) / n,
                       .tint = graph_tint(most_boxes)});
  }
  if (out.eager_calls > 0)
    p.boxes.push_back({.name = "no graph",
                       .calls = counted(out.eager_calls),
                       .seconds = "eager",
                       .share = as_double(out.eager_calls) / n,
                       .tint = Tint::bad()});
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.stream.lead_s.empty()) return p;
  p.answer = answer_of(in, out);
  // What a padded length may come to, so that the axis stays where it is while a bucket is dragged.
  p.length_hi = 1.1 * static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(in.longest)));
  p.length_label = in.phase == models::Phase::decode ? "sequences" : "tokens";
  const std::vector<std::size_t> shown = shown_calls(run.stream);
  arrange_stream(out, run, shown, p);
  arrange_lead(in, out, run, shown, p);
  arrange_mean(in, out, run, shown, p);
  arrange_boxes(in, out, run, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::framework::compilers
