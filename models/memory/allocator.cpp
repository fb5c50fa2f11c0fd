#include "models/memory/allocator.h"

#include <algorithm>
#include <cmath>

namespace models::memory {
namespace {

// v2.6.0:51, 121-128. The pool is chosen by the rounded size.
constexpr std::uint64_t largest_small = mib, small_segment = 2 * mib, large_segment = 20 * mib,
                        least_own_segment = 10 * mib, segment_step = 2 * mib, smallest_block = 512;

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorConfig& config, std::int32_t ids,
                                   std::span<const InitialSegment> initial, std::span<const std::uint64_t> placement)
    : config_(config),
      pools_{Pool(&memory_), Pool(&memory_)},
      by_id_(static_cast<std::size_t>(std::max(ids, 0)), none),
      placement_(placement.begin(), placement.end()) {
  for (const std::uint64_t address : placement_) next_address_ = std::max(next_address_, address + 64 * gib);
  add_initial(initial);
  raise_peaks();
}

void CachingAllocator::add_initial(std::span<const InitialSegment> initial) {
  for (const InitialSegment& s : initial) {
    std::uint64_t address = s.address;
    Index before = none;
    std::vector<Index> free_ones;
    for (const InitialSegment::Part& part : s.parts) {
      const Index at = new_block();
      Block& b = blocks_[at];
      b.address = address;
      b.size = part.bytes;
      b.stream = s.stream;
      b.pool = s.small ? 0 : 1;
      b.prev = before;
      if (before != none) blocks_[before].next = at;
      if (part.id >= 0 && static_cast<std::size_t>(part.id) < by_id_.size()) {
        b.allocated = true;
        b.requested = part.bytes;
        b.id = part.id;
        by_id_[static_cast<std::size_t>(part.id)] = at;
        figures_.allocated_bytes += part.bytes;
        figures_.requested_bytes += part.bytes;
        figures_.active_bytes += part.bytes;
      } else {
        free_ones.push_back(at);
      }
      before = at;
      address += part.bytes;
    }
    for (const Index at : free_ones) insert_free(at);
    reserved_of(s.small ? 0 : 1) += address - s.address;
    ++figures_.segments;
    next_address_ = std::max(next_address_, address);
  }
}

CachingAllocator::Index CachingAllocator::new_block() {
  if (unused_.empty()) {
    blocks_.emplace_back();
    return static_cast<Index>(blocks_.size() - 1);
  }
  const Index at = unused_.back();
  unused_.pop_back();
  blocks_[at] = Block();
  return at;
}

void CachingAllocator::splice(Index block, Index before, Index after) {
  blocks_[block].prev = before;
  blocks_[block].next = after;
  if (before != none) blocks_[before].next = block;
  if (after != none) blocks_[after].prev = block;
}

void CachingAllocator::insert_free(Index at) {
  Block& b = blocks_[at];
  Pool& pool = pools_[b.pool];
  b.age_from = pool.searches;
  pool.free.insert({b.stream, b.size, b.address, at});
  if (b.segment < 0 && split(b)) {
    ++figures_.inactive_splits;
    figures_.inactive_split_bytes += b.size;
  }
}

void CachingAllocator::erase_free(Index at) {
  const Block& b = blocks_[at];
  pools_[b.pool].free.erase({b.stream, b.size, b.address, at});
  if (b.segment < 0 && split(b)) {
    --figures_.inactive_splits;
    figures_.inactive_split_bytes -= b.size;
  }
}

std::uint64_t CachingAllocator::allowed_bytes() const {
  return config_.fraction < 1
             ? static_cast<std::uint64_t>(config_.fraction * static_cast<double>(config_.capacity_bytes))
             : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t CachingAllocator::max_split() const {
  return config_.max_split_size_bytes > 0 ? config_.max_split_size_bytes : std::numeric_limits<std::uint64_t>::max();
}

// v2.6.0:1202-1301.
bool CachingAllocator::allocate(std::int32_t id, std::uint64_t bytes, std::int32_t stream) {
  if (bytes == 0) return true;
  poll();
  Request r{.bytes = bytes, .rounded = round_request(bytes, config_), .stream = stream};
  r.pool = r.rounded <= largest_small ? 0 : 1;
  r.segment_bytes = r.pool == 0                     ? small_segment
                    : r.rounded < least_own_segment ? large_segment
                                                    : (r.rounded + segment_step - 1) / segment_step * segment_step;
  Index found = search(r);
  if (found == none) {
    if (collector_on()) collect();
    found = new_segment(r, false);
  }
  if (found == none && release_oversize(r)) found = new_segment(r, false);
  if (found == none) {
    flush();
    found = new_segment(r, true);
  }
  if (found == none) {
    ++figures_.ooms;
    return false;
  }
  hand_out(found, r, id);
  return true;
}

/// Takes the candidate out of the pool; v2.6.0:2560-2625.
CachingAllocator::Index CachingAllocator::search(const Request& r) {
  Pool& pool = pools_[r.pool];
  if (collector_on()) ++pool.searches;
  auto at = pool.free.lower_bound({r.stream, r.rounded, 0, 0});
  const auto ended = [&] { return at == pool.free.end() || at->stream != r.stream; };
  if (ended()) return none;
  const auto is_expandable = [&](Index i) { return blocks_[i].segment >= 0; };
  if (is_expandable(at->block)) {
    if (config_.expandable_segments) {
      const auto room = [&](Index i) {
        const Block& b = blocks_[i];
        return b.size + (b.next != none && !blocks_[b.next].mapped ? blocks_[b.next].size : 0);
      };
      auto next = std::next(at);
      while (is_expandable(at->block) && next != pool.free.end() && next->stream == r.stream &&
             room(next->block) < room(at->block))
        at = next++;
    } else {
      do ++at;
      while (!ended() && is_expandable(at->block));
      if (ended()) return none;
    }
  }
  if (r.rounded < max_split() && at->size >= max_split()) return none;
  if (r.rounded >= max_split() && at->size >= r.rounded + config_.max_non_split_rounding_bytes) return none;
  const Index found = at->block;
  erase_free(found);
  return found;
}

std::uint64_t CachingAllocator::place(std::uint64_t bytes) {
  if (placed_ < placement_.size()) return placement_[placed_++];
  const std::uint64_t address = next_address_;
  next_address_ += bytes;
  return address;
}

// v2.6.0:2693-2809.
CachingAllocator::Index CachingAllocator::new_segment(const Request& r, bool retry) {
  if (retry) ++figures_.retries;
  const std::uint64_t reserved = figures_.reserved_bytes();
  if (reserved + r.segment_bytes > allowed_bytes()) return none;
  if (config_.expandable_segments) return take_expandable(r);
  if (reserved + r.segment_bytes > config_.capacity_bytes) return none;
  const Index at = new_block();
  Block& b = blocks_[at];
  b.address = place(r.segment_bytes);
  b.size = r.segment_bytes;
  b.stream = r.stream;
  b.pool = r.pool;
  reserved_of(r.pool) += b.size;
  ++figures_.segments;
  ++figures_.device_allocs;
  if (watcher_) watcher_->reserved(b.address, b.size, b.pool == 0, false);
  return at;
}

// v2.6.0:2540-2548.
bool CachingAllocator::should_split(const Block& b, std::uint64_t rounded) const {
  const std::uint64_t remaining = b.size - rounded;
  if (b.pool == 0 || config_.expandable_segments) return remaining >= smallest_block;
  return rounded < max_split() && remaining > largest_small;
}

void CachingAllocator::hand_out(Index at, const Request& r, std::int32_t id) {
  if (should_split(blocks_[at], r.rounded)) {
    const Index rest = new_block();
    Block& b = blocks_[at];
    Block& rem = blocks_[rest];
    rem.address = b.address + r.rounded;
    rem.size = b.size - r.rounded;
    rem.stream = b.stream;
    rem.pool = b.pool;
    rem.segment = b.segment;
    b.size = r.rounded;
    splice(rest, at, b.next);
    insert_free(rest);
    ++figures_.splits;
  }
  Block& b = blocks_[at];
  b.allocated = true;
  b.requested = r.bytes;
  b.id = id;
  by_id_[static_cast<std::size_t>(id)] = at;
  figures_.allocated_bytes += b.size;
  figures_.active_bytes += b.size;
  figures_.requested_bytes += r.bytes;
  raise_peaks();
  if (watcher_) watcher_->taken(b.address, b.size, id);
}

// v2.6.0:1469-1528.
void CachingAllocator::free(std::int32_t id) {
  const Index at = by_id_[static_cast<std::size_t>(id)];
  if (at == none) return;
  by_id_[static_cast<std::size_t>(id)] = none;
  Block& b = blocks_[at];
  b.allocated = false;
  figures_.allocated_bytes -= b.size;
  if (!b.recorded) {
    release_to_pool(at);
    return;
  }
  if (watcher_) watcher_->pending(b.address);
  for (const std::int32_t stream : uses_[at]) {
    auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const StreamQueue& q) { return q.stream == stream; });
    if (queue == queues_.end()) queue = queues_.insert(queues_.end(), StreamQueue{.stream = stream, .blocks = {}});
    queue->blocks.push_back(at);
    ++b.events;
  }
  uses_[at].clear();
  b.recorded = false;
}

