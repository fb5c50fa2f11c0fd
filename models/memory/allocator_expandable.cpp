#include <algorithm>

#include "models/memory/allocator.h"

// Expandable segments: one growing range of addresses a stream and pool, mapped in pages.
namespace models::memory {

/// Free, and no other stream may still read it; mapped or not.
bool CachingAllocator::takable(Index at) const {
  const Block& b = blocks_[at];
  return !b.allocated && b.events == 0 && !b.recorded;
}

/// The page border at or before an address of the block's segment, and the one at or after it.
std::uint64_t CachingAllocator::page_left(const Block& b, std::uint64_t address) const {
  const Expandable& e = expandable_[static_cast<std::size_t>(b.segment)];
  return e.base + (address - e.base) / e.page * e.page;
}
std::uint64_t CachingAllocator::page_right(const Block& b, std::uint64_t address) const {
  const Expandable& e = expandable_[static_cast<std::size_t>(b.segment)];
  return e.base + (address - e.base + e.page - 1) / e.page * e.page;
}

/// The lowest place where free and unmapped neighbours give room, or a new range of addresses; v2.6.0:2239-2293.
CachingAllocator::Index CachingAllocator::find_room(const Request& r) {
  Pool& pool = pools_[r.pool];
  const auto enough = [&](Index at) {
    std::uint64_t bytes = 0;
    for (; bytes < r.rounded && at != none && takable(at); at = blocks_[at].next) bytes += blocks_[at].size;
    return bytes >= r.rounded;
  };
  for (auto it = pool.unmapped.lower_bound({r.stream, 0, 0, 0}); it != pool.unmapped.end() && it->stream == r.stream;
       ++it) {
    Index at = it->block;
    const Index before = blocks_[at].prev;
    if (before != none && takable(before)) at = before;
    if (enough(at)) return at;
  }
  const std::uint64_t page = r.pool == 0 ? 2 * mib : config_.large_segment_bytes,
                      room = config_.capacity_bytes + config_.capacity_bytes / 8,
                      bytes = std::max((room + page - 1) / page * page, (r.rounded + page - 1) / page * page);
  const Index at = new_block();
  Block& b = blocks_[at];
  b.address = place(bytes);
  b.size = bytes;
  b.stream = r.stream;
  b.pool = r.pool;
  b.mapped = false;
  b.segment = static_cast<std::int32_t>(expandable_.size());
  expandable_.push_back({b.address, page});
  pool.unmapped.insert(unmapped_key(at));
  return at;
}

/// Maps the first `bytes` of an unmapped block, rounded up to pages, all or none; v2.6.0:2294-2362.
bool CachingAllocator::map(Index at, std::uint64_t bytes) {
  Pool& pool = pools_[blocks_[at].pool];
  const std::uint64_t mapped = page_right(blocks_[at], blocks_[at].address + bytes) - blocks_[at].address;
  if (figures_.reserved_bytes() + mapped > config_.capacity_bytes) return false;
  pool.unmapped.erase(unmapped_key(at));
  if (mapped < blocks_[at].size) {
    const Index rest = new_block();
    Block& b = blocks_[at];
    Block& remaining = blocks_[rest];
    remaining.address = b.address + mapped;
    remaining.size = b.size - mapped;
    remaining.stream = b.stream;
    remaining.pool = b.pool;
    remaining.segment = b.segment;
    remaining.mapped = false;
    b.size = mapped;
    splice(rest, at, b.next);
    pool.unmapped.insert(unmapped_key(rest));
  }
  Block& b = blocks_[at];
  b.mapped = true;
  if (watcher_) watcher_->reserved(b.address, mapped, b.pool == 0, true);
  merge(at, b.prev);
  merge(at, b.next);
  insert_free(at);
  reserved_of(b.pool) += mapped;
  ++figures_.device_allocs;
  return true;
}

// v2.6.0:2363-2396.
CachingAllocator::Index CachingAllocator::take_expandable(const Request& r) {
  Index at = find_room(r);
  if (!blocks_[at].mapped && !map(at, std::min(blocks_[at].size, r.rounded))) return none;
  while (blocks_[at].size < r.rounded) {
    const Index next = blocks_[at].next;
    if (!map(next, std::min(r.rounded - blocks_[at].size, blocks_[next].size))) return none;
    at = next;  // it has taken in what was free before it
  }
  erase_free(at);
  return at;
}

/// Gives the whole pages inside a free block back; v2.6.0:2974-3043.
void CachingAllocator::unmap(Index at) {
  const Block b = blocks_[at];
  Pool& pool = pools_[b.pool];
  const std::uint64_t from = page_right(b, b.address), to = page_left(b, b.address + b.size);
  if (from >= to) return;
  erase_free(at);
  const auto keep = [&](std::uint64_t address, std::uint64_t size) {
    const Index part = new_block();
    Block& p = blocks_[part];
    p.address = address;
    p.size = size;
    p.stream = b.stream;
    p.pool = b.pool;
    p.segment = b.segment;
    return part;
  };
  if (from > b.address) {
    const Index before = keep(b.address, from - b.address);
    splice(before, blocks_[at].prev, at);
    insert_free(before);
  }
  if (to < b.address + b.size) {
    const Index after = keep(to, b.address + b.size - to);
    splice(after, at, blocks_[at].next);
    insert_free(after);
  }
  blocks_[at].address = from;
  blocks_[at].size = to - from;
  blocks_[at].mapped = false;
  if (watcher_) watcher_->released(from, to - from);
  merge(at, blocks_[at].prev);
  merge(at, blocks_[at].next);
  pool.unmapped.insert(unmapped_key(at));
  reserved_of(b.pool) -= to - from;
  ++figures_.device_frees;
  if (!split(blocks_[at])) {  // nothing of the range is left: its addresses go, too
    pool.unmapped.erase(unmapped_key(at));
    unused_.push_back(at);
  }
}

}  // namespace models::memory
