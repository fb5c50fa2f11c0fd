#include "chapters/profiling/trace_viewer/lanes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "chapters/profiling/trace_viewer/lanes_order.h"
#include "models/trace/measure/window.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::Event, models::trace::EventClass, models::trace::Part, models::trace::Trace, models::trace::Track,
    models::trace::TrackKind, widgets::Meaning, widgets::TimelineMark, widgets::Tint;

constexpr std::size_t max_found = 1'000'000;
constexpr std::uint32_t extra_name = 0x8000'0000u;  ///< ids from here on are in extra_names_

std::string label_of(const Track& t) {
  if (t.kind == TrackKind::stream && t.stream < 0 && t.name.starts_with("XLA")) return t.name;  // a TPU has no streams
  if (t.kind == TrackKind::stream) return t.stream >= 0 ? "stream " + std::to_string(t.stream) : "no stream";
  if (!t.name.empty()) return t.name;
  return is_stream(t) ? "device " + t.tid : "thread " + t.tid;
}

std::string sublabel_of(const Trace& trace, const Track& t) {
  if (t.kind == TrackKind::python) return "Python";
  if (t.kind == TrackKind::annotation || t.kind == TrackKind::device_annotation) return "annotations";
  if (t.kind == TrackKind::async) return "asynchronous";
  if (t.kind != TrackKind::stream) return (t.process_name.empty() ? "process " : t.process_name + " ") + t.pid;
  constexpr std::string_view names[] = {"compute", "communication", "copies", "waits"};
  return std::string(names[static_cast<std::size_t>(work_of(trace, t))]);
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

void Lanes::add_track(std::size_t source, std::uint32_t index, const std::vector<Part>& parts, bool searching) {
  const Trace& trace = sources_[source].recording->trace;
  const Track& track = trace.tracks[index];
  lane_of_track_[source][index] = static_cast<std::int32_t>(lanes_.size());
  Lane lane;
  lane.source = source;
  lane.track = index;
  if (is_stream(track)) lane.work = work_of(trace, track);
  lane.label = label_of(track);
  lane.sublabel = sources_[source].label.empty() ? sublabel_of(trace, track)
                                                 : sources_[source].label + ", " + sublabel_of(trace, track);
  lane.events = {
      .events = trace.events.data() + track.first,
      .count = track.count,
      .parts = {},
      .looks = looks_[source].data(),
      .shift_ns = sources_[source].shift_ns,
      .first_name = first_name_[source],
  };
  lane.events.quiet =
      track.kind == TrackKind::annotation || track.kind == TrackKind::python || track.kind == TrackKind::thread;
  lane.events.searching = searching;
  const auto first = parts.begin() + track.first, last = first + track.count;
  if (std::any_of(first, last, [](Part p) { return p != Part::forward; })) lane.events.parts.assign(first, last);
  lanes_.push_back(std::move(lane));
  if (searching) find(static_cast<std::uint32_t>(lanes_.size() - 1));
}

void Lanes::tell_apart(std::size_t source) {
  const Trace& trace = sources_[source].recording->trace;
  const auto is_thread = [&](const Lane& l) {
    return l.source == source && l.track != models::trace::none && trace.tracks[l.track].kind == TrackKind::thread;
  };
  std::map<std::string, std::set<std::string>> processes;  // by label
  for (const Lane& l : lanes_)
    if (is_thread(l)) processes[l.label].insert(trace.tracks[l.track].process_name);
  for (Lane& l : lanes_) {
    if (!is_thread(l) || processes[l.label].size() < 2) continue;
    const std::string& process = trace.tracks[l.track].process_name;
    if (process.empty()) continue;
    const std::string thread = l.label;
    l.label = process;
    l.sublabel = sources_[source].label.empty() ? thread : sources_[source].label + ", " + thread;
  }
}

void Lanes::find(std::uint32_t lane) {
  const TrackSpans& track = lanes_[lane].events;
  for (std::uint32_t i = 0; i < track.count; ++i) {
    const Event& e = track.events[i];
    if (!track.looks[e.name].wanted) continue;
    ++matches_;
    matches_ns_ += e.duration_ns;
    if (found_.size() < max_found) found_.push_back({lane, i});
  }
}

void Lanes::sort_found() {
  std::vector<std::pair<std::int64_t, Found>> by_start;
  by_start.reserve(found_.size());
  for (const Found& f : found_) by_start.emplace_back(lanes_[f.lane].events.span(f.span).start_ns, f);
  std::stable_sort(by_start.begin(), by_start.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(by_start.begin(), by_start.end(), found_.begin(), [](const auto& x) { return x.second; });
  found_.shrink_to_fit();
}

std::vector<std::uint32_t> Lanes::add_gaps(std::size_t source) {
  const LaneSource& s = sources_[source];
  Lane lane;
  lane.source = source;
  lane.label = "device idle";
  lane.sublabel = s.label.empty() ? "longest gaps" : s.label + ", longest gaps";
  // Of a wait for the host: the part of it that is longest.
  const auto said = [](const models::trace::Gap& g) -> std::string_view {
    if (g.cause == models::trace::Gap::Cause::kernel_wait) return "kernel wait";
    if (g.cause == models::trace::Gap::Cause::other) return "other";
    if (g.before_ns >= g.inside_ns && g.before_ns >= g.after_ns()) return "host wait";
    return g.inside_ns >= g.after_ns() ? "in the launch" : "launched, not begun";
  };
  std::vector<std::uint32_t> causes;  // the event that launched what ended each gap
  for (const auto& d : s.recording->metrics.devices) {
    if (s.device >= 0 && d.device != s.device) continue;
    for (const auto& gap : d.longest_gaps) {
      lane.gaps.push_back({gap.start_ns + s.shift_ns, gap.end_ns - gap.start_ns,
                           extra_name + static_cast<std::uint32_t>(extra_names_.size()), 0, Meaning::idle,
                           TimelineMark::hatched});
      extra_names_.push_back(
          std::string(widgets::format(static_cast<double>(gap.end_ns - gap.start_ns) * 1e-9, "s").view()) + " " +
          std::string(said(gap)));
      const auto& events = s.recording->trace.events;
      const bool host = gap.cause == models::trace::Gap::Cause::host_wait && gap.next < events.size();
      causes.push_back(host ? events[gap.next].link : models::trace::none);
    }
  }
  if (lane.gaps.empty()) return {};
  const std::uint32_t first = lane.gaps.front().name;
  widgets::stack_depths(lane.gaps);
  std::vector<std::uint32_t> by_gap;
  for (const widgets::TimelineSpan& gap : lane.gaps) by_gap.push_back(causes[gap.name - first]);
  lanes_.push_back(std::move(lane));
  return by_gap;
}

void Lanes::link_gaps(std::size_t source, std::uint32_t lane, const std::vector<std::uint32_t>& causes) {
  for (std::uint32_t i = 0; i < causes.size(); ++i) {
    const widgets::TimelineSelection from = span_of(source, causes[i]);
    if (causes[i] == models::trace::none || from.lane < 0) continue;
    causes_.push_back({static_cast<std::uint32_t>(from.lane), static_cast<std::uint32_t>(from.span), lane, i});
  }
}

void Lanes::add_counters(std::size_t source) {
  const LaneSource& s = sources_[source];
  const auto add = [&](std::string label, std::string sublabel, std::string_view unit, Tint tint) -> Lane& {
    Lane& lane = lanes_.emplace_back();
    lane.source = source;
    lane.label = std::move(label);
    lane.sublabel = s.label.empty() ? std::move(sublabel) : s.label + ", " + sublabel;
    lane.shift_ns = s.shift_ns;
    lane.counters.push_back({
        .label = {},
        .unit = unit,
        .points = {},
        .tint = tint,
        .steps = true,
        .area = true,
    });
    return lane;
  };
  for (const auto& d : s.recording->metrics.devices) {
    if (s.device >= 0 && d.device != s.device) continue;
    const auto queue = models::trace::device_queue(s.recording->trace, d.device);
    if (!queue.empty()) add("queue", "launched, not started", "", Tint::series(2)).queue.pack(queue, s.shift_ns);
  }
  constexpr std::size_t max_counters = 16;
  std::size_t shown = 0;
  for (const auto& c : s.recording->trace.counters)
    if (shown++ < max_counters && !c.samples.empty())
      add(c.unit == "B" ? "memory" : "counter", c.name, c.unit,
          c.unit == "B" ? Tint(Meaning::optimizer) : Tint::series(5))
          .recorded = &c;
}

/// Number i is the i-th span of the streams' lanes. One that nothing shown has launched gives a link that names no
/// span.
widgets::TimelineLink Lanes::link(std::size_t i) const {
  const auto after = std::upper_bound(links_.begin(), links_.end(), i,
                                      [](std::size_t number, const Links& l) { return number < l.first; });
  const Links& of = *std::prev(after);
  const Lane& lane = lanes_[of.lane];
  const auto span = static_cast<std::uint32_t>(i - of.first);
  const auto from = span_of(lane.source, lane.events.events[span].link);
  return {from.lane < 0 ? models::trace::none : static_cast<std::uint32_t>(from.lane),
          static_cast<std::uint32_t>(std::max<std::int64_t>(0, from.span)), of.lane, span};
}

std::string Lanes::arguments_of(widgets::TimelineSelection span) const {
  constexpr std::size_t max_shown = 600;
  const Lane& lane = lanes_[static_cast<std::size_t>(span.lane)];
  if (lane.track == models::trace::none) return {};
  const models::trace::Event& event = lane.events.events[static_cast<std::size_t>(span.span)];
  const auto args = sources_[lane.source].recording->trace.args(event);
  return args ? args->substr(0, max_shown) : args.error;
}

void Lanes::add_source(std::size_t source, std::string_view matching) {
  const LaneSource& s = sources_[source];
  const Trace& trace = s.recording->trace;
  const std::vector<Part> parts = models::trace::parts_of(trace);
  const std::vector<bool> wanted = models::trace::matching_strings(trace, matching);
  looks_[source] = name_looks(trace, wanted);
  lane_of_track_[source].assign(trace.tracks.size(), -1);
  // What answers comes first: the stream that computes, its gaps, and the thread that launches. Where other recordings
  // are shown too the gaps stand under all streams.
  std::vector<std::uint32_t> tracks = tracks_to_show(s);
  std::size_t before = tracks.size();
  if (s.streams_first && sources_.size() == 1)
    before = put_answer_first(trace, s.communication_first, tracks);
  else if (s.streams_first)
    before = static_cast<std::size_t>(
        std::find_if(tracks.begin(), tracks.end(), [&](auto t) { return !is_stream(trace.tracks[t]); }) -
        tracks.begin());
  std::vector<std::uint32_t> causes;
  std::uint32_t gaps = 0;
  for (std::size_t i = 0; i <= tracks.size(); ++i) {
    if (i == before && s.threads) {
      gaps = static_cast<std::uint32_t>(lanes_.size());
      causes = add_gaps(source);
    }
    if (i < tracks.size()) add_track(source, tracks[i], parts, !wanted.empty());
  }
  tell_apart(source);
  link_gaps(source, gaps, causes);
  if (s.counters) add_counters(source);
}

std::shared_ptr<const Lanes> Lanes::make(std::vector<LaneSource> sources, std::string_view matching) {
  auto out = std::make_shared<Lanes>();
  out->sources_ = std::move(sources);
  std::uint32_t names = 0;
  for (const LaneSource& s : out->sources_) {
    out->first_name_.push_back(names);
    names += static_cast<std::uint32_t>(s.recording->trace.strings.size());
  }
  out->lane_of_track_.resize(out->sources_.size());
  out->looks_.resize(out->sources_.size());
  for (std::size_t i = 0; i < out->sources_.size(); ++i) out->add_source(i, matching);
  out->gather_streams();
  out->sort_found();
  out->show_lanes();  // from here on the lanes stay where they are, and what is drawn looks into them
  return out;
}

std::int64_t Lanes::look_into(Lane& lane) {
  const bool of_track = lane.track != models::trace::none;
  lane.spans = of_track ? lane.events.view() : lane.gaps;
  const auto recorded = [](const void* context, std::size_t n) {
    const auto* self = static_cast<const Lane*>(context);
    const models::trace::Sample& sample = self->recorded->samples[n];
    return widgets::TimelinePoint{sample.time_ns + self->shift_ns, sample.value};
  };
  for (auto& counter : lane.counters)
    counter.points =
        lane.recorded ? widgets::TimelinePoints(&lane, lane.recorded->samples.size(), recorded) : lane.queue.view();
  std::int64_t first_ns = INT64_MAX;
  const std::size_t sorted = std::min<std::size_t>(1, lane.spans.size());  // tracks are by start
  for (std::size_t n = 0; n < (of_track ? sorted : lane.spans.size()); ++n)
    first_ns = std::min(first_ns, lane.spans[n].start_ns);
  return first_ns;
}

void Lanes::show_lanes() {
  std::int64_t first_ns = INT64_MAX;
  std::size_t links = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    first_ns = std::min(first_ns, look_into(lane));
    shown_.push_back({
        .label = lane.label,
        .sublabel = lane.sublabel,
        .spans = lane.spans,
        .counters = lane.counters,
    });
    if (lane.track == models::trace::none || !is_stream(sources_[lane.source].recording->trace.tracks[lane.track]))
      continue;
    links_.push_back({links, static_cast<std::uint32_t>(i)});
    links += lane.spans.size();
  }
  const auto name_of = [](const void* self, std::uint32_t id) { return static_cast<const Lanes*>(self)->name(id); };
  const auto link_of = [](const void* self, std::size_t i) { return static_cast<const Lanes*>(self)->link(i); };
  data_ = {
      .lanes = shown_,
      .links = {this, links, link_of},
      .name = name_of,
      .context = this,
      .origin_ns = first_ns == INT64_MAX ? 0 : first_ns,
      .causes = causes_,
      .tint_name = [](const void*, widgets::Tint tint) -> std::string_view {
        return tint == widgets::Tint::series(6)               ? "copies"
               : tint == widgets::Tint(Meaning::launch_bound) ? "the host waits"
               : tint == widgets::Tint(Meaning::forward)      ? "computing"
               : tint == widgets::Tint{}                      ? "other host calls"
                                                              : std::string_view{};
      },
  };
  index_ = widgets::index_timeline(data_);
  data_.index = &index_;
}

}  // namespace chapters::profiling::trace_viewer
