#include "models/gpu/occupancy.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"

namespace models::gpu {
namespace {

constexpr std::int64_t kib = 1024, default_block_shared = 48 * kib;
constexpr std::int64_t warp_register_unit = 256, sub_partitions = 4, unlimited = 1 << 20;

constexpr std::array volta_kib{0, 8, 16, 32, 64, 96}, ada_kib{0, 8, 16, 32, 64, 100};
constexpr std::array turing_kib{32, 64};
constexpr std::array ampere_kib{0, 8, 16, 32, 64, 100, 132, 164};
constexpr std::array hopper_kib{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

constexpr SmLimits limits_of(int capability, std::int64_t threads, std::int64_t blocks, std::int64_t shared_kib,
                             std::int64_t block_kib, std::int64_t reserved, std::int64_t unit, std::int64_t barriers,
                             std::span<const int> carveouts) {
  return {.capability = capability,
          .threads = threads,
          .blocks = blocks,
          .shared_bytes = shared_kib * kib,
          .block_shared_bytes = block_kib * kib,
          .reserved_bytes = reserved,
          .shared_unit_bytes = unit,
          .barriers = barriers,
          .carveouts_kib = carveouts};
}

constexpr std::array known{
    limits_of(70, 2048, 32, 96, 96, 0, 256, 0, volta_kib),
    limits_of(72, 2048, 32, 96, 96, 0, 256, 0, volta_kib),
    limits_of(75, 1024, 16, 64, 64, 0, 256, 0, turing_kib),
    limits_of(80, 2048, 32, 164, 163, kib, 128, 0, ampere_kib),
    limits_of(86, 1536, 16, 100, 99, kib, 128, 0, ada_kib),
    limits_of(87, 1536, 16, 164, 163, kib, 128, 0, ampere_kib),
    limits_of(89, 1536, 24, 100, 99, kib, 128, 0, ada_kib),
    limits_of(90, 2048, 32, 228, 227, kib, 128, 64, hopper_kib),
    limits_of(100, 2048, 32, 228, 227, kib, 128, 64, hopper_kib),
    limits_of(103, 2048, 32, 228, 227, kib, 128, 64, hopper_kib),
    limits_of(110, 1536, 24, 228, 227, kib, 128, 24, hopper_kib),
    limits_of(120, 1536, 24, 100, 99, kib, 128, 24, ada_kib),
    limits_of(121, 1536, 24, 100, 99, kib, 128, 24, ada_kib),
};

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return ceil_div(n, unit) * unit; }

/// Shared memory that the SM is set to, in bytes: the smallest carve-out that holds the preference and one block.
std::int64_t shared_capacity(const SmLimits& sm, const BlockNeeds& block, std::int64_t block_bytes) {
  if (block.carveout_percent < 0) return sm.shared_bytes;
  const std::int64_t preferred = sm.shared_bytes * block.carveout_percent / 100;
  for (const int size : sm.carveouts_kib)
    if (size * kib >= preferred && size * kib >= block_bytes) return size * kib;
  return sm.shared_bytes;
}

}  // namespace

const SmLimits* sm_limits(int capability) {
  const auto* const found =
      std::find_if(known.begin(), known.end(), [&](const SmLimits& l) { return l.capability == capability; });
  return found == known.end() ? nullptr : found;
}

std::span<const SmLimits> known_sm_limits() { return known; }

std::optional<int> read_capability(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(blanks) + 1 - first);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view major = text.substr(0, text.find('.')),
                         minor = text.substr(std::min(text.size(), major.size() + 1));
  const bool dotted = major.size() < text.size();
  if (major.empty() || major.size() > 2 || !std::all_of(major.begin(), major.end(), digit)) return {};
  if (dotted && (minor.size() != 1 || !digit(minor[0]))) return {};
  int value = 0;
  for (const char c : major) value = 10 * value + (c - '0');
  value = 10 * value + (dotted ? minor[0] - '0' : 0);
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::optional<int> capability_in(std::string_view architecture) {
  const std::size_t at = architecture.find("sm_");
  if (at == std::string_view::npos) return {};
  int value = 0;
  for (std::size_t i = at + 3; i < architecture.size() && architecture[i] >= '0' && architecture[i] <= '9'; ++i)
    value = std::min(10000, value * 10 + (architecture[i] - '0'));
  return value > 0 ? std::optional(value) : std::nullopt;
}

Result<SmOccupancy> occupancy(const SmLimits& sm, const BlockNeeds& b) {
  using Out = Result<SmOccupancy>;
  if (b.threads < 1 || b.threads > 1024) return Out::fail("A block has from 1 to 1,024 threads.");
  if (b.registers < 0 || b.static_shared_bytes < 0 || b.dynamic_shared_bytes < 0 || b.barriers < 0)
    return Out::fail("Registers, shared memory and barriers of a block cannot be negative.");
  SmOccupancy out;
  const std::int64_t warps = ceil_div(b.threads, 32), max_warps = sm.threads / 32;
  const std::int64_t warp_registers = round_up(32 * b.registers, warp_register_unit);
  out.max_warps = max_warps;
  out.block_warps = warps;
  out.warp_registers = warp_registers;
  out.block_registers = warp_registers * warps;
  if (warp_registers == 0)
    out.register_warps = unlimited * warps;
  else if (b.registers <= SmLimits::thread_registers)
    out.register_warps = sub_partitions * (SmLimits::registers / sub_partitions / warp_registers);
  out.by_registers = out.register_warps / warps;
  out.by_warps = max_warps / warps;
  out.by_blocks = sm.blocks;
  if (sm.barriers > 0 && b.barriers > 0) out.by_barriers = sm.barriers / b.barriers;

  out.block_shared_bytes =
      round_up(b.static_shared_bytes + b.dynamic_shared_bytes + sm.reserved_bytes, sm.shared_unit_bytes);
  const bool opts_in = b.static_shared_bytes + b.max_dynamic_shared_bytes > default_block_shared;
  const std::int64_t most = (opts_in ? sm.block_shared_bytes : default_block_shared) + sm.reserved_bytes;
  const std::int64_t capacity = shared_capacity(sm, b, out.block_shared_bytes);
  out.shared_capacity_bytes = capacity;
  out.block_shared_max_bytes = most;
  if (out.block_shared_bytes > most)
    out.by_shared = 0;
  else
    out.by_shared = out.block_shared_bytes > 0 ? capacity / out.block_shared_bytes : -1;

  out.blocks = out.by_warps;
  const auto limited = [&](std::int64_t by, OccupancyLimit limit) {
    if (by < 0 || by >= out.blocks) return;
    out.blocks = by;
    out.limit = limit;
  };
  limited(out.by_registers, OccupancyLimit::registers);
  limited(out.by_shared, OccupancyLimit::shared_memory);
  limited(out.by_blocks, OccupancyLimit::blocks);
  limited(out.by_barriers, OccupancyLimit::barriers);
  out.warps = out.blocks * warps;
  out.share = static_cast<double>(out.warps) / static_cast<double>(max_warps);
  return Out::ok(out);
}

std::int64_t SmOccupancy::by(OccupancyLimit resource) const {
  const std::array<std::int64_t, occupancy_limit_count> all{by_warps, by_registers, by_shared, by_blocks, by_barriers};
  return all[static_cast<std::size_t>(resource)];
}

BlockNeeds with_shared_bytes(BlockNeeds block, std::int64_t bytes) {
  block.static_shared_bytes = std::min(block.static_shared_bytes, bytes);
  block.dynamic_shared_bytes = bytes - block.static_shared_bytes;
  return block;
}

Result<OccupancyMargins> occupancy_margins(const SmLimits& sm, const BlockNeeds& block) {
  using Out = Result<OccupancyMargins>;
  const auto now = occupancy(sm, block);
  if (!now) return Out::fail(now.error);
  OccupancyMargins out{*now, *now, *now, *now};
  const auto with_registers = [&](std::int64_t registers) {
    BlockNeeds other = block;
    other.registers = registers;
    return *occupancy(sm, other);
  };
  if (block.registers > 1) out.register_less = with_registers(block.registers - 1);
  out.register_more = with_registers(block.registers + 1);
  for (std::int64_t n = block.registers + 1; n <= SmLimits::thread_registers; ++n) {
    if (with_registers(n).blocks < now->blocks) break;
    out.registers_free_to = n;
  }
  if (out.registers_free_to < 0 && now->blocks > 0) out.registers_free_to = block.registers;
  const bool registers_stop = now->by_registers == now->blocks;
  for (std::int64_t n = std::min(block.registers - 1, SmLimits::thread_registers); registers_stop && n > 0; --n) {
    if (with_registers(n).blocks <= now->blocks) continue;
    out.registers_for_more = n;
    break;
  }
  const std::int64_t bytes = block.static_shared_bytes + block.dynamic_shared_bytes;
  if (bytes > 0) out.byte_less = *occupancy(sm, with_shared_bytes(block, bytes - 1));
  const bool shared_stops = now->by_shared >= 0 && now->by_shared == now->blocks;
  // Allocations end at multiples of the unit, the system's part included: only these can be the most.
  std::int64_t fits = now->block_shared_bytes - sm.shared_unit_bytes - sm.reserved_bytes;
  for (; shared_stops && fits >= 0; fits -= sm.shared_unit_bytes) {
    if (occupancy(sm, with_shared_bytes(block, fits))->blocks <= now->blocks) continue;
    out.shared_for_more_bytes = fits;
    break;
  }
  if (block.threads > 32) {
    BlockNeeds other = block;
    other.threads = 32 * (now->block_warps - 1);
    out.warp_less = *occupancy(sm, other);
  }
  return Out::ok(out);
}

}  // namespace models::gpu
