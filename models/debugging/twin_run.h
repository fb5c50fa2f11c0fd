#pragma once
#include <atomic>
#include <limits>
#include <optional>

#include "models/debugging/secded.h"
#include "models/debugging/twin_network.h"

/// Two runs of the small network: a healthy one, and one with a fault planted, compared bit by bit.
namespace models::debugging {

enum class PlantedFault : std::uint8_t {
  none,
  flipped_bit,       ///< one number, at one step
  stuck_bit,         ///< one output of a layer on one rank, from the step on
  sum_order,         ///< a layer's gradients are summed in pairs from the step on
  ranks,             ///< from the step on the batch is divided among two ranks, not four
  skipped_batch,     ///< from the step on the loader is one batch ahead
  dropout_seed,      ///< from the step on a layer's dropout has another seed
  lost_gradient,     ///< one rank's gradient of a layer is zero at one step
  doubled_gradient,  ///< one rank's gradient of a layer counts twice at one step
  learning_rate,     ///< times a factor at one step
  stale_weights      ///< one rank computes a layer with the weights of the step before, at one step
};
inline constexpr int planted_fault_count = 11;
/// Whether the fault is there when its step is run again; one that lasts one step is not.
bool comes_again(PlantedFault fault);
bool has_layer(PlantedFault fault);
bool has_rank(PlantedFault fault);

enum class TwinTensor : std::uint8_t { activation, gradient, moment, weight };
inline constexpr int twin_tensor_count = 4;

/// One tensor of one layer at one step: the unit of what is hashed and compared.
struct TwinCell {
  TwinTensor tensor{};
  int layer = 0;
};
inline constexpr int twin_cells = twin_layers * twin_tensor_count;
/// The cells of a step in the order in which they are computed: activations forward, gradients backward, then moments
/// and weights layer by layer.
TwinCell twin_cell(int index);
int twin_cell_index(TwinCell cell);

/// 64 bits that differ, but for chance, as soon as one bit of the numbers does; 0 and -0 differ.
std::uint64_t hash_of(std::span<const float> numbers, std::uint64_t start = 0);

struct TwinFault {
  PlantedFault kind = PlantedFault::none;
  int layer = 3, step = 60;
  TwinTensor tensor = TwinTensor::weight;  ///< in which a bit is flipped
  int entry = 0;                           ///< 0 to 255: which number of the tensor
  int bit = 20;                            ///< 0 to 31: mantissa, exponent from 23 on, sign
  int upsets = 1;                          ///< neighbouring bits of a 64-bit word that flip together, 1 to 4
  bool ecc = false;                        ///< memory words (weights, moments) have eight check bits
  int rank = 2;
  double factor = 10;       ///< on the learning rate
  bool fixed_order = true;  ///< false: the second run sums gradients in an order drawn for each step
};

/// What ECC made of the flipped bits.
enum class EccOutcome : std::uint8_t { unasked, corrected, detected, miscorrected, unseen };
inline constexpr int ecc_outcome_count = 5;

/// The flipped number before and after; `after` is what the run computed with.
struct FlippedValue {
  float before = 0, after = 0;
  EccOutcome ecc{};
};

using TwinHashes = std::array<std::uint64_t, twin_cells>;  ///< by index of the cell

struct TwinHealthy {
  std::uint64_t seed = 1;
  std::vector<TwinState> states;   ///< before each step, and after the last
  std::vector<TwinPass> passes;    ///< one a step
  std::vector<TwinHashes> hashes;  ///< one set a step
};
/// Trains all 256 steps; null where `cancelled` became true.
std::shared_ptr<const TwinHealthy> train_healthy(std::uint64_t seed, const std::atomic<bool>* cancelled = nullptr);
/// The same without anything kept: the losses alone.
std::vector<double> healthy_losses(std::uint64_t seed);

/// Spread of the batch's loss over healthy seeds 1 to 4 by step: the standard deviation, as a root mean square over the
/// 17 steps around it. It trains four times: who needs it again keeps it.
std::vector<double> healthy_spread();

/// The numbers of a cell: of a step's pass, or of the state after it. Moments are followed by variances.
std::span<const float> cell_numbers(TwinCell cell, const TwinPass& pass, const TwinState& after);
/// Hashes of all cells of a step.
TwinHashes hashes_of(const TwinPass& pass, const TwinState& after);

/// |b - a| / |a|; 0 only where every bit is equal, at least 1e-12 elsewhere; infinite where it is no number.
double cell_difference(std::span<const float> a, std::span<const float> b);

struct FirstCell {
  int step = 0;
  TwinCell cell;
};

/// Losses part where they differ by more than so many spreads; `spread` has one for each step.
struct LossLimit {
  std::span<const double> spread;
  double spreads = 1;
};

/// How the second run differs, cell by cell; kept where it is asked for.
struct TwinPicture {
  std::array<std::array<std::vector<float>, twin_layers>, twin_tensor_count> differences;  ///< by step
  std::array<std::array<std::vector<float>, twin_layers>, twin_tensor_count> norms;        ///< the second run's
};

struct TwinSecond {
  std::vector<double> losses;        ///< one a step, the batch's; shorter where the run ended
  std::vector<TwinHashes> hashes;    ///< one set for each step that was run
  std::optional<FirstCell> first;    ///< the first cell of which a bit differs
  std::optional<FirstCell> by_norm;  ///< the first weight or gradient whose norm differs by more than 1 %
  std::optional<int> parts_step;     ///< the first step at which the losses differ by more than the limit
  std::optional<FlippedValue> flipped;
  bool stopped = false;       ///< ECC found what it could not correct, and the run ended before the step
  bool not_a_number = false;  ///< the loss was no number, and the run ended with that step
  int layers_next = 0;        ///< layers whose weights differ after the step behind the first difference
  int loudest_layer = -1;     ///< largest difference of weights where the losses part, else at the end
  double apart_first = 0,
         apart_end = 0;  ///< |b - a| / |a| over all weights, after the first step that differs and at the end
  std::array<int, twin_layers> layer_step;  ///< the first step after which a layer's weights differ; -1: none
  std::array<double, twin_layers> layer_first{}, layer_end{};  ///< |b - a| / |a| of its weights, then and at the end
  TwinPicture picture;
};

/// The fault's part in step `step`. `stale` must outlive the step.
StepFault step_fault(const TwinFault& fault, int step, const TwinParameters* stale);

/// Runs the second training up to `steps` steps beside the healthy one; losses part where they differ by more than
/// `limit` says. Before the fault both are one computation, which is not repeated unless the fault is none.
TwinSecond run_second(const TwinHealthy& healthy, const TwinFault& fault, int steps, const LossLimit& limit,
                      bool picture, const std::atomic<bool>* cancelled = nullptr);

}  // namespace models::debugging
