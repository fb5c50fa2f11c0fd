#include <algorithm>
#include <cctype>
#include <functional>

#include "chapters/described/training_memory.h"
#include "chapters/framework/allocator/lab.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;
using widgets::figure, widgets::Meaning, widgets::Tint;

std::string bytes_figure(double bytes) { return figure(bytes, "B", 3, widgets::Prefix::binary); }
std::string count_figure(std::int64_t n) { return figure(static_cast<double>(n), ""); }

/// The same colours as in the labs of a step's memory.
OwnerTint tint_of(const std::string& owner, std::size_t place) {
  using models::memory::MemoryOwner;
  if (owner == "KV cache") return {Meaning::kv_cache};
  if (owner == "other") return {};
  for (const MemoryOwner known : {MemoryOwner::weights, MemoryOwner::gradients, MemoryOwner::activations,
                                  MemoryOwner::logits, MemoryOwner::temporary})
    if (owner == models::memory::owner_name(known)) {
      const OwnerLook& look = owner_look(known);
      return {look.tint, look.pale};
    }
  return {Tint::series(place)};
}

bool asked_recording(const Inputs& in) { return !in.listed() && in.source == Source::snapshot; }

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (asked_recording(in) && out.recorded_allocations > 0)
    return "Replayed by the rules, " + count_figure(out.address_hits) + " of " +
           count_figure(out.recorded_allocations) + " recorded allocations get the recorded address, and the end has " +
           bytes_figure(out.reserved_bytes) + " reserved for " + bytes_figure(out.allocated_bytes) + " in use.";
  if (asked_recording(in))
    return "The recording has no history: " + bytes_figure(out.reserved_bytes) + " reserved for " +
           bytes_figure(out.allocated_bytes) + " in use.";
  if (!out.failed_at.empty()) {
    const std::string head = static_cast<char>(std::toupper(out.failed_at[0])) + out.failed_at.substr(1);
    const std::string asks = head + " asks for " + bytes_figure(out.failed_bytes) + " and fails, ";
    const double unreserved = out.unreserved_bytes;
    if (out.hole_bytes + unreserved < out.failed_bytes)
      return asks + "and all that is free, " + bytes_figure(out.hole_bytes + unreserved) +
             ", would not hold it: memory is full, not fragmented.";
    if (out.hole_bytes < out.failed_bytes)
      return asks + "though " + bytes_figure(out.hole_bytes) + " in " + count_figure(out.holes) + " holes and " +
             bytes_figure(unreserved) + " not reserved would hold it; empty_cache frees " +
             bytes_figure(out.emptiable_bytes) + ".";
    return asks + "though " + bytes_figure(out.hole_bytes) + " lie free: the largest of " + count_figure(out.holes) +
           " holes has " + bytes_figure(out.largest_hole_bytes) + ", and empty_cache frees " +
           bytes_figure(out.emptiable_bytes) + ".";
  }
  return "Nothing fails: " + bytes_figure(out.peak_reserved_bytes) + " reserved at the peak for " +
         bytes_figure(out.peak_allocated_bytes) + " in use: " + figure(out.wasted_share, "%") +
         " of what is reserved is above need.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  for (std::size_t i = 0; i < run.owners.size(); ++i) p.tints.push_back(tint_of(run.owners[i], i));
  p.events = static_cast<std::uint32_t>(out.events_done);
  const double peak = std::max(1.0, out.peak_reserved_bytes);
  p.capacity_bytes = peak > 0.5 * run.device_bytes ? run.device_bytes : 1.05 * peak;
  p.device_bytes = run.device_bytes;
  p.opening = run.fullest_event;
  if (run.failed_event >= 0) {
    p.failed_event = run.failed_event;
    p.failed_bytes = out.failed_bytes;
    p.opening = p.failed_event;
  } else if (in.listed() || in.source == Source::snapshot) {
    p.opening = p.events;
  }
  return p;
}

