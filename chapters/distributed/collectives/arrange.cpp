#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/collectives/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::collectives {
namespace {

using namespace models::parallel;
using models::as_double;
using widgets::format_text;

constexpr int size_points = 97;

/// A line of one algorithm: the one that is drawn, the one it is held against, or another.
widgets::Curve curve_of(const Inputs& in, CollectiveAlgorithm algorithm) {
  widgets::Curve c{.label = std::string(algorithm_name(in, algorithm)), .width = 1.5f, .dashed = true};
  if (algorithm == in.beside) {
    c.tint = widgets::Tint::strong();
    c.width = 2;
    c.dashed = false;
  }
  if (algorithm == in.algorithm) {
    c.tint = widgets::Tint::yours();
    c.width = 3;
    c.dashed = false;
  }
  return c;
}

void add_curves(const Inputs& in, Picture& p) {
  const AlphaBetaLinks links = links_of(in);
  const double lo = std::min(1e3, in.bytes / 8), hi = std::max(1e9, in.bytes * 8);
  for (int i = 0; i < size_points; ++i)
    p.bytes.push_back(lo * std::pow(hi / lo, static_cast<double>(i) / (size_points - 1)));
  for (std::int64_t n = 2; n <= std::max<std::int64_t>(1024, in.ranks); n *= 2) p.ranks.push_back(as_double(n));
  p.least_s = HUGE_VAL;
  p.most_s = 0;
  const double factor = bus_factor(in.primitive, in.ranks);
  for (const CollectiveAlgorithm algorithm : algorithms_for(in)) {
    const CollectiveSpec spec = spec_of(in, algorithm);
    widgets::Curve cost = curve_of(in, algorithm), bus = cost, by_ranks = cost;
    cost.info = bus.info = std::to_string(collective_steps(spec)) + " steps, " + format_text(sent_share(spec), "") +
                           " times the bytes sent by the busiest rank";
    by_ranks.info = "at these bytes and links";
    for (const double bytes : p.bytes) {
      const double time_s = collective_time(spec, bytes, links).total_s();
      cost.add(bytes, time_s);
      bus.add(bytes, factor * bytes / time_s);
      p.least_s = std::min(p.least_s, time_s);
      p.most_s = std::max(p.most_s, time_s);
    }
    for (const double ranks : p.ranks) {
      CollectiveSpec at = spec;
      at.ranks = std::llround(ranks);
      by_ranks.add(ranks, check(at) ? collective_time(at, in.bytes, links).total_s() : not_there);
    }
    p.cost.push_back(std::move(cost));
    p.bus.push_back(std::move(bus));
    p.by_ranks.push_back(std::move(by_ranks));
  }
}

void add_crossings(const Inputs& in, Picture& p) {
  const AlphaBetaLinks links = links_of(in);
  const CollectiveSpec own = spec_of(in, in.algorithm);
  for (const CollectiveAlgorithm algorithm : algorithms_for(in)) {
    if (algorithm == in.algorithm) continue;
    const CollectiveSpec other = spec_of(in, algorithm);
    for (const double bytes : crossing_bytes(own, other, links, p.bytes.front(), p.bytes.back())) {
      const bool own_wins =
          collective_time(own, bytes * 1.1, links).total_s() < collective_time(other, bytes * 1.1, links).total_s();
      const auto winner = own_wins ? in.algorithm : algorithm, loser = own_wins ? algorithm : in.algorithm;
      p.crossings.push_back({.bytes = bytes,
                             .time_s = collective_time(own, bytes, links).total_s(),
                             .size = format_text(bytes, "B", 2),
                             .said = "beyond, " + std::string(algorithm_said(in, winner)) + " beats " +
                                     std::string(algorithm_said(in, loser)),
                             .beside = algorithm == in.beside});
    }
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.own = arrange_board(in, run.own);
  p.beside = arrange_board(in, run.beside);
  if (p.own.ranks == 0)
    p.no_chunks =
        "Chunks are drawn for up to " + std::to_string(max_film_ranks) + " ranks. " +
        (out.checked.empty() ? "Of " + format_text(as_double(in.ranks), "") + " the time and the bytes are computed."
                             : "The schedule of " + format_text(as_double(in.ranks), "") +
                                   " was executed on numbers all the same: " + out.checked + " results are right.");
  add_curves(in, p);
  add_crossings(in, p);
  p.answer = answer_of(in, out);
  p.measured = arrange_measured(out.measured, run.measured);
  return p;
}

}  // namespace chapters::distributed::collectives
