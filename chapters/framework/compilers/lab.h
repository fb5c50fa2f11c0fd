#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/described/launch_host.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/compile_stream.h"
#include "models/training/packing_lengths.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// A stream of calls through a compiler: guards, graphs, blocks of compile seconds, and the call from which it is ahead
/// of eager.
namespace chapters::framework::compilers {

using models::inference::CompileWay, models::inference::ShapePolicy;

/// One length for all calls, or drawn: after `same` they are models::LengthSource, in its order.
enum class Lengths : std::uint8_t { same, wikipedia, sharegpt, arxiv, lognormal };
inline constexpr int lengths_count = models::length_source_count + 1;

/// Defaults: prompts of Llama 3 8B on an H100 in torch.compile's plain mode; launches as Ridgeline measured them.
struct Inputs {
  CompileWay way = CompileWay::standard;
  ShapePolicy policy = ShapePolicy::automatic;
  std::int64_t calls = 6000;
  std::int64_t bucket = 128, max_graphs = 8, breaks = 0;
  Lengths lengths = Lengths::lognormal;
  std::int64_t longest = 1024, median = 300, seed = 1;
  double spread = 0.5;
  double standard_s = 25.2, autotune_s = 66.5, xla_s = 40, tensorrt_s = 300, by_hand_s = 5;
  double capture_s = 0.29, break_compile_s = 1;
  double products_faster = 0.8, kernels_slower = 3;  ///< %
  double guard_s = 3e-5, break_s = 3e-5;
  LaunchHostInputs launching{.host = LaunchedBy::own, .launch_s = 16.2e-6};
  double native_launch_s = 4.1e-6;
  double reached = 85;  ///< %
  std::string model = "llama-3-8b", chip = "h100_sxm";
  LaunchedPhase phase = LaunchedPhase::prefill;
  std::int64_t batch = 1, context = 2048;
  bool operator==(const Inputs&) const = default;
};

/// A way over the same stream; up to `device_s` one call of the mean length in it.
struct WayRow {
  CompileWay way{};
  bool yours = false;
  std::string name;
  double launches = 0, bytes = 0, host_s = 0, device_s = 0;
  double call_s = 0;  ///< in the mean of the stream, compiling aside
  std::int64_t graphs = 0;
  double compile_s = 0, padding = 0, won_s = 0;
  double ahead_from = 0;  ///< NaN: not at the end of the stream
};
struct GraphRow {
  std::string takes;
  std::int64_t first_call = 0, calls = 0;
  double compile_s = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  double ahead_from = none, pays_after = none;
  double won_s = 0, compile_s = 0, capture_s = 0, run_s = 0, eager_s = 0, total_s = 0;
  double mean_call_s = 0, steady_call_s = 0, eager_call_s = 0, saving_s = 0, guards_s = 0, compile_share = 0;
  double lowest_s = 0;         ///< the ledger's lowest point
  std::int64_t lowest_at = 0;  ///< after this call; 0: it never was behind
  std::int64_t graphs = 0, recompilations = 0, captures = 0, eager_calls = 0, distinct_lengths = 0;
  double eager_percent = 0, padding = 0, mean_length = 0;
  std::int64_t launches = 0, eager_launches = 0;
  double bytes = 0, eager_bytes = 0, host_s = 0, device_s = 0;
  std::string best_way, policy_used;
  double best_won_s = 0;
  std::vector<WayRow> ways;
  std::vector<GraphRow> cache;
};

/// A call's time with its share of the compiling, after each of some numbers of calls.
struct WayMeans {
  CompileWay way{};
  std::vector<double> calls{}, call_s{};
};
struct Run {
  models::inference::StreamRun stream;
  std::vector<WayMeans> means;  ///< every way but eager
};
using Computed = chapters::Computed<Outputs, Run>;

/// Calls from one up to another, and the share of them that waits for a graph or a capture.
struct Waits {
  float from = 1, to = 2, share = 0;
};
/// A graph as it is painted: the calls that fell into it over the stream, and the block of seconds that it cost.
struct Lane {
  std::string words{};         ///< "any length, 5,999 calls"
  std::string seconds{};       ///< what compiling it took; empty: it has no block
  double first_call = 1;       ///< from 1: before it there is no such graph
  std::vector<float> hits{};   ///< shown calls that fell in
  std::vector<Waits> waits{};  ///< calls that waited in it
  widgets::Tint tint{};
};
/// A call that is seen falling from its dot into its lane.
struct Fall {
  double call = 1, ran = 0;
  std::size_t lane = 0;
  bool waited = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  PublishedMarks published;
  LabDoors doors;
  std::vector<widgets::Curve> stream;  ///< calls by number and length, a colour a graph
  std::vector<widgets::Curve> lead;    ///< how far eager is behind
  std::vector<widgets::Curve> mean;    ///< a call's time with its share of compiling, over the number of calls
  std::vector<Lane> lanes;
  std::vector<Fall> falls;
  std::string ahead_words, lowest_bold, sliver_words, length_label;
  double length_hi = 1, lead_lo = -1, lead_hi = 1, mean_lo = 1e-3, mean_hi = 1;
  double ahead_from = 0;  ///< 0: it is nowhere ahead
  double calls = 0;
  double won_s = 0, lowest_s = 0, lowest_x = 0;  ///< the ledger's end, its lowest point, and where that is told
  double sliver_at = 0, sliver_s = 0;            ///< a call that wins, and the ledger there; 0: none does
};

struct View {
  widgets::PlotView stream, lead, mean;
  widgets::PlotLink link;  ///< the stream, its graphs and the ledger share their calls
  DescribedTable<WayRow> ways;
  Requests requests;
};

std::string_view way_name(CompileWay way);
/// The hue of a way in the table and in the picture of all ways.
widgets::Tint way_tint(CompileWay way, bool yours);

Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
extern const Choices length_choices;
LabDoors doors_of(const Inputs& in, const Outputs& out);
/// The longest stream, and the axis of its calls.
inline constexpr double max_calls = 20'000, axis_from = 0.6;
/// Calls to draw, from 0: all of the first hundreds, then evenly on a logarithmic axis; those that wait for a graph
/// are always among them.
std::vector<std::size_t> shown_calls(const models::inference::StreamRun& run);
/// A lane a graph, and the calls that are seen falling into it.
void arrange_lanes(const Outputs& out, const Run& run, const std::vector<std::size_t>& shown, Picture& p);
/// The hue of a graph and of its calls; from the seventh on they share one.
widgets::Tint graph_tint(std::size_t graph);
inline constexpr std::size_t max_lanes = 6;
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// What a lane needs for its words, and the gap to the next.
float lane_words_height();
/// Calls falling from their dots into the lanes of their graphs, on the calls' axis of the stream's plot.
void draw_lanes(const Picture& picture, const View& view, ImVec2 size);

void describe(Fields& f, WayRow& row);
void describe(Fields& f, GraphRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::framework::compilers
