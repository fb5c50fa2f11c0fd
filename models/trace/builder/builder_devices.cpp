#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "models/trace/builder/builder.h"

// Recorders that name their devices' rows rather than mark them: TensorFlow's timelines ("/device:GPU:0/stream:18
// Compute") and what XLA's profiler writes for TensorFlow and JAX (process "/device:TPU:0", thread "XLA Ops").

namespace models::trace {
namespace {

enum class Row : std::uint8_t {
  stream,      // work of one numbered stream
  operations,  // the work of all streams once more, or all that is known of it where there are none
  left_out     // what encloses the work or stands for it: modules, steps, scopes, tensors
};

struct DeviceRow {
  int device = 0;
  Row row = Row::left_out;
  std::int64_t stream = -1;
};

std::optional<std::int64_t> leading_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > 1 << 30) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// What the names of a process and a thread say about a row; nothing where the process is no device.
std::optional<DeviceRow> device_row(std::string_view process, std::string_view thread) {
  if (!take_prefix(process, "/device:GPU:") && !take_prefix(process, "/device:TPU:")) return std::nullopt;
  const auto device = leading_number(process);
  if (!device) return std::nullopt;
  DeviceRow out{.device = static_cast<int>(*device)};
  if (process.ends_with(" Tensors")) return out;
  if (take_prefix(process, "/stream:") || take_prefix(thread, "Stream #") || take_prefix(thread, "stream #")) {
    std::string_view number = process.empty() || process.front() < '0' || process.front() > '9' ? thread : process;
    if (process.starts_with("all")) {
      out.row = Row::operations;
    } else if (const auto stream = leading_number(number)) {
      out.row = Row::stream;
      out.stream = *stream;
    }
  } else if (process.starts_with("/memcpy") || thread.starts_with("XLA Ops")) {
    out.row = Row::operations;
  }
  return out;
}

}  // namespace

void Builder::recognise_devices() {
  std::map<std::uint32_t, DeviceRow> found;  // by track
  std::map<int, bool> has_streams;           // by device
  for (std::uint32_t t = 0; t < trace_.tracks.size(); ++t) {
    const Track& track = trace_.tracks[t];
    if (track.kind == TrackKind::stream) has_streams[track.device] = true;
    if (track.kind != TrackKind::thread) continue;
    const auto process = process_names_.find(track.pid);
    if (process == process_names_.end()) continue;
    const auto thread = thread_names_.find(track.pid + '\n' + track.tid);
    const auto row = device_row(process->second, thread == thread_names_.end() ? std::string_view() : thread->second);
    if (!row) continue;
    found.emplace(t, *row);
    has_streams[row->device] = has_streams[row->device] || row->row == Row::stream;
  }
  if (found.empty()) return;
  std::map<std::pair<int, std::int64_t>, std::uint32_t> first;  // track of a device's stream, which may have several
  std::vector<std::uint32_t> becomes(trace_.tracks.size());
  for (std::uint32_t t = 0; t < becomes.size(); ++t) becomes[t] = t;
  for (const auto& [t, row] : found) {
    const bool works = row.row == Row::stream || (row.row == Row::operations && !has_streams[row.device]);
    Track& track = trace_.tracks[t];
    track.kind = works ? TrackKind::stream : TrackKind::device_annotation;
    track.device = row.device;
    track.stream = row.stream;
    if (row.row == Row::stream) becomes[t] = first.try_emplace({row.device, row.stream}, t).first->second;
  }
  for (Event& e : trace_.events) {
    const Track& track = trace_.tracks[e.track];
    e.track = becomes[e.track];
    if (track.kind == TrackKind::device_annotation) {
      if (found.contains(e.track)) e.cls = EventClass::annotation;
    } else if (track.kind == TrackKind::stream && e.kind == EventKind::span && !on_device(e.cls) &&
               e.cls != EventClass::device_other) {
      e.cls = class_of_work(trace_.strings[e.name]);
    }
  }
}

}  // namespace models::trace
