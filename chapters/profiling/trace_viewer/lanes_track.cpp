#include "chapters/profiling/trace_viewer/lanes_track.h"

#include <algorithm>

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::Event, models::trace::EventClass, models::trace::EventKind, models::trace::Part, widgets::Meaning,
    widgets::TimelineMark, widgets::Tint;
using Says = NameLook::Says;

Tint tint_of(EventClass cls, Part part, Says says) {
  switch (cls) {
    case EventClass::communication:
      return Meaning::communication;
    case EventClass::memory:
      return Tint::series(0);
    case EventClass::computation:
      return part == Part::optimizer  ? Meaning::optimizer
             : part == Part::backward ? Meaning::backward
                                      : Meaning::forward;
    case EventClass::device_other:
      return Meaning::idle;
    default:
      break;
  }
  switch (says) {
    case Says::waiting:
      return Meaning::launch_bound;
    case Says::loading:
      return Meaning::data_loading;
    case Says::optimizer:
      return Meaning::optimizer;
    default:
      return {};
  }
}

constexpr std::size_t block = 64;
constexpr int time_bits = 40;  // 18 minutes between a block's ends; 24 bits for a queue of eight million
constexpr std::int64_t max_time = (std::int64_t{1} << time_bits) - 1,
                       max_value = (std::int64_t{1} << (63 - time_bits)) - 1;

}  // namespace

std::vector<NameLook> name_looks(const models::trace::Trace& trace, const std::vector<bool>& wanted) {
  std::vector<NameLook> out(trace.strings.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string_view s = trace.strings[i];
    const auto has = [&](std::string_view part) { return s.find(part) != std::string_view::npos; };
    if (models::trace::waits_for_device(s))
      out[i].says = Says::waiting;
    else if (has("DataLoader"))
      out[i].says = Says::loading;
    else if (s.starts_with("Optimizer."))
      out[i].says = Says::optimizer;
    out[i].wanted = !wanted.empty() && wanted[i];
  }
  return out;
}

widgets::TimelineSpan TrackSpans::span(std::size_t i) const {
  const Event& e = events[i];
  const NameLook look = looks[e.name];
  widgets::TimelineSpan s;
  s.start_ns = e.start_ns + shift_ns;
  s.duration_ns = e.duration_ns;
  s.name = first_name + e.name;
  s.depth = e.depth;
  s.tint = tint_of(e.cls, parts.empty() ? Part::forward : parts[i], look.says);
  if (e.kind == EventKind::instant)
    s.mark = TimelineMark::dot;
  else if (searching)
    s.mark = look.wanted ? TimelineMark::solid : TimelineMark::pale;
  else if (quiet && s.tint == Tint{} && e.cls != EventClass::runtime)
    s.mark = TimelineMark::pale;
  return s;
}

widgets::TimelineSpans TrackSpans::view() const {
  return {this, count,
          [](const void* context, std::size_t i) { return static_cast<const TrackSpans*>(context)->span(i); }};
}

void PackedCounter::pack(const std::vector<models::trace::QueueSample>& samples, std::int64_t shift_ns) {
  bases_ns_.reserve((samples.size() + block - 1) / block);
  points_.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i % block == 0) bases_ns_.push_back(samples[i].time_ns + shift_ns);
    const std::int64_t since = samples[i].time_ns + shift_ns - bases_ns_.back(), value = samples[i].length;
    if (since > max_time || value > max_value || value < -max_value) {
      bases_ns_ = {}, points_ = {};
      plain_.reserve(samples.size());
      for (const auto& s : samples) plain_.push_back({s.time_ns + shift_ns, static_cast<double>(s.length)});
      return;
    }
    points_.push_back(static_cast<std::uint64_t>(since) | static_cast<std::uint64_t>(value) << time_bits);
  }
}

widgets::TimelinePoint PackedCounter::point(std::size_t i) const {
  const std::int64_t since = static_cast<std::int64_t>(points_[i]) & max_time;
  return {bases_ns_[i / block] + since, static_cast<double>(static_cast<std::int64_t>(points_[i]) >> time_bits)};
}

widgets::TimelinePoints PackedCounter::view() const {
  if (!plain_.empty()) return plain_;
  return {this, points_.size(),
          [](const void* context, std::size_t i) { return static_cast<const PackedCounter*>(context)->point(i); }};
}

}  // namespace chapters::profiling::trace_viewer
