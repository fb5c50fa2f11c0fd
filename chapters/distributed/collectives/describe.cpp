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
     "Double binary tree",
     "Half of the bytes through each, pipelined; laid as NCCL lays them.",
     {"primitive", "all_reduce"}},
    {"halving_doubling",
     "Halving and doubling",
     "Half of the buffer to a partner, then a quarter, and the same way back.",
     {"primitive", "all_reduce|reduce_scatter|all_gather|reduce"}},
    {"recursive_doubling",
     "Recursive doubling",
     "Whole buffers between partners at distance 1, 2, 4.",
     {"primitive", "all_reduce"}},
    {"hierarchical",
     "Hierarchical",
     "Inside nodes, then across them on every rail, then inside once more.",
     {"primitive", "all_reduce|reduce_scatter|all_gather"}},
    {"scatter_all_gather",
     "Scatter, all-gather",
     "The root deals shares over a tree; a ring gathers them.",
     {"primitive", "broadcast"}},
    {"pairwise",
     "Pairwise",
     "Directly from owner to owner, one partner per step.",
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
  f.real("latency_s", in.latency_s, {"Latency of a step", "s"},
         "What a message costs before its first byte is on the other rank: the call, the handshake, the way.",
         {.range = {5e-7, 1e-2, Scale::log}, .typical = {1e-6, 5e-5}});
  f.real("bandwidth_bytes_per_s", in.bandwidth_bytes_per_s, {"Bandwidth", "B/s"},
         "What one rank sends in one direction: 50 GB/s is a 400 Gb/s port, 450 GB/s the NVLinks of an H100.",
         {.range = {1e8, 1e13, Scale::log}, .typical = {1e9, 1e12}});
  f.toggle("adding_counts", in.adding_counts, "Adding takes time", "Off: bytes are added as fast as they come in.");
  f.real("reduce_bytes_per_s", in.reduce_bytes_per_s, {"Bytes added", "B/s"},
         "Incoming bytes that one rank adds to its own in a second.",
         {.range = {1e9, 1e14, Scale::log}, .when = {"adding_counts", "true"}});
  f.group("Nodes");
  f.integer("node_ranks", in.node_ranks, "Ranks per node",
            "Ranks at one fast switch; used by the hierarchical algorithm alone.",
            {.range = {2, 576, Scale::log}, .typical = {2, 8}});
  f.real("inside_latency_s", in.inside_latency_s, {"Latency inside", "s"},
         "What a step costs between two ranks of one node; used by the hierarchical algorithm alone.",
         {.range = {5e-7, 1e-2, Scale::log}, .typical = {5e-7, 1e-5}});
  f.real("inside_bandwidth_bytes_per_s", in.inside_bandwidth_bytes_per_s, {"Bandwidth inside", "B/s"},
         "What one rank sends in one direction inside a node; used by the hierarchical algorithm alone.",
         {.range = {1e8, 1e13, Scale::log}, .typical = {1e10, 1e12}});
  f.group("How it is drawn");
  f.toggle("nccl_start", in.nccl_start, "Start as NCCL does",
           "Rank r first sends chunk r - 1 and ends its reduce-scatter with chunk r. Off, as in textbooks: it first "
           "sends chunk r and ends with chunk r + 1.",
           {.when = {"algorithm", "ring"}});
  f.integer(
      "pieces", in.pieces, "Pieces",
      "Pieces that each tree's half, or the chain's buffer, is cut into, so that they follow each other. The time is "
      "that of the best number of pieces, or of very many, whatever is drawn.",
      {.range = {1, 16}, .typical = {1, 8}, .when = {"algorithm", "double_binary_tree|ring"}});
}

}  // namespace

void describe(Fields& f, AlgorithmRow& row) {
  f.choice("algorithm", row.algorithm, algorithms, "Algorithm");
  f.integer("steps", row.steps, "Steps", "Steps that pay a latency.", {.range = {0, 1e9}});
  f.real("sent_bytes", row.sent_bytes, {"Sent", "B"}, "Bytes that the busiest rank sends.", {.range = {0, 1e15}});
  f.real("time_s", row.time_s, {"Time", "s"}, "Time in the model.", {.range = {0, 1e9}});
  f.real("busbw_bytes_per_s", row.busbw_bytes_per_s, {"Bus bandwidth", "B/s"}, "As nccl-tests prints it.",
         {.range = {0, 1e15}});
}

