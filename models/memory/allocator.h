#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory_resource>
#include <set>
#include <span>
#include <vector>

#include "models/memory/allocator_events.h"

namespace models::memory {

/// Bytes and counts of a caching allocator at one moment; all integers.
struct AllocatorFigures {
  std::uint64_t allocated_bytes = 0;  ///< blocks in use, with remainders that were not split off
  std::uint64_t requested_bytes = 0;  ///< what was asked for the active ones
  std::uint64_t active_bytes = 0;     ///< allocated, and freed blocks that another stream may still read
  std::uint64_t reserved_small_bytes = 0, reserved_large_bytes = 0;  ///< held from the device, by pool
  std::uint64_t inactive_split_bytes = 0;  ///< free blocks that share their segment; without expandable segments
  std::uint64_t inactive_splits = 0, segments = 0, splits = 0, device_allocs = 0, device_frees = 0, retries = 0,
                ooms = 0;
  std::uint64_t reserved_bytes() const { return reserved_small_bytes + reserved_large_bytes; }
  /// Reserved and not active: what `nvidia-smi` counts and no tensor has.
  std::uint64_t free_bytes() const { return reserved_bytes() - active_bytes; }
  bool operator==(const AllocatorFigures&) const = default;
};

/// The largest value that each figure had, between two steps of an event too.
struct AllocatorPeaks {
  std::uint64_t allocated_bytes = 0, active_bytes = 0, reserved_bytes = 0, inactive_split_bytes = 0;
};

enum class BlockState : std::uint8_t { free, allocated, pending };

/// A segment that exists before the list begins.
struct InitialSegment {
  struct Part {
    std::uint64_t bytes = 0;
    std::int32_t id = -1;  ///< as in AllocatorEvent; -1: free
  };
  std::uint64_t address = 0;
  bool small = false;
  std::int32_t stream = 0;
  std::vector<Part> parts;
};

/// A contiguous mapped range as a snapshot lists it.
struct SegmentView {
  struct Part {
    std::uint64_t address = 0, bytes = 0;
    BlockState state{};
    std::int32_t id = -1;
  };
  std::uint64_t address = 0, bytes = 0;
  bool small = false, expandable = false;
  std::int32_t stream = 0;
  std::vector<Part> parts;
};

/// Told of what changes; for pictures. Addresses are of this model.
class AllocatorWatcher {
 public:
  virtual ~AllocatorWatcher() = default;
  virtual void reserved(std::uint64_t address, std::uint64_t bytes, bool small, bool expandable) = 0;
  virtual void released(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual void taken(std::uint64_t address, std::uint64_t bytes, std::int32_t id) = 0;
  virtual void pending(std::uint64_t address) = 0;   ///< freed, but other streams may still read it
  virtual void returned(std::uint64_t address) = 0;  ///< free
  /// A replayed list has done its next event, and this is what stands now.
  virtual void event_done(const AllocatorFigures&) {}
};

/// PyTorch's CUDA caching allocator (native backend, default pools, one device), without a device: the rules of
/// c10/cuda/CUDACachingAllocator.cpp of v2.6.0, whose lines the functions name. New segments lie above all earlier ones
/// unless `placement` says where cudaMalloc put them; addresses are never reused.
class CachingAllocator {
 public:
  explicit CachingAllocator(const AllocatorConfig& config, std::int32_t ids,
                            std::span<const InitialSegment> initial = {},
                            std::span<const std::uint64_t> placement = {});
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  void watch(AllocatorWatcher* watcher) { watcher_ = watcher; }

  /// False: out of memory, and nothing but counts has changed. Zero bytes do nothing and succeed.
  bool allocate(std::int32_t id, std::uint64_t bytes, std::int32_t stream);
  void free(std::int32_t id);  ///< Does nothing where `id` is not allocated.
  void record_stream(std::int32_t id, std::int32_t stream);
  void stream_done(std::int32_t stream);
  void empty_cache();
  void set(std::span<const AllocatorSetting> settings);

  const AllocatorFigures& figures() const { return figures_; }
  const AllocatorPeaks& peaks() const { return peaks_; }
  std::uint64_t largest_free_bytes() const;  ///< over both pools and all streams
  std::uint64_t snapshot_segments() const;
  /// Bytes that empty_cache would give back: segments that are one free block, whole free pages of expandable ones.
  std::uint64_t emptiable_bytes() const;
  std::uint64_t free_blocks() const { return pools_[0].free.size() + pools_[1].free.size(); }
  /// Where the id's block lies; all ones where it has none.
  std::uint64_t address_of(std::int32_t id) const;
  std::vector<SegmentView> snapshot() const;  ///< by address
  const AllocatorConfig& config() const { return config_; }

