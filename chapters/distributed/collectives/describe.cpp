#include "chapters/distributed/collectives/lab.h"

namespace chapters::distributed::collectives {
namespace {

const Choices primitives{
    {"all_reduce", "All-reduce", "Every rank ends with the sum of all buffers."},
    {"reduce_scatter", "Reduce-scatter", "Every rank ends with its share of the sum."},
    {"all_gather", "All-gather", "Every rank ends with the shares of all."},
    {"all_to_all", "All-to-all", "Every rank sends each other rank a part of its own."},
    {"broadcast", "Broadcast", "Rank 0's buffer ends on every rank."},
    {"reduce", "Reduce", "The sum of all buffers ends on rank 0 alone."},
    {"scatter", "Scatter", "Rank 0 sends each rank its part."},
    {"gather", "Gather", "Rank 0 collects the part of each rank."},
};
static_assert(models::parallel::primitive_count == 8);
constexpr std::string_view with_ring = "all_reduce|reduce_scatter|all_gather|broadcast|reduce";
constexpr std::string_view with_tree = "all_reduce|broadcast|reduce|scatter|gather";
const Choices algorithms{
    {"ring",
     "Ring",
     "Neighbours only; with one root a chain, through which pieces follow each other.",
     {"primitive", with_ring}},
    {"tree",
     "Binomial tree",
     "The distance between partners doubles, or halves, with each step.",
     {"primitive", with_tree}},
    {"double_binary_tree",
     "Two binary trees",
     "Half of the bytes through each, pipelined; laid as NCCL lays them.",
     {"primitive", "all_reduce"}},
    {"halving_doubling",
     "Halving and doubling",
     "Half of the buffer to a partner, then a quarter, and back again.",
     {"primitive", "all_reduce|reduce_scatter|all_gather|reduce"}},
    {"recursive_doubling",
     "Recursive doubling",
     "Whole buffers between partners at distance 1, 2, 4.",
     {"primitive", "all_reduce"}},
    {"hierarchical",
     "Hierarchical",
     "Inside nodes, then across them on every rail, then inside again.",
     {"primitive", "all_reduce|reduce_scatter|all_gather"}},
    {"scatter_all_gather",
     "Scatter, all-gather",
     "The root deals shares over a tree; a ring gathers them.",
     {"primitive", "broadcast"}},
    {"pairwise",
     "Pairwise",
     "Directly from owner to owner, one partner a step.",
     {"primitive", "reduce_scatter|all_to_all|scatter|gather"}},
    {"bruck", "Bruck", "log2 N steps; blocks travel over other ranks.", {"primitive", "all_gather|all_to_all"}},
    {"in_network", "In the switch", "The switch adds and copies, as NVLink SHARP does.", {"primitive", with_ring}},
};
static_assert(models::parallel::collective_algorithm_count == 10);
constexpr std::string_view thakur = "Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view nccl_tests = "doc/PERFORMANCE.md of nccl-tests";
constexpr std::string_view no_other =
    "The other algorithm is the same one, or there is none of its kind for these inputs.";
constexpr std::string_view no_nodes = "Only for a hierarchical all-reduce.";

void describe_link(Fields& f, Inputs& in) {
  f.group("The link");
  f.real(
      "latency_s", in.latency_s,
      {
          .label = "Latency of a step",
          .unit = "s",
          .help = "What a message costs before its first byte is on the other rank: the call, the handshake, the way.",
          .lo = 5e-7,
          .hi = 1e-2,
          .scale = Scale::log,
          .typical_lo = 1e-6,
          .typical_hi = 5e-5,
      });
  f.real("bandwidth_bytes_per_s", in.bandwidth_bytes_per_s,
         {
             .label = "Bandwidth",
             .unit = "B/s",
             .help = "Of one rank, one direction: 50 GB/s is a 400 Gb/s port, 450 GB/s the NVLinks of an H100.",
             .lo = 1e8,
             .hi = 1e13,
             .scale = Scale::log,
             .typical_lo = 1e9,
             .typical_hi = 1e12,
         });
  f.toggle("adding_counts", in.adding_counts,
           {.label = "Adding takes time", .help = "Off: bytes are added as fast as they come in."});
  f.real("reduce_bytes_per_s", in.reduce_bytes_per_s,
         {
             .label = "Bytes added",
             .unit = "B/s",
             .help = "Incoming bytes that one rank adds to its own in a second.",
             .lo = 1e9,
             .hi = 1e14,
             .scale = Scale::log,
             .when = {"adding_counts", "true"},
         });
  f.group("Nodes");
  f.integer("node_ranks", in.node_ranks,
            {
                .label = "Ranks a node",
                .help = "Of the hierarchical algorithm: ranks behind one fast switch.",
                .lo = 2,
                .hi = 576,
                .scale = Scale::log,
                .typical_lo = 2,
                .typical_hi = 8,
            });
  f.real("inside_latency_s", in.inside_latency_s,
         {
             .label = "Latency inside",
             .unit = "s",
             .help = "Of a step between two ranks of one node; used by the hierarchical algorithm alone.",
             .lo = 5e-7,
             .hi = 1e-2,
             .scale = Scale::log,
             .typical_lo = 5e-7,
             .typical_hi = 1e-5,
         });
  f.real("inside_bandwidth_bytes_per_s", in.inside_bandwidth_bytes_per_s,
         {
             .label = "Bandwidth inside",
             .unit = "B/s",
             .help = "Of one rank, one direction, inside a node; used by the hierarchical algorithm alone.",
             .lo = 1e8,
             .hi = 1e13,
             .scale = Scale::log,
             .typical_lo = 1e10,
             .typical_hi = 1e12,
         });
  f.group("How it is drawn");
  f.toggle("nccl_start", in.nccl_start,
           {.label = "Start as NCCL does",
            .help = "Rank r first sends chunk r - 1 and ends its reduce-scatter with chunk r. Off, as in textbooks: it "
                    "first sends chunk r and ends with chunk r + 1.",
            .when = {"algorithm", "ring"}});
  f.integer(
      "pieces", in.pieces,
      {
          .label = "Pieces",
          .help = "That each tree's half, or the chain's buffer, is cut into, so that they follow each other. The "
                  "time is that of the best number of pieces, or of very many, whatever is drawn.",
          .lo = 1,
          .hi = 16,
          .typical_lo = 1,
          .typical_hi = 8,
          .when = {"algorithm", "double_binary_tree|ring"},
      });
}

}  // namespace

void describe(Fields& f, AlgorithmRow& row) {
  f.choice("algorithm", row.algorithm, algorithms, {.label = "Algorithm"});
  f.integer("steps", row.steps, {.label = "Steps", .help = "That pay a latency.", .lo = 0, .hi = 1e9});
  f.real("sent_bytes", row.sent_bytes,
         {.label = "Sent", .unit = "B", .help = "By the busiest rank.", .lo = 0, .hi = 1e15});
  f.real("time_s", row.time_s, {.label = "Time", .unit = "s", .help = "In the model.", .lo = 0, .hi = 1e9});
  f.real("busbw_bytes_per_s", row.busbw_bytes_per_s,
         {.label = "Bus bandwidth", .unit = "B/s", .help = "As nccl-tests prints it.", .lo = 0, .hi = 1e15});
}

void describe(Fields& f, TransferRow& row) {
  f.integer("step", row.step,
            {.label = "Step, from 0", .help = "Those of one step happen together.", .lo = 0, .hi = 1e6});
  f.integer("src", row.src, {.label = "From rank", .help = "The switch counts as one rank more.", .lo = 0, .hi = 1e6});
  f.integer("dst", row.dst, {.label = "To rank", .help = "The switch counts as one rank more.", .lo = 0, .hi = 1e6});
  f.integer("chunk", row.chunk, {.label = "Chunk", .help = "Which part of the buffer, from 0.", .lo = 0, .hi = 1e6});
  f.text("action", row.action, {.label = "There", .help = "reduce: added; copy: put in place; move: put beside."});
}

void describe(Fields& f, Inputs& in) {
  f.group("The call");
  f.choice("primitive", in.primitive, primitives, {.label = "Primitive", .help = "What every rank has in the end."});
  f.choice("algorithm", in.algorithm, algorithms,
           {.label = "Algorithm", .help = "The one that is drawn, and that all figures speak of.", .headline = true});
  f.choice("beside", in.beside, algorithms, {.label = "Against", .help = "The algorithm that it is held against."});
  f.integer(
      "ranks", in.ranks,
      {
          .label = "Ranks",
          .help = "GPUs that take part. Up to 16 are drawn with every message, up to 32 as a film, up to 64 executed.",
          .lo = 2,
          .hi = 16384,
          .scale = Scale::log,
          .typical_lo = 2,
          .typical_hi = 64,
          .headline = true,
      });
  f.real("bytes", in.bytes,
         {
             .label = "Bytes",
             .unit = "B",
             .help = "As nccl-tests counts size: one rank's whole buffer; where each rank has a share, all shares "
                     "together.",
             .lo = 1,
             .hi = 1e12,
             .scale = Scale::log,
             .typical_lo = 1e3,
             .typical_hi = 1e9,
             .headline = true,
         });
  describe_link(f, in);
  describe(f, in.measured);
}

void describe(Fields& f, Outputs& o) {
  f.group("The collective");
  f.real("time_s", o.time_s,
         {.label = "Time",
          .unit = "s",
          .headline = true,
          .formula = "steps x latency + bytes in series / bandwidth + bytes added in series / rate",
          .source = thakur});
  f.integer("steps", o.steps,
            {.label = "Steps",
             .help = "That pay a latency, one after the other. In a chain each piece after the first pays one more.",
             .headline = true,
             .source = thakur});
  f.real("algbw_bytes_per_s", o.algbw_bytes_per_s,
         {.label = "Algorithm bandwidth",
          .unit = "B/s",
          .headline = true,
          .formula = "bytes / time",
          .source = nccl_tests});
  f.real("busbw_bytes_per_s", o.busbw_bytes_per_s,
         {.label = "Bus bandwidth",
          .unit = "B/s",
          .help = "All-reduce: times 2 (N - 1) / N. Broadcast and reduce: as it is. The others, where each rank has a "
                  "share: times "
                  "(N - 1) / N.",
          .headline = true,
          .formula = "algorithm bandwidth x factor of the primitive",
          .source = nccl_tests});
  f.real("bytes_sent_per_rank", o.bytes_sent_per_rank,
         {.label = "Sent by a rank",
          .unit = "B",
          .help = "By the busiest one.",
          .formula = "chunks that it sends x bytes of a chunk"});
  f.real("link_percent", o.link_percent,
         {.label = "Of the link",
          .unit = "%",
          .help = "Over 100 where fewer bytes pass the link than in a ring: in a switch that adds, or inside of nodes.",
          .formula = "bus bandwidth / bandwidth"});
  f.real("latency_percent", o.latency_percent,
         {.label = "Latency part", .unit = "%", .formula = "steps x latency / time"});
  f.text("checked", o.checked,
         {.label = "Checked sums",
          .help = "The schedule was executed on numbers: so many results are right. Empty beyond 64 ranks."});
  f.real("wrong", o.wrong,
         {.label = "Wrong results",
          .help = "Of the executed schedule.",
          .may_be_missing = true,
          .absent = "Schedules are executed up to 64 ranks."});
  f.group("Parts of the time");
  f.real("latency_part_s", o.time.latency_s, {.label = "Latency", .unit = "s", .formula = "steps x latency"});
  f.real("transfer_part_s", o.time.transfer_s,
         {.label = "Transfer", .unit = "s", .formula = "bytes in series / bandwidth"});
  f.real("reduce_part_s", o.time.reduce_s, {.label = "Adding", .unit = "s", .formula = "bytes added in series / rate"});
  f.integer("schedule_steps", o.schedule_steps,
            {.label = "Steps drawn", .help = "With pieces that follow each other, where there are any."});
  f.real("step_by_step_s", o.step_by_step_s,
         {.label = "Step by step",
          .unit = "s",
          .help = "The drawn schedule with every step after the one before: what it takes where nothing is pipelined.",
          .may_be_missing = true,
          .absent = "Schedules are written out up to 64 ranks."});
  f.group("Fastest");
  f.choice(
      "fastest", o.fastest, algorithms,
      {.label = "Fastest",
       .help =
           "For these bytes, of the algorithms that need neither nodes nor a switch that adds, and the two chosen."});
  f.real("fastest_s", o.fastest_s, {.label = "Its time", .unit = "s", .help = "Of the fastest."});
  f.group("Against");
  f.real("beside_s", o.beside_s,
         {.label = "Time of the other",
          .unit = "s",
          .help = "Of the algorithm under Against.",
          .may_be_missing = true,
          .absent = no_other});
  f.real("beside_steps", o.beside_steps,
         {.label = "Its steps", .help = "That pay a latency.", .may_be_missing = true, .absent = no_other});
  f.real("beside_sent_bytes", o.beside_sent_bytes,
         {.label = "Sent by a rank",
          .unit = "B",
          .help = "By its busiest one.",
          .may_be_missing = true,
          .absent = no_other});
  f.real("times_faster", o.times_faster,
         {.label = "Times faster", .may_be_missing = true, .absent = no_other, .formula = "time of the other / time"});
  f.real("crossing_bytes", o.crossing_bytes,
         {.label = "They change places",
          .unit = "B",
          .help = "The size at which both take equally long.",
          .may_be_missing = true,
          .absent = "One of the two is faster at every size.",
          .formula = "difference of latencies / difference of seconds a byte"});
  f.group("On nodes");
  const auto node_time = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {.label = label, .unit = "s", .help = help, .may_be_missing = true, .absent = no_nodes});
  };
  node_time("inside_s", o.inside_s, "Inside nodes", "Bytes alone: reduce-scatter and all-gather in each node.");
  node_time("between_s", o.between_s, "Between nodes", "Bytes alone: the ring across nodes, on all rails at once.");
  node_time("pipelined_s", o.pipelined_s, "Overlapped", "The longer of the two, if many pieces follow each other.");
  node_time("flat_ring_s", o.flat_ring_s, "Flat ring, one port",
            "Bytes alone of one ring through all ranks, at the bandwidth between nodes.");
  node_time("flat_rails_s", o.flat_rails_s, "Flat rings, all ports",
            "Bytes alone of as many rings as a node has ranks, each through a port of its own.");
  node_time("one_port_s", o.one_port_s, "One rank a node",
            "Bytes alone, if one rank of each node carries the whole sum of its node across and then broadcasts it.");
  describe(f, o.measured);
  f.group("Tables");
  f.table("algorithms", o.algorithms, {.label = "Algorithms", .max_items = 16});
  f.table("transfers", o.transfers,
          {.label = "Transfers", .help = "Every message of every step, up to 16 ranks.", .max_items = 65536});
}

void describe(Fields& f, View& v) {
  f.real(
      "time", v.board.time,
      {.label = "Step",
       .help =
           "4 is after four steps; 4.5 has the fifth in flight. Beyond the last step is the end; below 0, a third of "
           "the way.",
       .lo = -1,
       .hi = 256});
  f.real("clock", v.clock_s,
         {.label = "Clock",
          .unit = "s",
          .help = "Of the two algorithms on one clock. Beyond the longer one is the end; below 0, where the first one "
                  "stands.",
          .lo = -1,
          .hi = 1e9});
}

std::string_view algorithm_name(CollectiveAlgorithm algorithm) {
  return algorithms[static_cast<std::size_t>(algorithm)].label;
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({.id = "distributed/collectives",
                                                   .title = "Collectives",
                                                   .question = "Which algorithm is fastest for this message, and why?"},
                                                  compute, arrange, draw);
}

}  // namespace chapters::distributed::collectives
