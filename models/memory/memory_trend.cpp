#include "models/memory/memory_trend.h"

#include <algorithm>
#include <cmath>

namespace models::memory {

std::vector<StepLevels> step_levels(const StepTimeline& t) {
  std::vector<StepLevels> out;
  std::int16_t step = -1;
  for (const MemoryPoint& p : t.points) {
    const std::int16_t now = t.spans[p.span].step;
    if (now != step) {
      if (!out.empty()) out.back().end = p.held;
      out.push_back({.begin = p.held});
      step = now;
    }
    out.back().peak_bytes = std::max(out.back().peak_bytes, p.held.total());
  }
  if (!out.empty()) out.back().end = t.points.back().held;
  return out;
}

TrendFacts memory_trend(const std::vector<StepLevels>& steps, double limit_bytes) {
  TrendFacts out;
  if (steps.size() < 2) return out;
  double most = 0;
  for (const StepLevels& s : steps) most = std::max(most, s.peak_bytes);
  const double little = 1e-6 * most;
  const auto growth = [&](std::size_t i) { return steps[i].end.total() - steps[i].begin.total(); };
  bool all_grow = true, none_changes = true;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    all_grow = all_grow && growth(i) > little;
    none_changes = none_changes && std::abs(growth(i)) <= little;
  }
  std::size_t of = 0;
  if (all_grow) {
    out.trend = MemoryTrend::leak;
    of = steps.size() - 1;
  } else if (!none_changes || growth(0) < -little) {
    out.trend = MemoryTrend::mixed;
    return out;
  } else {
    out.trend = growth(0) > little ? MemoryTrend::plateau : MemoryTrend::sawtooth;
  }
  if (out.trend == MemoryTrend::sawtooth) return out;
  out.growth_bytes = growth(of);
  const auto owner_growth = [&](std::size_t k) { return steps[of].end.bytes[k] - steps[of].begin.bytes[k]; };
  std::size_t grows = 0;
  for (std::size_t k = 1; k < memory_owner_count; ++k)
    if (owner_growth(k) > owner_growth(grows)) grows = k;
  out.grows = static_cast<MemoryOwner>(grows);
  if (out.trend == MemoryTrend::plateau) return out;
  const auto over = std::find_if(steps.begin(), steps.end(), [&](const auto& s) { return s.peak_bytes > limit_bytes; });
  if (over != steps.end()) {
    out.first_over = static_cast<double>(over - steps.begin()) + 1;
  } else {
    const double left = limit_bytes - steps.back().peak_bytes;
    out.first_over = static_cast<double>(steps.size()) + std::floor(left / out.growth_bytes) + 1;
  }
  return out;
}

double micro_batch_growth(const StepTimeline& t) {
  std::vector<double> peaks;
  for (const MemoryPoint& p : t.points) {
    const StepSpan& span = t.spans[p.span];
    if (span.step > 0 || span.phase == StepPhase::optimizer) continue;
    peaks.resize(std::max(peaks.size(), static_cast<std::size_t>(span.micro_batch) + 1));
    double& peak = peaks[static_cast<std::size_t>(span.micro_batch)];
    peak = std::max(peak, p.held.total());
  }
  return peaks.size() > 1 ? peaks.back() - peaks.front() : 0;
}

}  // namespace models::memory
