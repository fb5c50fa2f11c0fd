#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/described/training_memory.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/training/step_switches.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/step_bites.h"
#include "widgets/charts/vessel.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// One training step with nine switches: what each saves now, and what it would save if it were the first.
namespace chapters::training::dashboard {

using models::step_switch_count;
using models::StepSwitch;

/// In which order those that are on were pressed.
enum class Order : std::uint8_t { listed, steepest, reversed };
inline constexpr std::size_t order_count = 3;

enum class FoundFormat : std::uint8_t { tf32, fp32 };
inline constexpr std::size_t found_format_count = 2;

struct Inputs {
  std::array<bool, step_switch_count> on{true, true};
  Order order = Order::listed;
  std::string model = "llama-3.2-1b", chip = "h100_sxm";
  std::int64_t batch = 4, sequence = 2048, micro_batches = 2;
  models::memory::LossKind loss = models::memory::LossKind::parallel;
  FoundFormat found_format = FoundFormat::tf32;
  bool by_hand = true;
  double roof_share = 0.7;
  std::int64_t found_workers = 2, workers = 8;
  double load_s = 0.3;
  std::int64_t cores = 16;
  std::int64_t ranks = 8, buckets = 8;
  double bus_bytes_per_s = 367e9, hop_latency_s = 1e-6;
  double launch_s = 8e-6, launch_latency_s = 4e-6;
  std::int64_t sync_every = 0;
  double log_s = 13.5e-3;
  double gpu_hour_usd = 3, run_tokens = 1e12;
  std::array<double, 4> claimed{1.4, 1.7, 1.15, 1.12};  ///< the first four switches, one after the other
  bool operator==(const Inputs&) const = default;
};

/// What a step's time is made of: kernels, then why the GPU waits.
enum class Part : std::uint8_t {
  products,
  attention,
  elementwise,
  casts,
  again,
  optimizer,
  communication,
  loader,
  launches,
  host
};
inline constexpr std::size_t part_count = 10;
inline constexpr std::array<std::string_view, part_count> part_names{
    "matmuls",   "attention",         "norms, loss, the rest", "FP8 casts",       "recomputed layers",
    "optimizer", "waits: all-reduce", "waits: the loader",     "waits: launches", "waits: copy or sync"};
using Parts = std::array<double, part_count>;
/// Differences below this share of the step are called none.
inline constexpr double slight = 5e-4;

/// A step that was simulated to its steady state, with the memory that it needs.
struct PressedStep {
  models::SwitchedStep step;
  models::StepMeans mean;
  models::memory::HeldBytes held;
  Parts parts{};
  std::string why_not;  ///< not empty: it cannot be, and this sentence says why
  double step_s() const { return mean.period_s; }
  /// What the step is as long as it is for: the loader where its workers are too slow for the GPU, which then waits for
  /// every saving elsewhere; else the largest part.
  Part bottleneck() const;
  /// Share of the step that the bottleneck takes, %: that part, or the loader's time for a batch.
  double bottleneck_share() const;
  /// A batch takes the loader so long; 0 where it takes no time.
  double floor_s() const;
};

/// One switch.
struct SwitchRow {
  std::string name, why_not;
  bool on = false, possible = true;
  double change_s = 0, first_s = 0, memory_bytes = 0;  ///< after those that are on before it; NaN: not possible
  double speedup = 1, claimed = 0;                     ///< claimed: 0 where the study has none
  Parts before{}, after{};
};
/// The step after one more switch, in the order chosen.
struct StageRow {
  std::string name, bottleneck;
  double step_s = 0, peak_bytes = 0, cost_usd = 0, share = 0;
  bool fits = true;
  Parts parts{};
};
/// The study's table next to this step's.
struct StudyRow {
  std::string name;
  double claimed = 1, computed = 1, claimed_product = 1, computed_product = 1, claimed_usd = 0, computed_usd = 0;
};

struct Outputs {
  std::string reason;
  PressedStep found, now;
  double speedup = 1, cost_usd = 0, found_cost_usd = 0, peak_bytes = 0, found_peak_bytes = 0, chip_bytes = 0,
         free_bytes = 0;
  bool fits = true;
  std::string bottleneck, found_bottleneck, next, last;
  double bottleneck_share = 0, floor_s = 0, waits_s = 0, kernels_s = 0, tokens_per_s = 0, mfu = 0;
  double next_s = 0, next_bytes = 0, last_s = 0, last_first_s = 0;
  double product_of_alone = 1, claimed_product = 1, claimed_usd = 0;  ///< the switches that are on, together
  double again_share = 0;                                             ///< its part of the kernels' own time, %
  std::array<double, step_switch_count> change_s{}, first_s{}, memory_bytes{}, gain{};  ///< as in `switches`
  std::vector<SwitchRow> switches;
  std::vector<StageRow> stages;
  std::vector<StudyRow> study;
};

/// A step with another number of the loader's workers, s.
struct WorkersPoint {
  std::int64_t workers = 1;
  double found_s = 0, now_s = 0;  ///< with the loader alone, and with the switches that are on
  double floor_s = 0;             ///< what the loader needs for a batch
};
struct Run {
  std::vector<WorkersPoint> by_workers;
};

/// What a row of the hero says.
struct RowWords {
  std::array<std::string, widgets::bite_columns> figures;
  std::string note, info;
  std::string memory;           ///< what it does to the peak, over the vessel
  double other_peak_bytes = 0;  ///< with the switch the other way
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::array<RowWords, step_switch_count> rows;
  std::ptrdiff_t lit = -1;  ///< the switch that is worth pressing next
  std::array<std::string_view, widgets::bite_columns> titles;
  std::string found_total, now_total, now_note, floor_note, since_found;
  std::vector<widgets::Curve> by_workers;  ///< a step over the loader's workers
  PublishedMarks published;
  std::string trace_link;  ///< this step in profiling/step-trace; empty where that lab cannot have it
};

struct View {
  Requests requests;
  widgets::BiteView bites;
  widgets::VesselView vessel;
  widgets::StackedBarView bars;
  DescribedTable<StageRow> stages;
  DescribedTable<StudyRow> study;
  widgets::PlotView plot;
  std::vector<widgets::VesselLayer> layers, found_layers;
  std::vector<widgets::BiteRow> rows;
  std::array<widgets::BitePart, part_count> looks;
  std::vector<std::array<widgets::BarSegment, part_count>> segments;
  std::vector<widgets::StackedBar> drawn;
};

/// What a part is drawn with.
struct PartLook {
  widgets::Tint tint{};
  bool wait = false;  ///< the GPU does nothing in it
};
const PartLook& part_look(std::size_t part);
std::string_view switch_name(std::size_t i);

/// The job that the Inputs name. Fails with a sentence.
models::Result<models::SwitchedJob> read_job(const Inputs& in);
models::SwitchSet pressed(const Inputs& in);
/// Simulates the job with these switches; `why_not` where it cannot be.
PressedStep press(const models::SwitchedJob& job, models::SwitchSet on);

/// The link that opens profiling/step-trace with this step as changed, and with the loader, optimizer and overlap as
/// found. Empty where that lab has no such step: layers that are recomputed, micro-batches, times out of its ranges.
std::string step_trace_link(const Inputs& in, const Outputs& out);

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, StageRow& row);
void describe(Fields& f, StudyRow& row);

}  // namespace chapters::training::dashboard
