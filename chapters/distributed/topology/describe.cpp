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
    {"tpu_v4", "TPU v4 cube", "4 x 4 x 4 chips, every line closed to a ring."},
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

void describe_machine(Fields& f, Inputs& in) {
  f.group("The machine");
  f.choice("machine", in.machine, machines, {.label = "Machine", .help = "What the ranks run on.", .headline = true});
  f.text(
      "table", in.table,
      {.label = "Table",
       .help = "The text of nvidia-smi topo -m or rocm-smi --showtopo. The button over the picture pastes it with its "
               "tabs. Empty: an example.",
       .when = {"machine", "pasted"},
       .max_bytes = 60'000});
  f.file("file", in.file,
         {.label = "Or a file",
          .help = "A text file with the same; it counts before the text above.",
          .when = {"machine", "pasted"}});
  shared::chip(f, "chip", in.chip,
               {.help = "Gives the rates of the cards' links and of PCIe.", .when = {"machine", "pcie_box|pasted"}});
  f.integer(
      "boxes", in.boxes,
      {
          .label = "How many",
          .help =
              "Machines of this kind. Adapters of one number share a rail, a leaf switch; a spine joins the rails. A "
              "rack has four rails, for the four GPUs of a tray; cards without a fabric share one switch.",
          .lo = 1,
          .hi = 20,
          .typical_lo = 1,
          .typical_hi = 8,
          .when = {"machine", "hgx_h100|hgx_h200|hgx_b200|nvl72_gb200|nvl72_gb300|pcie_box|mi300x|pasted"},
      });
  f.integer("rack_chips", in.rack_chips,
            {
                .label = "GPUs in use",
                .help = "Of a rack's 72.",
                .lo = 4,
                .hi = 72,
                .when = {"machine", "nvl72_gb200|nvl72_gb300"},
            });
  shared::network(f, "network", in.network,
                  {.help = "One port of each adapter.",
                   .when = {"machine", "hgx_h100|hgx_h200|hgx_b200|nvl72_gb200|nvl72_gb300|pcie_box|mi300x|pasted"}});
  f.real("oversubscription", in.oversubscription,
         {
             .label = "Oversubscription",
             .help = "Ports below a leaf switch over those up to the spine; 1: as many up as down.",
             .lo = 1,
             .hi = 16,
             .typical_lo = 1,
             .typical_hi = 4,
             .when = {"machine", "hgx_h100|hgx_h200|hgx_b200|nvl72_gb200|nvl72_gb300|pcie_box|mi300x|pasted"},
         });
  f.toggle("relay", in.relay,
           {.label = "GPUs change rails",
            .help = "What is for an adapter of another number goes over NVLink first (NCCL's PXN), not over the spine.",
            .when = {"machine", "hgx_h100|hgx_h200|hgx_b200|nvl72_gb200|nvl72_gb300|pcie_box|mi300x|pasted"}});
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
  f.choice("order", in.order, axis_orders(),
           {.label = "Order, inner first",
            .help = "How ranks are numbered: neighbours differ in the first axis. Drag the names over the picture.",
            .headline = true});
  f.text("chip_order", in.chip_order,
         {.label = "Chips of the ranks",
          .help = "0,2,1,3: rank 1 runs on chip 2; chips that are not named follow. Empty: as they are numbered.",
          .max_bytes = 1000});
  f.choice("axis", in.axis, lit_axes, {.label = "Lit axis", .help = "Whose groups and links the picture shows."});
  f.group("What is sent");
  f.choice("traffic", in.traffic, traffics, {.label = "Traffic", .help = "A whole step or one call."});
  shared::model(f, "model", in.model, {.help = "Whose messages are counted.", .when = {"traffic", "step"}});
  shared::batch(f, "batch", in.batch, {.help = "Sequences of a micro-batch.", .when = {"traffic", "step"}});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of a sequence.", .when = {"traffic", "step"}});
  f.integer("micro_batches", in.micro_batches,
            {
                .label = "Micro-batches",
                .help = "That each replica works through in a step. Gradients are summed once for all of them.",
                .lo = 1,
                .hi = 4096,
                .scale = Scale::log,
                .typical_lo = 1,
                .typical_hi = 64,
                .when = {"traffic", "step"},
            });
  f.choice("pattern", in.pattern, patterns,
           {.label = "Collective", .help = "What the ranks of the lit axis do.", .when = {"traffic", "one_call"}});
  f.real("bytes", in.bytes,
         {
             .label = "Bytes",
             .unit = "B",
             .help = "Of one call, as nccl-tests counts them.",
             .lo = 8,
             .hi = 68719476736.0,
             .scale = Scale::log,
             .typical_lo = 1024,
             .typical_hi = 17179869184.0,
             .binary = true,
             .when = {"traffic", "one_call"},
         });
  f.group("How links are counted");
  f.choice("rates", in.rates, rates, {.label = "Rates", .help = "What a link carries."});
  f.toggle("in_switch", in.in_switch,
           {.label = "Switches add",
            .help = "All-reduces inside one NVSwitch domain may be summed in the switches (NVLink SHARP)."});
}

void describe(Fields& f, AxisRow& r) {
  f.text("axis", r.axis, {.label = "Axis"});
  f.integer("ranks", r.ranks, {.label = "Ranks", .help = "Of one group."});
  f.integer("groups", r.groups, {.label = "Groups", .help = "All at work at once."});
  f.text("collective", r.collective, {.label = "Collective"});
  f.text("method", r.method, {.label = "Done by", .help = "The fastest way that the model knows."});
  f.text("path", r.path, {.label = "Path", .help = "Kinds of links that its bytes cross."});
  f.text("slowest", r.slowest, {.label = "Busiest link"});
  f.real("slowest_bytes_per_s", r.slowest_bytes_per_s,
         {.label = "It carries", .unit = "B/s", .help = "In one direction."});
  f.integer("sharing", r.sharing, {.label = "Groups on it", .help = "That put bytes on it in one direction."});
  f.real("bytes", r.bytes, {.label = "Bytes of a call", .unit = "B", .help = "As nccl-tests counts them."});
  f.real("calls", r.calls, {.label = "Calls", .help = "Of a rank in a step."});
  f.real("call_s", r.call_s, {.label = "A call", .unit = "s", .formula = "latency + bytes over the busiest link"});
  f.real("bus_bytes_per_s", r.bus_bytes_per_s,
         {.label = "Bus bandwidth", .unit = "B/s", .formula = "bus factor x bytes / time"});
  f.real("step_s", r.step_s, {.label = "A step", .unit = "s", .formula = "calls x time of a call"});
}
void describe(Fields& f, OrderRow& r) {
  f.text("order", r.order, {.label = "Order", .help = "Inner axis first."});
  f.real("step_s", r.step_s, {.label = "A step", .unit = "s", .help = "All its communication, one after the other."});
  f.real("ratio", r.ratio, {.label = "Over the best", .formula = "its time / the best time"});
}
void describe(Fields& f, FigureRow& r) {
  f.text("what", r.what, {.label = "Of what"});
  f.real("bytes_per_s", r.bytes_per_s, {.label = "Carries", .unit = "B/s", .help = "In one direction; 0: a latency."});
  f.real("latency_s", r.latency_s, {.label = "Latency", .unit = "s", .help = "Of one hop of a collective."});
  f.text("source", r.source, {.label = "From", .max_bytes = 400});
}

void describe(Fields& f, Outputs& o) {
  f.group("This placement");
  f.real("step_time", o.step_s,
         {.label = "Communication a step",
          .unit = "s",
          .help = "Of all axes one after the other, none of it hidden behind work.",
          .headline = true,
          .formula = "sum over axes of calls x time"});
  f.real("over_best", o.over_best,
         {.label = "Over the best found",
          .help = "Times as long as the best placement that was found for the same plan.",
          .headline = true,
          .formula = "time / best time"});
  f.real(
      "slowest_bytes_per_s", o.slowest_bytes_per_s,
      {.label = "Busiest link",
       .unit = "B/s",
       .help =
           "What the link that the lit axis keeps busy longest carries in one direction; where the switches add, what "
           "a GPU sends to them.",
       .headline = true,
       .source = "tab Figures"});
  f.real("call_s", o.call_s,
         {.label = "A call of the lit axis",
          .unit = "s",
          .headline = true,
          .formula = "latency + bytes over the busiest link",
          .source = "all_reduce_time; NCCL, src/graph/tuning.cc"});
  f.group("The lit axis");
  f.real("bus_bytes_per_s", o.bus_bytes_per_s,
         {.label = "Bus bandwidth",
          .unit = "B/s",
          .formula = "bus factor x bytes / time",
          .source = "doc/PERFORMANCE.md of nccl-tests"});
  f.real("bound_bytes_per_s", o.bound_bytes_per_s,
         {.label = "Without latency", .unit = "B/s", .help = "Bus bandwidth of an endless message."});
  f.integer("sharing", o.sharing,
            {.label = "Groups on the busiest link", .help = "That send over it in one direction at once."});
  f.text("slowest", o.slowest, {.label = "Which link", .help = "The kind of the busiest one."});
  f.text("path", o.path, {.label = "Path", .help = "Kinds of links that its bytes cross."});
  f.text("method", o.method, {.label = "Done by", .help = "The fastest way that the model knows."});
  f.group("Other placements");
  f.real("best_time", o.best_s, {.label = "Best found", .unit = "s", .help = "The least communication of a step."});
  f.real("worst_time", o.worst_s,
         {.label = "Slowest order", .unit = "s", .help = "The most that an order of the axes takes."});
  f.real("spread", o.spread, {.label = "Slowest over best", .formula = "slowest / best"});
  f.integer(
      "priced", o.priced,
      {.label = "Placements priced",
       .help = "Every order of the axes, and exchanges of two chips from the best order on; of six chips or fewer "
               "every placement."});
  f.text("best_order", o.best_order, {.label = "Best order", .help = "Inner axis first."});
  f.text("devices", o.devices,
         {.label = "Visible devices",
          .help = "CUDA_VISIBLE_DEVICES (ROCR_VISIBLE_DEVICES of AMD) for the best placement; of one machine only.",
          .max_bytes = 1000});
  f.group("The graph");
  f.integer("ranks", o.ranks, {.label = "Ranks placed", .help = "As many of the plan's as the machines hold."});
  f.integer("ranks_asked", o.ranks_asked,
            {.label = "Ranks of the plan", .formula = "tensor x context x pipeline x data"});
  f.integer("chips", o.chips, {.label = "Chips", .help = "In all machines."});
  f.integer("links", o.links, {.label = "Links", .help = "Lanes between the same two ends are one."});
  f.text("left_out", o.left_out,
         {.label = "To be known", .help = "What of the plan sends nothing, and whether the machine is an example."});
  f.group("Tables");
  f.table("axes", o.axes, {.label = "Axes"});
  f.table("orders", o.orders, {.label = "Orders"});
  f.table("figures", o.figures, {.label = "Figures"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "distributed/topology",
       .title = "Topology",
       .question = "Which link does each axis stand on, and what does another order cost?"},
      compute, arrange, draw);
}

}  // namespace chapters::distributed::topology
