#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "models/compression/batch_study.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A network trained for real with one batch and with the same batch in pieces, and how large a batch should be.
namespace chapters::training::batch {

enum class Target : std::uint8_t { easy, hard };

struct Inputs {
  std::int64_t batch = 64, micro_batches = 8, steps = 60, warm_up = 0, seed = 1;
  models::AccumulationRule rule = models::AccumulationRule::by_count;
  bool uneven = false;
  double rate = 0.3, momentum = 0;
  Target target = Target::hard;
  bool operator==(const Inputs&) const = default;
};

/// A batch that was trained to the target.
struct CostRow {
  std::int64_t batch = 1;
  double steps = 0, examples = 0, rate = 0;
  /// What two rules would make of the best rate of the smallest batch: in proportion to the batch, and to its root.
  double linear_rate = 0, root_rate = 0;
};

struct Outputs {
  double weights_apart = 0, largest_gap = 0;  ///< weights_apart in percent of the weights' length
  double loss_whole = 0, loss_pieces = 0, memory_share = 100, passes = 1;
  bool diverged = false;
  double critical_batch = 0, noise_early = 0, noise_late = 0, steps_min = 0, examples_min = 0;
  double critical_steps = 0, critical_examples = 0;
  double steps_here = 0, examples_here = 0, steps_over = 1, examples_over = 1;
  double target_nats = 0, held_out_loss = 0, examples_read = 0;
  double target_step = std::nan("");  ///< where the run in pieces reaches the target; NaN: it does not
  std::vector<CostRow> costs;
  std::string reason;
};

struct Run {
  models::BatchPair pair;  ///< trained with the batch at once, and in micro-batches
};

/// Distances of weights up to this, in percent, are called rounding: FP32 rounds to 6e-6 %, and steps repeat it.
inline constexpr double rounding_percent = 0.01;
/// Ends of the axis of distances.
inline constexpr double min_apart_percent = 1e-7, max_apart_percent = 1e3;

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<widgets::Curve> losses;  ///< loss by step: at once, and in pieces
  std::vector<widgets::Curve> apart;   ///< distance of the weights by step, over the band of rounding
  bool same = false;                   ///< they are equal to the last bit
  std::string apart_words;             ///< at the end of that line
  std::vector<widgets::Curve> own;     ///< this run among the batches trained: examples over steps, and its end
  std::string examples_price, price;   ///< over the fewest, at the batch that is set
  widgets::Curve fit;                  ///< the fitted trade
  widgets::Curve tried;                ///< the batches that were trained
  /// Batches that may be set, from `first_batch` on: the entry is the fewest updates that still round to this batch.
  std::vector<double> least_steps_of_batch;
  std::int64_t first_batch = 4;
  /// The batch that takes `steps` updates to the target.
  std::int64_t batch_of(double steps) const;
  double most_loss = 1;
  double least_examples = 1;  ///< lower end of the axis of examples
};

struct View {
  widgets::PlotView losses, apart, trade;
  DescribedTable<CostRow> costs;
};

/// What depends on seed and target alone is kept, for all copies of the lab: the search, which trains a dozen networks,
/// and the digits, whose drawing takes as long as a training on them.
struct Searches {
  Memo<std::int64_t, models::BatchTask, 8> tasks;  ///< by seed
  Memo<std::pair<std::int64_t, Target>, models::CriticalBatch> found;
};

/// The trade of McCandlish et al. 2018, equation 2.11: what a batch takes to the target, over the fewest updates and
/// over the fewest examples.
double steps_over(double critical_batch, double batch);
double examples_over(double critical_batch, double batch);

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Searches& searches);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, CostRow& row);

}  // namespace chapters::training::batch
