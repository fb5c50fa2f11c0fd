#include "models/gpu/access/warp_access.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <vector>

#include "models/base/printable.h"

namespace models::gpu {
namespace {

std::string lane_text(int lane) { return "Lane " + std::to_string(lane); }

/// Sorts the first `count` and drops doubles; how many are left.
int make_distinct(std::array<std::int64_t, warp_lanes>& values, int count) {
  const auto end = values.begin() + count;
  std::sort(values.begin(), end);
  const auto last = std::unique(values.begin(), end);
  std::fill(last, values.end(), 0);
  return static_cast<int>(last - values.begin());
}

/// Adds the word to those of its phase; a word that is there gets one lane more.
void want_word(SharedAccess& into, int phase_begin, int phase, int lane, std::int64_t word) {
  const auto begin = into.words.begin() + phase_begin, end = into.words.begin() + into.word_count;
  const auto same = std::find_if(begin, end, [&](const SharedWord& w) { return w.word == word; });
  if (same != end) {
    same->lanes |= 1U << lane;
    return;
  }
  const auto bank = static_cast<std::int8_t>(word % shared_banks);
  const auto before = std::count_if(begin, end, [&](const SharedWord& w) { return w.bank == bank; });
  into.words[static_cast<std::size_t>(into.word_count++)] = {.word = word,
                                                             .lanes = 1U << lane,
                                                             .bank = bank,
                                                             .phase = static_cast<std::int8_t>(phase),
                                                             .wavefront = static_cast<std::int8_t>(before)};
}

}  // namespace

bool width_admissible(std::int64_t width_bytes) {
  return width_bytes >= 1 && width_bytes <= 16 && std::has_single_bit(static_cast<std::uint64_t>(width_bytes));
}

Status check_access(const LaneAddresses& addresses, std::int64_t width_bytes) {
  if (!width_admissible(width_bytes)) {
    return Status::fail("A lane moves 1, 2, 4, 8 or 16 bytes with one instruction, not " + std::to_string(width_bytes) +
                        ": choose one of them.");
  }
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const std::int64_t a = addresses[static_cast<std::size_t>(lane)];
    if (a == inactive_lane) continue;
    if (a < 0 || a > address_most) {
      return Status::fail(lane_text(lane) + " has the address " + std::to_string(a) +
                          ": addresses are 0 to 2^48, and -1 is a lane that is off.");
    }
    if (a % width_bytes != 0) {
      return Status::fail(lane_text(lane) + " is misaligned: its address " + std::to_string(a) + " is no multiple of " +
                          std::to_string(width_bytes) + " B, so the instruction faults.");
    }
  }
  return Status::ok();
}

Result<LaneAddresses> lane_addresses(const IndexExpression& index, const BlockShape& shape, std::int64_t block,
                                     std::int64_t warp, std::int64_t element_bytes, std::int64_t base_bytes) {
  using Out = Result<LaneAddresses>;
  if (shape.width < 1 || shape.height < 1 || shape.width > 1024 || shape.height > 1024)
    return Out::fail("A block has 1 to 1,024 threads a row and 1 to 1,024 rows.");
  LaneAddresses out;
  out.fill(inactive_lane);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const std::int64_t tid = warp * warp_lanes + lane;
    if (tid >= shape.width * shape.height) break;
    const auto at = index.at(thread_place(shape, block, tid));
    if (!at) return Out::fail(at.error);
    if (!at->has_value()) continue;
    const std::int64_t i = **at;
    if (i < 0) {
      return Out::fail(lane_text(lane) + " has the index " + std::to_string(i) +
                       ", before the array: switch such lanes off, as in i < 0 ? off : i.");
    }
    std::int64_t address = 0;
    if (__builtin_mul_overflow(i, element_bytes, &address) || __builtin_add_overflow(address, base_bytes, &address) ||
        address > address_most) {
      return Out::fail(lane_text(lane) + " has the index " + std::to_string(i) +
                       ", beyond the 2^48 bytes that can be addressed.");
    }
    out[static_cast<std::size_t>(lane)] = address;
  }
  return Out::ok(out);
}

