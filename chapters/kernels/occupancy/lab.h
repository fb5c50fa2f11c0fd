#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/gpu/occupancy.h"
#include "models/gpu/ptxas_log.h"
#include "models/gpu/tile_feed.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// How many blocks of a kernel an SM holds, what stops the next one, and whether more would be faster.
namespace chapters::kernels::occupancy {

enum class Source : std::uint8_t { hand, ptxas };
/// Words that one load from shared memory brings to a thread.
enum class LoadWidth : std::uint8_t { one, two, four };
/// Tensor: the kernel multiplies on Tensor Cores, and what feeds FMA pipes does not apply.
enum class Operands : std::uint8_t { shared, registers, tensor };
inline constexpr int operands_count = 3;

/// Defaults: an SGEMM with 8 x 8 sums a thread, as ptxas compiled it for sm_90.
struct Inputs {
  Source source = Source::hand;
  std::string ptxas;
  std::int64_t ptxas_kernel = 1;
  std::int64_t block_threads = 256, registers_per_thread = 128;
  std::int64_t static_shared_bytes = 8192, dynamic_shared_bytes = 0;
  bool opt_in = true;
  std::int64_t barriers = 1;
  std::string compute_capability = "9.0";
  std::int64_t carveout_percent = -1;
  std::int64_t tile_rows = 8, tile_columns = 8;
  Operands operands = Operands::shared;
  LoadWidth load_width = LoadWidth::four;
  bool prefetch = false;
  double fma_latency_cycles = 4, load_latency_cycles = 33;
  bool operator==(const Inputs&) const = default;
};

/// What keeps the FMA pipes from more.
enum class RateLimit : std::uint8_t {
  full,
  shared_memory,
  issue_slots,
  fma_latency,
  load_latency,
  spill,
  no_block,
  tensor
};
inline constexpr int rate_limit_count = 8;

struct Outputs {
  std::string reason;
  std::int64_t blocks = 0, warps = 0;
  double occupancy = 0;  ///< % of the warps that an SM holds
  models::gpu::OccupancyLimit limiter{};
  std::int64_t walls = 1;  ///< resources that stop the blocks at the same number
  std::int64_t max_warps = 0, block_warps = 0;
  std::int64_t by_warps = 0, by_registers = 0, by_blocks = 0;
  double by_shared = std::nan(""), by_barriers = std::nan("");
  std::int64_t block_registers = 0, warp_registers = 0, register_warps = 0;
  double registers_taken = 0, shared_taken = std::nan("");  ///< %
  double block_shared_bytes = 0, shared_capacity_bytes = 0, block_shared_max_bytes = 0;
  // With one less, or more.
  std::int64_t register_less_blocks = 0, register_more_blocks = 0, byte_less_blocks = 0;
  double warp_less_occupancy = 0;  ///< %
  double registers_free_to = std::nan(""), registers_for_more = std::nan("");
  double shared_for_more_bytes = std::nan("");
  // What feeds the pipes, each in % of their rate.
  double rate = std::nan("");
  RateLimit rate_limit{};
  double feed = 0, issue = 0, fma_latency = 0, load_latency = 0;
  double adds_per_value = std::nan(""), in_flight_needed = 0, in_flight = 0;
  double tile_registers = 0, warps_needed = 0, loads = 0;  ///< whole; NaN where Tensor Cores multiply
  double small_feed = 0, small_occupancy = 0;              ///< %, of a thread with one sum
  std::string tiles_compiled_for;                          ///< "sm_90": for what the five tiles were compiled
  // What the compiler printed.
  std::string kernel_name, compiled_for;
  std::int64_t registers = 0, static_bytes = 0, barriers_used = 1, kernels_read = 0, spill_bytes = 0;
};

/// A tile of the same kernel, as compiled.
struct TilePoint {
  models::gpu::CompiledTile compiled;
  double adds_per_value = 0, occupancy = 0, feed = 0;  ///< the last two in %
};
struct OccupancyCurve {
  std::vector<double> at, percent;
};
struct Run {
  const models::gpu::SmLimits* sm = nullptr;
  models::gpu::BlockNeeds block;
  models::gpu::SmOccupancy now;
  models::gpu::FmaUnits units;
  std::vector<models::gpu::PtxasKernel> kernels;  ///< those in the text, where that is the source
  std::size_t chosen = 0;
  std::array<TilePoint, models::gpu::compiled_tile_count> tiles;
  OccupancyCurve over_registers, over_threads, over_shared;
  std::array<OccupancyCurve, 4> latency;  ///< over warps an SM, for tiles of side 1, 2, 4 and 8
};
using Computed = chapters::Computed<Outputs, Run>;

/// A resource of the SM as a vessel; amounts in its own unit.
struct Vessel {
  std::string name{}, short_name{}, each{}, total{}, filled{}, room{}, would{};
  std::string given{};        ///< what the SM has of it, whatever the kernel
  double capacity = 1;        ///< up to the rim
  double usable = 1;          ///< up to where blocks can stand; the rest is of no use to them
  double block = 0;           ///< what one block takes
  std::int64_t cells = 0;     ///< slots that are drawn one by one across a block; 0: none
  bool wall = false;          ///< the next block does not fit
  std::string_view handle{};  ///< what the hand changes here; empty: nothing
};
struct GateBar {
  std::string name, value, why;
  double percent = 0;
  std::string_view output{};
  bool least = false;
};
struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  LabDoors doors;
  PublishedMarks published;
  std::string answer;
  std::array<Vessel, 4> vessels;
  std::int64_t blocks = 0;
  std::string callout_bold, callout_words, kernel_words, wall_words;
  std::vector<std::string> kernel_chips;  ///< one a kernel of the text
  std::array<widgets::Curve, 2> cross;    ///< occupancy and feed rate over multiply-adds a value
  std::array<widgets::Curve, 2> points;   ///< the same at the compiled tiles
  widgets::Curve spilling;                ///< where a square tile is more than a thread's registers
  std::vector<std::string> tile_names, tile_words;
  std::array<widgets::Curve, 3> three;  ///< occupancy over registers, threads and shared memory
  std::array<widgets::Curve, 4> latency;
  std::vector<GateBar> gates;
  std::string gates_words, latency_words, less_words;
  std::string cross_words;     ///< what the crossing is not of this kernel; empty: it is
  double shared_top = 1;       ///< bytes
  double latency_covered = 0;  ///< %, the less of the two latencies' shares
};
struct View {
  Requests requests;
  widgets::PlotView cross, registers, threads, shared, latency;
};

models::Result<std::vector<models::gpu::PtxasKernel>> kernels_of(const Inputs& in);
Computed compute(const Inputs& in, Progress& progress);
LabDoors doors_of(const Inputs& in, const Run& run);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The four vessels at the cursor; a drag of a block's top changes the inputs.
void draw_vessels(Inputs& in, const Outputs& out, const Picture& picture, widgets::Rect area);
/// Values that the text states become those of the hand, before the hand changes one.
void take_in_hand(Inputs& in, const Outputs& out);

/// "registers": what the limit is called in the middle of a sentence.
std::string_view limit_words(models::gpu::OccupancyLimit limit);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::kernels::occupancy
