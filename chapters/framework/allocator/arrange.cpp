#include <algorithm>
#include <cctype>
#include <functional>

#include "chapters/described/training_memory.h"
#include "chapters/framework/allocator/asked.h"
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

bool asked_recording(const Inputs& in) { return in.source == Source::snapshot; }

std::string recording_answer(const Outputs& out) {
  const std::string held =
      bytes_figure(out.reserved_bytes) + " are reserved for " + bytes_figure(out.allocated_bytes) + " in use";
  if (out.recorded_allocations > 0)
    return "Replayed by the rules, " + count_figure(out.address_hits) + " of " +
           count_figure(out.recorded_allocations) + " recorded allocations get the recorded address.\nAt the end " +
           held + ".";
  return "The recording holds one moment and no history: " + held + ".";
}

/// How the same list fares under other settings.
std::string others_words(const Outputs& out) {
  const auto named = [&](std::string_view name) {
    const auto at =
        std::find_if(out.settings.begin(), out.settings.end(), [&](const Setting& s) { return s.name == name; });
    return at == out.settings.end() ? nullptr : &*at;
  };
  if (out.failed_at.empty()) {
    const Setting* plain = named("defaults");
    if (plain && !plain->served) return "With the default settings it " + plain->outcome + ".";
    if (plain && plain->peak_reserved_bytes > 1.02 * out.peak_reserved_bytes)
      return "With the default settings " + bytes_figure(plain->peak_reserved_bytes) + " would be reserved.";
    const Setting* growing = named("expandable");
    if (growing && growing->served && growing->peak_reserved_bytes < 0.98 * out.peak_reserved_bytes)
      return "With expandable segments " + bytes_figure(growing->peak_reserved_bytes) + " would be reserved.";
    return {};
  }
  constexpr std::array<std::string_view, 4> names{"expandable", "split up to 256 MiB", "round to 4 parts", "defaults"};
  constexpr std::array<std::string_view, 4> words{"expandable segments", "blocks above 256 MiB never split",
                                                  "sizes rounded to quarters of a power of two",
                                                  "the default settings"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const Setting* s = named(names[i]); s && s->served) return "With " + std::string(words[i]) + " nothing fails.";
  return "None of the other settings prevents it.";
}

std::string failure_answer(const Outputs& out) {
  const std::string head = static_cast<char>(std::toupper(out.failed_at[0])) + out.failed_at.substr(1);
  const std::string asks = head + " asks for " + bytes_figure(out.failed_bytes) + " and fails";
  if (out.free_bytes < out.failed_bytes)
    return asks + ": memory is full, not fragmented; only " + bytes_figure(out.free_bytes) + " are free.\n" +
           others_words(out);
  if (out.hole_bytes < out.failed_bytes)
    return asks + ": " + bytes_figure(out.hole_bytes) + " free in holes and " + bytes_figure(out.unreserved_bytes) +
           " not reserved would only do together.\n" + others_words(out);
  return asks + " although " + bytes_figure(out.hole_bytes) + " are free: the largest of " + count_figure(out.holes) +
         (out.holes == 1 ? " hole has " : " holes has ") + bytes_figure(out.largest_hole_bytes) +
         ".\nCalling empty_cache returns " + bytes_figure(out.emptiable_bytes) + ". " + others_words(out);
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (asked_recording(in)) return recording_answer(out);
  if (!out.failed_at.empty()) return failure_answer(out);
  std::string says = "Nothing fails: at most " + bytes_figure(out.peak_reserved_bytes) + " are reserved and at most " +
                     bytes_figure(out.peak_allocated_bytes) + " in use; " + figure(out.wasted_share, "%") +
                     " of what is reserved is above need.";
  std::string why = others_words(out);
  if (in.empty_cache && !in.listed() && !asked_recording(in))
    why = "With empty_cache it takes " + count_figure(out.device_allocs) +
          (out.device_allocs == 1 ? " cudaMalloc" : " cudaMallocs") + " and " + count_figure(out.device_frees) +
          (out.device_frees == 1 ? " cudaFree." : " cudaFrees.");
  return why.empty() ? says : says + "\n" + why;
}

/// What a written list asks for first.
std::vector<double> first_requests(const Inputs& in) {
  constexpr std::size_t most = 8;
  std::vector<double> sizes;
  if (!in.listed()) return sizes;
  const auto asked = ask(in);
  if (!asked) return sizes;
  for (const AllocatorEvent& e : asked->program.list.events)
    if (e.action == AllocatorAction::allocate && sizes.size() < most) sizes.push_back(static_cast<double>(e.bytes));
  return sizes;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  p.asked = first_requests(in);
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
  } else if (in.listed() || asked_recording(in)) {
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
      if (r.expandable) find_whole_pages(out.pieces.back(), run_from, r.small ? 2 * mib : picture.run->page_bytes);
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
