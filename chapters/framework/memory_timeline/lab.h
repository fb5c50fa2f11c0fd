#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/described/training_memory.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/memory/largest_tensors.h"
#include "models/memory/memory_trend.h"
#include "models/memory/recorded_curve.h"
#include "models/memory/step_timeline.h"
#include "widgets/charts/pillars.h"
#include "widgets/charts/vessel.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// The memory of a training step over time, operation by operation, and the layers that run again.
namespace chapters::framework::memory_timeline {

/// Which layers run again in the backward pass.
enum class Which : std::uint8_t { none, selective, every_layer, pieces, square_root, first, drawn };
inline constexpr std::size_t which_count = 7;

struct Inputs {
  Which which = Which::first;
  std::int64_t again = 8, piece = 4;
  std::string letters;
  models::memory::LossKind loss = models::memory::LossKind::eager;
  std::string model = "llama-3-8b", chip = "h100_sxm";
  std::int64_t batch = 2, sequence = 4096, micro_batches = 1, steps = 1, tensor_parallel = 1;
  models::memory::StateRecipe recipe = models::memory::StateRecipe::no_master;
  models::memory::OptimizerKind optimizer = models::memory::OptimizerKind::adamw_8bit;
  models::memory::OptimizerLoop loop = models::memory::OptimizerLoop::fused;
  bool sequence_parallel = true, fused_attention = true, first_step = false, keep_gradients = false,
       keep_outputs = false;
  double roof_share = 0.7;
  FileInput file;
  bool operator==(const Inputs&) const = default;
};

/// What is recorded and what the model says of it.
struct Recording {
  std::string kind, note;
  double peak_bytes = 0, first_bytes = 0, span_s = 0, events = 0;
  double residual = 0;  ///< %, of the recorded peak
};

/// A phase of the step, whatever layers it runs through.
struct PhaseRow {
  std::string name;
  std::int64_t step = 1, micro_batch = 1;  ///< from 1
  double begin_s = 0, takes_s = 0, fullest_bytes = 0;
};

/// Tensors of one kind that stand in memory at the peak.
struct PeakTensor {
  std::string name, owner;
  double each_bytes = 0, count = 0, total_bytes = 0;
};

struct Outputs {
  std::string reason;
  models::memory::HeldBytes held;  ///< at the peak
  double peak_bytes = 0, chip_bytes = 0, free_bytes = 0, step_s = 0, loss_spike_bytes = 0;
  bool fits = false;
  std::string peak_phase, peak_operation;
  double peak_s = 0, peak_lasts_s = 0, loss_s = 0;
  double end_of_forward_bytes = 0, loss_peak_bytes = 0, rest_bytes = 0;
  double again_s = 0, again_share = 0, layers_again = 0;
  double before_peak_bytes = 0, saved_bytes = 0;  ///< with every layer kept
  models::memory::TrendFacts trend;               ///< what the steps in a row do
  std::string trend_name, trend_owner;
  double micro_growth_bytes = 0;  ///< the last micro-batch over the first
  double scores_bytes = 0;        ///< what the peak would fall by, were the scores not kept
  double layers_needed = 0;       ///< first layers that must run again to fit; NaN: not even all
  Recording recording;
  std::vector<PhaseRow> phases;
  std::vector<PeakTensor> tensors;  ///< at the peak, largest first
};

/// The steps as simulated, and what the picture shows of them beyond the facts.
struct Run {
  models::memory::StepTimeline timeline;
  models::memory::StepTimeline all_kept;          ///< the same steps with every layer kept; empty where none runs again
  std::vector<models::memory::LayerKeep> layers;  ///< the plan as it is
  std::vector<models::memory::LayerCost> costs;   ///< one a layer
  std::vector<models::memory::StepSpan> phases;   ///< neighbours of one phase joined, in the order of Outputs::phases
  std::shared_ptr<const models::memory::RecordedCurve> recorded;  ///< null: no file is chosen
};

/// From the ground up in the order in which they come and go: what stays at the bottom.
inline constexpr std::array<models::memory::MemoryOwner, models::memory::memory_owner_count> stack_order{
    models::memory::MemoryOwner::weights,   models::memory::MemoryOwner::master,
    models::memory::MemoryOwner::optimizer, models::memory::MemoryOwner::buffers,
    models::memory::MemoryOwner::gradients, models::memory::MemoryOwner::activations,
    models::memory::MemoryOwner::logits,    models::memory::MemoryOwner::temporary,
    models::memory::MemoryOwner::slack};

/// The curve as points of a stacked plot.
struct Curve {
  std::vector<double> time_s;
  std::vector<models::memory::MemoryOwner> shown;  ///< those that ever hold anything, bottom first
  std::vector<double> owners;                      ///< for each of them time_s.size() values
  std::vector<double> total;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  Curve curve, loss;         ///< loss: its first time, every point
  std::string before_label;  ///< Names the curve with every layer kept; empty where none is recomputed.
  std::vector<widgets::Pillar> pillars;
  std::string lens_left, lens_right;
  bool lens = false;          ///< the peak is the one loss there is: it stands under a lens
  bool kept_outputs = false;  ///< then the buffers are outputs that the program keeps
  std::string full_words, low_words, mark_words, tensor_words, count_words, peak_bold, peak_words, recorded_words;
  double low_share = 0;
  std::ptrdiff_t mark = -1;
  std::string letters;                 ///< what becomes of each layer, as a plan by hand says it
  std::vector<widgets::Curve> beside;  ///< the recording and the model, where there is a recording
  std::shared_ptr<const Run> run;
  PublishedMarks published;
};

struct View {
  widgets::PlotView plot, beside, loss;
  widgets::PillarView pillars;
  widgets::VesselView vessel;
  std::vector<widgets::VesselLayer> layers;
  DescribedTable<PhaseRow> phases;
  DescribedTable<PeakTensor> tensors;
  Curve sampled;          ///< what the plot can show, kept while `sampled_of` and the plot's size are the same
  widgets::Curve before;  ///< the same with every layer kept
  std::uint64_t sampled_of = 0;
  std::size_t columns = 0;
  double tolerance_bytes = 0;  ///< half a pixel
  widgets::Line runs;          ///< what runs at the cursor
  double time_s = -1;          ///< where the cursor stands; below 0: at the peak
};

/// Where the parts of the step's panel stand; an empty one has no room.
struct StepPlaces {
  widgets::Rect mountain, vessel, pillars;
};
/// While a question is open: the nameplate over an empty ground and as the rim of an empty vessel, and the layers.
void draw_given_step(const Outputs& out, const Picture& picture, const StepPlaces& places);

/// The step over time, with the peak and the cursor. `right`: how far the phases' names may reach.
void draw_mountain(const Outputs& out, const Picture& picture, View& view, ImVec2 size, float right);
/// What is held at the cursor, as a stack in the scale of the mountain beside it.
void draw_cursor_stack(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The loss alone, operation by operation.
void draw_loss(const Outputs& out, const Picture& picture, View& view, ImVec2 size);

struct Setting : TrainedOn {
  models::memory::TimelineSetting timeline;
};
models::Result<Setting> read_setting(const Inputs& in);

/// What a plot of `columns` columns can show: of each column the fullest point, and of these only as many that no
/// owner's edge moves by more than `tolerance_bytes`.
void sample_curve(const models::memory::StepTimeline& timeline, std::size_t columns, double tolerance_bytes,
                  Curve& out);

using Computed = chapters::Computed<Outputs, Run>;
Computed compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);
void describe(Fields& fields, PhaseRow& row);
void describe(Fields& fields, PeakTensor& row);

}  // namespace chapters::framework::memory_timeline
