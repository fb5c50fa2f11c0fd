#pragma once
#include <cstdint>

/// A step waits for the slowest of all ranks: how much longer that takes than one rank, in closed form and drawn.
namespace models {

enum class SlownessKind : std::uint8_t {
  normal,       ///< each step of each rank by itself, normally distributed
  exponential,  ///< a least time and a tail: pauses, retries
  uniform,      ///< within fixed limits
  rare          ///< nearly all are alike; now and then one is slow: a hot GPU, a failing link
};
inline constexpr std::size_t slowness_kind_count = 4;

/// Times of ranks as multiples of a rank's compute time. `spread` is their standard deviation; of `rare` how much
/// longer a slow one takes, and `rare_share` the probability that a rank is slow in a step.
struct Slowness {
  SlownessKind kind = SlownessKind::normal;
  double spread = 0.01, rare_share = 1e-4;
};

/// E[max of `ranks` draws] - 1: what the slowest adds, as a share of the compute time. Of the normal: spread times the
/// integral of x dPhi(x)^n, by quadrature to 1e-9; of the exponential: spread (H_n - 1); of the uniform:
/// spread sqrt(3) (n - 1) / (n + 1); of rare ones: spread (1 - (1 - p)^n), over a rank that is not slow.
/// Source: David, Nagaraja, "Order Statistics", 2003, chapters 2 and 3.
double expected_slowest(const Slowness& slowness, std::int64_t ranks);

/// The mean over simulated steps and its standard error, in the same measure.
struct SlowestSample {
  double mean = 0, standard_error = 0;
  std::int64_t steps = 0;
};
/// Draws every rank of every step and takes the slowest. The same seed gives the same steps.
SlowestSample simulate_slowest(const Slowness& slowness, std::int64_t ranks, std::int64_t steps, std::int64_t seed);

}  // namespace models
