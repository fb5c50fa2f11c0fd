#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/parallel/topology/topology_boxes.h"
#include "models/parallel/topology/topology_placement.h"
#include "models/parallel/topology/topology_search.h"
#include "widgets/base/parts.h"
#include "widgets/charts/heat_map.h"
#include "widgets/table/table.h"

/// A machine as a graph of links, a plan's axes on its chips, and what another order of the axes wins or loses.
namespace chapters::distributed::topology {

namespace parallel = models::parallel;

/// The built-in boxes in the order of parallel::TopologyBox, then a pasted table.
enum class Machine : std::uint8_t {};
inline constexpr std::size_t machine_count = parallel::topology_box_count + 1;
inline constexpr auto pasted = static_cast<Machine>(parallel::topology_box_count);

enum class Traffic : std::uint8_t { step, one_call };
enum class Rates : std::uint8_t { reached, line };
/// The axes in the order of parallel::TopologyAxis behind the costliest one.
enum class LitAxis : std::uint8_t { costliest };
/// The 24 orders of the four axes, as their permutations come.
enum class AxisOrder : std::uint8_t {};
inline constexpr std::size_t axis_order_count = 24;
std::array<parallel::TopologyAxis, 4> axes_of(AxisOrder order);
AxisOrder order_of(const std::array<parallel::TopologyAxis, 4>& axes);

/// Defaults: Llama 3 8B on two machines of eight H100, pairs for each layer and eight replicas, a batch of 256
/// sequences.
struct Inputs {
  Machine machine{};
  std::int64_t boxes = 2, rack_chips = 72;
  std::int64_t pasted_boxes = 1;  ///< machines like the one that the table is of
  std::string network = "infiniband_ndr", chip = "h100_sxm", table;
  FileInput file;
  double oversubscription = 1;
  bool relay = true;
  std::int64_t tensor = 2, context = 1, pipeline = 1, data = 8, expert = 1;
  AxisOrder order{};
  std::string chip_order;  ///< "0,3,1,2": the chip of every rank, as CUDA_VISIBLE_DEVICES has them
  Traffic traffic = Traffic::step;
  std::string model = "llama-3-8b";
  std::int64_t batch = 1, sequence = 8192, micro_batches = 32;
  parallel::TopologyPattern pattern = parallel::TopologyPattern::all_reduce;
  double bytes = 8589934592;
  LitAxis axis = LitAxis::costliest;
  bool in_switch = true;
  Rates rates = Rates::reached;
  bool operator==(const Inputs&) const = default;
};

/// An axis with what it costs; in words the path and the slowest link.
struct AxisRow {
  std::string axis, collective, method, path, slowest;
  parallel::TopologyAxisCost cost;
};
struct OrderRow {
  std::string order;
  double step_s = 0, ratio = 1;  ///< over the best
};
/// A figure of the graph: what a link carries, how long a hop takes, or a share of a rate.
struct FigureRow {
  std::string what, source;
  double bytes_per_s = 0, latency_s = 0, share = 0;  ///< share in %; 0 but for one
};

struct Outputs {
  std::string reason;
  parallel::TopologyAxisCost lit;  ///< cost of the axis that the picture shows
  double step_s = 0, best_s = 0, worst_s = 0, over_best = 1, spread = 1;
  std::int64_t chips = 0, links = 0, priced = 0;
  double bisection_bytes_per_s = 0, ports_bytes_per_s = 0;  ///< see topology_bisection.h
  std::int64_t ranks = 0, ranks_asked = 0;                  ///< placed; of the whole plan
  /// The axis whose time changes most in the other placement, with its bus bandwidth for endless messages there and
  /// here; NaN and empty where all placements take the same.
  double moved_bytes_per_s = std::nan(""), moved_other_bytes_per_s = moved_bytes_per_s;
  std::string moved_axis;
  double relayed_s = std::nan("");  ///< a step with GPUs that change rails first; NaN where they do, or nothing climbs
  std::string slowest, path, method, best_order, devices, left_out;
  std::vector<AxisRow> axes;
  std::vector<OrderRow> orders;
  std::vector<FigureRow> figures;
};

struct Run {
  parallel::Topology graph;
  parallel::TopologyPlan plan;
  parallel::TopologyCosts costs;
  parallel::TopologySearch search;
  std::size_t lit = 0;
  std::vector<std::vector<std::uint32_t>> groups;  ///< ranks of the lit axis
  /// Bytes of one call of the lit axis on every arc, and the same of the best placement where yours is slower, else of
  /// the slowest order; empty where nothing is sent, and where all placements take the same.
  std::vector<double> load, other_load;
  std::vector<double> pair_rates;  ///< pairs_shown x pairs_shown, B/s between two chips alone; NaN: no path
  std::size_t pairs_shown = 0;

