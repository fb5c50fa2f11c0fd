#include "chapters/profiling/trace_lanes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/trace_window.h"
#include "widgets/number.h"

namespace chapters::profiling::viewer {
namespace {

using models::trace::Event;
using models::trace::EventClass;
using models::trace::EventKind;
using models::trace::Part;
using models::trace::Trace;
using models::trace::Track;
using models::trace::TrackKind;
using widgets::Meaning;
using widgets::TimelineMark;
using widgets::Tint;

constexpr std::size_t most_found = 1'000'000;
constexpr std::size_t most_links = 4'000'000;
constexpr std::uint32_t extra_name = 0x8000'0000u;  ///< ids from here on are in extra_names_

bool is_stream(const Track& t) { return t.kind == TrackKind::stream || t.kind == TrackKind::device_annotation; }

/// What a name says by itself, found once a string and not once an event.
std::vector<Says> what_names_say(const Trace& trace) {
  std::vector<Says> out(trace.strings.size(), Says::nothing);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string_view s = trace.strings[i];
    const auto has = [&](std::string_view part) { return s.find(part) != std::string_view::npos; };
    if (models::trace::waits_for_device(s)) out[i] = Says::waiting;
    else if (has("DataLoader")) out[i] = Says::loading;
    else if (s.starts_with("Optimizer.")) out[i] = Says::optimizer;
  }
  return out;
}

Tint tint_of(const Event& e, Part part, Says says) {
  switch (e.cls) {
    case EventClass::communication: return Meaning::communication;
    case EventClass::memory: return Tint::series(6);
    case EventClass::computation: return part == Part::optimizer ? Meaning::optimizer : part == Part::backward ? Meaning::backward : Meaning::forward;
    case EventClass::device_other: return Meaning::idle;
    default: break;
  }
  switch (says) {
    case Says::waiting: return Meaning::launch_bound;
    case Says::loading: return Meaning::data_loading;
    case Says::optimizer: return Meaning::optimizer;
    default: return {};
  }
}

std::string label_of(const Track& t) {
  if (t.kind == TrackKind::stream) return t.stream >= 0 ? "stream " + std::to_string(t.stream) : "no stream";
  if (!t.name.empty()) return t.name;
  return is_stream(t) ? "device " + t.tid : "thread " + t.tid;
}

std::string sublabel_of(const Trace& trace, const Track& t) {
  if (t.kind == TrackKind::python) return "Python";
  if (t.kind == TrackKind::annotation || t.kind == TrackKind::device_annotation) return "annotations";
  if (t.kind == TrackKind::async) return "asynchronous";
  if (t.kind != TrackKind::stream) return (t.process_name.empty() ? "process " : t.process_name + " ") + t.pid;
  std::int64_t work[3]{};
  for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
    const Event& e = trace.events[i];
    if (on_device(e.cls)) work[e.cls == EventClass::communication ? 1 : e.cls == EventClass::memory ? 2 : 0] += e.duration_ns;
  }
  if (work[0] + work[1] + work[2] == 0) return "waits";
  constexpr std::string_view names[] = {"compute", "communication", "copies"};
  return std::string(names[std::max_element(std::begin(work), std::end(work)) - std::begin(work)]);
}

/// The tracks of a source in the order in which they are shown.
std::vector<std::uint32_t> tracks_to_show(const LaneSource& source) {
  const Trace& trace = source.recording->trace;
  std::vector<std::int64_t> launches(trace.tracks.size(), 0);
  std::vector<std::uint32_t> streams, threads;
  for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.count == 0 || !is_stream(track) || (source.device >= 0 && track.device != source.device)) continue;
    if (track.kind == TrackKind::stream) streams.push_back(t);
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i)
      if (trace.events[i].link != models::trace::none) ++launches[trace.events[trace.events[i].link].track];
  }
  std::sort(streams.begin(), streams.end(), [&](auto a, auto b) { return trace.tracks[a].stream < trace.tracks[b].stream; });
  if (!source.threads) return streams;
  // Processes that launch nothing here belong to other devices; where nothing is linked at all, every process is shown.
  const auto launching = [&](const std::string& pid) {
    for (std::size_t t = 0; t < trace.tracks.size(); ++t)
      if (launches[t] > 0 && trace.tracks[t].pid == pid) return true;
    return false;
  };
  const bool any = std::any_of(launches.begin(), launches.end(), [](auto n) { return n > 0; });
  std::size_t rows = 0;
  for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.count == 0 || is_stream(track) || track.kind == TrackKind::overhead) continue;
    if (any && source.device >= 0 && !launching(track.pid)) continue;
    threads.push_back(t);
    rows += track.depths;
  }
  // Annotations, then threads that launch, by when they begin: the main thread before autograd's; then the others.
  const auto rank = [&](std::uint32_t t) { return trace.tracks[t].kind == TrackKind::annotation ? 0 : trace.tracks[t].kind == TrackKind::thread ? (launches[t] > 0 ? 1 : 2) : 3; };
  const auto begins = [&](std::uint32_t t) { return trace.events[trace.tracks[t].first].start_ns; };
  std::stable_sort(threads.begin(), threads.end(), [&](auto a, auto b) { return rank(a) != rank(b) ? rank(a) < rank(b) : begins(a) < begins(b); });
  // Cause above effect; but deep stacks would push the device out of sight.
  constexpr std::size_t most_rows_above = 9;
  const bool device_first = source.streams_first || rows > most_rows_above;
  auto& first = device_first ? streams : threads;
  auto& second = device_first ? threads : streams;
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

