#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// What is asked of a caching allocator, as a list, and how the allocator is set.
namespace models::memory {

inline constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

/// Options of PYTORCH_CUDA_ALLOC_CONF and the device's memory.
struct AllocatorConfig {
  std::uint64_t capacity_bytes = 80 * gib;  ///< The device's memory, all of it for this process.
  double fraction = 1;                      ///< set_per_process_memory_fraction; 1: not set
  std::uint64_t max_split_size_bytes = 0;   ///< 0: no limit
  std::uint64_t max_non_split_rounding_bytes = 20 * mib;
  double garbage_collection_threshold = 0;  ///< Share of the memory that `fraction` allows; 0: none.
  bool expandable_segments = false;
  std::uint64_t large_segment_bytes = 20 * mib;  ///< page of a large expandable segment
  /// Roundings to a power of two's part, by the request's power of two from [1, 2) MiB to [32, 64) GiB; 0: none.
  std::array<std::uint32_t, 16> roundup_power2_divisions{};
  bool operator==(const AllocatorConfig&) const = default;
};

enum class AllocatorAction : std::uint8_t { allocate, free, record_stream, stream_done, empty_cache, set };

struct AllocatorEvent {
  AllocatorAction action{};
  std::int32_t id = -1;     ///< The allocation, counted from 0 in order of first mention; a `set` event's place.
  std::int32_t stream = 0;  ///< Used by allocate, record_stream and stream_done.
  std::uint32_t owner = 0;  ///< Place in AllocatorList::owners; used by allocate.
  std::uint64_t bytes = 0;  ///< Used by allocate.
};

/// A `set` event: the values that it gives.
struct AllocatorSetting {
  enum class Key : std::uint8_t {
    max_split_size,
    max_non_split_rounding,
    garbage_collection_threshold,
    expandable_segments,
    roundup_power2_divisions
  } key{};
  double value = 0;
};

struct AllocatorList {
  std::vector<AllocatorEvent> events;
  std::int32_t ids = 0;  ///< how many allocations are named
  std::vector<std::vector<AllocatorSetting>> settings;
  std::vector<std::string> owners{"block"};
};

inline constexpr std::size_t max_allocator_events = 200'000;

/// Reads a list: `a<ID> <bytes> [<stream>]` allocate, `f<ID>` free, `r<ID> <stream>` record_stream, `s<stream>` all
/// work queued there is done, `e` empty_cache, `set key=value,...`, with `;` or line ends between them. Fails with one
/// sentence that names the event, counted from 1. An id that is allocated again must have been freed.
Result<AllocatorList> parse_allocator_events(std::string_view text);

/// Applies one setting; returns a sentence where PyTorch would refuse it.
Status apply_setting(const AllocatorSetting& setting, AllocatorConfig& config);

/// The bytes that a request is rounded to. Below 512 B it is 512; else up to a multiple of 512, or, with d divisions
/// and more than 512 d bytes, to the next d-th part of the power of two below.
std::uint64_t round_request(std::uint64_t bytes, const AllocatorConfig& config);

}  // namespace models::memory
