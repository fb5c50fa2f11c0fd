#include "models/trace/builder/builder.h"

#include <algorithm>
#include <charconv>

namespace models::trace {
namespace {

std::int64_t number_or_hash(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return static_cast<std::int64_t>(std::hash<std::string_view>{}(text) | (1ULL << 63));
}

/// The number in a text that may have words before it ("stream 7"), or -1.
std::int64_t number_in(std::string_view text) {
  if (const auto space = text.find_last_of(' '); space != std::string_view::npos && space + 1 < text.size())
    text.remove_prefix(space + 1);
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + 32 : x) == y; });
}

/// A row of a category that says nothing else is work of a device when it stands on a stream of one: an integer other
/// than -1. Device runtimes name their categories as they like: mtia_ccp_events, xpu_kernel, privateuse1_kernel.
bool stands_on_stream(const Record& r) {
  std::int64_t stream = -1;
  const auto [end, error] = std::from_chars(r.stream.data(), r.stream.data() + r.stream.size(), stream);
  return !r.stream.empty() && error == std::errc() && end == r.stream.data() + r.stream.size() && stream != -1;
}

}  // namespace

EventClass class_of_category(std::string_view category) {
  const auto is = [&](std::string_view name) { return same_letters(category, name); };
  if (is("kernel") || category.ends_with("_kernel")) return EventClass::computation;
  if (is("gpu_memcpy") || is("gpu_memset") || is("memcpy") || is("memset") || category.ends_with("_memcpy") ||
      category.ends_with("_memset"))
    return EventClass::memory;
  if (is("cuda_sync") || is("cuda_event")) return EventClass::device_other;
  if (is("cpu_op") || is("operator")) return EventClass::cpu_operation;
  if (is("python_function")) return EventClass::python;
  if (is("user_annotation") || is("gpu_user_annotation") || is("nvtx")) return EventClass::annotation;
  if (is("runtime") || category.ends_with("_runtime") || category.ends_with("_driver")) return EventClass::runtime;
  return EventClass::other;
}

EventClass Builder::class_by_name(std::uint32_t name) {
  if (work_class_.size() <= name) work_class_.resize(trace_.strings.size(), EventClass::other);
  if (work_class_[name] == EventClass::other) work_class_[name] = class_of_work(trace_.strings[name]);
  return work_class_[name];
}

EventClass Builder::class_of(const Record& r, std::uint16_t category, std::uint32_t name) {
  while (category_class_.size() <= category)
    category_class_.push_back(class_of_category(trace_.categories[category_class_.size()]));
  const EventClass cls = category_class_[category];
  // A kernel that copies is one by its category.
  if (cls == EventClass::computation)
    return class_by_name(name) == EventClass::communication ? EventClass::communication : cls;
  if (cls != EventClass::other) return cls;
  if (r.has_category) {
    const std::string_view written = trace_.categories[category];
    const bool of_host = written == "overhead" || written == "Trace" || written == "cpu_instant_event";
    return !of_host && stands_on_stream(r) ? class_by_name(name) : cls;
  }
  // XLA's profiler gives its calls no category, but joins them with what they launch.
  const std::string_view call = trace_.strings[name];
  return r.correlation >= 0 && (call.starts_with("cu") || call.starts_with("hip")) ? EventClass::runtime : cls;
}

TrackKind Builder::track_kind(EventClass cls, std::uint16_t category) const {
  if (on_device(cls) || cls == EventClass::device_other) return TrackKind::stream;
  if (cls == EventClass::python) return TrackKind::python;
  const std::string_view name = trace_.categories[category];
  if (name == "gpu_user_annotation") return TrackKind::device_annotation;
  if (name == "overhead") return TrackKind::overhead;
  if (name == "Trace") return TrackKind::annotation;
  return TrackKind::thread;
}

std::uint32_t Builder::category_of(std::string_view text) {
  if (text.size() > 16) return category_(text);
  const std::string_view head = text.substr(0, 8), tail = text.substr(head.size());
  return recent_category_({packed(head), packed(tail), text.size()}, [&] { return category_(text); });
}

std::uint32_t Builder::flow_row(const Record& r) {
  const auto by_text = [&] {
    key_.assign(r.pid);
    key_ += '\n';
    key_ += r.tid;
    return flow_row_(key_);
  };
  if (std::max(r.pid.size(), r.tid.size()) > 8) return by_text();
  return recent_flow_row_({packed(r.pid), packed(r.tid), r.pid.size() << 8 | r.tid.size()}, by_text);
}

std::uint32_t Builder::track(TrackKind kind, const Record& r) {
  const std::size_t longest = std::max({r.pid.size(), r.tid.size(), r.device.size(), r.stream.size()});
  if (longest > 8) return new_or_known_track(kind, r);
  const std::uint64_t sizes = r.pid.size() << 24 | r.tid.size() << 16 | r.device.size() << 8 | r.stream.size();
  return recent_track_(
      {packed(r.pid), packed(r.tid), packed(r.device), packed(r.stream), sizes << 8 | static_cast<std::uint64_t>(kind)},
      [&] { return new_or_known_track(kind, r); });
}

