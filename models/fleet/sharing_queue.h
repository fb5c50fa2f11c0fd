#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "models/fleet/job_mix.h"

/// A queue of jobs of many sizes in front of a fleet of shelves, simulated event by event: who starts when, where each
/// job lies, and what stands empty although somebody waits.
namespace models::fleet {

enum class QueueOrder : std::uint8_t {
  fifo,      ///< nobody starts before whoever came first
  backfill,  ///< others may, if the first starts no later for it: EASY (Lifka 1995), with run times known exactly
  any_fit    ///< whoever fits starts, in the order of arrival; the first may wait for ever
};
inline constexpr std::size_t queue_order_count = 3;
enum class ShelfPacking : std::uint8_t {
  best_fit,  ///< on the fullest shelf on which it fits
  worst_fit  ///< on the emptiest
};
inline constexpr std::size_t packing_count = 2;

struct QueueSetup {
  std::int64_t shelves = 16;
  JobMix mix;
  double load =
      0.7;  ///< places that the jobs ask for x their time, over all places; Poisson arrivals give it on average
  std::int64_t jobs = 4000;  ///< where they come twice, those of a round
  std::int64_t seed = 1;
  QueueOrder order = QueueOrder::fifo;
  ShelfPacking packing = ShelfPacking::best_fit;
  bool migrate = false;       ///< where the first job finds enough places in pieces alone, others are moved together
  double move_s = 0;          ///< how long a job stands still that is moved
  std::int64_t reserved = 0;  ///< shelves that only whole-shelf jobs may use
  bool one_shelf = true;      ///< a job smaller than a shelf is never spread over several
  double spread_cost = 0;     ///< share by which a spread job runs longer
  /// For jobs of at most half a shelf whose places are any.
  HalfRule half = HalfRule::any;
  double cross_cost = 0;  ///< share by which such a job runs longer that lies on both halves
  /// The jobs come twice, the second time in the same order and at the same distances; the first round fills the fleet
  /// and is not counted. Run times are scaled by one factor so that a round asks for exactly `load` over its length: of
  /// laws with long tails a few thousand draws have a mean far from the law's. So a fleet that keeps up has as much
  /// used as is asked for, and what is missing lengthens the line.
  bool twice = false;
};

struct QueuedJob {
  std::uint32_t kind = 0;
  double arrival_s = 0, run_s = 0;  ///< run time without moves, spread and halves
  double start_s = 0, end_s = 0;
  bool crosses = false;  ///< it lies on both halves of one shelf though one half would hold it
  double wait_s() const { return start_s - arrival_s; }
};
/// A job on one of its shelves, from the start or a move to the end or the next move.
struct Stay {
  std::uint32_t job = 0, shelf = 0;
  Places places = 0;
  double from_s = 0, to_s = 0;
};

/// Shares of places x time over the window, 0 to 1: used + idle + held_back + stranded = 1.
struct QueueShares {
  double used = 0;
  double idle = 0;       ///< empty, and nobody waits
  double held_back = 0;  ///< empty, a job that waits fits there, and its turn has not come
  double stranded = 0;   ///< empty, somebody waits, and no job that waits fits there
  double in_pieces = 0;  ///< share of the time in which the first job waits, though as many places as it needs are free
};
struct QueueRun {
  std::vector<QueuedJob> jobs;  ///< in the order of arrival
  std::vector<Stay> stays;      ///< in the order in which they begin
  std::size_t first = 0;        ///< jobs before it only fill the fleet and are not counted
  double from_s = 0, to_s = 0;  ///< the window: from the arrival of `first`, or the end of the first round, to the last
  QueueShares shares;
  double mean_queue = 0;  ///< jobs that wait, over the window
  double worst_s = 0;     ///< the middle of the stretch in which most places x time stood empty while somebody waited
  std::int64_t moves = 0, spread = 0;
  bool cancelled = false;
};

/// Runs all jobs to their end. The same seed gives the same jobs at the same times, whatever the order and packing.
QueueRun run_sharing_queue(const QueueSetup& setup, const std::atomic<bool>* cancelled = nullptr);
/// The same for jobs that are given, one or more, in the order of arrival: of each its kind, arrival and run time.
QueueRun run_sharing_queue(const QueueSetup& setup, std::vector<QueuedJob> jobs,
                           const std::atomic<bool>* cancelled = nullptr);

/// The fleet at one moment of a run.
struct FleetMoment {
  std::vector<Stay> stays;             ///< those that lie then
  std::vector<std::uint32_t> waiting;  ///< jobs in the order of arrival
  std::vector<Places> taken;           ///< by shelf
  std::vector<std::uint8_t> wanted;    ///< by shelf: 1 where some job that waits fits
};
FleetMoment fleet_moment(const QueueSetup& setup, const QueueRun& run, double at_s);

/// Places that a job of the mix asks for x its run time, on average.
double mean_work(const JobMix& mix);

}  // namespace models::fleet