  bool slower(const Outputs& out) const { return out.over_best > 1.005; }
  const parallel::TopologyPlacement& other(const Outputs& out) const {
    return slower(out) ? search.best : search.worst;
  }
};
using Computed = chapters::Computed<Outputs, Run>;

/// One bar of the picture: a placement's step cut by axis.
struct PlacementBar {
  std::string name, words, ratio, chips;  ///< chips: as the input of the same name
  double step_s = 0;
  std::array<double, parallel::topology_axis_count> axis_s{};
  bool yours = false, best = false;
  AxisOrder order{};
};
/// What the picture says of a link: how busy it is for the lit axis, of the busiest; the same of the other placement.
struct LinkMark {
  float busy = 0, ghost = 0;
  /// The other placement loads it more, and enough to be drawn dashed.
  bool dashed() const { return ghost > 0.3f && ghost > busy; }
  bool slowest = false;
};
/// What is said of a kind of link at the height of one of it, between the nodes `a` and `b`.
struct RateMark {
  std::string figure, name;
  std::uint32_t a = 0, b = 0;
};
/// One pipe of the folded picture: what joins a chip to those of its machine, a port, or a rail's way up to the spine.
struct PipeMark {
  double bytes_per_s = 0;
  std::string figure;
  float busy = 0;  ///< as a LinkMark's
  bool slowest = false, dashed = false;
};
struct RailMark {
  PipeMark pipe;
  std::uint32_t node = 0;  ///< the adapter or the rail's switch
  std::int64_t ports = 0;  ///< that share a rail's way up
  std::string words;       ///< "4 ports share it"
};
/// The first machine whole and the others folded. Pipes stand in the order of their chips, adapters and rails.
struct FoldedPicture {
  std::string fabric;  ///< what joins the chips: "NVSwitch"
  std::vector<PipeMark> chips;
  std::vector<RailMark> ports, rails;
};
struct ChipMark {
  std::string name, rank;      ///< "3"; "T1 D0"
  std::int32_t group = -1;     ///< group of the shown axis that the chip belongs to; -1: no rank
  std::uint32_t position = 0;  ///< in the order of ranks
};
/// A figure of the graph in words.
struct FigureMark {
  std::string what, said, source;
};
struct Picture {
  std::uint64_t version = 0;
  std::string answer, caption, machine, bars_title, ghost_words;
  std::shared_ptr<const Run> run;
  std::vector<LinkMark> links;
  std::size_t slowest_links = 0;  ///< that are marked as such
  FoldedPicture folded;
  std::vector<bool> nodes_busy;  ///< bytes of the lit axis pass
  std::vector<ChipMark> chips;
  std::vector<RateMark> rates;
  std::vector<std::int32_t> chip_of_node;       ///< -1: no chip
  std::vector<std::string> axis_names;          ///< names of axes with ranks to order, inner to outer, with their sizes
  std::vector<parallel::TopologyAxis> ordered;  ///< the same axes
  std::vector<PlacementBar> bars;
  double most_s = 0;
  std::vector<std::string> pair_names;
  std::vector<FigureMark> figures;
  PublishedMarks published;
};

/// Where everything of the hero stands, in pixels.
struct BoxLayout {
  widgets::Rect graph{}, order{}, bars{};
  float caption_y = 0;
  std::vector<widgets::Rect> nodes;  ///< by node of the graph; empty extent: not drawn
  std::vector<widgets::Rect> frames, plates;
  std::vector<widgets::Rect> axes;     ///< the axes' names, inner to outer
  bool folded = false;                 ///< one machine is drawn whole, the others as columns, pipes as they are fast
  std::vector<widgets::Rect> columns;  ///< where the folded machines stand that have room, from the second on
  widgets::Rect fabric{}, spine{};     ///< where the folded picture has them
  bool elbows = false;                 ///< links of the network go down and across
  bool arcs = false;                   ///< links between chips bow below them
  float px_per_bytes_per_s = 0;
  // What it was made of:
  std::uint64_t version = 0;
  widgets::Rect area{};
  float scale = 0;
};
inline ImVec2 middle_of(const widgets::Rect& r) { return {(r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2}; }
inline bool drawn(const widgets::Rect& r) { return r.max.x > r.min.x; }
void layout_box(const Picture& picture, const parallel::Topology& graph, widgets::Rect area, BoxLayout& out);
/// One machine whole at the left, its chips in rows, the others as columns, then rails and spine. False where the rows
/// or the columns have no room, or there are no rails.
bool layout_folded(const parallel::Topology& graph, widgets::Rect area, BoxLayout& out);
/// Pixels that the folded picture needs.
float least_folded_height(const parallel::Topology& graph);
/// The nodes of the graph inside `area`.
void layout_graph(const parallel::Topology& graph, widgets::Rect area, BoxLayout& out);

struct View {
  BoxLayout layout;
  std::int32_t group = 0;  ///< whose chips are lit
  std::int32_t dragged_chip = -1, dragged_axis = -1;
  DescribedTable<AxisRow> axes;
  DescribedTable<OrderRow> orders;
  widgets::TableView figures;
  widgets::HeatMapView pairs;
  std::vector<std::string_view> names;
};

/// "tensor, data": the axes with ranks to order, inner first.
std::string order_words(const parallel::TopologyPlan& plan, const std::array<parallel::TopologyAxis, 4>& order);
/// "a rail", "NVLink", "the link between sockets": what a link is in a sentence.
std::string link_words(const parallel::Topology& graph, std::int64_t link);
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);

Computed compute(const Inputs& in, const Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// Every link as thick as it is fast, those of the lit axis over it, strongest those of the lit group; dashed those of
/// the other placement.
void paint_links(const widgets::Painter& p, const Picture& picture, const BoxLayout& l, std::int32_t lit_group);
FoldedPicture folded_picture(const Run& run, const std::vector<LinkMark>& marks);
/// Machines, pipes, rails and spine of a folded layout; chips and adapters are painted over it. While a question is
/// open: without what is busy.
void paint_folded(const widgets::Painter& p, const Picture& picture, const BoxLayout& l);
/// The hero in `size` px from the cursor: axes and chips to drag, bars to press.
void draw_box(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, AxisRow& row);
void describe(Fields& f, OrderRow& row);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::distributed::topology
