#include "models/serving/fleet/fleet_scaler.h"

#include <algorithm>
#include <cmath>

namespace models {

double FleetScaler::signal(const FleetScaling& rule, const FleetLook& look) {
  const double serving = static_cast<double>(std::max<std::int64_t>(look.serving, 1));
  const double span_s = static_cast<double>(look.now_us - looked_us_) / 1e6, busy_s = look.busy_s - busy_s_;
  busy_s_ = look.busy_s;
  looked_us_ = look.now_us;
  switch (rule.signal) {
    case ScaleSignal::queue:
      return static_cast<double>(look.waiting) / serving;
    case ScaleSignal::slots:
      return static_cast<double>(look.running) / (serving * static_cast<double>(look.slots));
    case ScaleSignal::busy:
      return span_s > 0 ? std::min(1.0, busy_s / (serving * span_s)) : 0;
    case ScaleSignal::none:
      break;
  }
  return rule.target;
}

std::int64_t FleetScaler::wanted(const FleetScaling& rule, const FleetLook& look) {
  const double ratio = signal(rule, look) / rule.target;
  const double serving = static_cast<double>(look.serving);
  auto wish = static_cast<std::int64_t>(std::ceil(serving * ratio - 1e-9));
  if (std::abs(ratio - 1) <= 0.1) wish = look.serving;
  wish = std::clamp(wish, rule.least, rule.most);
  wishes_.push_back({look.now_us, wish});
  const double hold_us = rule.hold_s * 1e6;
  while (static_cast<double>(look.now_us - wishes_.front().time_us) > hold_us) wishes_.pop_front();
  std::int64_t held = wish;
  for (const Wish& w : wishes_) held = std::max(held, w.replicas);
  // Those that start are under way already: more of them only beyond, fewer only when nobody wanted them for long.
  if (wish >= look.replicas) return wish;
  return std::min(look.replicas, std::max(held, wish));
}

}  // namespace models
