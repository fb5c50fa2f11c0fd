#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/trace/measure/diagnosis.h"
#include "models/trace/trace.h"

/// What a recording says about the devices: integer nanoseconds, every event. Busy is the union of computation,
/// communication and memory work; waits on the device and annotations are not work.
namespace models::trace {

/// Gaps before work whose launching call was recorded, in three parts that add up: before that call began, inside it,
/// and after it had returned.
struct LaunchSplit {
  std::int64_t gaps = 0, before_ns = 0, inside_ns = 0, after_ns = 0;
  std::int64_t total_ns() const { return before_ns + inside_ns + after_ns; }
};

/// A gap before work that was launched in time is a wait between kernels where it is shorter; a longer one has a cause
/// of its own (HolisticTraceAnalysis draws the line there).
inline constexpr std::int64_t kernel_wait_below_ns = 30'000;

/// Time without work, by cause. A gap runs from the latest end so far to the next start. host_wait: the launching call
/// came after the gap began; kernel_wait: it did not, and the gap is shorter than `kernel_wait_below_ns`; other: the
/// rest.
struct Idle {
  std::int64_t host_wait_ns = 0, kernel_wait_ns = 0, other_ns = 0;
  std::int64_t gaps = 0;
  LaunchSplit late;     ///< The gaps of the cause host_wait: they add up to host_wait_ns.
  LaunchSplit in_time;  ///< The gaps whose call began before them: before_ns is 0.
  /// Gaps before work without a launching call in the file, and the short ones of them: nobody knows their cause.
  std::int64_t unknown_ns = 0, unknown_short_ns = 0;
  std::int64_t total_ns() const { return host_wait_ns + kernel_wait_ns + other_ns; }
};

struct Gap {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t next = none;                  ///< the event that ended it
  std::int64_t before_ns = 0, inside_ns = 0;  ///< as LaunchSplit has them; the rest is after the call
  enum class Cause : std::uint8_t { host_wait, kernel_wait, other } cause = Cause::other;
  std::int64_t after_ns() const { return end_ns - start_ns - before_ns - inside_ns; }
};
/// The gap from `start_ns` to the event `next`, which starts later, with its cause and its parts.
Gap gap_before(const Trace& trace, std::int64_t start_ns, std::uint32_t next, std::int64_t end_ns);
/// Counts a gap.
void add_gap(Idle& idle, const Trace& trace, const Gap& gap);

struct KernelTime {
  std::uint32_t name = 0;        ///< index into Trace::strings
  std::uint32_t longest = none;  ///< the event of its longest run
  std::int64_t count = 0, total_ns = 0, min_ns = 0, max_ns = 0;
};

struct StreamMetrics {
  std::int64_t stream = -1;
  std::uint32_t track = 0;
  std::int64_t events = 0, linked = 0, busy_ns = 0;
  Idle idle;
  std::int64_t queue_max = 0, queue_min = 0;  ///< launched and not yet started; device_queue has it over time
  /// Launching calls that found at least `deep_queue` others waiting, and the median time of a call with fewer and with
  /// so many; -1 where there is none.
  std::int64_t deep_calls = 0, shallow_call_ns = -1, deep_call_ns = -1;
  std::int64_t overlaps =
      0;  ///< work that starts before the work before it ends: a stream cannot do that, a faulty duration can
};

/// Delay from the end of a launching call to the start of its work on the device, 0 when the work starts earlier.
struct LaunchMetrics {
  std::int64_t linked = 0, unlinked = 0;
  std::int64_t shorter_than_launch =
      0;  ///< work that took less than the call that launched it, the call at most 50 us or more
  std::int64_t calls_over_50_us = 0, delays_over_100_us = 0;
  std::int64_t before_launch_ends = 0, before_launch_starts = 0;
  std::int64_t median_delay_ns = 0, max_delay_ns = 0;
  // Of all devices: calls that launch a kernel, copy or set; those whose work is not in the file; and those that a
  // stream capture recorded into a graph, which run nothing and are none of the others.
  std::int64_t calls = 0, calls_without_work = 0, calls_captured = 0;
};
/// So many launches deep a queue may be full: CUDA has room for 1024.
inline constexpr std::int64_t deep_queue = 1000;

/// How fast the host launches, beside how fast the device works; medians, 0 where nothing was measured.
struct LaunchPace {
  std::int64_t call_ns = 0;      ///< inside a launching call
  std::int64_t interval_ns = 0;  ///< from the start of a launching call to that of the next on its thread
  std::int64_t task_ns = 0;      ///< a task on the device
  std::int64_t gap_ns = 0;       ///< a gap of the cause host_wait
  std::int64_t ordinary_ns = 0;  ///< sum of such gaps of at most four intervals: the pace of launching explains these
};
/// What the parts of the gaps inside of launching calls and after them point at, over the gaps of the cause host_wait.
struct SlowLaunches {
  std::int64_t long_calls = 0, long_ns = 0;  ///< calls of at least 1 ms and 100 medians, and the gaps' time inside them
  std::uint32_t call = none;                 ///< with the longest part of a gap inside
  std::int64_t call_ns = 0;                  ///< that part
  std::int64_t late_ns = 0;                  ///< parts after the call of more than 100 us: more than its latency
  Gap started_late{};                        ///< the gap with the longest part after its call had returned
  std::uint32_t meanwhile = none;            ///< what the launching thread was in for most of that part; none: nothing
};

/// What passes before the device's first task: from the start of the first step, or of the first span of the host where
/// no step is marked. All 0 where the device works from the start.
struct Head {
  std::int64_t start_ns = 0, ns = 0;
  std::int64_t whole_ns =
      0;  ///< the first step's time if the first task lies in it, else that of the recording from there on
  bool of_step = false;        ///< whole_ns is that of a step
  std::uint32_t first = none;  ///< the first task
  /// The innermost span of the host that covers nine tenths of it, else half of it; none: no such.
  std::uint32_t meanwhile = none;
  std::int64_t meanwhile_ns = 0;  ///< what of the head lies in that span
};

/// Time that the host spent in calls of one name while the device waited for it to launch.
struct HostTime {
  std::uint32_t name = none;     ///< index into Trace::strings; none: nothing was recorded then
  std::uint32_t longest = none;  ///< the event of the longest piece
  std::int64_t ns = 0, pieces = 0, longest_ns = 0;
  std::int64_t start_ns = 0, end_ns = 0;  ///< The longest piece lies between them.
};
/// What the host did from the beginning of each gap until the call that ended it. Innermost spans count, of the
/// launching thread if it has any then, else of the other threads of its process; a step's own annotation says nothing.
struct HostWait {
  std::int64_t gaps = 0;
  std::int64_t total_ns = 0;  ///< those gaps together, each up to its launching call
  std::int64_t after_sync_ns = 0,
               after_sync = 0;  ///< gaps that began inside a synchronising call: it had let the queue run dry
  std::uint32_t sync = none;    ///< the synchronising call before the longest of them
  std::vector<HostTime> what;   ///< longest first
};

struct DeviceMetrics {
  int device = -1;
  std::int64_t events = 0, computations = 0, communications = 0, memories = 0;
  std::int64_t span_ns = 0;  ///< last end less first start
  std::int64_t busy_ns = 0, idle_ns = 0, busy_kernels_only_ns = 0;
  std::int64_t comp_ns = 0, comm_ns = 0, mem_ns = 0;  ///< union of each class
  std::int64_t comp_and_comm_ns = 0;                  ///< both at once
  std::int64_t exposed_comm_ns = 0;                   ///< communication while nothing computes
  double overlap_pct_of_comm = -1;                    ///< comp_and_comm / comm; -1 without communication
  std::int64_t busy_intervals = 0;
  Idle idle;
  std::vector<Gap> longest_gaps;       ///< at most 20, longest first
  std::vector<StreamMetrics> streams;  ///< by stream number
  std::vector<KernelTime> kernels;     ///< by total time, computation and communication
  HostWait host_wait;                  ///< what the host did meanwhile, over all gaps of the cause host_wait
  LaunchPace pace;
  SlowLaunches slow;
  Head head;
  LaunchMetrics launch;
};

/// One training or inference step (ProfilerStep#N), from its start to the start of the next; the last to its own end.
struct Step {
  std::string name;
  std::int64_t start_ns = 0, end_ns = 0;
};
struct StepDevice {
  std::uint32_t step = 0;
  int device = -1;
  std::int64_t busy_ns = 0, idle_ns = 0, comp_ns = 0, comm_ns = 0, mem_ns = 0,
               exposed_comm_ns = 0;  ///< inside the step's time
};

/// The tracks of the host, to be looked up once for all devices.
struct HostThreads {
  using Tracks = std::unordered_map<std::string, std::vector<std::uint32_t>>;
  Tracks of_process;  ///< by pid: its threads and their Python functions, by first start
  Tracks of_thread;   ///< by pid, a line feed, tid: the thread and its Python functions
  explicit HostThreads(const Trace& trace);
};

struct Metrics {
  std::vector<DeviceMetrics> devices;  ///< by device number
  LaunchMetrics launch;                ///< all devices
  std::vector<Step> steps;
  std::vector<StepDevice> step_devices;
  std::vector<Diagnosis> diagnosis;  ///< the worst first
};
Metrics measure(const Trace& trace);
/// Fills DeviceMetrics::host_wait from the gaps of a device, by time (host.cpp); measure() calls it.
HostWait watch_host(const Trace& trace, const HostThreads& host, const std::vector<Gap>& gaps);
/// Fill DeviceMetrics::pace and ::slow from the device's work and gaps, both by time (launches.cpp); measure() calls
/// them.
LaunchPace pace_of(const Trace& trace, const std::vector<std::uint32_t>& work, const std::vector<Gap>& gaps);
SlowLaunches slow_launches(const Trace& trace, const std::vector<Gap>& gaps, const LaunchPace& pace);
/// Fills DeviceMetrics::head from the device's work, by time (launches.cpp); measure() calls it.
Head head_of(const Trace& trace, const HostThreads& host, const std::vector<Step>& steps,
             const std::vector<std::uint32_t>& work);
/// Counts the calls of all devices into `launch` (launches.cpp); measure() calls it.
void count_calls(const Trace& trace, LaunchMetrics& launch);
/// Does a call of this name return only when the device is done? cudaStreamSynchronize, aten::item and their kin.
bool waits_for_device(std::string_view name);
/// Does the host stand still inside a call of this name, as in block_until_ready and in threads' wait?
bool blocks_host(std::string_view name);
/// Fills Metrics::diagnosis from the rest; measure() calls it.
void diagnose(const Trace& trace, Metrics& metrics);

/// Facts about the recording itself, per row of (pid, tid) as written.
struct Shape {
  std::int64_t spans = 0, zero_duration = 0, rows = 0, deepest = 0, partial_overlaps = 0;
  std::int64_t flow_ids = 0, flow_both_ends = 0, flow_end_only = 0;
};
Shape shape(const Trace& trace);

/// The recording as Chrome JSON that read_trace opens to the same metrics. Holds the whole text while it writes. Fails
/// in one sentence when the file with the arguments is not there any more.
Result<std::string> to_chrome_json(const Trace& trace);

}  // namespace models::trace
