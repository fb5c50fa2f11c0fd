#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/trace/cases/job.h"
#include "models/trace/replay/replay.h"

/// A case: a dealt job with a fault of a known cost, run with it and without it, and asked what any other change would
/// win. Guilt is what the replay wins, never a length.
namespace models::trace {

struct CaseSetup {
  std::uint64_t seed = 7;
  int level = 1;  ///< 1 to 3
  bool faulty = true;
  double severity = 1;  ///< times the size that was dealt
};

/// Tasks that are accused together: of one kind of work, on one rank or, where it is one thing for all, on every rank.
/// The forward and the backward pass are one kind.
struct SuspectKey {
  int rank = 0;  ///< -1: all of them
  CaseWork work{};
  bool operator==(const SuspectKey&) const = default;
};
struct Suspect {
  SuspectKey key;
  std::int64_t length_ns = 0;   ///< all its spans together, as recorded
  std::int64_t longest_ns = 0;  ///< the longest of them
  std::uint32_t longest = no_task;
  std::int64_t spans = 0;
  std::int64_t won_ns = 0;  ///< what the run takes less when it is taken out alone
  bool guilty = false;      ///< the planted fault is in it
};

class Case {
 public:
  /// Deals, finds the size at which the fault costs what it is to cost, and runs the job.
  static Case of(const CaseSetup& setup);

  const CaseSpec& spec() const { return job_.spec; }
  const CaseJob& job() const { return job_; }
  const Replay& replay() const { return *replay_; }
  const JobTimes& times() const { return replay_->unchanged(); }
  /// From the start to the end of the last step.
  std::int64_t length_ns() const;
  /// The same job without the fault, with all the rest as it was.
  std::int64_t healthy_ns() const { return healthy_ns_; }
  std::int64_t attainable_ns() const { return length_ns() - healthy_ns_; }

  /// The run takes so much less with this fix: the job is set up with it and run again.
  std::int64_t won_by(Fix fix) const;
  /// At most so many suspects, by rank and then as the step has them: those in which the fault is, and the longest of
  /// the others.
  std::vector<Suspect> line_up(std::size_t most) const;
  SuspectKey key_of(std::uint32_t task) const;
  /// What the run takes less when a suspect is taken out alone: work that has to be done is cut to what it takes in a
  /// healthy job, all else to nothing.
  std::int64_t won_without(const SuspectKey& key) const;
  /// The chain that ends with whatever waited longest for the culprit.
  std::vector<JobLinks> chain() const;

 private:
  CaseJob job_;
  std::unique_ptr<Replay> replay_;
  std::int64_t healthy_ns_ = 0;
};

}  // namespace models::trace
