#include "chapters/kernels/coalescing/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::coalescing {
namespace {

using widgets::figure;

std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  return figure(static_cast<double>(n), "", 9) + " " + std::string(n == 1 ? one : many);
}
std::string of_bytes(double bytes) { return figure(bytes, "B"); }

/// What the warp fetches for what it wants.
std::string verdict(const Inputs& in, const Outputs& out) {
  if (out.active == 0 && in.access != Access::addresses && in.warp_index >= out.warps)
    return "Warp " + figure(static_cast<double>(in.warp_index), "") + " is beyond the " +
           counted(out.warps, "warp", "warps") + " of the block: nothing is fetched.";
  if (out.active == 0) return "All 32 lanes of this warp are off: nothing is fetched.";
  const std::string sectors = counted(out.sectors, "sector", "sectors");
  if (out.sectors == out.ideal_sectors) {
    if (out.useful_bytes == out.fetched_bytes)
      return "All that is fetched is wanted: " + of_bytes(out.useful_bytes) + " in " + sectors + ".";
    return "The warp wants " + of_bytes(out.useful_bytes) + " and fetches " + of_bytes(out.fetched_bytes) + ": " +
           sectors + ", as few as can be.";
  }
  return "The warp wants " + of_bytes(out.useful_bytes) + " and fetches " + of_bytes(out.fetched_bytes) + ": " +
         sectors + " where " + figure(static_cast<double>(out.ideal_sectors), "") + " would do.";
}

/// What is left of it over the block, and of the chip's bandwidth.
std::string over_the_block(const Inputs& in, const Outputs& out) {
  if (out.block.sectors == 0) return "No lane of the block is on, so the load costs no bytes at all.";
  const std::string rate = figure(out.useful_bytes_per_s, "B/s");
  const models::gpu::BlockAccess& b = out.block;
  const auto number = [](std::int64_t n) { return figure(static_cast<double>(n), "", 9); };
  if (in.access == Access::addresses || out.warps == 1)
    return "Of the chip's " + figure(out.bandwidth_bytes_per_s, "B/s") + " that leaves " + rate + " of use.";
  if (b.sectors < b.asked_sectors)
    return "Its block asks for " + counted(b.asked_sectors, "sector", "sectors") + " and fetches " + number(b.sectors) +
           ", as warps share some: " + rate + " is of use.";
  if (b.sectors == out.block_ideal_sectors)
    return "The " + counted(out.warps, "warp", "warps") + " of the block fetch " +
           counted(b.sectors, "sector", "sectors") + ", all wanted: " + rate + " of the bandwidth is of use.";
  return "Its block fetches " + counted(b.sectors, "sector", "sectors") + " where " + number(out.block_ideal_sectors) +
         " would do: " + rate + " of the bandwidth is of use.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  return verdict(in, out) + "\n" + over_the_block(in, out);
}

}  // namespace chapters::kernels::coalescing
