#pragma once
#include <cstdint>

#include "models/trace/trace.h"

/// What a recording points at, as facts; who shows them puts them into words.
namespace models::trace {

/// What a finding is about. `part` of `whole` are the Diagnosis members; times are in nanoseconds.
enum class DiagnosisKind : std::uint8_t {
  no_device,              ///< No track of a device was recognised among `part` processes with `whole` spans.
  starts_late,            ///< DeviceMetrics::head takes `part` of its `whole`; the event is the first task.
  idle,                   ///< The device has no work for part of its time; the event ends the longest gap.
  sync_drains_queue,      ///< Waits for the host that begin inside a synchronising call take part of all of them.
  data_loader_late,       ///< The first call of DeviceMetrics::host_wait is a data loader; it takes part of the waits.
  host_busy,              ///< The first call of DeviceMetrics::host_wait takes part of the waits.
  host_blocked,           ///< The same, and that call does nothing but wait.
  host_unrecorded,        ///< The same, but nothing was recorded then, or only the span around the whole recording.
  host_slow,              ///< The same, but no call stands out.
  launch_slow,            ///< Gaps of the cause host_wait pass inside their launching calls (SlowLaunches has which).
  started_late,           ///< Such gaps go on after the launching call has returned; the event is what began late.
  launched_in_time,       ///< Long gaps before tasks launched before the gaps began; the event ends the longest.
  exposed_communication,  ///< Communication that nothing hides takes part of the device's time.
  copies,                 ///< Copies and memory sets take part of the busy time.
  launches_set_pace,      ///< Gaps no longer than launching explains take part of all that wait for the host.
  queue_full,             ///< The host runs `part` launches ahead of the stream, and launching is slow there.
  one_kernel_leads,       ///< The kernel with the longest total takes part of the time of all kernels.
  launches_none,          ///< None of `whole` tasks has a launching call, and the file has no such calls.
  launches_missing,       ///< So many tasks of the device have no launching call in the file.
  kernels_missing,        ///< So many launching calls have no work on a device in the file.
  durations_doubtful      ///< So many tasks of the stream begin before the one before them ends.
};

/// A finding, with the event it is about (or `none`) and the time it covers. What it says in detail stands in the
/// metrics of its device and stream.
struct Diagnosis {
  DiagnosisKind kind{};
  std::uint32_t device = none;  ///< index into Metrics::devices
  std::uint32_t stream = none;  ///< index into DeviceMetrics::streams
  std::uint32_t event = none;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t part = 0, whole = 0;  ///< times in ns or counts, by kind
  /// Kinds that blame the host: how many of the first calls in DeviceMetrics::host_wait stand out, 0 to 2.
  int calls_that_stand_out = 0;
};

}  // namespace models::trace