void describe(Fields& f, TransferRow& row) {
  f.integer("step", row.step, "Step, from 0", "Messages of one step happen together.", {.range = {0, 1e6}});
  f.integer("src", row.src, "From rank", "The switch counts as one rank more.", {.range = {0, 1e6}});
  f.integer("dst", row.dst, "To rank", "The switch counts as one rank more.", {.range = {0, 1e6}});
  f.integer("chunk", row.chunk, "Chunk", "Which part of the buffer, from 0.", {.range = {0, 1e6}});
  f.text("action", row.action, "There", "reduce: added; copy: put in place; move: put next to what is there.");
}

void describe(Fields& f, Inputs& in) {
  f.group("The call");
  f.choice("primitive", in.primitive, primitives, "Primitive", "What every rank has in the end.");
  f.choice("algorithm", in.algorithm, algorithms, "Algorithm", "The one that is drawn, and that all figures speak of.",
           {.headline = true});
  f.choice("beside", in.beside, algorithms, "Against", "The algorithm that it is held against.");
  f.integer("ranks", in.ranks, "Ranks",
            "GPUs that take part. Up to 16 are drawn with every message, up to 32 as a film, up to 64 executed.",
            {.range = {2, 16384, Scale::log}, .typical = {2, 64}, .headline = true});
  f.real("bytes", in.bytes, {"Bytes", "B"},
         "As nccl-tests counts size: one rank's whole buffer; where each rank has a share, all shares together.",
         {.range = {1, 1e12, Scale::log}, .typical = {1e3, 1e9}, .headline = true});
  describe_link(f, in);
  describe(f, in.measured);
}

