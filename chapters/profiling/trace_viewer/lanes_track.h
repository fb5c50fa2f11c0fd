#pragma once
#include <cstdint>
#include <vector>

#include "models/trace/measure/window.h"
#include "widgets/timeline/timeline.h"

/// A track's events as spans, worked out when asked for: ten million events need no second copy.
namespace chapters::profiling::trace_viewer {

/// What a name says by itself, beside its class; and whether a search has found it.
struct NameLook {
  enum class Says : std::uint8_t { nothing, loading, waiting, optimizer } says = Says::nothing;
  bool wanted = false;
};
/// By string of the recording. `wanted`: of matching_strings; empty when nothing is searched.
std::vector<NameLook> name_looks(const models::trace::Trace& trace, const std::vector<bool>& wanted);

struct TrackSpans {
  const models::trace::Event* events = nullptr;  ///< the track's first; the others follow it in its order
  std::size_t count = 0;
  std::vector<models::trace::Part> parts;  ///< by event; empty: all forward
  const NameLook* looks = nullptr;
  std::int64_t shift_ns = 0;
  std::uint32_t first_name = 0;  ///< the recording's strings are names from here
  bool quiet = false;            ///< what has no colour of its own is pale
  bool searching = false;        ///< matches are solid, all else is pale

  widgets::TimelineSpan span(std::size_t i) const;
  /// Stays valid while this object does and stays where it is.
  widgets::TimelineSpans view() const;
};

/// Whole numbers over time in 8 bytes a point.
class PackedCounter {
 public:
  void pack(const std::vector<models::trace::QueueSample>& samples, std::int64_t shift_ns);
  /// Stays valid while this object does and stays where it is.
  widgets::TimelinePoints view() const;

 private:
  widgets::TimelinePoint point(std::size_t i) const;

  std::vector<std::int64_t> bases_ns_;         ///< the first time of each block
  std::vector<std::uint64_t> points_;          ///< ns since the block's base in the low 40 bits, the value above
  std::vector<widgets::TimelinePoint> plain_;  ///< instead, where something does not fit
};

}  // namespace chapters::profiling::trace_viewer
