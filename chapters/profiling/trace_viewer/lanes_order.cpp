#include "chapters/profiling/trace_viewer/lanes.h"

namespace chapters::profiling::trace_viewer {

void Lanes::gather_streams() {
  std::size_t after = 0;  // the last stream of the first recording
  bool any = false, others = false;
  const auto is_stream = [&](const Lane& l) {
    return l.track != models::trace::none &&
           sources_[l.source].recording->trace.tracks[l.track].kind == models::trace::TrackKind::stream;
  };
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!is_stream(lanes_[i])) continue;
    if (lanes_[i].source != 0) {
      others = true;
      continue;
    }
    after = i;
    any = true;
  }
  if (!any || !others) return;
  std::vector<std::uint32_t> order;
  const auto take = [&](std::size_t from, std::size_t to, bool streams_of_others) {
    for (std::size_t i = from; i < to; ++i)
      if ((lanes_[i].source != 0 && is_stream(lanes_[i])) == streams_of_others)
        order.push_back(static_cast<std::uint32_t>(i));
  };
  take(0, after + 1, false);
  take(0, lanes_.size(), true);
  take(after + 1, lanes_.size(), false);
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
