#include "models/inference/kv_tiers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace models::inference {

std::vector<KvTier> kv_tiers(const KvFit& fit, const KvMachine& machine, const KvTierSetup& setup, double context) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const double chips = machine.placement == KvPlacement::by_sequence ? 1 : static_cast<double>(machine.chips);
  const bool known = setup.host_link_bytes_per_s > 0;
  // Seconds from one end of each link to the other; what takes longest sets the pace.
  const double to_chips_s = known ? fit.held_bytes / (chips * setup.host_link_bytes_per_s) : none;
  const auto tier = [&](KvTierKind kind, double capacity, double bytes_per_s, double latency_s) {
    KvTier out{.kind = kind, .capacity_bytes = capacity, .latency_s = latency_s};
    const double own_s = bytes_per_s > 0 ? fit.sequence_bytes / bytes_per_s : 0, span_s = std::max(own_s, to_chips_s);
    out.fetch_s = known ? latency_s + span_s : none;
    out.bytes_per_s = known && span_s > 0 ? fit.sequence_bytes / span_s : none;
    out.gain = fit.recompute_s / out.fetch_s;
    if (!(fit.sequence_bytes > 0)) return out;
    out.tokens = std::floor(capacity / fit.sequence_bytes * context);
    out.sequences = std::floor(capacity / fit.sequence_bytes);
    return out;
  };
  return {tier(KvTierKind::host, setup.host_bytes, 0, setup.host_latency_s),
          tier(KvTierKind::drives, setup.drives_bytes, setup.drives_bytes_per_s, setup.drives_latency_s),
          tier(KvTierKind::remote, setup.remote_bytes, chips * setup.remote_link_bytes_per_s, setup.remote_latency_s)};
}

}  // namespace models::inference
