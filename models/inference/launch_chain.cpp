#include "models/inference/launch_chain.h"

#include <algorithm>

namespace models::inference {

LaunchChain LaunchChain::then(const LaunchChain& next) const {
  return {after_s + next.after_s, std::max(least_s + next.after_s, next.least_s), launches + next.launches};
}

LaunchChain LaunchChain::repeated(double times) const {
  return {times * after_s, least_s + std::max(0.0, (times - 1) * after_s), times * launches};
}

double LaunchChain::period_s(double launch_s, double latency_s) const {
  // The host begins when it has read the token, a latency after the device ended.
  const double lag = std::max(-latency_s + after_s, least_s);
  return lag + launches * launch_s + latency_s;
}

LaunchChain one_launch(double duration_s, double gap_s, double launch_s, double latency_s) {
  return {gap_s + duration_s - launch_s, latency_s + duration_s, 1};
}

}  // namespace models::inference
