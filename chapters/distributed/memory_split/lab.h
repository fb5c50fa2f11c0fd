#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/described/training_memory.h"
#include "chapters/distributed/memory_split/layout_split.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/parallel/memory_split/memory_split.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// What lies on each GPU when a model's training step is split over many, what is whole for a while, and whether it
/// fits.
namespace chapters::distributed::memory_split {

/// Whether the axes that cut the model are in force beside data parallelism.
enum class Cuts : std::uint8_t { as_set, data_alone };

struct Inputs {
  std::string model = "llama-3-8b", chip = "h100_sxm";
  Cuts cuts = Cuts::as_set;
  std::int64_t data_parallel = 4, zero_stage = 3, tensor_parallel = 1, pipeline_parallel = 1, virtual_pipeline = 1,
               context_parallel = 1, expert_parallel = 1;
  bool sequence_parallel = true;
  models::memory::Offload offload = models::memory::Offload::none;
  bool host_activations = false;  ///< what layers keep waits in the host's memory
  std::int64_t batch = 1, sequence = 8192, micro_batches = 4;
  models::Recompute recompute = models::Recompute::none;
  models::memory::LossKind loss = models::memory::LossKind::parallel;
  double weight_bytes = 2, gradient_bytes = 2, optimizer_bytes = 12, parameters = 0;
  std::int64_t gather_ahead = 1;
  bool whole_in_pipeline = false, reshard = true, eager_gate = false, fused_gradients = false, fused_attention = true,
       dropout = false;
  PlanDetails details;
  double slack = 0;  ///< %
  double reduce_bytes = 0, bucket_bytes = models::memory::ddp_bucket_bytes, fixed_bytes = 1e9;
  bool operator==(const Inputs&) const = default;
};

/// The plan after one axis more, as a row.
struct CutRow {
  std::string axis;
  double peak_bytes = 0, saved_bytes = 0;
  bool fits = false;
};
/// One stage of the pipeline.
struct StageRow {
  std::int64_t stage = 0;
  double states_bytes = 0, activations_bytes = 0, whole_bytes = 0, peak_bytes = 0, layers_held = 0;
};

/// What another calculator says of the same plan.
struct CalculatorRow {
  std::string name, leaves_out;
  double bytes = 0;  ///< NaN: it does not know such a plan
};

struct Outputs {
  std::string reason;
  models::memory::TrainingMemory memory;        ///< what the stage that holds most has on a GPU
  double optimizer_bytes = 0, total_bytes = 0;  ///< states on a GPU: master weights and moments; all of them
  double peak_bytes = 0, chip_bytes = 0, free_bytes = 0, alone_bytes = 0, saved_times = 1, states_times = 1;
  bool fits = false;
  std::int64_t gpus = 1;
  double work_bytes = 0;  ///< activations and logits at the peak
  double whole_bytes = 0, largest_unit_bytes = 0, layer_unit_bytes = 0, host_bytes = 0, cluster_bytes = 0;
  double traffic = 0, traffic_bytes = 0;
  std::string fullest_moment;
  std::vector<CutRow> cuts;
  std::vector<StageRow> stages;
  std::vector<CalculatorRow> calculators;
};

struct Run {
  models::parallel::MemorySplit split;
  // The stage that holds most, unit by unit:
  std::vector<models::memory::GatherUnit> units;
  std::vector<models::memory::StepMoment> moments;
  bool tied = false;             ///< embedding and output are one unit
  bool gathers = false;          ///< units are shards, or in the host's memory, until they are needed
  std::vector<double> replicas;  ///< 1, 2, 4, ...
  /// Peak of that stage with so many replicas, by stage of ZeRO; NaN where there is no such plan.
  std::array<std::vector<double>, 4> peak_by_zero;
};

/// Words of one vessel.
struct VesselWords {
  std::string label, sub;
  bool fullest = false;  ///< its GPU is of the stage that holds most
};
/// Units of the strip that stand out at a moment: the one at work, those that are whole, and those gathered ahead.
struct MomentUnits {
  std::size_t unit = 0;
  std::size_t whole_first = 0, whole_end = 0, ahead_first = 0, ahead_end = 0;  ///< the last one is before `end`
  bool gathers = false;
  bool is_whole(std::size_t i) const { return i >= whole_first && i < whole_end; }
  bool is_ahead(std::size_t i) const { return i >= ahead_first && i < ahead_end; }
};
/// A layer of the vessels: whose bytes, and how many parts it has.
struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<VesselWords> vessels;
  std::vector<std::vector<SplitStack>> stacks;  ///< [axis applied][vessel] at its fullest
  std::vector<std::vector<std::array<models::parallel::OwnerPart, split_layer_count>>> parts;  ///< the same
  std::vector<std::string> step_names, step_totals;
  SplitStack ghost{};  ///< every GPU with the whole model
  std::string ghost_total, ghost_words, rim_words, strip_title, strip_words, strip_rest;
  std::vector<SplitStack> moment_stacks;  ///< the fullest stage at each moment
  std::vector<std::string> moment_words;
  std::vector<MomentUnits> moment_units;
  std::vector<std::int64_t> backward_of_unit;  ///< the first moment of a unit's backward pass; -1: none
  std::vector<std::string> unit_names;
  std::vector<double> unit_ends;  ///< parameters up to the end of each unit
  std::int64_t shards = 1;        ///< parts that each unit is cut into
  std::size_t fullest_moment = 0;
  std::vector<double> moment_at;
  std::vector<std::vector<double>> moment_values;  ///< [layer of the stack][moment]
  std::vector<widgets::Curve> replicas;            ///< peak against replicas, of each stage of ZeRO
  std::vector<CalculatorRow> calculators;          ///< where one knows no such plan, its words say so
  bool hosted = false;                             ///< shards of the weights lie in the host's memory
  PublishedMarks published;
};

