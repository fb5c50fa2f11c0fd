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

}  // namespace

models::Result<SolveResult> solve(const chapters::Lab& lab, std::string_view key, double lo, double hi,
                                  std::string_view output, double target, chapters::Progress& progress) {
  using Solved = models::Result<SolveResult>;
  const Field* in = lab.inputs().find(key);
  if (!in) return Solved::fail(unknown_key(lab.info().id, "input", key, lab.inputs()));
  const Field* out = lab.outputs().find(output);
  if (!out) return Solved::fail(unknown_key(lab.info().id, "output", output, lab.outputs()));
  if (in->kind != Kind::real && in->kind != Kind::integer)
    return Solved::fail(std::string(key) + " is not a number: solve needs one.");
  if (out->kind != Kind::real && out->kind != Kind::integer)
    return Solved::fail(std::string(output) + " is not a number: solve needs one.");
  if (!(in->spec.any_number || (lo >= in->spec.range.lo && hi <= in->spec.range.hi)) || !(lo < hi))
    return Solved::fail(std::string(key) + " may lie from " + with_unit(in->spec.range.lo, *in) + " to " +
                        with_unit(in->spec.range.hi, *in) + ", LO below HI.");
  if (!std::isfinite(target)) return Solved::fail("The target must be a finite number.");
  const bool whole = in->kind == Kind::integer;
  const bool log = in->spec.range.scale == chapters::Scale::log && lo > 0;
  const auto copy = lab.clone();
  const Field* slot = copy->inputs().find(key);
  const auto at = [&](double v) {
    slot->set_number(v);
    copy->compute_facts();
    return reading(*copy, output) - target;
  };

  // A grid fine enough to see what the models do over their ranges; whole numbers are all tried when there are few.
  const std::size_t n = whole && hi - lo < 512 ? static_cast<std::size_t>(hi - lo) + 1 : 512;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  double before = 0, gap_before = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < n && !progress.cancelled; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(n - 1);
    double v = i + 1 == n ? hi : log ? lo * std::pow(hi / lo, t) : lo + (hi - lo) * t;
    if (whole) v = std::round(v);
    const double gap = at(v);
    progress.fraction = t;
    if (std::isnan(gap)) {
      gap_before = gap;
      continue;
    }
    least = std::min(least, gap);
    most = std::max(most, gap);
    if (gap == 0) return Solved::ok({.found = true, .input = v, .output = target});
    if (!std::isnan(gap_before) && (gap > 0) != (gap_before > 0)) {
      double a = before, b = v, ga = gap_before;
      for (int k = 0; k < 200 && (whole ? b - a > 1 : std::abs(b - a) > 1e-13 * std::max(std::abs(a), std::abs(b)));
           ++k) {
        double m = log && !whole ? std::sqrt(a * b) : (a + b) / 2;
        if (whole) m = std::floor(m);
        const double gm = at(m);
        if (std::isnan(gm)) break;
        if ((gm > 0) == (ga > 0)) {
          a = m;
          ga = gm;
        } else {
          b = m;
        }
      }
      const double gb = at(b);
      const double scale = std::max(std::abs(target), 1e-300);
      if (!whole && std::abs(gb) > 1e-6 * scale &&
          std::abs(ga) > 1e-6 * scale)  // a step: no input gives the target itself
        return Solved::ok({
            .found = true,
            .input = b,
            .output = gb + target,
            .why = "The output jumps past the target here.",
        });
      return Solved::ok({.found = true, .input = b, .output = gb + target});
    }
    before = v;
    gap_before = gap;
  }
  if (progress.cancelled) return Solved::fail("The search was cancelled.");
  if (least > most) return Solved::ok({.why = "No value of " + std::string(key) + " in this range is feasible."});
  return Solved::ok({.why = std::string(out->spec.label) + " stays between " + with_unit(least + target, *out) +
                            " and " + with_unit(most + target, *out) + " while " + std::string(in->spec.label) +
                            " runs from " + with_unit(lo, *in) + " to " + with_unit(hi, *in) + "; the target is " +
                            with_unit(target, *out) + "."});
}

}  // namespace app
