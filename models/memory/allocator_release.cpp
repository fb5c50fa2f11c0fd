#include <algorithm>

#include "models/memory/allocator.h"

namespace models::memory {

/// Gives a segment that is one free block back to the device.
void CachingAllocator::release_segment(Index at) {
  const Block b = blocks_[at];
  erase_free(at);
  reserved_of(b.pool) -= b.size;
  --figures_.segments;
  ++figures_.device_frees;
  if (watcher_) watcher_->released(b.address, b.size);
  unused_.push_back(at);
}

// v2.6.0:2629-2691.
void CachingAllocator::collect() {
  const auto threshold =
      static_cast<std::uint64_t>(config_.garbage_collection_threshold * static_cast<double>(allowed_bytes()));
  const std::uint64_t reserved = figures_.reserved_bytes();
  if (reserved <= threshold) return;
  const std::uint64_t target = reserved - threshold;
  Pool& large = pools_[1];
  const auto age = [&](Index i) { return large.searches - blocks_[i].age_from; };
  double total_age = 0;
  std::uint64_t whole = 0, back = 0;
  for (const Key& k : large.free)
    if (!split(blocks_[k.block])) {
      total_age += static_cast<double>(age(k.block));
      ++whole;
    }
  for (bool released = true; whole > 0 && back < target && released;) {
    const double mean = total_age / static_cast<double>(whole);
    released = false;
    for (auto at = large.free.begin(); at != large.free.end();) {
      const Index i = at->block;
      const std::uint64_t size = at->size;
      ++at;
      if (split(blocks_[i]) || blocks_[i].segment >= 0 || !(static_cast<double>(age(i)) >= mean)) continue;
      released = true;
      back += size;
      total_age -= static_cast<double>(age(i));
      --whole;
      release_segment(i);
    }
  }
}

// v2.6.0:2811-2857.
bool CachingAllocator::release_oversize(const Request& r) {
  if (config_.max_split_size_bytes == 0) return false;
  Pool& pool = pools_[r.pool];
  const std::uint64_t wanted = std::max(r.rounded, max_split());
  auto at = pool.free.lower_bound({r.stream, wanted, 0, 0});
  const auto whole = [&](Index i) { return blocks_[i].segment < 0 && !split(blocks_[i]); };
  if (at != pool.free.end() && at->stream == r.stream && blocks_[at->block].segment < 0) {
    if (!whole(at->block)) return false;
    release_segment(at->block);
    return true;
  }
  std::uint64_t back = 0;
  while (at != pool.free.begin() && back < wanted) {
    --at;
    if (at->size < max_split() || at->stream != r.stream) break;
    if (!whole(at->block)) continue;
    const Key key = *at;
    ++at;  // stays good when the one before it goes
    release_segment(key.block);
    back += key.size;
  }
  return back >= wanted;
}

/// Waits for every pending event and gives back all that is whole and free; v2.6.0:2859-2921, 3045-3068.
void CachingAllocator::flush() {
  for (StreamQueue& q : queues_) q.done = q.blocks.size();
  poll();
  release_whole(pools_[1]);
  release_whole(pools_[0]);
}

void CachingAllocator::release_whole(Pool& pool) {
  std::vector<Index> mapped;
  for (auto at = pool.free.begin(); at != pool.free.end();) {
    const Index i = at->block;
    ++at;
    if (blocks_[i].segment >= 0)
      mapped.push_back(i);
    else if (!split(blocks_[i]))
      release_segment(i);
  }
  for (const Index i : mapped) unmap(i);
}

void CachingAllocator::empty_cache() { flush(); }

std::uint64_t CachingAllocator::emptiable_bytes() const {
  std::uint64_t bytes = 0;
  for (const Pool& pool : pools_)
    for (const Key& k : pool.free) {
      const Block& b = blocks_[k.block];
      if (b.segment < 0) {
        bytes += split(b) ? 0 : b.size;
      } else {
        const std::uint64_t from = page_right(b, b.address), to = page_left(b, b.address + b.size);
        bytes += to > from ? to - from : 0;
      }
    }
  return bytes;
}

std::uint64_t CachingAllocator::largest_free_bytes() const {
  std::uint64_t largest = 0;
  for (const Pool& pool : pools_)
    for (const Key& k : pool.free) largest = std::max(largest, k.size);
  return largest;
}

std::uint64_t CachingAllocator::snapshot_segments() const {
  std::vector<char> unused(blocks_.size(), 0);
  for (const Index i : unused_) unused[i] = 1;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& b = blocks_[i];
    if (!unused[i] && b.mapped && (b.prev == none || !blocks_[b.prev].mapped)) ++count;
  }
  return count;
}

std::vector<SegmentView> CachingAllocator::snapshot() const {
  std::vector<char> unused(blocks_.size(), 0);
  for (const Index i : unused_) unused[i] = 1;
  std::vector<SegmentView> out;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& first = blocks_[i];
    if (unused[i] || !first.mapped || (first.prev != none && blocks_[first.prev].mapped)) continue;
    SegmentView s{.address = first.address,
                  .small = first.pool == 0,
                  .expandable = first.segment >= 0,
                  .stream = first.stream,
                  .parts = {}};
    for (Index at = static_cast<Index>(i); at != none && blocks_[at].mapped; at = blocks_[at].next) {
      const Block& b = blocks_[at];
      s.bytes += b.size;
      s.parts.push_back({.address = b.address,
                         .bytes = b.size,
                         .state = b.allocated    ? BlockState::allocated
                                  : b.events > 0 ? BlockState::pending
                                                 : BlockState::free,
                         .id = b.id});
    }
    out.push_back(std::move(s));
  }
  std::sort(out.begin(), out.end(), [](const SegmentView& a, const SegmentView& b) { return a.address < b.address; });
  return out;
}

}  // namespace models::memory