std::uint32_t Builder::new_or_known_track(TrackKind kind, const Record& r) {
  key_.assign(1, static_cast<char>(kind));
  const bool device = kind == TrackKind::stream || kind == TrackKind::device_annotation;
  for (const std::string_view part :
       {r.pid, r.tid, device ? r.device : std::string_view(), device ? r.stream : std::string_view()}) {
    key_ += part;
    key_ += '\n';
  }
  const std::uint32_t id = track_key_(key_);
  if (id < trace_.tracks.size()) return id;
  Track t;
  t.kind = kind;
  t.pid = r.pid;
  t.tid = r.tid;
  if (device) {
    t.device = static_cast<int>(std::clamp<std::int64_t>(number_in(r.device.empty() ? r.pid : r.device), -1, 1 << 30));
    t.stream = number_in(r.stream.empty() ? r.tid : r.stream);
  }
  trace_.tracks.push_back(std::move(t));
  return id;
}

void Builder::expect(double times) {
  const auto room_for = [&](auto& items) {
    items.reserve(static_cast<std::size_t>(times * static_cast<double>(items.size())));
  };
  room_for(trace_.events);
  room_for(correlations_);
  room_for(trace_.flows);
}

void Builder::keep(Event e, std::int64_t duration_ns, std::int64_t correlation) {
  if (duration_ns < 0 || duration_ns > max_duration_ns) {
    ++bad_durations_;
    return;
  }
  e.duration_ns = duration_ns & ((std::int64_t{1} << 51) - 1);  // all of it: a week is 50 bits
  e.correlated = correlation >= 0;
  any_at_zero_ = any_at_zero_ || e.start_ns == 0;
  trace_.events.push_back(e);
  correlations_.push_back(correlation);
}

void Builder::add(const Record& r) {
  ++trace_.records;
  if (r.phase > 0) ++trace_.phase_counts[static_cast<std::size_t>(r.phase)];
  std::uint32_t category = category_of(r.category);
  if (category > 0xFFFE) category = 0;  // a file with more categories than that is not one a person made
  if (trace_.category_counts.size() <= category) trace_.category_counts.resize(category + 1);
  if (r.has_category)
    ++trace_.category_counts[category];
  else
    ++trace_.uncategorised;
  if (r.phase == 'M' || r.phase == 'C') return;
  if (r.phase == 0 && r.name.empty() && !r.has_time) return;  // XLA's profiler ends its list with {}
  const bool span = r.phase == 'X';
  if (!span && (r.phase == 0 || std::string_view("BEbeniIRstf").find(r.phase) == std::string_view::npos)) {
    ++unknown_phases_;
    return;
  }
  if (!r.has_time) {
    ++without_time_;
    return;
  }
  if (span && r.bad_duration) {
    ++without_duration_;
    return;
  }
  Event e;
  e.start_ns = r.time_ns;
  e.category = static_cast<std::uint16_t>(category);
  if (r.phase == 's' || r.phase == 't' || r.phase == 'f') {
    trace_.flows.push_back({r.time_ns, number_or_hash(r.id), flow_row(r), e.category, r.phase});
    return;
  }
  e.name = string_(r.name);
  e.cls = class_of(r, e.category, e.name);
  if (r.args_offset < std::uint64_t{1} << 40 && r.args_bytes < 1u << 24) {
    e.args_offset = r.args_offset & ((std::uint64_t{1} << 40) - 1);
    e.args_bytes = r.args_bytes & ((1u << 24) - 1);
  } else {
    ++far_arguments_;
  }
  if (span) {
    if (any_span_ && r.time_ns < last_start_ns_) ++trace_.out_of_order;
    any_span_ = true;
    last_start_ns_ = r.time_ns;
    e.track = track(track_kind(e.cls, e.category), r);
    keep(e, r.duration_ns, r.correlation);
  } else if (r.phase == 'B' || r.phase == 'E') {
    e.track = track(track_kind(e.cls, e.category), r);
    edges_.push_back({r.time_ns, 0, r.correlation, e, r.phase == 'B'});
  } else if (r.phase == 'b' || r.phase == 'e') {
    e.kind = EventKind::async;
    e.track = track(TrackKind::async, r);
    edges_.push_back({r.time_ns, number_or_hash(r.id), r.correlation, e, r.phase == 'b'});
  } else {
    e.kind = EventKind::instant;
    if (on_device(e.cls)) e.cls = EventClass::other;
    e.track = track(r.phase == 'n' ? TrackKind::async : track_kind(e.cls, e.category), r);
    keep(e, 0, r.correlation);
  }
}

std::uint16_t Builder::category_number(std::string_view category) {
  const std::uint32_t number = std::min<std::uint32_t>(category_(category), 0xFFFE);
  if (trace_.category_counts.size() <= number) trace_.category_counts.resize(number + 1);
  return static_cast<std::uint16_t>(number);
}

void Builder::add_span(const Event& event, std::int64_t duration_ns, std::int64_t correlation) {
  ++trace_.records;
  ++trace_.phase_counts['X'];
  ++trace_.category_counts[event.category];
  keep(event, duration_ns, correlation);
}

void Builder::add_counter(const Record& r, std::string_view key, double value) {
  key_.assign(r.pid);
  key_ += '\n';
  key_ += r.name;
  key_ += '\n';
  key_ += key;
  const auto [found, is_new] = counter_ids_.try_emplace(key_, static_cast<std::uint32_t>(trace_.counters.size()));
  if (is_new)
    trace_.counters.push_back({std::string(r.name) + (key.empty() || key == "value" ? "" : ": " + std::string(key)),
                               "",
                               std::string(r.pid),
                               {}});
  trace_.counters[found->second].samples.push_back({r.time_ns, value});
}

}  // namespace models::trace
