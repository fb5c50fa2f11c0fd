#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/trace/measure/metrics.h"
#include "models/trace/trace.h"

/// What of a recording lies in a part of its time, and where to find things in it.
namespace models::trace {

/// One device between two times. Everything is clipped to them: a kernel that crosses an end counts with what is
/// inside.
struct WindowMetrics {
  std::int64_t window_ns = 0, events = 0;
  std::int64_t busy_ns = 0, idle_ns = 0;  ///< they add up to the window
  std::int64_t comp_ns = 0, comm_ns = 0, mem_ns = 0, comp_and_comm_ns = 0, exposed_comm_ns = 0;
  /// Memory work while nothing computes or communicates: busy less the union of the other two.
  std::int64_t exposed_mem_ns = 0;
  /// By the rule of metrics.h; the time after the last event belongs to the event that ends it, wherever that
  /// starts.
  Idle idle;
  double overlap_pct_of_comm() const;  ///< 0 without communication
};
WindowMetrics measure_window(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns);

/// Work on one device in order of start, streams merged.
std::vector<std::uint32_t> device_events(const Trace& trace, int device);
/// First start and last end of the device's work; both 0 when there is none.
struct Extent {
  std::int64_t first_ns = 0, last_ns = 0;
};
Extent device_extent(const Trace& trace, int device);

/// Share of each of `bins` equal parts of the time from `from_ns` to `to_ns` in which the device works, 0 to 1.
std::vector<double> busy_profile(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns,
                                 std::size_t bins);

struct QueueSample {
  std::int64_t time_ns = 0;
  std::int64_t length = 0;  ///< launched and not yet started
};
/// The whole device's queue, the sum of its streams': a sample wherever a launching call or its work starts, by time.
std::vector<QueueSample> device_queue(const Trace& trace, int device);

/// Which strings of the recording contain `text`, letters of either case alike. Empty when `text` is.
std::vector<bool> matching_strings(const Trace& trace, std::string_view text);

/// What a kernel belongs to: where its launching call lies says it.
enum class Part : std::uint8_t { forward, backward, optimizer };
/// Part of each event that runs on a device (forward for all others). Backward: launched inside a span of autograd's
/// engine on the same thread, which older PyTorch shared with the forward pass; optimizer: launched inside an
/// "Optimizer.step" annotation.
std::vector<Part> parts_of(const Trace& trace);
/// Time between two times in which a device computes for the optimizer.
std::int64_t optimizer_busy_ns(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns);

/// A step of a rank beside the same step of the others.
struct RankStep {
  std::uint32_t row = 0, step = 0;
  double step_s = 0, busy_s = 0, comp_s = 0, comm_s = 0, exposed_comm_s = 0, idle_s = 0;
};
/// A row's mean computation a step beside the median of the other rows. That may explain why a rank is late, and is not
/// lateness itself: who is late is what waits_of (ranks.h) says. row is -1 with fewer than two rows.
struct Slowest {
  int row = -1;
  double excess = 0, mean_comp_s = 0, median_comp_s = 0;  ///< mean / median of the others - 1, and both
};
Slowest compare_rank(const std::vector<RankStep>& steps, int row);
/// The row that computes longest.
Slowest slowest_rank(const std::vector<RankStep>& steps);

}  // namespace models::trace
