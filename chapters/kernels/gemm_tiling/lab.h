#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/gpu/gemm_tiling/gemm_study.h"
#include "widgets/base/parts.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A matmul cut into block, warp and thread tiles, and the gates that its bytes pass on their way to the arithmetic.
namespace chapters::kernels::gemm_tiling {

/// Defaults: 4,096 cubed in BF16 on an A100 with blocks of 128 x 128, where the Tensor Cores are just the slowest.
struct Inputs {
  std::int64_t block_m = 128, block_n = 128, block_k = 32, warp_m = 64, warp_n = 32, stages = 3;
  std::int64_t m = 4096, n = 4096, k = 4096;
  double element_bytes = 2, output_bytes = 0;
  std::string chip = "a100_80_sxm";
  std::string kernel;
  models::gpu::GemmUnit unit = models::gpu::GemmUnit::mma;
  std::int64_t thread_m = 8, thread_n = 8, cluster_m = 1, cluster_n = 1, other_registers = 64;
  models::Schedule schedule = models::Schedule::data_parallel;
  std::int64_t splits = 4;
  bool reads_c = false, bias = false, activation = false, fused = true;
  std::int64_t other_block = 64;
  double l2_rate = 0, mma_share = 0;
  bool operator==(const Inputs&) const = default;
};

/// A gate as people call it: the arithmetic is the Tensor Cores' or the FMA pipes'. None: the block does not run.
enum class Gate : std::uint8_t { hbm, l2, shared, registers, tensor, fma, none };
inline constexpr std::size_t gate_count = models::gpu::gemm_gate_count;

/// A gate, with the block that is set and with the other one; NaN: nothing passes it, or nothing is counted in bytes.
struct GateRow {
  std::string name, tile;
  double bytes = 0, intensity = 0, rate = 0, time_s = 0, other_s = 0;
};

struct Outputs {
  std::string reason;
  models::gpu::GemmStudy study;
  models::gpu::GemmStudy other;  ///< with square blocks of `other_block`
  Gate slowest = Gate::hbm, other_slowest = Gate::hbm;
  double hbm_busy = 0, other_hbm_busy = 0;      ///< % of the time
  double l2_intensity = 0;                      ///< flops over what goes into shared memory
  double peak_share = 0;                        ///< % of the peak that the time allows
  double bound_flops_per_s = 0;                 ///< flops over the time
  double instruction_share = 100;               ///< % of the peak that the instruction can reach
  double wave_efficiency = 0, whole_tiles = 0;  ///< %
  models::gpu::GemmRates rates;
  std::string rates_from;
  double registers_s = std::numeric_limits<double>::quiet_NaN(), register_bytes = registers_s,
         register_intensity = registers_s, accumulators = registers_s;
  std::string named;  ///< what the kernel's name says
  std::vector<GateRow> gates;
};

/// What is really computed: as set, or as the kernel's name says.
struct Cut {
  models::gpu::GemmShape shape;
  models::gpu::GemmTile tile;
  models::gpu::GemmEpilogue epilogue;
  models::gpu::GemmOptions options;
  models::gpu::GemmInstruction instruction;  ///< one of the unit's, with its least columns
};
struct Run {
  Cut cut, other;
};

/// A gate in the race.
struct GateLane {
  std::string name, tile, intensity{}, bytes{}, time, rate;  ///< as written
  double moved = 0;                                          ///< bytes over those of the widest pipe, 0 to 1
  double time_s = 0, other_s = 0;
  std::string other;
  std::string output;  ///< the key whose figure the bar shows
  bool arithmetic = false, slowest = false;
};
/// A published rung on the clock of the race.
struct RungMark {
  std::string name;
  double time_s = 0;
};
/// What the block needs more of than there is.
struct Overflow {
  std::string name, needs, limit;  ///< as written
  double share = 0;                ///< what it needs over what there is
  std::int64_t parts = 1;          ///< stages, each of which takes as much
};
/// One bar of the budget in % of what there is.
struct BudgetBar {
  std::string label, words;
  std::vector<widgets::BarSegment> segments;
};
struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  LabDoors doors;
  std::string answer;
  std::array<std::string, 4> titles, sizes, notes;  ///< over and under the four pictures of the zoom
  std::vector<GateLane> lanes;
  bool runs = true;      ///< the block fits an SM
  bool named = false;    ///< the tiles are those of a kernel's name
  Overflow overflow;     ///< where it does not
  double longest_s = 1;  ///< where the race's axis ends
  double gate_s = 0, time_s = 0;
  std::string finish, waves;  ///< at the line of the slowest gate, and what the hatched piece behind it is
  std::string other_label;
  std::string ladder;  ///< whose rungs are marked
  std::vector<RungMark> rungs;
  std::string beyond;  ///< rungs that took longer than the axis
  std::vector<BudgetBar> budget;
  std::string verdict;                 ///< what the budget comes to
  std::vector<widgets::Curve> curves;  ///< time of each gate over the edge of a square block
  double edge = 0;                     ///< a square block of this edge has the intensity of the one set
  PublishedMarks published;
};

/// Where the four pictures of the zoom stand: each has the strips of A and B beside its square.
struct ZoomPicture {
  widgets::Rect a{}, b{}, square{};
  widgets::Rect child{};  ///< what the next picture shows, within the square
  float unit = 1;         ///< pixels an element
};
struct HeroLayout {
  std::array<ZoomPicture, 4> zoom;
  widgets::Rect race{};
  float head_y = 0, note_y = 0;
  bool notes = true, sizes = true;
  std::int64_t cells_m = 0, cells_n = 0;  ///< elements of the last picture
  std::int64_t warps_down = 1, warps_across = 1;
  std::array<double, 3> pieces_down{}, pieces_across{};  ///< the next picture shows one of so many
};
/// The zoom above and the race below, in `area`. `scales` are pixels an element to keep while a corner is dragged, by
/// picture; 0: what fits. Pure.
void layout_hero(const Cut& cut, widgets::Rect area, const std::array<float, 2>& scales, HeroLayout& out);

/// A corner that is dragged: from the pointer to it, and pixels of a row and a column when the drag began.
struct Grip {
  ImVec2 from{};
  float row_px = 1, column_px = 1;
};
struct View {
  Requests requests;
  HeroLayout hero;
  std::array<float, 2> scales{};  ///< pixels an element of block and warp while their corners are dragged
  Grip grip;
  widgets::StackedBarView budget;
  widgets::PlotView curves;
  DescribedTable<GateRow> gates;
  int lane = 9;  ///< whose elements are marked in the last picture
};

using Computed = chapters::Computed<Outputs, Run>;
Computed compute(const Inputs& in);
LabDoors doors_of(const Outputs& out, const Cut& cut);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// Puts what a kernel's name says into the inputs, which a hand then changes; the name goes.
void take_named_tile(Inputs& in, const Cut& cut);
/// The hero in `size` px from the cursor.
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The zoom from the matrix to a lane, with the corners to drag; `hidden`: only what the inputs say.
void draw_zoom(Inputs& in, const Picture& picture, View& view, bool hidden);
/// The gates on one clock; `hidden`: their names and empty tracks.
void draw_race(const Picture& picture, const widgets::Rect& area, bool hidden);
/// The lane, or thread, that holds an element of the last picture: rows g and g + 8, columns 2q and 2q + 1 (PTX ISA).
int lane_of(const Cut& cut, std::int64_t row, std::int64_t column);

/// The answer to the lab's question.
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);
std::string_view gate_name(Gate gate);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, GateRow& row);

}  // namespace chapters::kernels::gemm_tiling
