#pragma once
#include <cstdint>
#include <vector>

#include "models/inference/kv_cache.h"

/// Where the cache of a user who waits may lie: memory of the host, drives of the machine, a store behind the network.
/// What each holds, and what bringing one user back costs against computing its tokens again.
namespace models::inference {

enum class KvTierKind : std::uint8_t { host, drives, remote };
inline constexpr int kv_tier_count = 3;

/// Links count one direction. A user's bytes go through all links of a tier at once, at the pace of the slowest.
struct KvTierSetup {
  double host_bytes = 512e9;         ///< for all chips of the machine, as all capacities
  double host_link_bytes_per_s = 0;  ///< between a chip and its host: PCIe or a link between the dies; 0: not known
  double host_latency_s = 10e-6;     ///< a copy's launch and its first byte
  double drives_bytes = 30.72e12, drives_bytes_per_s = 56e9;  ///< all drives of the machine together
  double drives_latency_s = 100e-6;                           ///< a read of flash
  double remote_bytes = 1e15;
  double remote_link_bytes_per_s = 50e9;  ///< a chip's port
  double remote_latency_s = 1e-3;         ///< a look-up and the first byte
};

struct KvTier {
  KvTierKind kind = KvTierKind::host;
  double capacity_bytes = 0;
  double bytes_per_s = 0;  ///< towards the chips that hold one user, all together; NaN: not known
  double latency_s = 0;
  double tokens = 0;     ///< that fit, at this context, whoever they belong to
  double sequences = 0;  ///< whole users that fit
  double fetch_s = 0;    ///< until one user is back; NaN: not known
  double gain = 0;       ///< computing the tokens again over that; above 1 the tier is worth it
};

/// The tiers from the nearest to the farthest. A tier holds one copy of a user. Each chip that holds the user's cache
/// reads its part over its own link to the host; a cache that chips hold several times is read as often there, and once
/// from drives and from the store, whose bytes go over the links to the host, too.
std::vector<KvTier> kv_tiers(const KvFit& fit, const KvMachine& machine, const KvTierSetup& setup, double context);

}  // namespace models::inference