std::string_view Lanes::name(std::uint32_t id) const {
  if (id >= extra_name) return extra_names_[id - extra_name];
  const auto after = std::upper_bound(first_name_.begin(), first_name_.end(), id);
  const auto source = static_cast<std::size_t>(after - first_name_.begin()) - 1;
  return sources_[source].recording->trace.strings[id - first_name_[source]];
}

std::int64_t Lanes::time_ns(std::size_t source, double seconds) const {
  const double ns = std::clamp(seconds * 1e9, -9e18, 9e18);
  return static_cast<std::int64_t>(std::llround(ns)) + data_.origin_ns - sources_[source].shift_ns;
}

widgets::TimelineSelection Lanes::span_of(std::size_t source, std::uint32_t event) const {
  const Trace& trace = sources_[source].recording->trace;
  if (event >= trace.events.size()) return {};
  const std::uint32_t track = trace.events[event].track;
  const std::int32_t lane = lane_of_track_[source][track];
  if (lane < 0) return {};
  return {lane, static_cast<std::int64_t>(event - trace.tracks[track].first)};
}

void Lanes::add_track(std::size_t source, std::uint32_t index, const std::vector<Part>& parts, const std::vector<Says>& says, const std::vector<bool>& wanted) {
  const Trace& trace = sources_[source].recording->trace;
  const Track& track = trace.tracks[index];
  lane_of_track_[source][index] = static_cast<std::int32_t>(lanes_.size());
  Lane lane;
  lane.source = source;
  lane.track = index;
  lane.label = label_of(track);
  lane.sublabel = sources_[source].label.empty() ? sublabel_of(trace, track) : sources_[source].label + ", " + sublabel_of(trace, track);
  const bool quiet = track.kind == TrackKind::annotation || track.kind == TrackKind::python || track.kind == TrackKind::thread;
  lane.spans.reserve(track.count);
  for (std::uint32_t i = 0; i < track.count; ++i) {
    const Event& e = trace.events[track.first + i];
    const Tint tint = tint_of(e, parts[track.first + i], says[e.name]);
    TimelineMark mark = e.kind == EventKind::instant ? TimelineMark::dot : quiet && tint == Tint{} && e.cls != EventClass::runtime ? TimelineMark::pale : TimelineMark::solid;
    if (!wanted.empty()) {
      const bool match = wanted[e.name];
      if (mark != TimelineMark::dot) mark = match ? TimelineMark::solid : TimelineMark::pale;
      if (match) {
        ++matches_;
        matches_ns_ += e.duration_ns;
        if (found_.size() < most_found) found_.push_back({static_cast<std::uint32_t>(lanes_.size()), i, e.start_ns + sources_[source].shift_ns});
      }
    }
    lane.spans.push_back({e.start_ns + sources_[source].shift_ns, e.duration_ns, first_name_[source] + e.name, e.depth, tint, mark});
  }
  lanes_.push_back(std::move(lane));
}

void Lanes::add_gaps(std::size_t source) {
  const LaneSource& s = sources_[source];
  Lane lane;
  lane.source = source;
  lane.label = "device idle";
  lane.sublabel = s.label.empty() ? "longest gaps" : s.label + ", longest gaps";
  constexpr std::string_view causes[] = {"host wait", "kernel wait", "other"};
  for (const auto& d : s.recording->metrics.devices) {
    if (s.device >= 0 && d.device != s.device) continue;
    for (const auto& gap : d.longest_gaps) {
      lane.spans.push_back({gap.start_ns + s.shift_ns, gap.end_ns - gap.start_ns, extra_name + static_cast<std::uint32_t>(extra_names_.size()), 0, Meaning::idle, TimelineMark::hatched});
      extra_names_.push_back(std::string(widgets::format(static_cast<double>(gap.end_ns - gap.start_ns) * 1e-9, "s").view()) + " " + std::string(causes[static_cast<std::size_t>(gap.cause)]));
    }
  }
  if (lane.spans.empty()) return;
  widgets::stack_depths(lane.spans);
  lanes_.push_back(std::move(lane));
}