namespace {

/// What empty_cache can unmap of a hole in an expandable segment. Mapped ranges begin at a border of a page, so that
/// pages count from where the run of ranges begins.
void find_whole_pages(StripPiece& hole, std::uint64_t run_from, std::uint64_t page) {
  const std::uint64_t first = (hole.from - run_from + page - 1) / page * page,
                      end = (hole.from + hole.bytes - run_from) / page * page;
  hole.emptiable = end > first ? end - first : 0;
  hole.emptiable_from = run_from + first;
}

/// The sums over the pieces, and the free ones by size.
void sum_strip(StripState& out) {
  for (const StripPiece& p : out.pieces) {
    if (p.kind == StripPiece::block || p.kind == StripPiece::pending) {
      out.in_use += p.bytes;
      continue;
    }
    if (p.bytes > p.emptiable) out.holes.push_back(p.bytes - p.emptiable);
    if (p.emptiable > 0) out.returns.push_back(p.emptiable);
    out.hole_bytes += p.bytes;
    out.emptiable += p.emptiable;
    if (p.bytes <= out.largest) continue;
    out.largest = p.bytes;
    out.largest_from = p.from;
  }
  std::sort(out.holes.begin(), out.holes.end(), std::greater<>());
  std::sort(out.returns.begin(), out.returns.end(), std::greater<>());
}

}  // namespace

void lay_strip(const Picture& picture, std::int64_t cursor, StripState& out) {
  out.pieces.clear();
  out.segments.clear();
  out.holes.clear();
  out.returns.clear();
  out.reserved = out.in_use = out.hole_bytes = out.emptiable = out.largest = out.largest_from = 0;
  out.version = picture.version;
  out.cursor = cursor;
  const auto now = static_cast<std::uint32_t>(std::clamp<std::int64_t>(cursor, 0, picture.events));
  const auto lives = [now](const auto& span) { return span.first <= now && now < span.last; };
  std::size_t block = 0;
  std::uint64_t end_before = 0, run_from = 0;
  bool joined = false, before_expandable = false;
  for (const RangeSpan& r : picture.run->ranges) {
    if (!lives(r)) continue;
    joined = before_expandable && r.expandable && r.address == end_before;
    if (!joined) {
      out.segments.push_back(out.reserved);
      run_from = out.reserved;
    }
    const std::size_t first_piece = out.pieces.size();
    std::uint64_t at = r.address;
    const auto add_hole = [&](std::uint64_t bytes) {
      const std::uint64_t from = out.reserved + (at - r.address);
      if (joined && at == r.address && !out.pieces.empty() && out.pieces.back().kind == StripPiece::hole)
        out.pieces.back().bytes += bytes;
      else
        out.pieces.push_back({from, bytes, 0, StripPiece::hole});
      at += bytes;
      if (r.expandable) find_whole_pages(out.pieces.back(), run_from, r.small ? 2 * mib : 20 * mib);
    };
    const std::uint64_t end = r.address + r.bytes;
    // A block of an expandable segment may begin in one mapped range and end in the next.
    while (block < picture.run->blocks.size() && picture.run->blocks[block].address < end) {
      const BlockSpan& b = picture.run->blocks[block++];
      if (!lives(b) || b.address + b.bytes <= r.address) continue;
      if (b.address > at) add_hole(b.address - at);
      const std::uint64_t upto = std::min(end, b.address + b.bytes);
      if (upto > at)
        out.pieces.push_back({out.reserved + (at - r.address), upto - at, b.owner,
                              b.pending <= now ? StripPiece::pending : StripPiece::block});
      at = std::max(at, upto);
      if (b.address + b.bytes > end) {
        --block;  // its rest lies in the next range
        break;
      }
    }
    if (at < end) add_hole(end - at);
    if (!r.expandable && out.pieces.size() == first_piece + 1 && out.pieces.back().kind == StripPiece::hole) {
      out.pieces.back().kind = StripPiece::whole;
      out.pieces.back().emptiable = r.bytes;
      out.pieces.back().emptiable_from = out.pieces.back().from;
    }
    out.reserved += r.bytes;
    end_before = end;
    before_expandable = r.expandable;
  }
  sum_strip(out);
}

}  // namespace chapters::framework::allocator
