#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/trace/trace.h"

/// What diagnose_job reads of a recording: its compute stream, its collectives, and what its host did when.
namespace models::trace {

/// What the host is doing, by the innermost span that says so.
enum class HostWork : std::uint8_t {
  silent,     ///< nothing is recorded
  launching,  ///< operations that launch
  computing,  ///< operations that launch nothing
  loading,    ///< waiting for a batch
  compiling,
  syncing,      ///< standing still until the device is done
  paging_copy,  ///< standing still until pageable memory has been copied to the device
  saving,       ///< copying much to the host
  other
};

struct HostSegment {
  std::int64_t start_ns = 0, end_ns = 0;
  HostWork work{};
  std::uint32_t event = none;
};

struct StepOfRow {
  std::int64_t start_ns = 0, end_ns = 0;
};

struct DetectRow {
  const Trace* trace = nullptr;
  std::uint32_t compute = none;                ///< track with most computation
  std::vector<std::uint32_t> work;             ///< events of that track on the device, by start
  std::vector<std::uint32_t> collectives;      ///< those of all tracks, by start
  std::vector<std::uint32_t> copies;           ///< memory work on other tracks, by start
  std::vector<std::vector<HostSegment>> host;  ///< by track; empty where nothing is launched
  std::vector<StepOfRow> steps;                ///< one over all where none is marked
  std::int64_t first_ns = 0, last_ns = 0;      ///< when the work begins and ends
};

/// Copies of less than this are single values, not weights.
inline constexpr std::int64_t large_copy_ns = 200'000;

DetectRow detect_row(const Trace& trace);

}  // namespace models::trace