namespace {

void describe_other_algorithm(Fields& f, Outputs& o) {
  f.group("Against");
  f.real("beside_s", o.beside_s, {"Time of the other", "s"}, "What the algorithm under Against takes.",
         {.absent = no_other});
  f.real("beside_steps", o.beside_steps, "Its steps", "Steps that pay a latency.", {.absent = no_other});
  f.real("beside_sent_bytes", o.beside_sent_bytes, {"Sent by a rank", "B"}, "Bytes that its busiest rank sends.",
         {.absent = no_other});
  f.real("times_faster", o.times_faster, {"Times as fast as the other", "×"},
         {.absent = no_other, .formula = "time of the other / time"});
  f.real(
      "serial_times", o.serial_times, {"Bytes one after another, over its", "×"},
      "Bytes that follow each other on the busiest way, over those of the other; with a hierarchical algorithm those "
      "between nodes.",
      {.absent = no_other, .formula = "bytes in series / bytes in series of the other"});
  f.real("beside_serial_times", o.beside_serial_times, {"Its bytes one after another, over these", "×"},
         {.absent = no_other, .formula = "bytes in series of the other / bytes in series"});
  f.toggle("crosses_nodes", o.crosses_nodes, "Counted between nodes", "One of the two is hierarchical.");
  f.real("crossing_bytes", o.crossing_bytes, {"They change places", "B"}, "The size at which both take equally long.",
         {.absent = "One of the two is faster at every size.",
          .formula = "difference of latencies / difference of seconds per byte"});
  f.group("On nodes");
  const Details on_nodes{.absent = no_nodes};
  f.real("inside_s", o.inside_s, {"Inside nodes", "s"}, "Bytes alone: reduce-scatter and all-gather in each node.",
         on_nodes);
  f.real("between_s", o.between_s, {"Between nodes", "s"}, "Bytes alone: the ring across nodes, on all rails at once.",
         on_nodes);
  f.real("pipelined_s", o.pipelined_s, {"Overlapped", "s"}, "The longer of the two, if many pieces follow each other.",
         on_nodes);
  f.real("flat_ring_s", o.flat_ring_s, {"Flat ring, one port", "s"},
         "Bytes alone of one ring through all ranks, at the bandwidth between nodes.", on_nodes);
  f.real("flat_rails_s", o.flat_rails_s, {"Flat rings, all ports", "s"},
         "Bytes alone of as many rings as a node has ranks, each through a port of its own.", on_nodes);
  f.real("one_port_s", o.one_port_s, {"One rank per node", "s"},
         "Bytes alone, if one rank of each node carries the whole sum of its node across and then broadcasts it.",
         on_nodes);
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("The collective");
  f.real("time_s", o.time_s, {"Time", "s"},
         {.headline = true,
          .formula = "steps x latency + bytes in series / bandwidth + bytes added in series / rate",
          .source = thakur});
  f.integer("steps", o.steps, "Steps",
            "Steps that pay a latency, one after the other. In a chain each piece after the first pays one more.",
            {.headline = true, .source = thakur});
  f.real("algbw_bytes_per_s", o.algbw_bytes_per_s, {"Algorithm bandwidth", "B/s"},
         {.headline = true, .formula = "bytes / time", .source = nccl_tests});
  f.real("busbw_bytes_per_s", o.busbw_bytes_per_s, {"Bus bandwidth", "B/s"},
         "All-reduce: times 2 (N - 1) / N. Broadcast and reduce: as it is. The others, where each rank has a share: "
         "times (N - 1) / N.",
         {.headline = true, .formula = "algorithm bandwidth x factor of the primitive", .source = nccl_tests});
  f.real("bytes_sent_per_rank", o.bytes_sent_per_rank, {"Sent by a rank", "B"}, "Bytes that the busiest rank sends.",
         {.formula = "chunks that it sends x bytes of a chunk"});
  f.real("link_percent", o.link_percent, {"Share of the link", "%"},
         "Over 100 where fewer bytes pass the link than in a ring: in a switch that adds, or inside of nodes.",
         {.formula = "bus bandwidth / bandwidth"});
  f.real("latency_percent", o.latency_percent, {"Latency part", "%"}, {.formula = "steps x latency / time"});
  f.text("checked", o.checked, "Checked sums",
         "The schedule was executed on numbers: so many results are right. Empty beyond 64 ranks.");
  f.real("wrong", o.wrong, "Wrong results", "Results of the executed schedule that are not the right numbers.",
         {.absent = "Schedules are executed up to 64 ranks."});
  f.group("Parts of the time");
  f.real("latency_part_s", o.time.latency_s, {"Latency", "s"}, {.formula = "steps x latency"});
  f.real("transfer_part_s", o.time.transfer_s, {"Transfer", "s"}, {.formula = "bytes in series / bandwidth"});
  f.real("reduce_part_s", o.time.reduce_s, {"Adding", "s"}, {.formula = "bytes added in series / rate"});
  f.integer("schedule_steps", o.schedule_steps, "Steps drawn",
            "With pieces that follow each other, where there are any.");
  f.real("step_by_step_s", o.step_by_step_s, {"Step by step", "s"},
         "The drawn schedule with every step after the one before: what it takes where nothing is pipelined.",
         {.absent = "Schedules are written out up to 64 ranks."});
  f.group("Fastest");
  f.choice("fastest", o.fastest, algorithms, "Fastest",
           "For these bytes, of the algorithms that need neither nodes nor a switch that adds, and the two chosen.");
  f.real("fastest_s", o.fastest_s, {"Its time", "s"}, "What the fastest takes.");
  describe_other_algorithm(f, o);
  describe(f, o.measured);
  f.group("Tables");
  f.table("algorithms", o.algorithms, "Algorithms", {.max_items = 16});
  f.table("transfers", o.transfers, "Transfers", "Every message of every step, up to 16 ranks.", {.max_items = 65536});
}

void describe(Fields& f, View& v) {
  f.real("time", v.board.time, "Step",
         "4 is after four steps; 4.5 has the fifth in flight. Beyond the last step is the end; below 0, a third of the "
         "way.",
         {.range = {-1, 256}});
  f.real("clock", v.clock_s, {"Clock", "s"},
         "Time since both algorithms started, on one clock. Beyond the longer one is the end; below 0, where the first "
         "one stands.",
         {.range = {-1, 1e9}});
}

std::string_view algorithm_name(const Inputs& in, CollectiveAlgorithm algorithm) {
  return is_chain(in, algorithm) ? std::string_view("Chain") : algorithms[static_cast<std::size_t>(algorithm)].label;
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/collectives", "Collectives", "Which algorithm is fastest for this message, and why?"},
      [](const Inputs& in, Progress& progress) { return compute(in, progress.facts_alone); }, arrange, draw);
}

}  // namespace chapters::distributed::collectives
