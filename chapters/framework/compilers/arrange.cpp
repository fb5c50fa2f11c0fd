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

std::string takes_words(const Outputs& out, std::size_t graph) {
  return graph < out.cache.size() ? out.cache[graph].takes : std::string();
}

void arrange_stream(const Outputs& out, const Run& run, const std::vector<std::size_t>& shown, Picture& p) {
  const auto& calls = run.stream.guards.calls;
  const std::size_t graphs = run.stream.guards.graphs.size();
  const std::size_t kinds = std::min(graphs, max_lanes) + (graphs > max_lanes ? 1 : 0);
  Curve came{.kind = Curve::Kind::dots,
             .label = "as it came",
             .info = "the length of a call before it is padded",
             .radius = 1.8f,
             .legend = out.padding > 0,
             .given = true};
  std::vector<Curve> ran;
  for (std::size_t g = 0; g < kinds; ++g)
    ran.push_back({.kind = Curve::Kind::dots,
                   .label = g < max_lanes ? "graph for " + takes_words(out, g) : "further graphs",
                   .tint = graph_tint(g),
                   .radius = 2.6f,
                   .legend = false});
  Curve eager{.kind = Curve::Kind::dots,
              .label = "runs eager",
              .output = "eager_calls",
              .tint = graphs > 0 ? Tint::bad() : Tint(),
              .marker = widgets::Marker::triangle,
              .radius = 2.6f,
              .legend = false};
  Curve waits{.kind = Curve::Kind::dots,
              .label = "waits for its graph",
              .output = "graphs",
              .tint = Tint::strong(),
              .marker = widgets::Marker::diamond,
              .radius = graphs <= 16 ? 5.0f : 2.5f,
              .legend = graphs > 0};
  for (const std::size_t i : shown) {
    const auto& call = calls[i];
    const double x = static_cast<double>(i + 1);
    came.add(x, call.length);
    if (call.graph < 0)
      eager.add(x, call.ran);
    else
      ran[std::min(static_cast<std::size_t>(call.graph), kinds - 1)].add(x, call.ran);
    if (call.compiled) waits.add(x, call.ran);
  }
  p.stream.push_back(std::move(came));
  for (Curve& dots : ran) p.stream.push_back(std::move(dots));
  if (!eager.x.empty()) p.stream.push_back(std::move(eager));
  if (!waits.x.empty()) p.stream.push_back(std::move(waits));
}

/// What is won so far: it falls by a block where a call waits, and climbs by a sliver with every call.
void arrange_lead(const Inputs& in, const Outputs& out, const Run& run, const std::vector<std::size_t>& shown,
                  Picture& p) {
  const std::vector<double>&lead_s = run.stream.lead_s, &wait_s = run.stream.compile_s;
  Curve lead{.label = std::string(way_name(in.way)) + ", ahead of eager",
             .info = "eager - (compiling + calls), so far",
             .output = "won_s",
             .tint = Tint::yours(),
             .width = 2.5f,
             .named = false,
             .legend = false};
  Curve behind{.kind = Curve::Kind::area, .label = "behind eager", .tint = Tint::bad(), .alpha = 0.22f, .width = 0};
  Curve ahead{.kind = Curve::Kind::area, .label = "ahead of eager", .tint = Tint::good(), .alpha = 0.28f, .width = 0};
  double hi = 0;
  const auto add = [&](double x, double y) {
    lead.add(x, y);
    behind.add(x, std::min(0.0, y));
    ahead.add(x, std::max(0.0, y));
    hi = std::max(hi, y);
  };
  add(axis_from, 0);
  for (const std::size_t i : shown) {
    const double x = static_cast<double>(i + 1);
    if (wait_s[i] > 0) add(x, i > 0 ? lead_s[i - 1] : 0);
    add(x, lead_s[i]);
  }
  Curve even{.label = "eager", .tint = Tint::strong(), .dashed = true, .legend = false};
  even.add(axis_from, 0);
  even.add(max_calls, 0);
  const double lo = out.lowest_s;
  const double room = hi > lo ? 0.12 * (hi - lo) : 1;
  p.lead_lo = lo - room;
  p.lead_hi = hi + room;
  p.won_s = out.won_s;
  p.lead = {std::move(behind), std::move(ahead), std::move(even), std::move(lead)};
  if (std::isfinite(out.ahead_from)) {
    p.ahead_from = out.ahead_from;
    p.ahead_words = "ahead from call " + format_text(out.ahead_from, "");
  }
  if (in.way == CompileWay::eager) return;
  p.lowest_s = lo;
  p.lowest_bold = format_text(-lo, "s", 3);
  // Right of the drops, and left of where a long fall ends.
  const double low_at = as_double(out.lowest_at);
  p.lowest_x = low_at < 0.3 * as_double(in.calls) ? std::max(8.0, 1.3 * low_at) : 0.7 * low_at;
  if (!(out.saving_s > 0) || shown.size() < 3 || low_at > 0.5 * as_double(in.calls)) return;
  // Where the climb is steep on the logarithmic axis: half of what came after the lowest point.
  const double at = std::max(2.0, 0.5 * (low_at + as_double(in.calls)));
  const auto call = std::min(lead_s.size(), static_cast<std::size_t>(at));
  p.sliver_at = static_cast<double>(call);
  p.sliver_s = lead_s[call - 1];
  p.sliver_words = "+" + format_text(out.saving_s, "s", 3) + " a call";
}

/// A call's time with its share of the compiling, after each number of calls, for all ways.
void arrange_mean(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve eager{.label = "eager", .output = "eager_call_s", .tint = way_tint(CompileWay::eager, false), .dashed = true};
  double lo = out.eager_call_s, hi = out.eager_call_s;
  for (const double x : {1.0, std::max(2.0, as_double(in.calls))}) eager.add(x, out.eager_call_s);
  p.mean.push_back(std::move(eager));
  Curve own;
  for (const WayMeans& means : run.means) {
    const bool yours = means.way == in.way;
    Curve way{.label = std::string(way_name(means.way)),
              .info = "(compiling + calls) / number of calls",
              .output = yours ? "mean_call_s" : "",
              .tint = way_tint(means.way, yours),
              .width = yours ? 2.5f : 1.5f};
    for (std::size_t i = 0; i < means.calls.size(); ++i) {
      if (!(means.call_s[i] > 0)) continue;
      way.add(means.calls[i], means.call_s[i]);
      lo = std::min(lo, means.call_s[i]);
      hi = std::max(hi, means.call_s[i]);
    }
    if (yours)
      own = std::move(way);  // over the others
    else
      p.mean.push_back(std::move(way));
  }
  if (!own.x.empty()) p.mean.push_back(std::move(own));
  p.mean_lo = 0.7 * lo;
  p.mean_hi = 1.5 * hi;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.stream.lead_s.empty()) return p;
  p.answer = answer_of(in, out);
  // What a padded length may come to, so that the axis stays where it is while a bucket is dragged.
  p.length_hi = 1.1 * static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(in.longest)));
  p.length_label = in.phase == LaunchedPhase::decode ? "sequences" : "tokens";
  p.calls = as_double(in.calls);
  const std::vector<std::size_t> shown = shown_calls(run.stream);
  arrange_stream(out, run, shown, p);
  arrange_lead(in, out, run, shown, p);
  arrange_mean(in, out, run, p);
  arrange_lanes(out, run, shown, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::framework::compilers