void CachingAllocator::release_to_pool(Index at) {
  Block& b = blocks_[at];
  figures_.active_bytes -= b.size;
  figures_.requested_bytes -= b.requested;
  if (watcher_) watcher_->returned(b.address);
  b.id = -1;
  merge(at, b.prev);
  merge(at, b.next);
  insert_free(at);
  raise_peaks();
}

void CachingAllocator::raise_peaks() {
  peaks_.allocated_bytes = std::max(peaks_.allocated_bytes, figures_.allocated_bytes);
  peaks_.active_bytes = std::max(peaks_.active_bytes, figures_.active_bytes);
  peaks_.reserved_bytes = std::max(peaks_.reserved_bytes, figures_.reserved_bytes());
  peaks_.inactive_split_bytes = std::max(peaks_.inactive_split_bytes, figures_.inactive_split_bytes);
}

// v2.6.0:2463-2506. Never across segments: neighbours are of one.
std::uint64_t CachingAllocator::merge(Index into, Index from) {
  if (from == none || !takable(from)) return 0;
  Block& d = blocks_[into];
  const Block s = blocks_[from];
  if (d.mapped != s.mapped) return 0;
  if (s.mapped)
    erase_free(from);
  else
    pools_[s.pool].unmapped.erase(unmapped_key(from));
  if (d.prev == from) {
    d.address = s.address;
    d.prev = s.prev;
    if (d.prev != none) blocks_[d.prev].next = into;
  } else {
    d.next = s.next;
    if (d.next != none) blocks_[d.next].prev = into;
  }
  d.size += s.size;
  unused_.push_back(from);
  return s.size;
}

