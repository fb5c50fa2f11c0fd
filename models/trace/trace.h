#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/trace/text/bytes.h"

/// A profiler's recording: PyTorch/Kineto, TensorFlow, JAX and other Chrome-trace JSON and rocprofv3's JSON (plain or
/// gz), Nsight Systems SQLite. Times are integer nanoseconds.
namespace models::trace {

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

enum class EventKind : std::uint8_t { span, instant, async };
/// What the event is. computation, communication and memory run on a device and are what the metrics count as busy;
/// device_other (a wait on the device) and annotation do not.
enum class EventClass : std::uint8_t {
  other,
  cpu_operation,
  python,
  runtime,
  annotation,
  computation,
  communication,
  memory,
  device_other
};
inline bool on_device(EventClass c) {
  return c == EventClass::computation || c == EventClass::communication || c == EventClass::memory;
}

/// A week: nothing that a person records lasts longer, and clocks that jump make durations of centuries.
inline constexpr std::int64_t max_duration_ns = 7LL * 24 * 3600 * 1'000'000'000;

/// One recorded span or instant. 40 bytes: ten million are held in memory; names and categories are indices into Trace,
/// and arguments stay in the file.
struct Event {
  std::int64_t start_ns = 0;          ///< the recorder's clock; add Trace::base_ns for the time since 1970
  std::int64_t duration_ns : 52 = 0;  ///< 0 for an instant, at most `max_duration_ns`
  EventKind kind : 3 = EventKind::span;
  bool correlated : 1 =
      false;  ///< has a number that joins a launch with what it started, whether or not the other is there
  EventClass cls : 8 = EventClass::other;
  std::uint64_t args_offset : 40 = 0;  ///< where the argument object starts in the text
  std::uint64_t args_bytes : 24 = 0;   ///< 0: no arguments
  std::uint32_t name = 0;              ///< index into Trace::strings
  std::uint32_t track = 0;             ///< index into Trace::tracks
  /// Work on a device has the event of its launching call here, a launching call the first work that it started, and
  /// every other event `none`.
  std::uint32_t link = none;
  std::uint16_t category = 0;  ///< index into Trace::categories
  std::uint16_t depth = 0;  ///< row in its track: nesting of CPU spans; overlapping spans share no row but the 4,096th

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(Event) == 40);

enum class TrackKind : std::uint8_t { thread, python, annotation, stream, device_annotation, overhead, async };

/// A row group: events of one kind, process and thread (or device and stream). pid alone is no key: a container's
/// process 1 and GPU 1 share it.
struct Track {
  TrackKind kind = TrackKind::thread;
  std::string pid, tid;  ///< as written in the file
  int device = -1;       ///< -1: not a device
  std::int64_t stream = -1;
  std::string process_name, name;  ///< from the file's metadata; may be empty
  /// Where the file wants the process among the others, and the row in its process; 0 where it does not say.
  std::int64_t process_sort_index = 0, sort_index = 0;
  std::uint32_t first = 0;  ///< its events are events[first] to events[first + count - 1], by start, longer first
  std::uint32_t count = 0;
  std::uint16_t depths = 0;  ///< rows that its events need
};

struct Sample {
  std::int64_t time_ns = 0;
  double value = 0;
};
/// A quantity over time: a counter of the file (C events, one a key), or allocated bytes from [memory] records.
struct Counter {
  std::string name;  ///< "Allocated on CUDA 0"; "name: key"
  std::string unit;  ///< "B" or ""
  std::string pid;
  std::vector<Sample> samples;  ///< by time
};

/// One end of an arrow that the file draws itself. Most files miss ends; links by correlation are complete.
struct Flow {
  std::int64_t time_ns = 0;
  std::int64_t id = 0;         ///< a number, or a hash of a text
  std::uint32_t track = none;  ///< a track of the same pid and tid; none when it has no events
  std::uint16_t category = 0;
  char phase = 's';  ///< 's', 't' or 'f'
};

/// Running figures of [memory] records of one device type and device id.
struct MemoryRecord {
  int device_type = 0;  ///< 0 CPU, 1 CUDA
  int device_id = -1;
  std::int64_t records = 0, allocations = 0, frees = 0;
  std::int64_t sum_bytes = 0, max_bytes = 0, min_bytes = 0;        ///< The running sum starts at 0.
  std::int64_t max_allocated_bytes = -1, max_reserved_bytes = -1;  ///< as the allocator said; -1: it did not
};

struct Trace {
  std::string origin;  ///< what the caller named the input
  std::string format;  ///< "Chrome JSON", "Chrome JSON, gz", "rocprofv3 JSON", "Nsight Systems SQLite", ...
  std::shared_ptr<const Text>
      text;  ///< the JSON, which stays where it lies: arguments are read from it on demand. Null for SQLite
  std::vector<Event> events;  ///< by track, then start, then longer first
  std::vector<Track> tracks;
  std::vector<std::string> strings, categories;
  std::vector<std::int64_t> category_counts;     ///< events of every kind in the file, by category
  std::array<std::int64_t, 128> phase_counts{};  ///< by the letter of ph
  std::int64_t uncategorised = 0;                ///< events in the file without a category
  std::vector<Counter> counters;
  std::vector<Flow> flows;  ///< by time
  std::vector<MemoryRecord> memory;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< top-level keys with their JSON, short ones only
  std::vector<std::string> device_names;
  int rank = -1, world_size = -1;  ///< -1: the file does not say
  std::string backend;             ///< name of the communication library, as the file says
  std::int64_t base_ns = 0;
  std::int64_t records = 0;                ///< events in the file, metadata and flows included
  std::int64_t out_of_order = 0;           ///< spans that start before the span above them in the file
  std::int64_t first_ns = 0, last_ns = 0;  ///< first start and last end of the spans
  std::vector<std::string> losses;         ///< sentences: what of the file could not be read, or is to be doubted

