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

std::string ticked(double value, std::string_view unit) { return "`" + format_text(value, unit) + "`"; }
std::string times(double factor) { return "`" + format_text(factor, "", 2) + "×`"; }
std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

constexpr int size_points = 97;

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
    AlgorithmCurve c;
    c.algorithm = algorithm;
    c.name = algorithm_name(algorithm);
    const CollectiveSpec spec = spec_of(in, algorithm);
    c.info = std::to_string(collective_steps(spec)) + " steps, " + format_text(sent_share(spec), "") +
             " times the bytes sent by the busiest rank";
    for (const double bytes : p.bytes) {
      const double time_s = collective_time(spec, bytes, links).total_s();
      c.time_s.push_back(time_s);
      c.busbw_bytes_per_s.push_back(factor * bytes / time_s);
      p.least_s = std::min(p.least_s, time_s);
      p.most_s = std::max(p.most_s, time_s);
    }
    for (const double ranks : p.ranks) {
      CollectiveSpec at = spec;
      at.ranks = std::llround(ranks);
      c.time_by_ranks_s.push_back(check(at) ? collective_time(at, in.bytes, links).total_s() : not_there);
    }
    p.curves.push_back(std::move(c));
  }
}

void add_crossings(const Inputs& in, Picture& p) {
  const AlphaBetaLinks links = links_of(in);
  const CollectiveSpec own = spec_of(in, in.algorithm);
  for (const AlgorithmCurve& c : p.curves) {
    if (c.algorithm == in.algorithm) continue;
    if (c.algorithm != in.beside && c.algorithm != CollectiveAlgorithm::double_binary_tree) continue;
    for (const double bytes : crossing_bytes(own, spec_of(in, c.algorithm), links, p.bytes.front(), p.bytes.back())) {
      const double later = collective_time(own, bytes * 1.1, links).total_s() -
                           collective_time(spec_of(in, c.algorithm), bytes * 1.1, links).total_s();
      const std::string own_name(algorithm_said(in.algorithm)), other(algorithm_said(c.algorithm));
      p.crossings.push_back({bytes, collective_time(own, bytes, links).total_s(),
                             format_text(bytes, "B", 2) + ": from here on " + (later < 0 ? own_name : other) +
                                 " wins over " + (later < 0 ? other : own_name)});
    }
  }
}

/// One sentence in every state: what the two take, which wins where, and by what.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string own(algorithm_said(in.algorithm)), other(algorithm_said(in.beside));
  if (std::isnan(out.beside_s))
    return capital(ticked(in.bytes, "B")) + " take " + own + " " + ticked(out.time_s, "s") + " on " +
           ticked(as_double(in.ranks), "") + " ranks: " + ticked(as_double(out.steps), "") + " steps, and " +
           ticked(out.bytes_sent_per_rank, "B") + " sent by " +
           (in.primitive == Primitive::all_to_all || in.algorithm == CollectiveAlgorithm::ring ? "each rank."
                                                                                               : "the busiest rank.");
  const std::string both = ticked(in.bytes, "B") + " take " + own + " " + ticked(out.time_s, "s") + " and " + other +
                           " " + ticked(out.beside_s, "s");
  const double serial = serial_share(spec_of(in, in.beside)) / serial_share(spec_of(in, in.algorithm));
  const std::string steps = ticked(out.beside_steps, "") + " steps, not " + ticked(as_double(out.steps), "");
  if (std::isnan(out.crossing_bytes)) {
    if (std::abs(out.times_faster - 1) < 1e-9) return both + ": they cost the same at every size.";
    const bool wins = out.beside_s < out.time_s;
    return both + ": " + (wins ? other : own) + " wins at every size, with " +
           (wins ? steps : ticked(as_double(out.steps), "") + " steps, not " + ticked(out.beside_steps, "")) +
           ", and " + times(wins ? serial : 1 / serial) + " the bytes in series.";
  }
  // Below the crossing wins the one with less latency.
  const bool other_below = out.beside_steps < as_double(out.steps) || serial > 1;
  const std::string& small = other_below ? other : own;
  const double bytes_factor = other_below ? serial : 1 / serial;
  return both + ". Below " + ticked(out.crossing_bytes, "B") + " " + small + " wins with " + times(bytes_factor) +
         " the bytes in series: " +
         (other_below ? steps : ticked(as_double(out.steps), "") + " steps, not " + ticked(out.beside_steps, "")) + ".";
}

}  // namespace

std::string_view algorithm_said(CollectiveAlgorithm algorithm) {
  static constexpr std::array<std::string_view, collective_algorithm_count> said{
      "the ring",
      "the tree",
      "two trees",
      "halving and doubling",
      "recursive doubling",
      "the hierarchical one",
      "scatter and all-gather",
      "pairwise exchange",
      "Bruck's",
      "the switch",
  };
  return said[static_cast<std::size_t>(algorithm)];
}

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  arrange_board(in, p);
  add_curves(in, p);
  add_crossings(in, p);
  p.answer = answer_of(in, out);
  p.measured = arrange_measured(in.measured, out.measured);
  return p;
}

}  // namespace chapters::distributed::collectives