 private:
  using Index = std::uint32_t;
  static constexpr Index none = std::numeric_limits<Index>::max();
  struct Block {
    std::uint64_t address = 0, size = 0, requested = 0, age_from = 0;
    Index prev = none, next = none;
    std::int32_t stream = 0, id = -1, events = 0, segment = -1;  ///< segment: of expandable ones; -1: cudaMalloc's
    std::uint8_t pool = 0;
    bool allocated = false, mapped = true, used_elsewhere = false, recorded = false;
  };
  struct Key {
    std::int32_t stream = 0;
    std::uint64_t size = 0, address = 0;
    Index block = none;
    bool operator<(const Key& o) const {
      return stream != o.stream ? stream < o.stream : size != o.size ? size < o.size : address < o.address;
    }
  };
  using Blocks = std::pmr::set<Key>;
  struct Pool {
    explicit Pool(std::pmr::memory_resource* memory) : free(memory), unmapped(memory) {}
    Blocks free;
    Blocks unmapped;  ///< Blocks of expandable segments; `size` is 0 in their keys, so that they go by address.
    std::uint64_t searches = 0;  ///< while the collector is on
  };
  struct Expandable {
    std::uint64_t base = 0, page = 0;
  };
  struct StreamQueue {
    std::int32_t stream = 0;
    std::deque<Index> blocks;
    std::size_t done = 0;
  };
  struct Request {
    std::uint64_t bytes = 0, rounded = 0, segment_bytes = 0;
    std::int32_t stream = 0;
    std::uint8_t pool = 0;
  };

  // allocator.cpp
  Index new_block();
  void splice(Index block, Index before, Index after);
  void insert_free(Index block);
  void erase_free(Index block);
  Index search(const Request& request);
  Index new_segment(const Request& request, bool retry);
  std::uint64_t place(std::uint64_t bytes);
  bool should_split(const Block& block, std::uint64_t rounded) const;
  void hand_out(Index block, const Request& request, std::int32_t id);
  void release_to_pool(Index block);
  std::uint64_t merge(Index into, Index from);
  void raise_peaks();
  void poll();
  void finish_event(Index block);
  void add_initial(std::span<const InitialSegment> initial);
  bool collector_on() const { return config_.fraction < 1 && config_.garbage_collection_threshold > 0; }
  std::uint64_t allowed_bytes() const;
  std::uint64_t max_split() const;
  bool split(const Block& b) const { return b.prev != none || b.next != none; }

  // allocator_release.cpp
  void collect();
  bool release_oversize(const Request& request);
  void flush();
  void release_whole(Pool& pool);
  void release_segment(Index block);

  // allocator_expandable.cpp
  Index take_expandable(const Request& request);
  Index find_room(const Request& request);
  bool map(Index block, std::uint64_t bytes);
  void unmap(Index block);
  bool takable(Index block) const;
  std::uint64_t page_left(const Block& b, std::uint64_t address) const;
  std::uint64_t page_right(const Block& b, std::uint64_t address) const;
  Key unmapped_key(Index block) const { return {blocks_[block].stream, 0, blocks_[block].address, block}; }
  std::uint64_t& reserved_of(std::uint8_t pool) {
    return pool == 0 ? figures_.reserved_small_bytes : figures_.reserved_large_bytes;
  }

  AllocatorConfig config_;
  std::pmr::unsynchronized_pool_resource memory_;
  std::array<Pool, 2> pools_;  ///< small, large
  std::vector<Block> blocks_;
  std::vector<Index> unused_;
  std::vector<Index> by_id_;
  std::vector<std::vector<std::int32_t>> uses_;  ///< by block: streams recorded, where `recorded`
  std::vector<Expandable> expandable_;
  std::vector<StreamQueue> queues_;
  std::vector<std::uint64_t> placement_;
  std::size_t placed_ = 0;
  std::uint64_t next_address_ = 0;
  AllocatorFigures figures_;
  AllocatorPeaks peaks_;
  AllocatorWatcher* watcher_ = nullptr;
};

}  // namespace models::memory
