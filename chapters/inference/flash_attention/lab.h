#pragma once
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/inference/flash_attention/walk_layout.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/flash_attention.h"
#include "models/inference/flash_attention_run.h"
#include "models/inference/flash_attention_warps.h"
#include "models/machine/hardware.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Attention in tiles that are computed, used and gone, beside the square of scores that is written to memory.
namespace chapters::inference::flash_attention {

using models::inference::FlashArithmetic;
using models::inference::FlashPass;
using models::inference::FlashSchedule;

struct Inputs {
  std::string chip = "h100_sxm";
  std::int64_t block_rows = 128, block_columns = 128, stages = 2;
  FlashSchedule schedule = FlashSchedule::fa3;
  FlashPass pass = FlashPass::forward;
  bool causal = false;
  std::int64_t sequence = 8192, batch = 1, heads = 32, head_dim = 128;
  FlashArithmetic arithmetic = FlashArithmetic::fp64;
  std::int64_t seed = 7;
  bool operator==(const Inputs&) const = default;
};

struct ScheduleRow {
  std::string schedule;
  double hbm_bytes = 0, l2_bytes = 0, rereads = 0, fetches = 0, least_s = 0;
  double exchange_bytes = 0, tensor_busy = std::numeric_limits<double>::quiet_NaN();
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  models::inference::FlashWork square, tiles;
  models::inference::FlashWalk walk;
  models::inference::FlashTimes times;
  double square_flops = 0, tiled_flops = 0, flops_more = 0;  ///< flops_more: %
  double kept_share = 100;                                   ///< %
  double bytes_ratio = 0, square_time_s = 0, tiled_time_s = 0, in_turn_s = none, speedup = 0;
  double rate = 0;                                      ///< FLOP/s as papers count them, at tiled_time_s
  double measured_rate = none;                          ///< FLOP/s of the fastest published run of this kind
  std::string measured_run;                             ///< its name
  double l2_rate = 0;                                   ///< B/s that L2 must deliver for it
  double exponential_share = none, tensor_busy = none;  ///< %
  double scores_intensity = 0, ridge = 0;
  std::string limit;
  double shared_bytes = 0, shared_limit_bytes = 0, register_bytes = 0, register_limit_bytes = 0;
  double exchange_bytes = 0;                                                   ///< between the warps of a block, a tile
  std::int64_t blocks = 0;                                                     ///< on a multiprocessor at once
  double max_error = 0, square_error = 0, unscaled_error = 0, new_maxima = 0;  ///< unscaled_error, new_maxima: %
  std::vector<ScheduleRow> schedules;
};

/// The tile's rows from 16 on, with the columns as they are set.
struct RowsPoint {
  double rows = 0, hbm_bytes = 0, l2_bytes = 0;
};
struct Run {
  std::shared_ptr<const models::inference::FlashRun> numbers;
  std::array<models::inference::FlashWarps, models::inference::flash_schedule_count> warps;  ///< no spans: not known
  std::vector<RowsPoint> by_rows;  ///< as far as the tile fits
  double drawn_tokens = 0;         ///< Tokens of the sequence in the square.
};
using Computed = chapters::Computed<Outputs, Run>;

/// One quantity of the square and of the tiles.
struct Odometer {
  std::string title, gain, square_text, tiles_text, output, square_output;
  double square = 0, tiles = 0;
  bool better = true;
};
/// Part of a block's shared memory.
struct SharedPart {
  std::string name;
  double bytes = 0;
  bool keys = false;  ///< Keys or values, which have the cache's colour.
};
struct WarpLanes {
  std::string title, words;
  bool chosen = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  std::vector<WalkStep> steps;
  std::size_t shown_step = 0;         ///< the step that is shown until another is chosen
  std::vector<std::int32_t> step_at;  ///< by [row tile][column tile]; -1: skipped
  bool columns_first = false, backward = false;
  double score_lo = 0, score_hi = 1, largest_sum = 1, row_lo = 0, row_hi = 1, weight_most = 1;
  std::string drawn_words, chip_title, chip_words, chip_formula, shared_words, bytes_words;
  std::vector<SharedPart> parts;  ///< what a block holds in shared memory
  double shared_bytes = 0, shared_limit_bytes = 1;
  std::array<Odometer, 3> odometers;
  std::vector<widgets::Curve> by_rows;
  double rows_limit = 0;  ///< the most rows that fit
  std::array<WarpLanes, models::inference::flash_schedule_count> lanes;
  double lanes_end = 0;  ///< clocks
  PublishedMarks published;
};

struct View {
  /// Time: the share of the walk that is done, 0 to 1; at 0 the step that tells most is shown.
  widgets::Playback playback{.time_s = 0, .speed = 0.08};
  WalkPlaces places;
  std::int64_t held_rows = 0, held_columns = 0;  ///< The tile when its corner was taken.
  widgets::PlotView by_rows;
  DescribedTable<ScheduleRow> schedules;
};

using Numbers = Memo<models::inference::FlashRunSetup, models::inference::FlashRun>;
/// A chip as the models count it; a sentence for one without multiprocessors that have shared memory and registers.
models::Result<models::inference::FlashChip> flash_chip_of(const models::Chip& chip);
std::string_view schedule_name(FlashSchedule schedule);

Computed compute(const Inputs& in, const Progress& progress, Numbers& numbers);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_walk(Inputs& in, const Picture& picture, View& view, ImVec2 size);
/// The tile that the walk is at, with what a block holds of it.
void draw_on_chip(const Picture& picture, const WalkPlaces& places, const WalkStep& at);
void draw_warps(const Picture& picture, ImVec2 size);
std::string answer_of(const Inputs& in, const Outputs& out);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, ScheduleRow& row);
void describe(Fields& f, View& view);

}  // namespace chapters::inference::flash_attention
