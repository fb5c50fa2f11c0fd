#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/compression/small_network.h"
#include "models/compression/small_network_data.h"

/// What the size of a batch does to training, tried on the small network: nothing here is quoted.
namespace models {

/// What is learned: digits to train on and others that are held out. The first weights and the order in which digits
/// are read come from the seed too.
struct BatchTask {
  std::uint64_t seed = 1;
  DigitSet training, held_out;
};
/// The task of a seed. Drawing its digits takes as long as a training on them: who trains more than once keeps it.
BatchTask batch_task(std::uint64_t seed);

/// How the gradients of micro-batches are put together before an update.
enum class AccumulationRule : std::uint8_t {
  by_count,       ///< summed over examples and divided by their number: the gradient of the whole batch
  mean_of_means,  ///< each micro-batch's mean counts the same, whatever its size
  summed          ///< the means are added and not divided: the rate is as many times larger as there are micro-batches
};
inline constexpr int accumulation_rule_count = 3;

struct BatchRunSetup {
  std::size_t batch = 64, micro_batches = 1, steps = 80;
  double rate = 0.1, momentum = 0;
  std::size_t warm_up = 0;  ///< steps over which the rate rises linearly to `rate`
  AccumulationRule rule = AccumulationRule::by_count;
  bool uneven = false;  ///< micro-batches of one and three parts in turn
};

struct BatchRun {
  std::vector<double> loss;  ///< loss of each step's batch before the update, nats
  SmallNetwork network;      ///< at the end
  bool diverged = false;     ///< a loss above 20 nats or not finite: the run ends there
};

/// Trains a network of 16 hidden units on the task by gradient descent; examples follow each other in an order drawn
/// from its seed, so that runs of one batch see the same examples at the same step.
BatchRun run_batches(const BatchTask& task, const BatchRunSetup& setup);

/// The same batches twice: at once, and as the setup says, in micro-batches.
struct BatchPair {
  BatchRun whole, pieces;
  std::vector<double> apart;     ///< weight_distance of the two after each update that both made
  std::vector<double> held_out;  ///< loss of `pieces` on held-out digits after each update, nats: find_critical_batch's
};
BatchPair train_pair(const BatchTask& task, const BatchRunSetup& setup);

/// Root of the summed squares of the differences of all weights, over that of the weights of `a`.
double weight_distance(const SmallNetwork& a, const SmallNetwork& b);

/// The simple noise scale tr(S) / |G|^2 of the gradient at `network`, in examples: G is the mean over `examples` of the
/// task's digits and S their covariance, both without the bias of a finite sample. Source: McCandlish et al. 2018,
/// equation 2.9 and appendix A.
double noise_scale(const SmallNetwork& network, const BatchTask& task, std::size_t examples);

/// How long a batch takes to the target with the best of the rates that were tried.
struct BatchCost {
  std::size_t batch = 1;
  double steps = 0, examples = 0, rate = 0;
  bool reached = false;
};
struct CriticalBatch {
  std::vector<BatchCost> costs;            ///< by batch
  double steps_min = 0, examples_min = 0;  ///< constants of the fit examples = examples_min + steps_min x batch
  double batch = 0;                        ///< examples_min / steps_min: both are twice their least there
  double noise_early = 0, noise_late = 0;  ///< noise scale after 10 steps of 64, and where the target is reached
};

/// Trains with every batch of 1, 4, 16, 64 and 256 and four rates until the loss on held-out digits is below
/// `target_loss` nats, and fits the trade of steps against examples (McCandlish et al. 2018, equation 2.11). Noise is
/// measured on digits that no run has read. Where `cancelled` becomes true it ends within an update and what it returns
/// is of no use.
CriticalBatch find_critical_batch(const BatchTask& task, double target_loss,
                                  const std::atomic<bool>* cancelled = nullptr);

}  // namespace models
