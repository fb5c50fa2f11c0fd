#include "models/memory/recorded_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"
#include "models/memory/snapshot_json.h"

namespace models::memory {
namespace {

using nlohmann::json;
using Outcome = Result<RecordedCurve>;

constexpr int deepest = 64;

bool is_pickle(std::string_view text) {
  return text.size() > 2 && text[0] == '\x80' && static_cast<unsigned char>(text[1]) <= 5;
}

double number(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : 0;
}

/// Fills what follows from the points. Times must be ascending.
Outcome finish(RecordedCurve curve, std::string_view origin) {
  if (curve.points.empty())
    return Outcome::fail(std::string(origin) + ": The recording has no allocation; record at least one step.");
  const double begin = curve.points.front().time_s;
  double last = 0;
  for (RecordedPoint& p : curve.points) {
    p.time_s = std::max(last, p.time_s - begin);
    last = p.time_s;
    if (p.bytes > curve.peak_bytes) {
      curve.peak_bytes = p.bytes;
      curve.peak_s = p.time_s;
    }
  }
  curve.first_bytes = curve.points.front().bytes;
  curve.last_bytes = curve.points.back().bytes;
  curve.span_s = last;
  return Outcome::ok(std::move(curve));
}

Outcome read_snapshot(const json& snapshot, std::string_view origin) {
  RecordedCurve curve;
  curve.kind = "PyTorch snapshot";
  const auto traces = snapshot.find("device_traces");
  if (traces == snapshot.end() || !traces->is_array())
    return Outcome::fail(std::string(origin) +
                         ": The snapshot has no \"device_traces\"; call "
                         "torch.cuda.memory._record_memory_history() before the steps.");
  const json* most = nullptr;
  std::int64_t device = 0;
  for (std::size_t i = 0; i < traces->size(); ++i)
    if ((*traces)[i].is_array() && (!most || (*traces)[i].size() > most->size())) {
      most = &(*traces)[i];
      device = static_cast<std::int64_t>(i);
    }
  if (!most) return finish(std::move(curve), origin);
  double held = 0, net = 0;
  std::int64_t row = 0;
  for (const json& event : *most) {
    ++row;
    if (!event.is_object()) continue;
    if (number(event, "size") < 0)
      return Outcome::fail(std::string(origin) + ": Event " + std::to_string(row) +
                           " has a negative size, which no allocation has; record the snapshot again.");
    const std::string action = event.value("action", std::string());
    if (action == "alloc") net += number(event, "size");
    if (action == "free_completed") net -= number(event, "size");
  }
  if (const auto segments = snapshot.find("segments"); segments != snapshot.end() && segments->is_array())
    for (const json& segment : *segments)
      if (segment.is_object() && static_cast<std::int64_t>(number(segment, "device")) == device) {
        if (number(segment, "allocated_size") < 0)
          return Outcome::fail(std::string(origin) +
                               ": A segment has a negative allocated_size; record the snapshot again.");
        held += number(segment, "allocated_size");
      }
  double now = std::max(0.0, held - net);
  for (const json& event : *most) {
    if (!event.is_object()) continue;
    const std::string action = event.value("action", std::string());
    if (action != "alloc" && action != "free_completed") continue;
    if (curve.points.empty()) curve.points.push_back({number(event, "time_us") * 1e-6, now});
    now = std::max(0.0, now + (action == "alloc" ? 1 : -1) * number(event, "size"));
    curve.points.push_back({number(event, "time_us") * 1e-6, now});
    ++curve.events;
  }
  return finish(std::move(curve), origin);
}

Outcome read_timeline(const json& rows, std::string_view origin) {
  RecordedCurve curve;
  curve.kind = "memory timeline";
  double now = 0, first = -1;
  for (const json& row : rows) {
    if (!row.is_array() || row.size() < 3 || !row[0].is_number() || !row[2].is_number())
      return Outcome::fail(std::string(origin) + ": Row " + std::to_string(curve.events + 1) +
                           " is not [nanoseconds, action, bytes, category]; write the timeline with "
                           "export_memory_timeline(\"timeline.raw.json.gz\").");
    const double time_ns = row[0].get<double>();
    now = std::max(0.0, now + row[2].get<double>());
    ++curve.events;
    if (time_ns < 0) continue;
    if (first < 0) first = time_ns;
    const double time_s = (time_ns - first) * 1e-9;
    if (!curve.points.empty() && curve.points.back().time_s == time_s)
      curve.points.back().bytes = now;  // a tensor that changes its category leaves and comes at one time
    else
      curve.points.push_back({time_s, now});
  }
  return finish(std::move(curve), origin);
}

Outcome read_trace_curve(std::string text, std::string_view origin, const trace::Progress& progress) {
  auto recording = trace::read_trace(std::move(text), origin, progress);
  if (!recording) return Outcome::fail(recording.error);
  RecordedCurve curve;
  curve.kind = "trace";
  const trace::Counter* most = nullptr;
  for (const trace::Counter& c : recording->counters)
    if (c.name.starts_with("Allocated on") && (!most || c.samples.size() > most->samples.size())) most = &c;
  if (!most)
    return Outcome::fail(std::string(origin) +
                         ": The trace has no [memory] events; profile with "
                         "profile_memory=True.");
  for (const trace::Sample& s : most->samples) curve.points.push_back({static_cast<double>(s.time_ns) * 1e-9, s.value});
  curve.events = static_cast<std::int64_t>(most->samples.size());
  curve.note = most->name + ".";
  return finish(std::move(curve), origin);
}

}  // namespace

Result<RecordedCurve> read_memory_curve(const trace::Bytes& bytes, std::string_view origin,
                                        const trace::Progress& progress) {
  auto text = whole_recording_text(bytes);
  if (!text) return Outcome::fail(std::string(origin) + ": " + text.error);
  if (is_pickle(*text))
    return Outcome::fail(std::string(origin) +
                         ": This is a pickle, which would run code when it is read. In Python: "
                         "json.dump(torch.cuda.memory._snapshot(), open(\"snapshot.json\", \"w\")).");
  const std::string_view head = std::string_view(*text).substr(0, std::min<std::size_t>(text->size(), 4096));
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const bool rows = first != std::string_view::npos && head[first] == '[' &&
                    head.find_first_not_of(" \t\r\n", first + 1) != std::string_view::npos &&
                    head[head.find_first_not_of(" \t\r\n", first + 1)] == '[';
  const bool snapshot = text->find("\"device_traces\"") != std::string::npos;
  const bool object = first != std::string_view::npos && head[first] == '{';
  if (object && !snapshot && text->find("\"traceEvents\"") == std::string::npos)
    return Outcome::fail(
        std::string(origin) +
        ": This is no recording, or its end is missing: a snapshot of PyTorch has \"device_traces\" and "
        "\"segments\", a trace has \"traceEvents\"; write it again.");
  if (!rows && !snapshot) return read_trace_curve(std::move(*text), origin, progress);
  if (snapshot && !rows) {
    const auto read = parse_snapshot_json(*text, std::numeric_limits<std::size_t>::max());
    return read ? read_snapshot(*read, origin) : Outcome::fail(std::string(origin) + ": " + read.error);
  }
  if (json_nesting(*text) > deepest)
    return Outcome::fail(std::string(origin) + ": The JSON is nested deeper than a recording is; write it again.");
  const json parsed = parse_json(*text);
  if (!parsed.is_array())
    return Outcome::fail(std::string(origin) + ": The JSON ends early or is damaged; write it again.");
  return read_timeline(parsed, origin);
}

}  // namespace models::memory
