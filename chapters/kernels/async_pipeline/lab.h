#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/gpu/async_pipeline.h"
#include "widgets/base/parts.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Tiles copied ahead into a ring of buffers while others are computed: how many buffers, and at what price?
namespace chapters::kernels::async_pipeline {

using models::gpu::PipelineBound, models::gpu::PipelineKind, models::gpu::PipelineRun, models::gpu::PipelineSetup;

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int64_t most_buffers = 12;  ///< that an input may have
inline constexpr std::int64_t max_sharing = 8;    ///< blocks of an SM that are simulated

/// What the three rings of the picture are.
enum class Compare : std::uint8_t { stages, kinds, blocks };
/// Where the times of a tile come from.
enum class Times : std::uint8_t { set, tile };

/// Defaults: a step of 128 x 128 x 32 in 16 bits on an SM of an A100 (2,048 FLOPs and 35.5 bytes from L2 a cycle), with
/// operands from DRAM.
struct Inputs {
  std::int64_t stages = 3;
  PipelineKind kind = PipelineKind::warp_specialized;
  Compare compare = Compare::stages;
  std::string latency_of = "set";
  std::int64_t latency = 571;
  Times times = Times::set;
  std::int64_t load_time = 462, compute_time = 512;
  std::int64_t flops_per_clock = 2048;
  double l2_bytes_per_clock = 35.5;
  std::int64_t sync_overhead = 0, barrier_release = 0, issue_time = 0;
  std::int64_t jitter = 0, seed = 1;
  std::int64_t block_m = 128, block_n = 128, block_k = 32, element_bytes = 2, tiles = 14;
  std::string compute_capability = "8.0";
  std::int64_t block_threads = 256, registers_per_thread = 128, epilogue_bytes = 0;
  std::int64_t epilogue_time = 1500, output_tiles = 8;
  bool operator==(const Inputs&) const = default;
};

/// One number of buffers.
struct StairRow {
  std::int64_t buffers = 1, blocks = 0;
  double cycles = 0, sm_cycles = no_figure, shared_bytes = 0;
};

struct Outputs {
  std::string reason;
  // The run.
  std::int64_t total = 0, stall_cycles = 0, first_compute_start = 0, tiles_in_flight = 0;
  double busy_percent = 0;
  // The long run.
  double period = 0, full_period = 0, steady_busy_percent = 0, stages_exact = 0;
  std::int64_t stages_for_full_rate = 1;
  PipelineBound bound = PipelineBound::compute;
  double sync_period = 0, speedup = 1, other_period = 0;
  double fewer_period = no_figure, last_won = no_figure, more_period = 0, next_wins = 0, then_wins = 0;
  // What a tile takes.
  std::int64_t latency_used = 0, load_cycles = 0, compute_cycles = 0;
  // The price.
  double stage_bytes = 0, shared_bytes = 0, capacity_bytes = 0, in_flight_bytes = 0, spare_bytes = 0;
  std::int64_t buffers = 1, max_buffers = 0, spare_buffers = 0, blocks = 0, blocks_after = 0;
  double blocks_leave_at = no_figure;
  double pipe_period = 0, sm_period = 0, sm_busy_percent = 0, sharing_gain = 1, sm_fewer_period = no_figure,
         sm_last_won = no_figure;
  std::int64_t blocks_before = 0;
  // Epilogues.
  std::int64_t mainloop_cycles = 0, ping_pong_total = 0, cooperative_total = 0;
  double ping_pong_cycles = 0, ping_pong_gain = 1;
  std::vector<StairRow> stairs;
};

/// One ring of the picture as it was simulated.
struct Ring {
  PipelineSetup setup;
  std::shared_ptr<const PipelineRun> run;
  std::int64_t block = 0;  ///< which of the run's
  bool yours = false, fits = true;
};
struct Run {
  std::vector<Ring> rings;
};
using Computed = chapters::Computed<Outputs, Run>;

enum class Doing : std::uint8_t { on_its_way, arrives, waits, computes, idles, others, copies };
/// A stretch of a lane, in cycles.
struct Stretch {
  double from = 0, to = 0;
  Doing doing{};
  std::int64_t tile = 0;
  std::string words;  ///< the tile's number, or how long nothing is done
};
struct Lane {
  std::string label;
  std::vector<Stretch> stretches;
};
struct RingPicture {
  std::string title, end_words;
  Lane copies, consumer;
  std::vector<Lane> buffers;
  double end = 0;
  std::int64_t done = 0;  ///< tiles that all blocks have computed by then
  bool yours = false, fits = true;
};
/// A number of buffers as a column: the cycles of a tile over its price.
struct Stair {
  std::string number, cycles_words, bytes_words, blocks_words;
  double cycles = 0;
  std::int64_t buffers = 1;
  bool yours = false, fits = true, dear = false;  ///< dear: a block has left the SM
};
/// Between two columns: where a block leaves the SM.
struct Wall {
  std::int64_t at = 0;  ///< in front of this column
  std::string words;
};
/// A consumer group on the clock of the epilogues.
struct GroupLane {
  std::string label;
  std::vector<Stretch> mainloops, epilogues;
};
struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  LabDoors doors;
  std::vector<RingPicture> rings;
  double clock_end = 1;
  std::vector<Stair> stairs;
  double tallest = 1, floor = 0;
  std::string floor_words, stairs_title, stairs_hint, given;
  std::array<double, 3> given_turn{};  ///< latency, copy and compute where they are set; 0: they are not
  std::string clock_words;             ///< which tiles are shown; empty: all
  bool sharing = false;                ///< rings of blocks that share an SM
  std::vector<Wall> walls;             ///< the last at or before yours, and the next one
  std::int64_t least_buffers = 1, most_buffers = 1;
  std::vector<widgets::Curve> kinds;  ///< cycles per tile over the number of buffers
  double kinds_top = 1;
  std::vector<GroupLane> ping_pong, cooperative;
  double groups_end = 1;
  std::string ping_pong_words, cooperative_words;
  PublishedMarks published;
};

struct View {
  Requests requests;
  widgets::PlotView kinds;
  DescribedTable<StairRow> table;
  std::vector<widgets::PlacedLegend> legend;
};

/// The setup that the inputs name, with `stages` buffers: one of them is the synchronous loop where one stream copies
/// and computes.
PipelineSetup setup_of(const Inputs& in, PipelineKind kind, std::int64_t stages);
/// Buffers that the ring really has.
std::int64_t buffers_of(const Inputs& in);
/// Cycles per tile in the long run; with jitter the mean of a simulated run.
double period_of(const Inputs& in, PipelineKind kind, std::int64_t stages);

Computed compute(const Inputs& in, const Progress& progress);
std::string answer_of(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in, const Outputs& out);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_rings(Inputs& in, const Picture& picture, View& view, ImVec2 size);
void draw_stairs(Inputs& in, const Picture& picture, ImVec2 at, ImVec2 size);
void draw_groups(const Picture& picture, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, StairRow& row);

}  // namespace chapters::kernels::async_pipeline
