#pragma once
#include <cstdint>
#include <vector>

/// A made-up fleet that meets at a barrier after every step: how long each rank computes before it comes there, with
/// one fault planted. The step itself takes as long for all: only the time until a rank comes tells who is slow.
namespace models::fleet {

enum class Fault : std::uint8_t {
  none,
  slow_rank,    ///< one rank is slower in every step from the onset on
  throttle,     ///< one rank is slower while it is hot: 20 steps of every 50 from the onset on
  bad_link,     ///< one rank is slower in one of five steps, when transfers are sent again
  uneven_data,  ///< in every step another half percent of the ranks has longer samples: nobody is at fault
  bad_node,     ///< eight ranks that share a node are slower from the onset on
};
inline constexpr std::size_t fault_count = 6;

/// Noise of a healthy rank, as shares of a step: normal with standard deviation `spread`, and in a share `pause_share`
/// of all steps a pause besides, exponential with mean `pause_size`. Every draw is by itself.
struct Noise {
  double spread = 0.01, pause_share = 1e-4, pause_size = 0.2;
};

struct Fleet {
  std::int64_t ranks = 1000, steps = 120, seed = 1;
  Noise noise;
  Fault fault = Fault::slow_rank;
  double slower = 0.1;  ///< how much longer than a healthy one a slow rank takes, as a share
};

/// Who is to blame for a fault, and since when. `ranks` is 0 where nobody is.
struct Guilt {
  std::int64_t first_rank = 0, ranks = 0, onset = 0;
  bool holds(std::int64_t rank) const { return rank >= first_rank && rank < first_rank + ranks; }
};
Guilt guilt_of(const Fleet& fleet);

/// How long a rank computes in a step, over the time that a healthy rank takes without noise. The same whoever asks and
/// in whichever order.
double step_time(const Fleet& fleet, std::int64_t rank, std::int64_t step);

/// The probability that a healthy rank's time exceeds 1 + `above` (a share, may be negative).
double exceeds(const Noise& noise, double above);

/// Every rank and step, and what the barrier makes of them. Times over a healthy step without noise; sums and means are
/// of the steps from the onset of a fault on, or from where it would be.
struct FleetRun {
  std::vector<float> time;         ///< steps x ranks, row by row
  std::vector<double> step;        ///< by step: until the last has come
  std::vector<std::int64_t> last;  ///< by step: the rank that comes last
  std::vector<double> caused;      ///< by rank: what the others wait for it
  double waits = 0;                ///< all waiting of all ranks
  double mean_step = 1;            ///< mean of `step`
  double healthy_step = 1;         ///< the same with the guilty ranks, or the uneven data, as the others
  std::int64_t culprit = -1;       ///< the rank that causes most; -1: nobody waits
  double late = 0;                 ///< how much later than the last of the others the culprit came, summed
};
FleetRun run_fleet(const Fleet& fleet);

}  // namespace models::fleet
