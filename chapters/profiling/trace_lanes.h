#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/profiling/trace_source.h"
#include "models/trace_window.h"
#include "widgets/timeline.h"

/// Recordings laid out as lanes of a timeline. Made in the job, painted as they are.
namespace chapters::profiling::viewer {

struct LaneSource {
  RecordingPtr recording;
  std::string label;        ///< before each lane's own label; empty where one recording is shown alone
  std::int64_t shift_ns = 0;  ///< added to its times: recordings beside each other start together
  int device = -1;          ///< its streams, queue and memory, and the threads that launched its work; -1: all devices
  bool threads = true;      ///< processor threads too, not only the device's streams
  bool counters = true;   ///< its queue and the recorded counters, too
  bool streams_first = false;
};

/// What a span's name says by itself, beside its class.
enum class Says : std::uint8_t { nothing, loading, waiting, optimizer };

/// Everything that a TimelineData points into. Spans 0 to count - 1 of a lane are the events of its track, in their order.
class Lanes {
 public:
  struct Lane {
    std::string label, sublabel;
    std::size_t source = 0;
    std::uint32_t track = models::trace::none;
    std::vector<widgets::TimelineSpan> spans;
    std::vector<std::vector<widgets::TimelinePoint>> points;
    std::vector<widgets::TimelineCounter> counters;
  };
  struct Found {
    std::uint32_t lane = 0, span = 0;
    std::int64_t start_ns = 0;
  };

  /// `matching` dims every span whose name does not contain it; empty dims none. `arrows`: links from launch to work.
  static std::shared_ptr<const Lanes> make(std::vector<LaneSource> sources, std::string_view matching, bool arrows);

  const widgets::TimelineData& data() const { return data_; }
  const widgets::TimelineIndex& index() const { return index_; }
  const std::vector<LaneSource>& sources() const { return sources_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  const std::vector<Found>& found() const { return found_; }  ///< matches by start, at most a million
  std::int64_t matches() const { return matches_; }
  std::int64_t matches_ns() const { return matches_ns_; }
  double seconds(std::size_t source, std::int64_t time_ns) const { return static_cast<double>(time_ns + sources_[source].shift_ns - data_.origin_ns) * 1e-9; }
  std::int64_t time_ns(std::size_t source, double seconds) const;
  /// The span of an event, or none where its track is not shown.
  widgets::TimelineSelection span_of(std::size_t source, std::uint32_t event) const;

 private:
  void add_source(std::size_t source, std::string_view matching);
  void add_track(std::size_t source, std::uint32_t track, const std::vector<models::trace::Part>& parts, const std::vector<Says>& says, const std::vector<bool>& wanted);
  void add_counters(std::size_t source);
  void add_gaps(std::size_t source);
  void add_links(std::size_t source);
  /// Streams of recordings that show nothing else go under the first recording's streams, so that ranks stand under each other
  /// however deep its threads are (trace_lanes_order.cpp).
  void gather_streams();
  std::string_view name(std::uint32_t id) const;

  std::vector<LaneSource> sources_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<std::int32_t>> lane_of_track_;  ///< by source and track; -1: not shown
  std::vector<std::uint32_t> first_name_;                 ///< by source: name ids from here are its strings
  std::vector<std::string> extra_names_;
  std::vector<widgets::TimelineLane> shown_;
  std::vector<widgets::TimelineLink> links_;
  std::vector<Found> found_;
  std::int64_t matches_ = 0, matches_ns_ = 0;
  widgets::TimelineData data_;
  widgets::TimelineIndex index_;
};

}  // namespace chapters::profiling::viewer
