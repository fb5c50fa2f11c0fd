#include <array>

#include "chapters/kernels/occupancy/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::occupancy {
namespace {

using models::gpu::OccupancyLimit, widgets::figure;

std::string whole_figure(std::int64_t n) { return figure(static_cast<double>(n), "", 9); }
std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  return whole_figure(n) + " " + std::string(n == 1 ? one : many);
}

/// Why not even one block has room.
std::string no_block(const Outputs& o) {
  if (o.limiter == OccupancyLimit::registers)
    return "No block fits: the registers are enough for " + counted(o.register_warps, "warp", "warps") +
           " of this kernel, and a block has " + whole_figure(o.block_warps) + ".";
  if (o.limiter == OccupancyLimit::shared_memory)
    return "No block fits: it takes " + figure(o.block_shared_bytes, "B", 4, widgets::Prefix::binary) +
           " of shared memory, and a block gets at most " +
           figure(o.block_shared_max_bytes, "B", 4, widgets::Prefix::binary) + ".";
  return "No block fits: it has more " + std::string(limit_words(o.limiter)) + " than the SM.";
}

/// "Registers stop", "Registers, shared memory and warps stop": all resources that stop the blocks at this number.
std::string who_stops(const Outputs& o) {
  static constexpr std::array<std::string_view, 5> names{"Warp slots", "Registers", "Shared memory", "Block slots",
                                                         "Barriers"};
  const auto first = static_cast<std::size_t>(o.limiter);
  const std::array<double, 5> rooms{static_cast<double>(o.by_warps), static_cast<double>(o.by_registers), o.by_shared,
                                    static_cast<double>(o.by_blocks), o.by_barriers};
  std::string words(names[first]);
  std::int64_t left = o.walls - 1;
  for (std::size_t other = 0; other < rooms.size() && left > 0; ++other) {
    if (other == first || rooms[other] != static_cast<double>(o.blocks)) continue;
    words += (left == 1 ? " and " : ", ") + std::string(limit_words(static_cast<OccupancyLimit>(other)));
    --left;
  }
  return words + (o.walls == 1 && o.limiter == OccupancyLimit::shared_memory ? " stops" : " stop");
}

/// The wall, in front of the colon.
std::string wall(const Outputs& o) {
  return who_stops(o) + " it at " + counted(o.blocks, "block", "blocks") + ", " + figure(o.occupancy, "%") +
         " occupancy";
}

}  // namespace

std::string_view limit_words(OccupancyLimit limit) {
  static constexpr std::string_view names[] = {"warps", "registers", "shared memory", "blocks", "barriers"};
  return names[static_cast<std::size_t>(limit)];
}

std::string answer_of(const Outputs& o) {
  // Where several walls are named, what follows has a line of its own.
  const std::string next = o.walls > 1 ? ".\n" : ". ";
  switch (o.rate_limit) {
    case RateLimit::no_block:
      return no_block(o);
    case RateLimit::full:
      return wall(o) + (o.walls > 2 ? ".\nThat" : ", and that") + " keeps the multiply-adds at their full rate.";
    case RateLimit::shared_memory:
      return wall(o) + next + "More warps do not help: shared memory feeds " + figure(o.feed, "%") +
             " of the multiply-adds.";
    case RateLimit::issue_slots:
      return wall(o) + next + "That is enough: shared memory feeds " + figure(o.feed, "%") + ", issue slots allow " +
             figure(o.issue, "%") + ".";
    case RateLimit::fma_latency:
      return wall(o) + next + "Too few warps: each multiply-add waits for the one before it, at " +
             figure(o.rate, "%") + " of the rate.";
    case RateLimit::load_latency:
      return wall(o) + next + "Too few warps: they wait for their loads, at " + figure(o.rate, "%") + " of the rate.";
    case RateLimit::tensor:
      return wall(o) + ".\nWhat feeds Tensor Cores is computed in GEMM tiling; here feeding is that of the FMA pipes.";
    case RateLimit::spill:
      if (o.spill_bytes > 0)
        return wall(o) + next + "But the compiler spilled: " + figure(static_cast<double>(o.spill_bytes), "B") +
               " a thread go through memory.";
      return wall(o) + next + "But the tile needs " +
             counted(static_cast<std::int64_t>(o.tile_registers), "register", "registers") + ", a thread has " +
             whole_figure(o.registers) + ": it spills.";
  }
  return {};
}

}  // namespace chapters::kernels::occupancy