struct View {
  std::int64_t moment = -1;  ///< shown instead of the fullest; -1: the fullest
  std::int64_t step = -1;    ///< axes applied up to this one; -1: all
  double dealt = 1;          ///< how far the last of them has cut: 0 before it, 1 when only a GPU's own part is left
  bool playing = false;      ///< `moment` moves by the clock, from the first forward pass to the last backward pass
  double play_at = 0;        ///< moments
  bool dealing = false;      ///< `dealt` moves by the clock
  std::uint64_t seen = 0;    ///< version of the picture that was drawn last
  SplitLayout layout;
  std::vector<SplitStack> shown;
  widgets::StackedBarView cuts;
  widgets::PlotView over_step, replicas;
  DescribedTable<StageRow> stages;
  DescribedTable<CalculatorRow> calculators;
  std::vector<std::vector<widgets::BarSegment>> segments;
  std::vector<widgets::StackedBar> bars;
  std::vector<double> stacked;
};

/// The model and plan that the Inputs name. Fails with a sentence.
models::Result<TrainingCase> read_setting(const Inputs& in);
/// The Inputs with every cut of the model at 1 where data parallelism is alone.
Inputs in_force(const Inputs& in);

/// A stack's layers by index: name, hue and what they are; the whole units of ZeRO-3 are apart from the other buffers.
struct LayerLook {
  std::string_view name;
  widgets::Tint tint{};
  bool pale = false, passing = false;
  std::string_view info;
};
const LayerLook& layer_look(std::size_t layer);
SplitStack stack_of(const models::memory::HeldBytes& held, const models::memory::WholeUnits& whole);

/// Other calculators on the same plan, this lab first.
std::vector<CalculatorRow> calculators_of(const Inputs& in, const TrainingCase& setting, const Outputs& out);

/// `facts_alone`: without what only the picture shows, the moments of the step and the peaks against replicas.
/// `schedules` are kept for all copies of the lab.
Computed<Outputs, Run> compute(const Inputs& inputs, models::parallel::KeptSchedules& schedules,
                               bool facts_alone = false);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
void draw_vessels(Inputs& inputs, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The row of stages and axes that are switched on the picture. Returns its height.
float draw_switches(Inputs& in, ImVec2 at, float width);
/// The row of axes that are applied one after the other; a press shows the vessels as they are then.
void draw_steps(const Outputs& out, const Picture& picture, View& view, ImVec2 at, float width);
/// The units of the fullest stage and which of them are whole; a drag over it moves View::moment.
void draw_units(const Picture& picture, View& view, ImVec2 size);

void describe(Fields& fields, StageRow& row);
void describe(Fields& fields, CalculatorRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::distributed::memory_split
