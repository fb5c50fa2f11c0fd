#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <unordered_map>

#include "chapters/described/training_memory.h"
#include "chapters/framework/allocator/lab.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;
using widgets::format_text, widgets::Meaning, widgets::Tint;

constexpr std::uint32_t for_ever = ~0u;

std::string ticked(double bytes) { return "`" + format_text(bytes, "B", 3, widgets::Prefix::binary) + "`"; }

/// Writes down what lies where from which event on.
class History : public AllocatorWatcher {
 public:
  History(Picture& picture, std::vector<std::uint32_t> owners) : picture_(picture), owners_(std::move(owners)) {}
  void start_from(const std::vector<SegmentView>& segments) {
    for (const SegmentView& s : segments) {
      reserved(s.address, s.bytes, s.small, s.expandable);
      for (const auto& p : s.parts)
        if (p.state != BlockState::free) taken(p.address, p.bytes, p.id);
    }
  }
  void next_event() { ++event_; }

  void reserved(std::uint64_t address, std::uint64_t bytes, bool small, bool expandable) override {
    open_ranges_[address] = picture_.ranges.size();
    picture_.ranges.push_back({address, bytes, event_, for_ever, small, expandable});
  }
  /// Of an expandable segment any pages may go: what is left of a range goes on as a new one.
  void released(std::uint64_t address, std::uint64_t bytes) override {
    const std::uint64_t end = address + bytes;
    auto at = open_ranges_.upper_bound(address);
    if (at != open_ranges_.begin()) --at;
    while (at != open_ranges_.end() && at->first < end) {
      const RangeSpan r = picture_.ranges[at->second];
      if (r.address + r.bytes <= address) {
        ++at;
        continue;
      }
      picture_.ranges[at->second].last = event_;
      at = open_ranges_.erase(at);
      if (r.address < address) reserved(r.address, address - r.address, r.small, r.expandable);
      if (r.address + r.bytes > end) {
        reserved(end, r.address + r.bytes - end, r.small, r.expandable);
        break;
      }
    }
  }
  void taken(std::uint64_t address, std::uint64_t bytes, std::int32_t id) override {
    open_blocks_[address] = picture_.blocks.size();
    const std::uint32_t owner =
        id >= 0 && static_cast<std::size_t>(id) < owners_.size() ? owners_[static_cast<std::size_t>(id)] : 0;
    picture_.blocks.push_back({address, bytes, event_, for_ever, for_ever, owner});
  }
  void pending(std::uint64_t address) override {
    if (const auto at = open_blocks_.find(address); at != open_blocks_.end())
      picture_.blocks[at->second].pending = event_;
  }
  void returned(std::uint64_t address) override {
    const auto at = open_blocks_.find(address);
    if (at == open_blocks_.end()) return;
    picture_.blocks[at->second].last = event_;
    open_blocks_.erase(at);
  }

 private:
  Picture& picture_;
  std::vector<std::uint32_t> owners_;
  std::uint32_t event_ = 0;  ///< events done before the one at hand
  std::map<std::uint64_t, std::size_t> open_ranges_;
  std::unordered_map<std::uint64_t, std::size_t> open_blocks_;
};