  std::string_view name(const Event& e) const { return strings[e.name]; }
  std::string_view category(const Event& e) const { return categories[e.category]; }
  /// The argument object as written, e.g. {"stream": 7}, read from the recording; empty when there is none. Fails when
  /// it cannot be read any more.
  Result<std::string> args(const Event& e) const;
};

/// The tracks in the order in which they are shown: those of devices, by device and stream; then the others as the file
/// sorts them, and by the numbers in their names and ids where it does not.
std::vector<std::uint32_t> display_order(const Trace& trace);

/// Reports how far reading is, and asks whether to stop. Both may be empty; both are called on the thread that reads.
struct Progress {
  std::function<void(double fraction)> report;
  std::function<bool()> cancelled;
};

/// Reads a recording: JSON object or array of Chrome's format, JSON of rocprofv3, gz of these, SQLite, gz of SQLite.
/// What is whole is kept; Trace::losses says what is not. JSON passes by in a window and stays where it lies, so a
/// recording may be larger than memory; SQLite is held while it is read. Fails in one sentence when there is nothing to
/// show, and when cancelled ("FILE: Reading was stopped.").
Result<Trace> read_trace(Bytes bytes, std::string_view origin, const Progress& progress = {});
Result<Trace> read_trace(std::string bytes, std::string_view origin, const Progress& progress = {});

struct Argument {
  std::string
      text;  ///< a text with its escapes resolved; otherwise JSON as written: 7, [1, 2], or inf as some profilers write
  bool is_json = false;  ///< a number, list, object, true, false or null that JSON allows; a text otherwise
};
/// All arguments in the order of the file. Empty when there are none, or they are damaged.
std::vector<std::pair<std::string, Argument>> arguments(const Trace& trace, const Event& event);
/// The same of an argument object as written in a file.
std::vector<std::pair<std::string, Argument>> arguments(std::string_view written);
/// The text of one argument, empty when the event has none of this name.
std::string argument(const Trace& trace, const Event& event, std::string_view key);

}  // namespace models::trace
