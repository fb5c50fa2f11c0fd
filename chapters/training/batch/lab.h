#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "models/compression/batch_study.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

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
};

struct Outputs {
  models::BatchRun whole, pieces;  ///< the batch at once, and in micro-batches
  std::shared_ptr<const models::CriticalBatch> search;
  double weights_apart = 0, largest_gap = 0;  ///< weights_apart in percent of the weights' length
  double loss_whole = 0, loss_pieces = 0, memory_share = 100, passes = 1;
  bool diverged = false;
  double critical_batch = 0, noise_early = 0, noise_late = 0, steps_min = 0, examples_min = 0;
  double steps_here = 0, examples_here = 0, steps_over = 1, examples_over = 1;
  std::vector<CostRow> costs;
  std::string reason;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer, whole_name, pieces_name;
  std::vector<double> step, whole, pieces;          ///< loss by step
  std::vector<double> fit_steps, fit_examples;      ///< the fitted trade
  std::vector<double> tried_steps, tried_examples;  ///< what was measured
  std::vector<std::string> tried_names;
  std::vector<std::string_view> tried_labels;  ///< of `tried_names`
  double most_loss = 1;
};

struct View {
  widgets::PlotView losses, trade;
  widgets::TableView costs;
};

/// The search trains a dozen networks and depends on seed and target alone: what it found is kept, for all copies of
/// the lab.
using Searches = Memo<std::pair<std::int64_t, Target>, models::CriticalBatch>;

Outputs compute(const Inputs& in, Progress& progress, Searches& searches);
Picture arrange(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::training::batch
