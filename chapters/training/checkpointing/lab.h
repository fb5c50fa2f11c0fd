#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/described/training_memory.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/memory/checkpoint_plan.h"
#include "widgets/charts/pillars.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Which layers keep their activations: memory against time, and the best choice for every budget.
namespace chapters::training::checkpointing {

enum class Plan : std::uint8_t { best, none, every_layer, pieces, square_root, first, selective, drawn };
inline constexpr std::size_t plan_count = 8;

struct Inputs {
  Plan plan = Plan::best;
  std::int64_t piece = 4, again = 8, dropped = 0;
  double budget_bytes = 0;
  std::string letters;
  std::string model = "llama-3-8b", chip = "h100_sxm";
  std::int64_t batch = 4, sequence = 4096, tensor_parallel = 1;
  bool sequence_parallel = false, fused_attention = true, dropout = false;
  models::memory::StateRecipe recipe = models::memory::StateRecipe::no_master;
  models::memory::OptimizerKind optimizer = models::memory::OptimizerKind::adamw_8bit;
  models::memory::LossKind loss = models::memory::LossKind::fused;
  double roof_share = 0.7;
  bool operator==(const Inputs&) const = default;
};

/// A plan that people use, next to the best of the same time or peak.
struct PlanRow {
  std::string name;
  double peak_bytes = 0, again_share = 0, recomputed = 0;
  bool fits = false;
  double best_bytes = 0;  ///< smallest peak of any plan that is no slower
};

struct DropRow {
  std::string operation, by;
  double bytes = 0, time_s = 0, bytes_per_s = 0;
};

struct Outputs {
  std::string reason;
  models::memory::CheckpointCost cost;
  double peak_bytes = 0, chip_bytes = 0, free_bytes = 0, budget = 0;
  bool fits = false;
  double again_share = 0, again_s = 0, step_s = 0, recomputed = 0, layers = 0;
  double kept_peak_bytes = 0, saved_bytes = 0,
         saved_per_s = 0;  ///< with every layer kept; bytes per second of recomputing
  double every_layer_bytes = 0, every_layer_share = 0, square_root_bytes = 0, smallest_bytes = 0, smallest_share = 0;
  double best_share = 0, best_recomputed = 0;    ///< the fastest plan within the budget; NaN where none is
  double excess_bytes = 0, best_same_bytes = 0;  ///< over the best plan that is no slower, and its peak
  double layer_bytes = 0, checkpoint_bytes = 0, layer_over_checkpoint = 0, best_piece = 0;
  std::vector<PlanRow> plans;
  std::vector<DropRow> drops;
};

struct Setting : TrainedOn {
  models::memory::CheckpointSetting costs;
  std::vector<models::memory::FrontierPoint> frontier;
  std::vector<models::memory::LayerKeep> plan;
  double budget = 0;
};

struct Run {
  Setting setting;
  bool exact = true;  ///< no plan at all beats the frontier
  /// Peaks of pieces of 1, 2, 3 ... layers; and of Chen's chain of the same length, whose layers keep nothing but one
  /// tensor as large as all that a layer keeps here.
  std::vector<double> piece_bytes, chain_bytes;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::string budget_words;  ///< at the budget's line
  std::vector<widgets::Pillar> pillars;
  std::string letters, full_words, low_words, count_words;
  double low_share = 0;
  widgets::Curve frontier;               ///< peak over the time for recomputing
  std::vector<widgets::Curve> by_piece;  ///< peak over the layers of a piece: of this model, and of Chen's chain
  widgets::Curve used;                   ///< the plans that people use
  double own_share = 0;
  PublishedMarks published;
};

struct View {
  widgets::PillarView pillars;
  widgets::PlotView frontier, pieces;
  DescribedTable<PlanRow> plans;
  DescribedTable<DropRow> drops;
};

Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, PlanRow& row);
void describe(Fields& fields, DropRow& row);

}  // namespace chapters::training::checkpointing
