#include "models/gpu/layout/bank_cost.h"

#include <algorithm>
#include <array>

#include "models/gpu/access/warp_access.h"

namespace models::gpu {
namespace {

/// The addresses with their lines numbered as they come: neither a bank nor what is the same word changes by it, and a
/// layout's places may lie farther apart than a shared memory is large.
LaneAddresses near_addresses(std::span<const std::int64_t> addresses) {
  LaneAddresses out;
  out.fill(inactive_lane);
  std::array<std::int64_t, warp_lanes> lines{};
  std::size_t count = 0;
  for (std::size_t lane = 0; lane < std::min(addresses.size(), out.size()); ++lane) {
    const std::int64_t line = addresses[lane] / line_bytes;
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(count), found = std::find(lines.begin(), end, line);
    if (found == end) lines[count++] = line;
    out[lane] = (found - lines.begin()) * line_bytes + addresses[lane] % line_bytes;
  }
  return out;
}

}  // namespace

BankCost bank_cost(std::span<const std::int64_t> addresses, int width_bytes) {
  const LaneAddresses lanes = near_addresses(addresses);
  BankCost out;
  const auto access = shared_access(lanes, width_bytes);
  if (!access) return out;
  out.wavefronts = access->wavefronts;
  out.ideal = access->ideal;
  for (std::size_t lane = 0; lane < std::min(addresses.size(), lanes.size()); ++lane) {
    const auto end = access->words.begin() + access->word_count;
    const auto word = std::find_if(access->words.begin(), end, [&](const SharedWord& w) {
      return (w.lanes >> lane & 1U) != 0 && w.word == lanes[lane] / bank_bytes;
    });
    if (word == end) continue;
    int before = 0;
    for (int phase = 0; phase < word->phase; ++phase)
      before += access->phase_wavefronts[static_cast<std::size_t>(phase)];
    out.wavefront.push_back(before + word->wavefront);
  }
  return out;
}

}  // namespace models::gpu
