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
using widgets::figure, widgets::format_text;

std::string times(double factor) { return figure(format_text(factor, "", 2) + "×"); }

constexpr int size_points = 97;

/// A line of one algorithm: the one that is drawn, the one it is held against, or another.
widgets::Curve curve_of(const Inputs& in, CollectiveAlgorithm algorithm) {
  widgets::Curve c{.label = std::string(algorithm_name(algorithm)), .width = 1.5f, .dashed = true};
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

/// A ring with one root: a chain.
bool chain_of(const Inputs& in, CollectiveAlgorithm algorithm) {
  return algorithm == CollectiveAlgorithm::ring &&
         (in.primitive == Primitive::broadcast || in.primitive == Primitive::reduce);
}

/// "the ring wins", "two trees win".
std::string wins(const Inputs& in, CollectiveAlgorithm algorithm) {
  return std::string(algorithm_said(in, algorithm)) +
         (algorithm == CollectiveAlgorithm::double_binary_tree ? " win" : " wins");
}
std::string takes(CollectiveAlgorithm algorithm) {
  return algorithm == CollectiveAlgorithm::double_binary_tree ? " take " : " takes ";
}
std::string steps_text(double steps) { return figure(steps, "") + (steps == 1 ? " step" : " steps"); }

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
                             .said = "beyond, " + wins(in, winner) + " over " + std::string(algorithm_said(in, loser)),
                             .beside = algorithm == in.beside});
    }
  }
}

/// By what one of two algorithms wins: its steps and its bytes in series, which between nodes are those that cross.
std::string reason_text(const Inputs& in, const Outputs& out, bool other_wins) {
  const double own_steps = as_double(out.steps);
  const double won = other_wins ? out.beside_steps : own_steps, lost = other_wins ? own_steps : out.beside_steps;
  const double own_bytes = serial_share(spec_of(in, in.algorithm)), other_bytes = serial_share(spec_of(in, in.beside));
  const double factor = other_wins ? other_bytes / own_bytes : own_bytes / other_bytes;
  const bool nodes =
      in.algorithm == CollectiveAlgorithm::hierarchical || in.beside == CollectiveAlgorithm::hierarchical;
  const std::string_view where = nodes ? " over the slower links" : " in series";
  const bool chain_wins = chain_of(in, other_wins ? in.beside : in.algorithm);
  const bool chain_loses = chain_of(in, other_wins ? in.algorithm : in.beside);
  std::string text = steps_text(won);
  if (chain_wins)
    text += " for the first piece and one more for each other";
  else if (chain_loses)
    text += ", where the chain takes " + figure(lost, "") + " for its first piece alone";
  else
    text += won == lost ? " like the other" : ", not " + figure(lost, "");
  // More bytes are what the winner pays for fewer steps.
  text += factor > 1 + 5e-3 ? ", though " : ", and ";
  if (std::abs(factor - 1) < 5e-3) return text + "as many bytes" + std::string(where);
  return text + times(factor) + " the bytes" + std::string(where);
}

/// "the tree beats the ring".
std::string beats(const Inputs& in, bool other_wins) {
  const auto winner = other_wins ? in.beside : in.algorithm, loser = other_wins ? in.algorithm : in.beside;
  return std::string(algorithm_said(in, winner)) +
         (winner == CollectiveAlgorithm::double_binary_tree ? " beat " : " beats ") +
         std::string(algorithm_said(in, loser));
}

/// A third algorithm that leaves both behind at these bytes; empty where there is none.
std::string faster_still(const Inputs& in, const Outputs& out) {
  if (out.fastest_s > 0.9999 * std::min(out.time_s, out.beside_s)) return "";
  return " Faster still: " + std::string(algorithm_said(in, out.fastest)) + ", " + figure(out.fastest_s, "s") + ".";
}

/// What the two take, which wins where, and by what, and whether a third is faster; two or three short sentences.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string own(algorithm_said(in, in.algorithm)), other(algorithm_said(in, in.beside));
  if (std::isnan(out.beside_s))
    return "For " + figure(in.bytes, "B") + " on " + figure(as_double(in.ranks), "") + " ranks " + own +
           takes(in.algorithm) + figure(out.time_s, "s") + ": " + steps_text(as_double(out.steps)) + ", and " +
           figure(out.bytes_sent_per_rank, "B") + " sent by the busiest rank.";
  const std::string both = "For " + figure(in.bytes, "B") + " " + own + takes(in.algorithm) + figure(out.time_s, "s") +
                           ", " + other + " " + figure(out.beside_s, "s");
  if (!std::isnan(out.crossing_bytes)) {
    // Below the crossing the one with less latency wins, which is seen a little below it.
    const AlphaBetaLinks links = links_of(in);
    const double below = out.crossing_bytes / 1.1;
    const bool other_below = collective_time(spec_of(in, in.beside), below, links).total_s() <
                             collective_time(spec_of(in, in.algorithm), below, links).total_s();
    return both + ". Below " + figure(out.crossing_bytes, "B") + " " + beats(in, other_below) + ": " +
           reason_text(in, out, other_below) + "." + faster_still(in, out);
  }
  if (std::abs(out.times_faster - 1) < 1e-9)
    return both + ": they cost the same at every size." + faster_still(in, out);
  const bool other_wins = out.beside_s < out.time_s;
  return both + ". In this model " + beats(in, other_wins) + " at every size: " + reason_text(in, out, other_wins) +
         "." + faster_still(in, out);
}

}  // namespace

std::string_view algorithm_said(const Inputs& in, CollectiveAlgorithm algorithm) {
  static constexpr std::array<std::string_view, collective_algorithm_count> said{
      "the ring",
      "the tree",
      "two trees",
      "halving and doubling",
      "recursive doubling",
      "the hierarchical way",
      "scatter and all-gather",
      "pairwise exchange",
      "Bruck's way",
      "the switch",
  };
  return chain_of(in, algorithm) ? "the chain" : said[static_cast<std::size_t>(algorithm)];
}

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
