#include <algorithm>
#include <cmath>
#include <limits>

#include "app/explore/explore.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;

std::string with_unit(double v, const Field& f) { return widgets::format_text(v, f.spec.unit, 4); }

/// What is asked for, and where.
struct Question {
  const Field* in = nullptr;
  const Field* out = nullptr;
  double lo = 0, hi = 0, target = 0;
  bool whole() const { return in->kind == Kind::integer; }
  bool log() const { return in->spec.range.is_log(lo); }
};

/// Why it cannot be asked; empty where it can.
std::string refusal(const chapters::Lab& lab, const Question& q, std::string_view key, std::string_view output) {
  if (!q.in) return unknown_key(lab.info().id, "input", key, lab.inputs());
  if (!q.out) return unknown_key(lab.info().id, "output", output, lab.outputs());
  if (!q.in->is_number()) return std::string(key) + " is not a number: solve needs one.";
  if (!q.out->is_number()) return std::string(output) + " is not a number: solve needs one.";
  const chapters::Range& range = q.in->spec.range;
  if (!(q.in->spec.any_number || (q.lo >= range.lo && q.hi <= range.hi)) || !(q.lo < q.hi))
    return std::string(key) + " may lie from " + with_unit(range.lo, *q.in) + " to " + with_unit(range.hi, *q.in) +
           ", LO below HI.";
  if (!std::isfinite(q.target)) return "The target must be a finite number.";
  return "";
}

/// A value of the input, and by how much the output is above the target there.
struct Place {
  double v = 0, gap = 0;
};

/// Between two places on either side of the target, until nothing lies between them.
template <class At>
SolveResult narrowed(const Question& q, Place a, Place b, const At& at) {
  const bool whole = q.whole();
  for (int k = 0;
       k < 200 && (whole ? b.v - a.v > 1 : std::abs(b.v - a.v) > 1e-13 * std::max(std::abs(a.v), std::abs(b.v))); ++k) {
    double m = q.log() && !whole ? std::sqrt(a.v * b.v) : (a.v + b.v) / 2;
    if (whole) m = std::floor(m);
    const double gap = at(m);
    if (std::isnan(gap)) break;
    ((gap > 0) == (a.gap > 0) ? a : b) = {m, gap};
  }
  b.gap = at(b.v);
  SolveResult found{.found = true, .input = b.v, .output = b.gap + q.target};
  // At a step no input gives the target itself.
  const double scale = std::max(std::abs(q.target), 1e-300);
  if (!whole && std::abs(b.gap) > 1e-6 * scale && std::abs(a.gap) > 1e-6 * scale)
    found.why = "The output jumps past the target here.";
  return found;
}

/// Place `i` of `n` between the ends, as the input's scale has it.
double grid_value(const Question& q, std::size_t i, std::size_t n) {
  const double t = static_cast<double>(i) / static_cast<double>(n - 1);
  const double v = i + 1 == n ? q.hi : q.in->spec.range.between(q.lo, q.hi, t);
  return q.whole() ? std::round(v) : v;
}

}  // namespace

models::Result<SolveResult> solve(const chapters::Lab& lab, std::string_view key, double lo, double hi,
                                  std::string_view output, double target, chapters::Progress& progress) {
  using Solved = models::Result<SolveResult>;
  const Question q{lab.inputs().find(key), lab.outputs().find(output), lo, hi, target};
  if (std::string why = refusal(lab, q, key, output); !why.empty()) return Solved::fail(std::move(why));
  const auto copy = lab.clone();
  const Field* slot = copy->inputs().find(key);
  const auto at = [&](double v) {
    slot->set_number(v);
    copy->compute_facts();
    return reading(*copy, output) - target;
  };

  // A grid fine enough to see what the models do over their ranges; whole numbers are all tried when there are few.
  const std::size_t n = q.whole() && hi - lo < 512 ? static_cast<std::size_t>(hi - lo) + 1 : 512;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  Place before{.gap = std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t i = 0; i < n && !progress.cancelled; ++i) {
    const double v = grid_value(q, i, n);
    const Place here{v, at(v)};
    progress.fraction = static_cast<double>(i) / static_cast<double>(n - 1);
    if (here.gap == 0) return Solved::ok({.found = true, .input = v, .output = target});
    if (!std::isnan(here.gap)) {
      least = std::min(least, here.gap);
      most = std::max(most, here.gap);
      if (!std::isnan(before.gap) && (here.gap > 0) != (before.gap > 0))
        return Solved::ok(narrowed(q, before, here, at));
    }
    before = here;
  }
  if (progress.cancelled) return Solved::fail("The search was cancelled.");
  if (least > most) return Solved::ok({.why = "No value of " + std::string(key) + " in this range is feasible."});
  return Solved::ok({.why = std::string(q.out->spec.label) + " stays between " + with_unit(least + target, *q.out) +
                            " and " + with_unit(most + target, *q.out) + " while " + std::string(q.in->spec.label) +
                            " runs from " + with_unit(lo, *q.in) + " to " + with_unit(hi, *q.in) + "; the target is " +
                            with_unit(target, *q.out) + "."});
}

}  // namespace app