void Lanes::add_counters(std::size_t source) {
  const LaneSource& s = sources_[source];
  const auto points_of = [&](const auto& samples, const auto& value) {
    std::vector<widgets::TimelinePoint> out;
    out.reserve(samples.size());
    for (const auto& x : samples) out.push_back({x.time_ns + s.shift_ns, value(x)});
    return out;
  };
  const auto add = [&](std::string label, std::string sublabel, std::vector<widgets::TimelinePoint> points, std::string_view unit, Tint tint) {
    if (points.empty()) return;
    Lane lane;
    lane.source = source;
    lane.label = std::move(label);
    lane.sublabel = s.label.empty() ? std::move(sublabel) : s.label + ", " + sublabel;
    lane.points.push_back(std::move(points));
    lane.counters.push_back({.label = {}, .unit = unit, .points = {}, .tint = tint, .steps = true, .area = true});
    lanes_.push_back(std::move(lane));
  };
  for (const auto& d : s.recording->metrics.devices)
    if (s.device < 0 || d.device == s.device)
      add("queue", "launched, not started", points_of(models::trace::device_queue(d), [](const auto& q) { return static_cast<double>(q.length); }), "", Tint::series(2));
  constexpr std::size_t most_counters = 16;
  std::size_t shown = 0;
  for (const auto& c : s.recording->trace.counters)
    if (shown++ < most_counters) add(c.unit == "B" ? "memory" : "counter", c.name, points_of(c.samples, [](const auto& x) { return x.value; }), c.unit, c.unit == "B" ? Tint(Meaning::optimizer) : Tint::series(5));
}

void Lanes::add_links(std::size_t source) {
  const Trace& trace = sources_[source].recording->trace;
  for (std::size_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    const std::int32_t to = lane_of_track_[source][t];
    if (to < 0 || !is_stream(track)) continue;
    for (std::uint32_t i = 0; i < track.count; ++i) {
      const std::uint32_t call = trace.events[track.first + i].link;
      if (call == models::trace::none || links_.size() >= most_links) continue;
      const auto from = span_of(source, call);
      if (from.lane >= 0) links_.push_back({static_cast<std::uint32_t>(from.lane), static_cast<std::uint32_t>(from.span), static_cast<std::uint32_t>(to), i});
    }
  }
}

void Lanes::add_source(std::size_t source, std::string_view matching) {
  const LaneSource& s = sources_[source];
  const Trace& trace = s.recording->trace;
  const std::vector<Part> parts = models::trace::parts_of(trace);
  const std::vector<Says> says = what_names_say(trace);
  const std::vector<bool> wanted = models::trace::matching_strings(trace, matching);
  lane_of_track_[source].assign(trace.tracks.size(), -1);
  for (const std::uint32_t t : tracks_to_show(s)) add_track(source, t, parts, says, wanted);
  if (s.threads) add_gaps(source);
  if (s.counters) add_counters(source);
}

std::shared_ptr<const Lanes> Lanes::make(std::vector<LaneSource> sources, std::string_view matching, bool arrows) {
  auto out = std::make_shared<Lanes>();
  out->sources_ = std::move(sources);
  std::uint32_t names = 0;
  for (const LaneSource& s : out->sources_) {
    out->first_name_.push_back(names);
    names += static_cast<std::uint32_t>(s.recording->trace.strings.size());
  }
  out->lane_of_track_.resize(out->sources_.size());
  for (std::size_t i = 0; i < out->sources_.size(); ++i) out->add_source(i, matching);
  out->gather_streams();
  if (arrows)
    for (std::size_t i = 0; i < out->sources_.size(); ++i) out->add_links(i);
  std::sort(out->found_.begin(), out->found_.end(), [](const Found& a, const Found& b) { return a.start_ns < b.start_ns; });
  std::int64_t first = INT64_MAX;
  for (Lane& lane : out->lanes_) {
    for (std::size_t c = 0; c < lane.counters.size(); ++c) lane.counters[c].points = lane.points[c];
    for (const auto& span : lane.spans) first = std::min(first, span.start_ns);
    out->shown_.push_back({.label = lane.label, .sublabel = lane.sublabel, .spans = lane.spans, .counters = lane.counters});
  }
  const auto name = [](const void* context, std::uint32_t id) { return static_cast<const Lanes*>(context)->name(id); };
  const auto info = [](const void* context, std::uint32_t lane, std::uint32_t span) -> std::string_view {
    const auto* self = static_cast<const Lanes*>(context);
    const Lane& l = self->lanes_[lane];
    if (l.track == models::trace::none) return {};
    const Trace& trace = self->sources_[l.source].recording->trace;
    constexpr std::size_t most_shown = 600;
    return trace.args(trace.events[trace.tracks[l.track].first + span]).substr(0, most_shown);
  };
  out->data_ = {.lanes = out->shown_, .links = out->links_, .name = name, .info = info, .context = out.get(), .origin_ns = first == INT64_MAX ? 0 : first};
  out->index_ = widgets::index_timeline(out->data_);
  return out;
}

}  // namespace chapters::profiling::viewer
