#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/profiling/trace_viewer/lanes_track.h"
#include "chapters/profiling/trace_viewer/source.h"
#include "models/trace/measure/window.h"
#include "widgets/timeline/timeline.h"

/// Recordings laid out as lanes of a timeline. Made in the job, painted as they are.
namespace chapters::profiling::trace_viewer {

struct LaneSource {
  RecordingPtr recording;
  std::string label;          ///< before each lane's own label; empty where one recording is shown alone
  std::int64_t shift_ns = 0;  ///< added to its times: recordings beside each other start together
  int device = -1;       ///< its streams, queue and memory, and the threads that launched its work; -1: all devices
  bool threads = true;   ///< processor threads too, not only the device's streams
  bool counters = true;  ///< its queue and the recorded counters, too
  bool streams_first = false;
  bool communication_first = false;  ///< the stream that communicates stands next to the one that computes
};

/// What most of a stream's time goes into, in the order in which streams of several recordings are shown.
enum class StreamWork : std::uint8_t { compute, communication, copies, waits };

/// Everything that a TimelineData points into. Spans 0 to count - 1 of a lane are the events of its track, in their
/// order. About 11 bytes an event beside the recording itself.
class Lanes {
 public:
  struct Lane {
    std::string label, sublabel;
    std::size_t source = 0;
    std::uint32_t track = models::trace::none;
    StreamWork work = StreamWork::waits;  ///< for streams alone
    widgets::TimelineSpans spans;
    std::vector<widgets::TimelineCounter> counters;
    // What these look into; the recording's own counters are looked up in the recording.
    TrackSpans events;
    std::vector<widgets::TimelineSpan> gaps;
    PackedCounter queue;
    const models::trace::Counter* recorded = nullptr;
    std::int64_t shift_ns = 0;
  };
  struct Found {
    std::uint32_t lane = 0, span = 0;
  };

  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// `matching` dims every span whose name does not contain it; empty dims none. Its links go from launch to work.
  static std::shared_ptr<const Lanes> make(std::vector<LaneSource> sources, std::string_view matching);

  const widgets::TimelineData& data() const { return data_; }
  const widgets::TimelineIndex& index() const { return index_; }
  const std::vector<LaneSource>& sources() const { return sources_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  const std::vector<Found>& found() const { return found_; }  ///< matches by start; the first million by lane
  std::int64_t matches() const { return matches_; }
  std::int64_t matches_ns() const { return matches_ns_; }
  double seconds(std::size_t source, std::int64_t time_ns) const {
    return static_cast<double>(time_ns + sources_[source].shift_ns - data_.origin_ns) * 1e-9;
  }
  std::int64_t time_ns(std::size_t source, double seconds) const;
  /// What the file says of a span beyond its name and times, as JSON; or why that cannot be read any more. Empty where
  /// there is nothing. Reads the file, and of a gz inflates up to 16 MiB of it: not for the window's thread.
  std::string arguments_of(widgets::TimelineSelection span) const;
  /// The span of an event, or none where its track is not shown.
  widgets::TimelineSelection span_of(std::size_t source, std::uint32_t event) const;

 private:
  void add_source(std::size_t source, std::string_view matching);
  void add_track(std::size_t source, std::uint32_t track, const std::vector<models::trace::Part>& parts,
                 bool searching);
  void add_counters(std::size_t source);
  /// Threads of one name in processes of several names stand under their process's name, their own below it.
  void tell_apart(std::size_t source);
  /// Adds a lane of the longest gaps; returns, for each, the event that launched what ended it, or none.
  std::vector<std::uint32_t> add_gaps(std::size_t source);
  void link_gaps(std::size_t source, std::uint32_t lane, const std::vector<std::uint32_t>& causes);
  void find(std::uint32_t lane);
  void sort_found();
  /// Streams of several recordings come first, those that compute of all of them before those that communicate, so
  /// that ranks, or two runs, are compared line by line however deep the threads are (lanes_order.cpp).
  void gather_streams();
  /// Fills what is drawn from the lanes, which stay where they are from then on.
  void show_lanes();
  /// Lets a lane's spans and counters look into it; gives the start of its first span, INT64_MAX where it has none.
  static std::int64_t look_into(Lane& lane);
  std::string_view name(std::uint32_t id) const;
  widgets::TimelineLink link(std::size_t i) const;

  std::vector<LaneSource> sources_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<std::int32_t>> lane_of_track_;  ///< by source and track; -1: not shown
  std::vector<std::uint32_t> first_name_;                 ///< by source: name ids from here are its strings
  std::vector<std::vector<NameLook>> looks_;              ///< by source and string
  std::vector<std::string> extra_names_;
  std::vector<widgets::TimelineLane> shown_;
  struct Links {
    std::size_t first = 0;  ///< number of the link to its lane's first span; one for each span, whether linked or not
    std::uint32_t lane = 0;
  };
  std::vector<Links> links_;                   ///< one for each lane of a stream
  std::vector<widgets::TimelineLink> causes_;  ///< from the launch that ended a wait for the host to its gap
  std::vector<Found> found_;
  std::int64_t matches_ = 0, matches_ns_ = 0;
  widgets::TimelineData data_;
  widgets::TimelineIndex index_;
};

}  // namespace chapters::profiling::trace_viewer
