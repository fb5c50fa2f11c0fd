#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/described/training_memory.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/memory/training_memory.h"
#include "models/parallel/planner/planner_schedule.h"
#include "widgets/charts/byte_strip.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/vessel.h"
#include "widgets/plot/plot_view.h"

/// The memory of one GPU in a training step, by owner, and what a single change would leave of it.
namespace chapters::framework::training_memory {

/// One change to the plan, everything else as it is.
enum class Change : std::uint8_t {
  best,
  eight_bit,
  no_master,
  eight_bit_no_master,
  adafactor,
  recompute,
  fused_loss,
  half_sequence,
  shard,
  tensor,
  plain,  ///< the step before any measure: mixed AdamW on one GPU, no layer run again
  none
};
inline constexpr std::size_t change_count = 12;

/// Whether the cuts over chips are in force.
enum class Split : std::uint8_t { as_set, one_gpu };

struct Inputs {
  std::string model = "llama-3-8b", chip = "h100_sxm";
  models::memory::StateRecipe recipe = models::memory::StateRecipe::zero;
  models::memory::OptimizerKind optimizer = models::memory::OptimizerKind::adamw;
  Change change = Change::best;
  Split split = Split::as_set;
  std::int64_t batch = 1, sequence = 4096;
  models::Recompute recompute = models::Recompute::selective;
  models::memory::LossKind loss = models::memory::LossKind::eager;
  std::int64_t tensor_parallel = 1, pipeline = 1, virtual_pipeline = 1, stage = 1, data_parallel = 1,
               context_parallel = 1, expert_parallel = 1, zero_stage = 0, micro_batches = 8;
  bool sequence_parallel = false;
  models::memory::ActivationCount count = models::memory::ActivationCount::formula;
  bool fused_attention = true, dropout = true, fused_gradients = true, stand_ins = false;
  PlanDetails details;
  double parameters = 0;
  std::int64_t layers = 0;
  double fixed_bytes = 1e9, slack = 0;
  bool operator==(const Inputs&) const = default;
};

/// What one change leaves.
struct ChangeRow {
  Change change = Change::none;
  std::string name, why_not;  ///< why_not: the sentence where the change cannot be made
  models::memory::HeldBytes held;
  double total_bytes = 0, saved_bytes = 0;
  bool possible = false, fits = false;
};

struct SavedTensorRow {
  std::string operation, keeps;
  double bytes = 0, dropped_bytes = 0, per_sbh = 0;
};

/// One layer of activations by part, in bytes for each token and hidden unit.
struct LayerParts {
  std::string name;
  double attention = 0, feed_forward = 0, norms = 0, scores = 0;
};

struct Outputs {
  std::string reason;
  models::memory::TrainingMemory memory;
  double total_bytes = 0, chip_bytes = 0, free_bytes = 0, chip_share = 0;  ///< free: negative where it does not fit
  bool fits = false;
  double kept_bytes = 0;                                         ///< optimizer and master
  double weights_share = 0, states_bytes = 0, states_share = 0;  ///< shares in %
  double one_micro_batch_bytes = 0;  ///< peak of a step of one micro-batch; NaN where the pipeline needs more
  double stage_layers = 0;
  double left_per_parameter = 0;  ///< bytes of the chip that are left for states, a parameter
  double bytes_per_token = 0, largest_sequence = 0;
  double counts_ratio = 1;  ///< operations over formula
  double layer_sbh = 0;     ///< bytes of a layer over tokens x hidden, as counted
  double scores_bytes = 0;  ///< what a layer's scores take, by the formula
  std::string best_change;
  double best_total_bytes = 0;  ///< NaN where no single change fits
  std::vector<ChangeRow> changes;
  std::vector<SavedTensorRow> saved;    ///< by the most frequent layer, nothing recomputed
  std::vector<LayerParts> layer_parts;  ///< by the formula, and by this model's operations
};

struct RecipeStrip {
  std::string name, note, figure;
  std::array<double, 4> bytes{};  ///< weights, gradients, master, moments
  models::memory::StateRecipe recipe{};
  models::memory::OptimizerKind optimizer{};
  bool is_a = false, is_b = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::string a_label, a_note, b_label, b_note, over_bold, share_bold, limit_words, layer_words;
  std::string_view over_words;
  double limit = 0;  ///< bytes a parameter that a row must end before; 0: states are split, and no row says it
  std::size_t shown_change = 0;  ///< index in Outputs::changes; changes.size(): none
  std::vector<RecipeStrip> recipes;
  std::vector<double> sequences;
  std::array<std::vector<double>, models::memory::memory_owner_count> by_sequence;
  PublishedMarks published;
};

struct View {
  widgets::VesselView vessels;
  widgets::ByteStripView bytes;
  DescribedTable<SavedTensorRow> saved;
  widgets::StackedBarView changes, layer;
  widgets::PlotView sequence;
  std::vector<widgets::VesselLayer> layers_a, layers_b;
  std::vector<std::array<widgets::ByteRun, 4>> runs;
  std::vector<widgets::ByteStripRow> rows;
  std::vector<std::array<widgets::BarSegment, models::memory::memory_owner_count>> segments;
  std::vector<widgets::StackedBar> bars;
  std::vector<double> stacked;
  std::array<std::array<widgets::BarSegment, 4>, 2> parts;
};

/// Orders of passes that were run, kept for all copies of the lab.
using Schedules = models::parallel::KeptSchedules;

/// The model and plan that the Inputs name. Fails with a sentence.
models::Result<TrainingCase> read_setting(const Inputs& in, Schedules& schedules);
/// The Inputs with every cut at 1 where the step is of one GPU.
Inputs in_force(const Inputs& in);
/// Sequences are multiples of this many tokens under the plan's context and tensor parallelism.
std::int64_t sequence_step(const Inputs& in);
/// The Inputs with one change made.
Inputs with_change(const Inputs& in, Change change);
std::string_view change_name(Change change);

Outputs compute(const Inputs& inputs, Schedules& schedules);
Picture arrange(const Inputs& inputs, const Outputs& out, Schedules& schedules);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
void draw_vessel(Inputs& inputs, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void draw_layer_parts(const Inputs& inputs, const Outputs& out, View& view, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, SavedTensorRow& row);

}  // namespace chapters::framework::training_memory
