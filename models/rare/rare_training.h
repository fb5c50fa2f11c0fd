#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/compression/small_network_data.h"

/// Workers that train one small network together and save on what they tell each other: they send less, or they send
/// seldom. Every run is a real training on drawn digits; nothing about its loss is a formula.
namespace models::rare {

enum class RareMethod : std::uint8_t {
  all_reduce,  ///< FP32 gradients are averaged in every step
  bits8,       ///< gradients rounded to 8 bits, with a scale a tensor
  bits4,
  sign,       ///< one bit: the sign, and the mean size as the scale (Karimireddy et al. 2019, Tang et al. 2021)
  top_k,      ///< the largest values of the gradient with their places (Aji, Heafield 2017)
  power_sgd,  ///< a product of two thin matrices (Vogels, Karimireddy, Jaggi 2019)
  local_sgd,  ///< weights are averaged every H steps (Stich 2019)
  diloco,     ///< the same with an outer step of Nesterov momentum (Douillard et al. 2023)
  stale       ///< gradients are averaged in every step and used s steps later: steps go on while they travel
};
inline constexpr std::size_t rare_method_count = 9;
/// "all_reduce", "bits8", ...
std::string_view rare_method_id(RareMethod method);
/// Some of the gradient is left out of a message, and error feedback may send it later.
constexpr bool rare_method_compresses(RareMethod m) { return m >= RareMethod::bits8 && m <= RareMethod::power_sgd; }
/// Bits of a value that is rounded; 0: the method does not round.
constexpr int rare_method_bits(RareMethod m) {
  return m == RareMethod::bits8 ? 8 : m == RareMethod::bits4 ? 4 : m == RareMethod::sign ? 1 : 0;
}
/// Workers step alone between syncs.
constexpr bool rare_method_is_local(RareMethod m) { return m == RareMethod::local_sgd || m == RareMethod::diloco; }

/// Every worker's own step is AdamW (beta 0.9 and 0.99, weight decay 0.01), as in DiLoCo. A worker reads
/// `rare_worker_batch` digits a step.
inline constexpr std::size_t rare_worker_batch = 8, rare_steps = 96, rare_hidden = 16;

struct RareSetup {
  RareMethod method = RareMethod::all_reduce;
  std::size_t workers = 4;  ///< 2 to 8
  std::size_t steps = rare_steps;
  double rate = 0.03;                             ///< the first of every worker's own steps; it falls evenly to a tenth
  double kept = 0.02;                             ///< top_k: the share of values that is sent
  std::size_t rank = 2;                           ///< power_sgd: columns of the thin matrices
  std::size_t period = 12;                        ///< local_sgd and diloco: steps between syncs
  std::size_t stale_by = 2;                       ///< stale: steps
  double outer_rate = 0.7, outer_momentum = 0.9;  ///< diloco
  bool error_feedback = true;                     ///< what a message leaves out is added to the next gradient
  double skew = 0;                                ///< share of a worker's digits that are of its own classes, 0 to 1
  std::uint64_t seed = 1;
  bool operator==(const RareSetup&) const = default;
};

/// A look at the model that all workers share.
struct RareLook {
  std::size_t step = 0, syncs = 0;  ///< steps that every worker made, syncs that were made
  double loss = 0;                  ///< mean over held-out digits, nats
};

struct RareRun {
  std::vector<RareLook> looks;  ///< the first before any step; local methods are looked at after their syncs
  std::size_t steps = 0, syncs = 0, parameters = 0;
  double kept_norm = 1;  ///< what messages hold of what they stand for, mean over steps: see `GradientCode::average`
  double apart = 0;      ///< root mean square distance of workers' weights before the last sync, over the weights' norm
  bool diverged = false;  ///< a loss above 20 nats or not finite: the run ends there
  bool stopped = false;   ///< `cancelled` became true
};

/// Digits that the workers read, and those on which the model is looked at.
struct RareDigits {
  DigitSet training, held_out;
};
/// The digits of a seed. Drawing them takes as long as a training on them: who trains more than once keeps them.
RareDigits rare_digits(std::uint64_t seed);
/// `digits`: those of the setup's seed.
RareRun train_rarely(const RareSetup& setup, const RareDigits& digits, const std::atomic<bool>* cancelled = nullptr);

}  // namespace models::rare
