#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/trace/cases/detect.h"
#include "models/trace/replay/recorded_job.h"

/// A recording of a real job, of one rank or of several, played as a case: its suspects, and what its replay wins
/// without each of them. Nobody planted anything: guilty is what the replay wins a fair part of the run without.
namespace models::trace {

/// What the spans of a suspect do. Those of a host are told apart as the diagnosis does.
enum class RecordedWork : std::uint8_t {
  loading,       ///< waits for a batch
  paging_copy,   ///< stands still until pageable memory has been copied
  silent,        ///< nothing that is told apart was recorded
  compiling,     ///< compiles
  syncing,       ///< waits for the device
  computing,     ///< operations that launch nothing
  saving,        ///< copies much to the host
  launching,     ///< operations that launch
  first_launch,  ///< a kernel's first launch, which loads its code
  kernels,       ///< computation of a device
  copies,        ///< memory work of a device
  collectives,   ///< communication of a device
  rank           ///< all of a rank, where several were recorded
};
inline constexpr std::size_t recorded_work_count = 13;

struct RecordedSuspect {
  RecordedWork work{};
  int row = 0;                             ///< place among the recordings
  std::int64_t length_ns = 0;              ///< all its spans together
  std::int64_t longest_ns = 0;             ///< the longest of them
  std::uint32_t lane = 0, longest = none;  ///< where the longest stands: its lane, and its place in it
  std::int64_t won_ns = 0;                 ///< what the replay takes less without it
  bool guilty = false;
};

/// A span as it is shown; the run begins at 0.
struct RecordedSpan {
  std::int64_t start_ns = 0, duration_ns = 0;
  std::uint32_t event = none;  ///< none: nothing was recorded
  RecordedWork work{};
  std::int8_t suspect = -1;  ///< place in the line-up
};
/// A stream of a device, or what the threads of a host that take turns do one after another.
struct RecordedLane {
  int row = 0;
  bool host = false;
  std::int64_t stream = -1;  ///< its number; a host has none
  std::vector<RecordedSpan> spans{};
};

struct RecordedPlace {
  std::uint32_t lane = 0, span = 0;
};

class RecordedCase {
 public:
  /// Fails in one sentence where no device did any work.
  static Result<RecordedCase> of(std::vector<Trace> ranks, std::size_t most_suspects);

  std::span<const Trace> ranks() const { return *traces_; }
  const JobDiagnosis& diagnosis() const { return diagnosis_; }
  /// How much of the recording the replay explains, to be said before what would be won.
  const ReplayFit& fit() const { return job_.fit; }
  /// From the first launch, or the first of several marked steps, until the devices are done.
  std::int64_t length_ns() const { return length_ns_; }
  std::int64_t steps() const { return steps_; }
  /// Launching is cut to what its like takes; work of devices stays, since one recording of it says nothing of how fast
  /// it could be; all else is taken out. Of several ranks each is a suspect, and comes to its collectives with the
  /// others.
  const std::vector<RecordedSuspect>& line_up() const { return line_up_; }
  const std::vector<RecordedLane>& lanes() const { return lanes_; }
  /// Where several ranks are: the guilty one that comes last to a collective, and the one that waits longest for it.
  const std::vector<RecordedPlace>& chain() const { return chain_; }
  /// Without whoever of the guilty it wins most without; 0 where nobody is guilty.
  std::int64_t attainable_ns() const { return attainable_ns_; }
  /// What the replay takes less at most with this fix; 0 for fixes of what no recording shows.
  std::int64_t won_by(Fix fix) const;

 private:
  friend class RecordedCaseBuilder;
  std::shared_ptr<const std::vector<Trace>> traces_;
  JobDiagnosis diagnosis_;
  RecordedJob job_;
  std::int64_t won_without(std::span<const JobChange> changes) const;

  std::int64_t length_ns_ = 0, steps_ = 1, attainable_ns_ = 0;
  std::vector<RecordedSuspect> line_up_;
  std::vector<RecordedLane> lanes_;
  std::vector<RecordedPlace> chain_;
  std::vector<bool> on_device_;                  ///< by task
  std::vector<std::vector<JobChange>> changes_;  ///< by RecordedWork, of one rank
};

}  // namespace models::trace
