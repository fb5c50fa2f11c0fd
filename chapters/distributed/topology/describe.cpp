#include "chapters/distributed/topology/lab.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::topology {
namespace {

const Choices machines = {
    {"hgx_h100", "HGX H100", "Eight GPUs, four NVSwitches, an adapter for each GPU."},
    {"hgx_h200", "HGX H200", "The same board with H200."},
    {"hgx_b200", "HGX B200", "Eight GPUs, two switches of the fifth NVLink."},
    {"nvl72_gb200", "GB200 NVL72", "A rack of 72 GPUs, each with a link to each of 18 switches."},
    {"nvl72_gb300", "GB300 NVL72", "The same rack with GB300."},
    {"pcie_box", "PCIe box", "Two sockets, each with two PCIe switches, two cards and an adapter at each."},
    {"mi300x", "MI300X board", "Eight GPUs, each pair with an xGMI link of its own."},
    {"tpu_v4", "TPU v4 cube", "4 × 4 × 4 chips, every line closed to a ring."},
    {"tpu_v5p", "TPU v5p cube", "The same cube with TPU v5p."},
    {"pasted", "Pasted table", "What nvidia-smi topo -m or rocm-smi --showtopo prints on your machine."},
};
static_assert(machine_count == 10);

const Choices traffics = {
    {"step", "A training step", "What the plan sends in one step of the model."},
    {"one_call", "One call", "One collective of the size that is set, over the lit axis."},
};
const Choices rates = {
    {"reached", "Reached", "What NCCL's and RCCL's searches count for a link, or what was measured."},
    {"line", "Line rate", "What the vendor states."},
};
const Choices patterns = {
    {"all_reduce", "All-reduce", "Every rank ends with the sum."},
    {"reduce_scatter", "Reduce-scatter", "Every rank ends with its share of the sum."},
    {"all_gather", "All-gather", "Every rank ends with the shares of all."},
    {"all_to_all", "All-to-all", "Every rank sends each other rank its own part."},
    {"next_rank", "Send to the next", "Every rank but the last sends to the one behind it."},
};
static_assert(parallel::topology_pattern_count == 5);
const Choices lit_axes = {
    {"costliest", "Costliest", "The one that takes most of a step; of one call the largest."},
    {"tensor", "Tensor", "Ranks that share every layer."},
    {"context", "Context", "Ranks that share a sequence."},
    {"pipeline", "Pipeline", "Neighbouring stages."},
    {"data", "Data", "Ranks that sum gradients, those of context among them."},
    {"expert", "Expert", "Ranks that share the experts of a layer."},
    {"expert_data", "Expert data", "Ranks that hold the same experts."},
};
static_assert(parallel::topology_axis_count == 6);

/// "tp-cp-pp-dp" and the other 23, inner axis first, in the order of AxisOrder.
const Choices& axis_orders() {
  static const Choices orders = [] {
    constexpr std::array<std::string_view, 4> ids{"tp", "cp", "pp", "dp"};
    constexpr std::array<std::string_view, 4> names{"tensor", "context", "pipeline", "data"};
    Choices all;
    for (std::size_t i = 0; i < axis_order_count; ++i) {
      Choice c;
      for (const parallel::TopologyAxis axis : axes_of(static_cast<AxisOrder>(i))) {
        if (!c.id.empty()) {
          c.id += "-";
          c.label += ", ";
        }
        c.id += ids[static_cast<std::size_t>(axis)];
        c.label += names[static_cast<std::size_t>(axis)];
      }
      c.help = "Neighbouring ranks differ in the first axis that is named.";
      all.push_back(std::move(c));
    }
    return all;
  }();
  return orders;
}

constexpr When built_in_with_adapters{"machine", "hgx_h100|hgx_h200|hgx_b200|nvl72_gb200|nvl72_gb300|pcie_box|mi300x"};
constexpr When has_adapters{"machine", "hgx_h100|hgx_h200|hgx_b200|nvl72_gb200|nvl72_gb300|pcie_box|mi300x|pasted"};

void describe_machine(Fields& f, Inputs& in) {
  f.group("The machine");
  f.choice("machine", in.machine, machines, "Machine", "What the ranks run on.", {.headline = true});
  f.text("table", in.table, "Table",
         "The text of nvidia-smi topo -m or rocm-smi --showtopo. The button over the picture pastes it with its tabs. "
         "Empty: an example.",
         {.mode = {"machine", "pasted"}, .file_beside = "file", .max_bytes = 60'000});
  f.file("file", in.file, "Or a file", "A text file with the same; it counts before the text above.",
         {.mode = {"machine", "pasted"}}, {.reads = {FileKind::topology_table}, .accepts = "txt, log"});
  shared::chip(f, "chip", in.chip,
               {.help = "Gives the rates of the cards' links and of PCIe.", .when = {"machine", "pcie_box|pasted"}});
  f.integer("boxes", in.boxes, "How many",
            "Machines of this kind. Adapters of one number share a rail, a leaf switch; a spine joins the rails. A "
            "rack has four rails, for the four GPUs of a tray; cards without a fabric share one switch.",
            {.range = {1, 20}, .typical = {1, 8}, .when = built_in_with_adapters});
  f.integer("pasted_boxes", in.pasted_boxes, "How many of it",
            "Machines like the one that the table is of. More than one need the network adapters (NIC, mlx5) in it.",
            {.range = {1, 20}, .typical = {1, 8}, .when = {"machine", "pasted"}});
  f.integer("rack_chips", in.rack_chips, "GPUs in use", "How many of a rack's 72 GPUs hold ranks.",
            {.range = {4, 72}, .when = {"machine", "nvl72_gb200|nvl72_gb300"}});
  shared::network(f, "network", in.network, {.help = "One port of each adapter.", .when = has_adapters});
  f.real("oversubscription", in.oversubscription, "Oversubscription",
         "Ports below a leaf switch over those up to the spine; 1: as many up as down.",
         {.range = {1, 16}, .typical = {1, 4}, .when = has_adapters});
  f.toggle("relay", in.relay, "GPUs change rails",
           "What is for an adapter of another number goes over NVLink first (NCCL's PXN), not over the spine.",
           {.when = has_adapters});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_machine(f, in);
  f.group("The plan");
  shared::parallel_tensor(f, "tensor", in.tensor, {.help = "Ranks that share every layer."});
  shared::parallel_context(f, "context", in.context, {.help = "Ranks that share a sequence."});
  shared::parallel_pipeline(f, "pipeline", in.pipeline, {.help = "Stages of the model."});
  shared::parallel_data(f, "data", in.data, {.help = "Replicas."});
  shared::parallel_expert(f, "expert", in.expert,
                          {.help = "Ranks that share the experts of a layer: neighbours along the data axis."});
  f.choice("order", in.order, axis_orders(), "Order, inner first",
           "How ranks are numbered: neighbours differ in the first axis. Drag the names over the picture.",
           {.headline = true});
  f.text("chip_order", in.chip_order, "Chips of the ranks",
         "0,2,1,3: rank 1 runs on chip 2; chips that are not named follow. Empty: as they are numbered.",
         {.max_bytes = 1000});
  f.choice("axis", in.axis, lit_axes, "Lit axis", "Whose groups and links the picture shows.");
  f.group("What is sent");
  f.choice("traffic", in.traffic, traffics, "Traffic", "A whole step or one call.");
  shared::model(f, "model", in.model, {.help = "Whose messages are counted.", .when = {"traffic", "step"}});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of a micro-batch.", .when = {"traffic", "step"}});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of a sequence.", .when = {"traffic", "step"}});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "That each replica works through in a step. Gradients are summed once for all of them.",
            {.range = {1, 4096, Scale::log}, .typical = {1, 64}, .when = {"traffic", "step"}});
  f.choice("pattern", in.pattern, patterns, "Collective", "What the ranks of the lit axis do.",
           {.when = {"traffic", "one_call"}});
  f.real("bytes", in.bytes, {"Bytes", "B"}, "The size of one call, as nccl-tests counts it.",
         {
             .range = {8, 68719476736.0, Scale::log},
             .typical = {1024, 17179869184.0},
             .binary = true,
             .when = {"traffic", "one_call"},
         });
  f.group("How links are counted");
  f.choice("rates", in.rates, rates, "Rates", "What a link carries.");
  f.toggle("in_switch", in.in_switch, "Switches add",
           "All-reduces inside one NVSwitch domain may be summed in the switches (NVLink SHARP).");
}