Result<LaneAddresses> read_addresses(std::string_view text) {
  using Out = Result<LaneAddresses>;
  if (text.size() > 4096) return Out::fail("The list has more than 4,096 letters: give the addresses of one warp.");
  LaneAddresses out;
  out.fill(inactive_lane);
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (std::string_view(" \t\r\n,;[]").find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,;[]", at), text.size());
    const std::string_view cell = text.substr(at, end - at);
    if (count >= out.size()) return Out::fail("A warp has 32 lanes, and the list has more addresses: leave some out.");
    std::int64_t value = inactive_lane;
    if (cell != "off" && cell != "null") {
      const bool hex = cell.substr(0, 2) == "0x";
      const std::string_view digits = hex ? cell.substr(2) : cell;
      const auto [last, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
      if (failed != std::errc() || last != digits.data() + digits.size() || value < inactive_lane ||
          value > address_most) {
        return Out::fail("\"" + printable(cell, 24) + "\" at character " + std::to_string(at + 1) +
                         " is no address: write bytes from 0 to 2^48, or -1 for a lane that is off.");
      }
    }
    out[count++] = value;
    at = end;
  }
  if (count == 0) return Out::fail("The list is empty: write the byte address of each lane, as in 0, 4, 8.");
  return Out::ok(out);
}

Result<GlobalAccess> global_access(const LaneAddresses& addresses, std::int64_t width_bytes) {
  using Out = Result<GlobalAccess>;
  if (const Status s = check_access(addresses, width_bytes); !s) return Out::fail(s.error);
  GlobalAccess out;
  std::array<std::int64_t, warp_lanes> distinct{};
  for (const std::int64_t a : addresses) {
    if (a == inactive_lane) continue;
    const auto i = static_cast<std::size_t>(out.active++);
    distinct[i] = a;
    out.sector_ids[i] = a / sector_bytes;  // An aligned access lies in one sector.
    out.line_ids[i] = a / line_bytes;
  }
  out.requested_bytes = out.active * width_bytes;
  out.useful_bytes = make_distinct(distinct, out.active) * width_bytes;
  out.sectors = make_distinct(out.sector_ids, out.active);
  out.lines = make_distinct(out.line_ids, out.active);
  out.fetched_bytes = out.sectors * sector_bytes;
  if (out.sectors > 0) out.efficiency = static_cast<double>(out.useful_bytes) / static_cast<double>(out.fetched_bytes);
  return Out::ok(out);
}

std::int64_t distinct_sectors(std::span<const LaneAddresses> requests) {
  std::vector<std::int64_t> ids;
  ids.reserve(requests.size() * warp_lanes);
  for (const LaneAddresses& r : requests)
    for (const std::int64_t a : r)
      if (a != inactive_lane && (ids.empty() || ids.back() != a / sector_bytes)) ids.push_back(a / sector_bytes);
  std::sort(ids.begin(), ids.end());
  return std::unique(ids.begin(), ids.end()) - ids.begin();
}

Result<SharedAccess> shared_access(const LaneAddresses& addresses, std::int64_t width_bytes) {
  using Out = Result<SharedAccess>;
  if (const Status s = check_access(addresses, width_bytes); !s) return Out::fail(s.error);
  SharedAccess out;
  out.phases = width_bytes <= bank_bytes ? 1 : static_cast<int>(width_bytes / bank_bytes);
  const int lanes = warp_lanes / out.phases;
  const auto words = static_cast<int>(std::max(width_bytes / bank_bytes, std::int64_t{1}));
  for (int phase = 0; phase < out.phases; ++phase) {
    const int begin = out.word_count;
    for (int lane = phase * lanes; lane < (phase + 1) * lanes; ++lane) {
      const std::int64_t a = addresses[static_cast<std::size_t>(lane)];
      if (a == inactive_lane) continue;
      ++out.active;
      for (int w = 0; w < words; ++w) want_word(out, begin, phase, lane, a / bank_bytes + w);
    }
    const auto p = static_cast<std::size_t>(phase);
    out.phase_words[p] = out.word_count - begin;
    for (int i = begin; i < out.word_count; ++i)
      out.phase_wavefronts[p] = std::max(out.phase_wavefronts[p], out.words[static_cast<std::size_t>(i)].wavefront + 1);
    out.wavefronts += out.phase_wavefronts[p];
    out.ideal += (out.phase_words[p] + shared_banks - 1) / shared_banks;
  }
  return Out::ok(out);
}

}  // namespace models::gpu
