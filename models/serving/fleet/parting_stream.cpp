#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/serving/fleet/parting.h"

namespace models {
namespace {

/// Tokens that chunks cost the users more than a pool does, at this interval.
std::int64_t chunks_over_pool(const PartingSetup& often) {
  const PartingHistory calm = play_parting(calm_of(often), PartingWorld::stalled);
  const auto lost = [&](PartingWorld world) {
    return count_parting(often, play_parting(often, world), calm, {}, {}).tokens_lost;
  };
  return lost(PartingWorld::chunked) - lost(PartingWorld::parted);
}

}  // namespace

std::vector<double> parting_landings(std::int64_t count, double span_s, bool random, std::uint64_t seed) {
  std::vector<double> out;
  const std::uint64_t draws = random_stream(static_cast<std::int64_t>(seed), 11);
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = i == 0   ? 0
                         : random ? unit_draw(draws, static_cast<std::uint64_t>(i))
                                  : static_cast<double>(i) / static_cast<double>(count);
    out.push_back(std::round(span_s * share * 1e6) / 1e6);
  }
  std::sort(out.begin(), out.end());
  return out;
}

PartingSetup with_stream(PartingSetup setup, const PartingStream& stream) {
  setup.counted_s = static_cast<double>(stream.prompts) * stream.interval_s;
  setup.lead_s = 0.12 * setup.counted_s;
  setup.lands_s = parting_landings(stream.prompts, setup.counted_s, stream.random, stream.seed);
  return setup;
}

std::optional<double> even_interval_s(const PartingSetup& setup, PartingStream stream, double longest_s) {
  constexpr int doublings = 4, halvings = 6;
  const auto chunks_dearer = [&](double interval_s) {
    stream.interval_s = interval_s;
    return chunks_over_pool(with_stream(setup, stream)) > 0;
  };
  double low_s = stream.interval_s, high_s = low_s;
  // Chunks are dearer where prompts come often: below the interval that is sought.
  const bool below = chunks_dearer(stream.interval_s);
  bool found = false;
  for (int i = 0; i < doublings && !found; ++i) {
    (below ? low_s : high_s) = below ? high_s : low_s;
    (below ? high_s : low_s) *= below ? 2 : 0.5;
    if (high_s > longest_s) return std::nullopt;
    found = chunks_dearer(below ? high_s : low_s) != below;
  }
  if (!found) return std::nullopt;
  for (int i = 0; i < halvings; ++i) {
    const double middle_s = std::sqrt(low_s * high_s);
    (chunks_dearer(middle_s) ? low_s : high_s) = middle_s;
  }
  return std::sqrt(low_s * high_s);
}

}  // namespace models
