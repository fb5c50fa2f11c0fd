#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/machine/tiling_study.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/tile_grid.h"
#include "widgets/charts/waterfall.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// One matmul cut into tiles: how they fill a chip in waves, and what the cut wastes.
namespace chapters::roofline::tiling_waves {

/// Defaults: one column more than 4,096. It needs a 17th column of tiles, and the tiles a fifth wave, and the rows lose
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
  double misaligned_rate = 13, partly_aligned_rate = 36;
  std::int64_t pad_bytes = 16;
  double l2_bytes_per_clock = 35;
  std::int64_t sweep_to = 8192;
  bool operator==(const Inputs&) const = default;
};

/// One schedule of the same matmul.
struct ScheduleRow {
  std::string name;
  models::ScheduleResult scheduled;
  double occupancy = 0;  ///< % of the slots
  double speedup = 1;    ///< against data parallel
};

/// A corner of the saw-tooth; shares are % of the peak.
struct CornerRow {
  std::int64_t n = 0, waves = 0;
  double aligned = 0, misaligned = 0, without_tensor_cores = 0;
};

struct Outputs {
  std::string reason;
  models::TilingInputs setting;
  models::TilingResult result;
  std::int64_t slots = 0, last_wave_blocks = 0;
  double efficiency = 0;  ///< % of the peak
  /// The factors of the efficiency, each in %.
  double tile_efficiency = 0, depth_efficiency = 0, wave_efficiency = 0, alignment_efficiency = 0;
  double operand_efficiency = 0, reduction_efficiency = 0;
  double measured_share = std::numeric_limits<double>::quiet_NaN();  ///< % of the peak, as published for these sizes
  double measured_s = std::numeric_limits<double>::quiet_NaN(), measured_padded_s = measured_s;
  double ideal_s = 0, lost_s = 0;
  models::FreeRange free_range;
  models::PaddingStory padding;                              ///< what it does under the alignment rule set
  models::PaddingStory padding_preferred, padding_required;  ///< under each rule
  double padding_cost = 0;                                   ///< % more columns
  models::ScheduleResult split_k, stream_k;                  ///< split-K at its best split
  double best_schedule_speedup = 1;
  std::int64_t best_n = 0;
  double best_share = 0;               ///< % of the peak
  std::vector<ScheduleRow> schedules;  ///< data parallel first
  std::vector<CornerRow> corners;
};

/// Who makes each tile. A table of them could have a billion rows, so that it is read tile by tile.
struct TileBoard {
  models::TilingInputs setting;
  models::TilingResult result;
  models::TileWork at(std::int64_t row, std::int64_t col) const;
};
struct Run {
  TileBoard tiles;
  models::TilingLosses losses;
  std::vector<models::WaveSpan> spans;
  std::vector<models::Neighbour> neighbours;  ///< N and a few columns around it
};
using Computed = chapters::Computed<Outputs, Run>;

/// A matmul on the clock of the picture.
struct Lane {
  std::string name, words;
  std::int64_t waves = 1;
  double time_s = 0, useful = 1;  ///< the whole matmul; its share in which Tensor Cores multiply, 0 to 1
  std::string lost;               ///< what takes most of the rest; empty where that is little
  double measured_s = std::numeric_limits<double>::quiet_NaN();
  bool yours = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::array<widgets::Curve, 3> saw;  ///< share of the peak over N in %: aligned, odd since cuBLAS 11, odd before
  std::vector<double> near_n, near_preferred, near_required;  ///< the same just around N
  double saw_top = 105, near_top = 110;                       ///< where the axes end, %
  double tile_aspect = 1;  ///< height to width of a drawn tile: its own, within what can be seen
  /// What was published of these rows and this depth on the chip: columns, and the share of the peak in %.
  widgets::Curve published_products;
  std::string answer;
  std::string peak_label;  ///< names the peak of the units that are left to this product
  std::string summary, wave_story, padding_story, padding_table, tile_story, schedule_story;
  std::string edge_story, given_story;
  double tile_share_m = 1, tile_share_n = 1;  ///< one tile of the sides of C, 0 to 1
  std::vector<Lane> lanes;                    ///< this matmul, and the same padded where that changes it
};

/// A thread block's place in time: what the pointer is on in one picture is marked in the other.
struct BlockPlace {
  std::int64_t wave = -1, slot = -1;  ///< from 0; -1: any
  bool any() const { return wave >= 0 || slot >= 0; }
  bool operator==(const BlockPlace&) const = default;
};

struct View {
  double time = 1;  ///< cursor over the matmul's time, 0 to 1
  widgets::PlotView saw, near;
  widgets::TileGridLayout tiles;
  BlockPlace pointed;      ///< by the pointer, in either picture
  int pointed_frame = -1;  ///< when that was
  BlockPlace lit() const;  ///< what was pointed at in this frame or the one before
  void point(BlockPlace place);
  widgets::WaterfallView losses;
  widgets::StackedBarView schedules;
};

Computed compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::roofline::tiling_waves