void describe(Fields& f, AxisRow& r) {
  f.text("axis", r.axis, "Axis");
  f.integer("ranks", r.cost.ranks, "Ranks", "How many ranks one group has.");
  f.integer("groups", r.cost.groups, "Groups", "All at work at once.");
  f.text("collective", r.collective, "Collective");
  f.text("method", r.method, "Done by", "The fastest way that the model knows.");
  f.text("path", r.path, "Path", "Kinds of links that its bytes cross.");
  f.text("slowest", r.slowest, "Busiest link");
  f.real("slowest_bytes_per_s", r.cost.slowest_bytes_per_s, {"It carries", "B/s"}, "In one direction.");
  f.integer("sharing", r.cost.sharing, "Groups on it", "That put bytes on it in one direction.");
  f.real("bytes", r.cost.call.bytes, {"Bytes of a call", "B"}, "As nccl-tests counts them.");
  f.real("calls", r.cost.call.calls, "Calls", "How many calls a rank makes in a step.");
  f.real("call_s", r.cost.call_s, {"A call", "s"}, {.formula = "latency + bytes over the busiest link"});
  f.real("bus_bytes_per_s", r.cost.bus_bytes_per_s, {"Bus bandwidth", "B/s"}, {.formula = "bus factor x bytes / time"});
  f.real("step_s", r.cost.step_s, {"A step", "s"}, {.formula = "calls x time of a call"});
}
void describe(Fields& f, OrderRow& r) {
  f.text("order", r.order, "Order", "Inner axis first.");
  f.real("step_s", r.step_s, {"A step", "s"}, "All its communication, one after the other.");
  f.real("ratio", r.ratio, {"Over the best", "×"}, {.formula = "its time / the best time"});
}
void describe(Fields& f, FigureRow& r) {
  f.text("what", r.what, "Part of the machine");
  f.real("bytes_per_s", r.bytes_per_s, {"Carries", "B/s"}, "In one direction; 0: a latency.");
  f.real("latency_s", r.latency_s, {"Latency", "s"}, "What one hop of a collective takes.");
  f.real("share", r.share, {"Share", "%"}, "The part of a line rate; 0 where the figure is no share.");
  f.text("source", r.source, "From", {.max_bytes = 400});
}

