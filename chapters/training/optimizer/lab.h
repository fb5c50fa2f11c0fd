#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "models/training/optimizer_traffic.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/controls/playback.h"

/// The bytes of one parameter during an optimizer step, pass by pass, and what they cost.
namespace chapters::training::optimizer {

/// Defaults: AdamW as eight operations with master weights, Llama 3 8B sharded over eight H100.
struct Inputs {
  models::OptimizerKind kind = models::OptimizerKind::adamw;
  models::UpdateCode code = models::UpdateCode::looped;
  models::OptimizerRecipe recipe = models::OptimizerRecipe::master;
  std::string model = "llama-3-8b", chip = "h100_sxm";
  std::int64_t shards = 8;
  double tokens = 16384, roof_share = 0.7, matrix_share = 0.4, launch_s = 6e-6;
  bool operator==(const Inputs&) const = default;
};

/// One optimizer written in one way, for the same model on the same chip.
struct ChoiceRow {
  std::string optimizer, code, home;  ///< home: where such code is found
  double traffic_bytes = 0, state_bytes = 0, time_s = 0, launches = 0, step_share = 0;  ///< step_share in percent
};

struct Outputs {
  models::OptimizerTime time, fused_time;
  double matrix_bytes = 0, vector_bytes = 0;  ///< Muon's traffic of a parameter in a hidden matrix, and in the rest
  double product_share = 0;                   ///< Muon's products over the FLOPs of forward and backward, percent
  double product_time_share = 0;              ///< time of Muon's products in the time of the optimizer, percent
  double passes_count = 0, read_bytes = 0, write_bytes = 0, traffic_bytes = 0, fused_bytes = 0;  ///< a parameter
  double traffic_ratio = 1, speedup = 1, over_adamw = 1;
  double state_bytes = 0, stored_bytes = 0, temporary_bytes = 0;  ///< a parameter
  double chip_state_bytes = 0, chip_temporary_bytes = 0;          ///< on this chip, of all its parameters
  double parameters = 0, tensors = 0;
  double forward_backward_s = 0, step_s = 0, step_share = 0, step_speedup = 1;
  double launch_wait_s = 0;  ///< time of kernels that are shorter than a launch
  double intensity = 0, ridge = 0;
  std::vector<ChoiceRow> choices;
  std::string reason;
};

/// An optimizer written in one way: its passes, and how long each takes on this chip.
struct CodeRun {
  models::OptimizerKind kind{};
  models::UpdateCode code{};
  std::vector<models::OptimizerPass> passes;
  models::TimedOptimizer time;
  double temporary_bytes = 0;  ///< a parameter, at the peak of the step
};
/// The optimizer that is chosen and one to compare it with. The longer way is `upper`: the one of several operations,
/// or what 8-bit AdamW compares with; the fused one is `lower`.
struct Run {
  CodeRun upper, lower;
  bool chosen_lower = false;  ///< the lower one is what is chosen
};

/// A pass as a column: where it begins, in bytes a parameter from the lane's beginning. Muon's five rounds of three
/// products are three columns, each of them passed five times.
struct PassColumn {
  double from = 0;
  std::string name, figure;  ///< figure: "12 in, 4 out"
  int times = 1;
  std::vector<models::OptimizerAccess> reads, writes;
  double bytes = 0;
};
struct PassLane {
  std::string head, more;
  std::vector<PassColumn> columns;
  std::vector<models::OptimizerPassTime> times;  ///< each pass on this chip, rounds apart
  double bytes = 0;                              ///< the columns together, a round that is repeated once
  double all_bytes = 0, time_s = 0;
  /// Bytes a parameter that have gone both ways when the columns up to `at` are passed.
  double travelled(double at) const;
  bool chosen = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  PassLane upper, lower;      ///< the longer way above: as operations, or what 8 bits compare with; fused below
  bool chosen_lower = false;  ///< the lower lane is what is chosen
  double axis_bytes = 1, axis_s = 1;
};

void describe(Fields& f, ChoiceRow& r);

struct View {
  double at = 1e9;  ///< bytes a parameter that have travelled
  widgets::Playback playback{.time_s = 1e9};
  DescribedTable<ChoiceRow> choices;
  widgets::StackedBarView bars;
  std::vector<widgets::StackedBar> rows;
  std::vector<std::array<widgets::BarSegment, 2>> segments;
};

Computed<Outputs, Run> compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// Both lanes between chip and HBM in `size` px from the cursor.
void draw_passes(const Picture& picture, double travelled, ImVec2 size);

const Choices& kind_choices();
const Choices& code_choices();

}  // namespace chapters::training::optimizer
