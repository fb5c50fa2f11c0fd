#include "chapters/profiling/trace_viewer/lanes_order.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>

namespace chapters::profiling::trace_viewer {

using models::trace::Event, models::trace::EventClass, models::trace::Trace, models::trace::Track,
    models::trace::TrackKind;

bool is_stream(const Track& t) { return t.kind == TrackKind::stream || t.kind == TrackKind::device_annotation; }

StreamWork work_of(const Trace& trace, const Track& t) {
  std::int64_t work[3]{};
  for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
    const Event& e = trace.events[i];
    if (on_device(e.cls))
      work[e.cls == EventClass::communication ? 1 : e.cls == EventClass::memory ? 2 : 0] += e.duration_ns;
  }
  if (work[0] + work[1] + work[2] == 0) return StreamWork::waits;
  return static_cast<StreamWork>(std::max_element(std::begin(work), std::end(work)) - std::begin(work));
}

std::vector<std::uint32_t> tracks_to_show(const LaneSource& source) {
  const Trace& trace = source.recording->trace;
  std::vector<std::int64_t> launches(trace.tracks.size(), 0);
  std::vector<std::uint32_t> streams, threads;
  const std::vector<std::uint32_t> order = models::trace::display_order(trace);
  for (const std::uint32_t t : order) {
    const Track& track = trace.tracks[t];
    if (track.count == 0 || !is_stream(track) || (source.device >= 0 && track.device != source.device)) continue;
    if (track.kind == TrackKind::stream) streams.push_back(t);
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i)
      if (trace.events[i].link != models::trace::none) ++launches[trace.events[trace.events[i].link].track];
  }
  if (!source.threads) return streams;
  // Processes that launch nothing here belong to other devices; where nothing is linked at all, every process is shown.
  const auto launching = [&](const std::string& pid) {
    for (std::size_t t = 0; t < trace.tracks.size(); ++t)
      if (launches[t] > 0 && trace.tracks[t].pid == pid) return true;
    return false;
  };
  const bool any = std::any_of(launches.begin(), launches.end(), [](auto n) { return n > 0; });
  for (const std::uint32_t t : order) {
    const Track& track = trace.tracks[t];
    if (track.count == 0 || is_stream(track) || track.kind == TrackKind::overhead) continue;
    if (any && source.device >= 0 && !launching(track.pid)) continue;
    threads.push_back(t);
  }
  // Annotations, then threads that launch, then the others; among equals as the file sorts them.
  const auto rank = [&](std::uint32_t t) {
    return trace.tracks[t].kind == TrackKind::annotation ? 0
           : trace.tracks[t].kind == TrackKind::thread   ? (launches[t] > 0 ? 1 : 2)
                                                         : 3;
  };
  std::stable_sort(threads.begin(), threads.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
  // The device first: deep stacks of the host would push it out of sight.
  streams.insert(streams.end(), threads.begin(), threads.end());
  return streams;
}

std::size_t put_answer_first(const Trace& trace, bool communication, std::vector<std::uint32_t>& tracks) {
  if (tracks.empty() || !is_stream(trace.tracks[tracks.front()])) return 0;
  std::ptrdiff_t before = 1;
  const auto next = [&](const auto& wanted) {
    const auto at = std::find_if(tracks.begin() + before, tracks.end(), wanted);
    if (at == tracks.end()) return false;
    std::rotate(tracks.begin() + before, at, at + 1);
    return true;
  };
  if (communication && next([&](std::uint32_t t) {
        return is_stream(trace.tracks[t]) && work_of(trace, trace.tracks[t]) == StreamWork::communication;
      }))
    ++before;
  next([&](std::uint32_t t) { return trace.tracks[t].kind == TrackKind::thread; });
  return static_cast<std::size_t>(before);
}

void Lanes::gather_streams() {
  if (sources_.size() < 2) return;
  const auto is_stream = [&](std::uint32_t i) {
    const Lane& l = lanes_[i];
    return l.track != models::trace::none &&
           sources_[l.source].recording->trace.tracks[l.track].kind == models::trace::TrackKind::stream;
  };
  std::vector<std::uint32_t> order(lanes_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto rest = std::stable_partition(order.begin(), order.end(), is_stream);
  std::stable_sort(order.begin(), rest,
                   [&](std::uint32_t a, std::uint32_t b) { return lanes_[a].work < lanes_[b].work; });
  std::vector<Lane> lanes;
  lanes.reserve(lanes_.size());
  std::vector<std::int32_t> now_at(lanes_.size());
  for (const std::uint32_t old : order) {
    now_at[old] = static_cast<std::int32_t>(lanes.size());
    lanes.push_back(std::move(lanes_[old]));
  }
  lanes_ = std::move(lanes);
  for (auto& tracks : lane_of_track_)
    for (std::int32_t& lane : tracks)
      if (lane >= 0) lane = now_at[static_cast<std::size_t>(lane)];
  for (Found& f : found_) f.lane = static_cast<std::uint32_t>(now_at[f.lane]);
  for (widgets::TimelineLink& l : causes_) {
    l.from_lane = static_cast<std::uint32_t>(now_at[l.from_lane]);
    l.to_lane = static_cast<std::uint32_t>(now_at[l.to_lane]);
  }
}

}  // namespace chapters::profiling::trace_viewer