void describe(Fields& f, Outputs& o) {
  const std::string_view same_everywhere = "All placements take the same.";
  f.group("This placement");
  f.real("step_time", o.step_s, {"Communication", "s"},
         "What all axes take in a step one after the other, none of it hidden behind work; of one call, that call.",
         {.headline = true, .formula = "sum over axes of calls x time"});
  f.real("over_best", o.over_best, {"Over the best found", "×"},
         "Times as long as the best placement that was found for the same plan.",
         {.headline = true, .formula = "time / best time"});
  f.real("slowest_bytes_per_s", o.lit.slowest_bytes_per_s, {"Busiest link", "B/s"},
         "What the link that the lit axis keeps busy longest carries in one direction; where the switches add, what a "
         "GPU sends to them.",
         {.headline = true, .source = "tab Pairs and rates"});
  f.real("call_s", o.lit.call_s, {"A call of the lit axis", "s"},
         {.headline = true,
          .formula = "latency + bytes over the busiest link",
          .source = "all_reduce_time; NCCL, src/graph/tuning.cc"});
  f.group("The lit axis");
  f.real("bus_bytes_per_s", o.lit.bus_bytes_per_s, {"Bus bandwidth", "B/s"},
         {.formula = "bus factor x bytes / time", .source = "doc/PERFORMANCE.md of nccl-tests"});
  f.real("bound_bytes_per_s", o.lit.bound_bytes_per_s, {"Without latency", "B/s"},
         "Bus bandwidth of an endless message.");
  f.integer("sharing", o.lit.sharing, "Groups on the busiest link", "That send over it in one direction at once.");
  f.text("slowest", o.slowest, "Which link", "The kind of the busiest one.");
  f.text("path", o.path, "Path", "Kinds of links that its bytes cross.");
  f.text("method", o.method, "Done by", "The fastest way that the model knows.");
  f.group("Other placements");
  f.real("best_time", o.best_s, {"Best found", "s"}, "The least communication of a step.");
  f.real("worst_time", o.worst_s, {"Slowest order", "s"}, "The most that an order of the axes takes.");
  f.real("spread", o.spread, {"Slowest over best", "×"}, {.formula = "slowest / best"});
  f.text("moved_axis", o.moved_axis, "Axis that changes most",
         "Between this placement and the best one, or if it is the best the slowest order; empty where none changes.");
  f.real("moved_bytes_per_s", o.moved_bytes_per_s, {"Its bus bandwidth here", "B/s"}, "That of an endless message.",
         {.absent = same_everywhere});
  f.real("moved_other_bytes_per_s", o.moved_other_bytes_per_s, {"Its bus bandwidth there", "B/s"},
         "That of an endless message.", {.absent = same_everywhere});
  f.real("relayed_s", o.relayed_s, {"Changing rails first", "s"},
         "A step where GPUs pass a message to the one on its target's rail before it leaves the machine.",
         {.absent = "Messages change rails already, or the spine is not the busiest link."});
  f.integer("priced", o.priced, "Placements priced",
            "Every order of the axes, and exchanges of two chips from the best order on; of six chips or fewer every "
            "placement.");
  f.text("best_order", o.best_order, "Best order", "Inner axis first.");
  f.text("devices", o.devices, "Visible devices",
         "CUDA_VISIBLE_DEVICES (ROCR_VISIBLE_DEVICES of AMD) for the best placement; of one machine only.",
         {.max_bytes = 1000});
  f.group("The graph");
  f.integer("ranks", o.ranks, "Ranks placed", "As many of the plan's as the machines hold.");
  f.integer("ranks_asked", o.ranks_asked, "Ranks of the plan", {.formula = "tensor x context x pipeline x data"});
  f.integer("chips", o.chips, "Chips", "In all machines.");
  f.integer("links", o.links, "Links", "Lanes between the same two ends are one.");
  f.real("bisection_bytes_per_s", o.bisection_bytes_per_s, {"Half to half", "B/s"},
         "Bisection: what the first half of the chips sends to the second at once, one way; halves by their numbers.",
         {.formula = "largest flow from half to half", .source = "Ford and Fulkerson 1956"});
  f.real("ports_bytes_per_s", o.ports_bytes_per_s, {"All ports", "B/s"},
         "NVLink, xGMI or ICI of all chips, both directions added: how vendors state a machine. It is no bisection.",
         {.formula = "sum over chips of 2 x rate one way"});
  f.text("left_out", o.left_out, "To be known",
         "What of the plan sends nothing, and whether the machine is an example.");
  f.group("Tables");
  f.table("axes", o.axes, "Axes");
  f.table("orders", o.orders, "Orders");
  f.table("figures", o.figures, "Figures");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/topology",
       "Topology",
       "Which link does each axis stand on, and what does another order cost?",
       {.job = true, .published_keys = "machine boxes pattern"}},
      [](const Inputs& in, Progress& progress) { return compute(in, progress); }, arrange, draw);
}

}  // namespace chapters::distributed::topology