void CachingAllocator::record_stream(std::int32_t id, std::int32_t stream) {
  const Index at = by_id_[static_cast<std::size_t>(id)];
  if (at == none || blocks_[at].stream == stream) return;
  if (uses_.size() <= at) uses_.resize(at + 1);
  auto& uses = uses_[at];
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
  blocks_[at].recorded = true;
}

void CachingAllocator::stream_done(std::int32_t stream) {
  for (StreamQueue& q : queues_)
    if (q.stream == stream) q.done = q.blocks.size();
}

void CachingAllocator::finish_event(Index at) {
  if (--blocks_[at].events == 0) release_to_pool(at);
}

// v2.6.0:3177-3217.
void CachingAllocator::poll() {
  for (StreamQueue& q : queues_)
    for (; q.done > 0; --q.done) {
      const Index at = q.blocks.front();
      q.blocks.pop_front();
      finish_event(at);
    }
}

void CachingAllocator::set(std::span<const AllocatorSetting> settings) {
  for (const AllocatorSetting& s : settings)
    if (!apply_setting(s, config_)) return;
}

std::uint64_t CachingAllocator::address_of(std::int32_t id) const {
  const Index at = by_id_[static_cast<std::size_t>(id)];
  return at == none ? std::numeric_limits<std::uint64_t>::max() : blocks_[at].address;
}

}  // namespace models::memory
