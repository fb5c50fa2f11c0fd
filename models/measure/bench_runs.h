#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

/// Runs of two versions on a machine that heats, jitters and pauses: drawn, not measured.
namespace models::measure {

/// In which order the runs of A, the old version, and B, the new one, are made.
enum class Order : std::uint8_t { new_first, old_first, alternate, mirrored, random };
inline constexpr std::size_t order_count = 5;

/// Shares, not percent.
struct Bench {
  double base_s = 0.02;      ///< a run of A on the cold machine without noise
  double gain = 0;           ///< the share of A's time that B really saves
  double noise = 0.02;       ///< standard deviation of a run
  double correlation = 0.5;  ///< between the noise of neighbouring runs
  double drift = 0.04;       ///< how much slower the hot machine is; below 0: faster
  double heat_runs = 20;     ///< runs until 63 % of that
  double cold = 0.5;         ///< how much longer a version's first run takes; a quarter of it the next
  double outlier_share = 0;  ///< runs that something interrupts
  double outlier = 0.2;      ///< how much longer these take, on average
  double tick = 0;  ///< a step of the clock, as a share of the base time: a run is a whole number of them; 0: exact
  std::int64_t runs = 40;    ///< both versions together
  std::int64_t discard = 1;  ///< first runs of each version that are thrown away
  Order order = Order::alternate;
};

/// One run in the order of the clock.
struct Slot {
  bool is_b = false;
  std::int64_t of_its_kind = 0;  ///< runs of its version before it
  bool kept = false;
  double factor = 1;  ///< what heat and cold caches make of its time
};

/// How much longer a run takes by heat alone, after so many runs.
double heat_factor(const Bench& bench, double runs_before);
/// `seed` decides the coins of Order::random.
std::vector<Slot> slots_of(const Bench& bench, std::uint64_t seed);
/// Times in seconds, one a slot, with the noise of `seed`: A's as they are, B's with the gain.
std::vector<double> times_of(const Bench& bench, const std::vector<Slot>& slots, std::uint64_t seed);
/// The noise alone, one factor a slot, at least a twentieth.
void draw_noise(const Bench& bench, std::uint64_t seed, std::vector<double>& out);

/// A time as a clock shows it whose ticks are this long and that stood at `phase` of a tick when the run began: a whole
/// number of ticks, right on average over phases; at least one, since a run of none would have taken no time.
double on_the_clock(double time, double tick, double phase);
/// From 0 to 1, one a slot.
double clock_phase(std::uint64_t seed, std::size_t slot);
/// The variance that such a clock adds to a run with this factor, as a share of the squared base time.
double clock_variance(const Bench& bench, double factor);

/// What interruptions make of a run's time on average, and how far they spread it; shares of the time without them.
double outlier_mean(const Bench& bench);
double outlier_variance(const Bench& bench);
/// Standard deviation of a run on the cold machine by its noise, its interruptions and its clock, as a share of the
/// mean of such runs.
double run_spread(const Bench& bench);

/// Kept runs by version; pair i is the i-th of each.
struct KeptRuns {
  std::vector<std::size_t> a, b;  ///< slots
  std::size_t pairs() const { return a.size() < b.size() ? a.size() : b.size(); }
};
KeptRuns kept_of(const std::vector<Slot>& slots);

/// What the means of kept runs show, on average over the noise, where both versions are the same, and where B has the
/// bench's gain: shares of A's time.
struct ExpectedGain {
  double of_equals = 0, of_these = 0;
};
ExpectedGain expected_gain(const Bench& bench, const std::vector<Slot>& slots);

}  // namespace models::measure
