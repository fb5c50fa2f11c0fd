#pragma once
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/machine/tiling_study.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/tile_grid.h"
#include "widgets/charts/waterfall.h"
#include "widgets/plot/plot_view.h"

/// Between tiling_waves.cpp (described and computed) and tiling_waves_picture.cpp (drawn).
namespace chapters::roofline::tiling_waves {

/// At first: one column more than 4,096. It needs a 17th column of tiles, and the tiles a fifth wave, and the rows lose
/// their alignment.
struct Inputs {
  std::string chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  std::int64_t m = 4096, n = 4097, k = 4096;
  std::int64_t tile_m = 128, tile_n = 256, tile_k = 64;
  std::int64_t tiles_per_unit = 1, units_taken = 0;
  models::Schedule schedule = models::Schedule::data_parallel;
  std::int64_t splits = 4;
  models::AlignmentRule alignment_rule = models::AlignmentRule::preferred;
  double misaligned_rate = 67;
  std::int64_t pad_bytes = 16;
  double l2_bytes_per_clock = 35;
  std::int64_t sweep_to = 8192;
  bool operator==(const Inputs&) const = default;
};

/// One schedule of the same matmul.
struct ScheduleRow {
  std::string name;
  std::int64_t splits = 1, blocks = 0;
  double occupancy = 0, compute_s = 0, memory_s = 0, reduction_s = 0, time_s = 0, speedup = 1;
};

/// A corner of the saw-tooth; shares in percent of the peak.
struct CornerRow {
  std::int64_t n = 0, waves = 0;
  double aligned = 0, misaligned = 0, without_tensor_cores = 0;
};

struct Outputs {
  std::string reason;
  std::int64_t tiles_m = 0, tiles_n = 0, tiles = 0, blocks = 0, waves = 0, slots = 0, last_wave_blocks = 0;
  double efficiency = 0, tile_efficiency = 0, depth_efficiency = 0, wave_efficiency = 0, alignment_efficiency = 0;
  std::int64_t alignment_bytes = 0;
  double effective_flops_per_s = 0, peak_flops_per_s = 0, time_s = 0, compute_s = 0, memory_s = 0, reduction_s = 0,
         reduction_bytes = 0;
  double ideal_s = 0, lost_s = 0;
  std::int64_t free_to_n = 0, one_wave_less_n = 0;
  std::int64_t padded_n = 0;
  double padded_time_s = 0, padding_cost = 0, padding_speedup = 1, padding_speedup_now = 1, padding_speedup_then = 1;
  std::int64_t best_splits = 1;
  double split_k_time_s = 0, stream_k_time_s = 0, best_schedule_speedup = 1;
  std::int64_t best_n = 0;
  double best_share = 0;
  std::vector<ScheduleRow> schedules;
  std::vector<CornerRow> corners;

  // For the picture alone.
  models::TilingInputs setting;
  models::TilingResult result;
  models::TilingLosses losses;
  std::vector<double> saw_n, saw_aligned, saw_preferred, saw_required;  ///< % of the peak
  std::vector<double> near_n, near_now, near_then;
  double saw_top = 105, near_top = 110;  ///< of the axes, %
  double tile_aspect = 1;                ///< of a drawn tile: its own, within what can be seen
  std::vector<models::WaveSpan> spans;
  std::vector<std::string> schedule_labels;
  std::string summary, wave_story, padding_story, padding_table, tile_title, schedule_story;
};

struct View {
  double time = 1;  ///< cursor over the matmul's time, 0 to 1
  widgets::PlotView saw, gantt, near;
  widgets::TileGridView grid;
  widgets::WaterfallView losses;
  widgets::StackedBarView schedules;
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, ScheduleRow& row);
void describe(Fields& fields, CornerRow& row);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::roofline::tiling_waves