void replay(const Asked& asked, std::size_t events, Picture& p) {
  const AllocatorList& list = asked.program.list;
  std::vector<std::uint32_t> owners(static_cast<std::size_t>(list.ids), 0);
  std::copy(asked.initial_owners.begin(), asked.initial_owners.end(), owners.begin());
  for (const AllocatorEvent& e : list.events)
    if (e.action == AllocatorAction::allocate) owners[static_cast<std::size_t>(e.id)] = e.owner;
  CachingAllocator allocator(asked.config, list.ids, asked.initial, asked.placement);
  History history(p, std::move(owners));
  history.start_from(allocator.snapshot());
  allocator.watch(&history);
  const std::size_t step = std::max<std::size_t>(1, events / 1500);
  const auto note = [&](std::size_t done) {
    p.at.push_back(static_cast<double>(done));
    p.reserved.push_back(static_cast<double>(allocator.figures().reserved_bytes()));
    p.allocated.push_back(static_cast<double>(allocator.figures().active_bytes));
  };
  note(0);
  std::uint64_t most = allocator.figures().reserved_bytes();
  for (std::size_t i = 0; i < events; ++i) {
    history.next_event();
    do_event(allocator, list, list.events[i]);
    if (const std::uint64_t reserved = allocator.figures().reserved_bytes(); reserved > most) {
      most = reserved;
      p.opening = static_cast<std::int64_t>(i) + 1;
    }
    if ((i + 1) % step == 0 || i + 1 == events) note(i + 1);
  }
  std::sort(p.ranges.begin(), p.ranges.end(),
            [](const RangeSpan& a, const RangeSpan& b) { return a.address < b.address; });
  std::sort(p.blocks.begin(), p.blocks.end(),
            [](const BlockSpan& a, const BlockSpan& b) { return a.address < b.address; });
}

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
  if (asked_recording(in) && out.agreement.allocations > 0)
    return "Replayed by the rules, `" + format_text(static_cast<double>(out.agreement.address_hits), "") + "` of `" +
           format_text(static_cast<double>(out.agreement.allocations), "") +
           "` recorded allocations get the recorded address, and the end has " + ticked(out.reserved_bytes) +
           " reserved for " + ticked(out.allocated_bytes) + " in use.";
  if (asked_recording(in))
    return "The recording has no history: " + ticked(out.reserved_bytes) + " reserved for " +
           ticked(out.allocated_bytes) + " in use.";
  if (!out.failed_at.empty()) {
    const std::string head = static_cast<char>(std::toupper(out.failed_at[0])) + out.failed_at.substr(1);
    const std::string asks = head + " asks for " + ticked(out.failed_bytes) + " and fails, ";
    const double unreserved = static_cast<double>(out.run.failure->device_free_bytes);
    if (out.hole_bytes + unreserved < out.failed_bytes)
      return asks + "and all that is free, " + ticked(out.hole_bytes + unreserved) +
             ", would not hold it: memory is full, not fragmented.";
    if (out.hole_bytes < out.failed_bytes)
      return asks + "though " + ticked(out.hole_bytes) + " in `" + format_text(static_cast<double>(out.holes), "") +
             "` holes and " + ticked(unreserved) + " not reserved would hold it; empty_cache frees " +
             ticked(out.emptiable_bytes) + ".";
    return asks + "though " + ticked(out.hole_bytes) + " lie free: the largest of `" +
           format_text(static_cast<double>(out.holes), "") + "` holes has " + ticked(out.largest_hole_bytes) +
           ", and empty_cache frees " + ticked(out.emptiable_bytes) + ".";
  }
  return "Nothing fails: " + ticked(out.peak_reserved_bytes) + " reserved at the peak for " +
         ticked(out.peak_allocated_bytes) + " in use: `" + format_text(out.wasted_share, "%") +
         "` of what is reserved is above need.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  const auto asked = ask(in);
  if (!asked) return p;
  p.answer = answer_of(in, out);
  p.owners = asked->program.list.owners;
  for (std::size_t i = 0; i < p.owners.size(); ++i) p.tints.push_back(tint_of(p.owners[i], i));
  p.events = static_cast<std::uint32_t>(out.events_done);
  replay(*asked, p.events, p);
  const double peak = std::max(1.0, out.peak_reserved_bytes),
               capacity = static_cast<double>(asked->config.capacity_bytes);
  p.capacity_bytes = peak > 0.5 * capacity ? capacity : 1.05 * peak;
  p.device_bytes = capacity;
  if (out.run.failure) {
    p.failed_event = static_cast<std::int64_t>(out.run.failure->event) + 1;
    p.failed_bytes = out.failed_bytes;
    p.opening = p.failed_event;
  } else if (in.listed() || in.source == Source::snapshot) {
    p.opening = p.events;
  }
  return p;
}

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
  for (const RangeSpan& r : picture.ranges) {
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
      if (!r.expandable) return;
      // Mapped ranges begin at a border of a page, so that pages count from where the run of ranges begins.
      const std::uint64_t page = r.small ? 2 * mib : 20 * mib;
      StripPiece& hole = out.pieces.back();
      const std::uint64_t first = (hole.from - run_from + page - 1) / page * page,
                          end = (hole.from + hole.bytes - run_from) / page * page;
      hole.emptiable = end > first ? end - first : 0;
      hole.emptiable_from = run_from + first;
    };
    const std::uint64_t end = r.address + r.bytes;
    // A block of an expandable segment may begin in one mapped range and end in the next.
    while (block < picture.blocks.size() && picture.blocks[block].address < end) {
      const BlockSpan& b = picture.blocks[block++];
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

}  // namespace chapters::framework::allocator
