#include <algorithm>
#include <cmath>

#include "app/explore/explore.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;

constexpr std::size_t max_inputs = 8, max_outputs = 4, samples = 7;

std::vector<std::string> headlines(const chapters::Lab& lab) {
  std::vector<std::string> keys;
  for (const Field& f : lab.outputs())
    if (f.spec.headline && f.is_number() && keys.size() < max_outputs) keys.emplace_back(f.key);
  return keys;
}

/// The places of an input at which it is tried: over its typical range, evenly on its own scale.
std::vector<double> places(const Field& f) {
  const auto [lo, hi] = f.spec.drag();
  std::vector<double> out;
  if (!(lo < hi) || !std::isfinite(lo) || !std::isfinite(hi)) return out;
  for (std::size_t i = 0; i < samples; ++i) {
    const double share = static_cast<double>(i) / (samples - 1);
    double v = f.spec.range.between(lo, hi, share);
    if (f.kind == Kind::integer) v = std::round(v);
    if (out.empty() || v > out.back()) out.push_back(v);
  }
  return out;
}

/// How far a curve leaves the straight line between its ends, as a part of its height, on a logarithm where it is
/// positive and more than doubles; less where it hardly moves. 0 where a point is missing.
double bend(std::vector<double> ys) {
  if (ys.size() < 4 || !std::all_of(ys.begin(), ys.end(), [](double v) { return std::isfinite(v); })) return 0;
  const auto [least, most] = std::minmax_element(ys.begin(), ys.end());
  const double size = std::max(std::abs(*least), std::abs(*most));
  if (!(*most > *least) || !(size > 0)) return 0;
  const bool log = *least > 0 && *most > 2 * *least;
  const double moved = log ? 1 : std::min(1.0, (*most - *least) / (0.2 * size));
  if (log)
    for (double& y : ys) y = std::log(y);
  const auto [lo, hi] = std::minmax_element(ys.begin(), ys.end());
  const double height = *hi - *lo, last = static_cast<double>(ys.size() - 1);
  double off = 0;
  for (std::size_t i = 0; i < ys.size(); ++i) {
    const double line = ys.front() + (ys.back() - ys.front()) * static_cast<double>(i) / last;
    off = std::max(off, std::abs(ys[i] - line));
  }
  return moved * std::min(1.0, off / height);
}

}  // namespace

TellingPair telling_pair(const chapters::Lab& lab, chapters::Progress& progress) {
  const std::vector<std::string> outputs = headlines(lab);
  TellingPair best;
  std::size_t tried = 0;
  for (const std::string& key : sweepable_inputs(lab)) {
    if (tried == max_inputs || progress.cancelled) break;
    const Field& described = *lab.inputs().find(key);
    const bool number = described.is_number();
    if (!number || !chapters::holds(described.spec.when, lab.inputs())) continue;
    const std::vector<double> xs = places(described);
    if (xs.size() < 4) continue;
    const auto copy = lab.clone();
    const Field& input = *copy->inputs().find(key);
    std::vector<std::vector<double>> ys(outputs.size());
    for (const double x : xs) {
      input.set_number(x);
      copy->compute_facts();
      for (std::size_t k = 0; k < outputs.size(); ++k) ys[k].push_back(reading(*copy, outputs[k]));
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      // Of two that say as much, the earlier input and the earlier headline.
      const double score =
          bend(std::move(ys[k])) * (1 - 0.02 * static_cast<double>(tried)) * (1 - 0.05 * static_cast<double>(k));
      if (score > best.bend) best = {key, outputs[k], score};
    }
    ++tried;
  }
  return best;
}

}  // namespace app
