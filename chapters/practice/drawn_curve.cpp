#include "chapters/practice/drawn_curve.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace chapters {
namespace {

constexpr double gaps_a_range = 4;  ///< the whole range is worth this many factors of e
constexpr double one_sided = 0.9;   ///< this part of the summed gaps on one side is an error of that side
constexpr std::size_t max_kept = 33;

double close_gap() { return std::log(1.25); }

double gap_at(double drawn, double computed, CurveMeasure measure, double lo, double hi) {
  if (measure == CurveMeasure::range) return gaps_a_range * (drawn - computed) / (hi - lo);
  const double least = lo > 0 ? lo / 100 : computed / 1e4;
  return std::log(std::max(drawn, least) / computed);
}

CurveError error_of(double score, double above, double below) {
  if (score >= close_curve_score) return CurveError::close;
  const double all = above + below;
  if (above >= one_sided * all) return CurveError::too_high;
  return below >= one_sided * all ? CurveError::too_low : CurveError::wrong_bend;
}

}  // namespace

CurveScore score_curve(std::span<const double> drawn, std::span<const double> computed, CurveMeasure measure, double lo,
                       double hi) {
  CurveScore out;
  double above = 0, below = 0, shares = 0;
  std::size_t close = 0;
  bool unbroken = true;
  for (std::size_t i = 0; i < std::min(drawn.size(), computed.size()); ++i) {
    if (!std::isfinite(drawn[i]) || !std::isfinite(computed[i])) continue;
    if (measure == CurveMeasure::ratio && !(computed[i] > 0)) continue;
    const double gap = gap_at(drawn[i], computed[i], measure, lo, hi);
    (gap > 0 ? above : below) += std::abs(gap);
    if (measure == CurveMeasure::range) shares += std::abs(gap) / gaps_a_range;
    ++out.compared;
    const bool is_close = std::abs(gap) <= close_gap() * (1 + 1e-9);
    close += is_close;
    unbroken = unbroken && is_close;
    if (unbroken) out.close_up_to = i + 1;
    if (std::abs(gap) > std::abs(out.worst_gap)) {
      out.worst = i;
      out.worst_gap = gap;
    }
  }
  if (out.compared == 0) return out;
  const double n = static_cast<double>(out.compared);
  out.typical_factor = std::exp((above + below) / n);
  out.score = 100 / out.typical_factor;
  out.mean_share = shares / n;
  out.close_share = static_cast<double>(close) / n;
  out.error = error_of(out.score, above, below);
  return out;
}

CurveMeasure measure_of(std::string_view unit, std::span<const double> computed) {
  const bool positive = std::all_of(computed.begin(), computed.end(), [](double v) { return !(v <= 0); });
  return unit == "%" || !positive ? CurveMeasure::range : CurveMeasure::ratio;
}

void describe(Fields& f, CurveRecord& r) {
  f.text("lab", r.lab, "Lab");
  f.text("question", r.question, "Question");
  f.real("score", r.score, "Score", "From 0 to 100.", {.range = {0, 100}});
  f.text("drawn", r.drawn, "Drawn", "Places and values of the line, in SI units.");
  f.real("time_s", r.time_s, {"Drawn at", "s"}, "Seconds since 1970.", {.range = {0, 1e11}});
}

std::string curve_text(std::span<const double> xs, std::span<const double> ys) {
  std::string out;
  const std::size_t n = std::min(xs.size(), ys.size());
  const std::size_t kept = std::min(n, max_kept);
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t i = kept > 1 ? k * (n - 1) / (kept - 1) : 0;
    if (!std::isfinite(xs[i]) || !std::isfinite(ys[i])) continue;
    char pair[64];
    std::snprintf(pair, sizeof pair, "%s%.6g:%.4g", out.empty() ? "" : " ", xs[i], ys[i]);
    out += pair;
  }
  return out;
}

void read_curve_text(std::string_view text, std::vector<double>& xs, std::vector<double>& ys) {
  xs.clear();
  ys.clear();
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const auto colon = pair.find(':');
    if (colon == std::string_view::npos) continue;
    double x = 0, y = 0;
    const auto whole = [](std::string_view s, double& v) {
      const auto read = std::from_chars(s.data(), s.data() + s.size(), v);
      return read.ec == std::errc() && read.ptr == s.data() + s.size() && std::isfinite(v);
    };
    if (!whole(pair.substr(0, colon), x) || !whole(pair.substr(colon + 1), y)) continue;
    xs.push_back(x);
    ys.push_back(y);
  }
}

}  // namespace chapters
