#include "chapters/distributed/collectives/measured.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::collectives {

void describe(Fields& f, CrossingRow& row) {
  f.real("from_bytes", row.from_bytes, {"From", "B"}, {.range = {0, 1e15}, .binary = true});
  f.real("to_bytes", row.to_bytes, {"To", "B"}, {.range = {0, 1e15}, .binary = true});
  f.text("kind", row.kind, "Kind",
         "dent: the bandwidth falls. step: the time jumps. jump: it hardly grows. flat: it stops growing.");
  f.real("time_ratio", row.time_ratio, "Times the time", "The time of the larger size over that of the smaller.",
         {.range = {0, 1e9}});
  f.real("line_ratio", row.line_ratio, "By one line", "The same ratio by the fitted line.", {.range = {0, 1e9}});
  f.text("second_column", row.second_column, "In place", "Whether the second column agrees.");
  f.text("cause", row.cause, "Cause", "Named only where a source names it.");
}

void describe(Fields& f, ChoiceRow& row) {
  f.real("from_bytes", row.from_bytes, {"From", "B"}, {.range = {0, 1e15}, .binary = true});
  f.text("choice", row.choice, "Algorithm and protocol");
  f.text("limit", row.limit, "Limited by");
}

void describe(Fields& f, CandidateRow& row) {
  f.text("name", row.name, "Algorithm and protocol");
  f.real("latency_s", row.latency_s, {"Latency", "s"}, "NCCL's constants.", {.range = {0, 1e3}});
  f.real("bandwidth_bytes_per_s", row.bandwidth_bytes_per_s, {"Bandwidth", "B/s"}, "Bytes of the buffer a second.",
         {.range = {0, 1e15}});
  f.text("limit", row.limit, "Limited by");
}

namespace {

/// In the order of CollectiveNetwork.
const Choices log_networks = {{"none", "none", "One node, or one rack behind its switches."},
                              {"infiniband", "InfiniBand", "As the prediction's constants are."},
                              {"roce", "RoCE", "Ethernet with RDMA."},
                              {"efa", "EFA", "AWS."},
                              {"tcp", "TCP", "Ethernet through sockets."},
                              {"slingshot", "Slingshot", "HPE's."},
                              {"not_stated", "not known", "No errors of the prediction are claimed."}};
static_assert(models::parallel::collective_network_count == 7);

}  // namespace

void describe(Fields& f, MeasuredInputs& in) {
  f.group("A measured run");
  f.choice("run", in.run, catalog().collective_choices, "Run",
           "Published by others, with its source; or a log of your own.");
  f.text("log", in.log, "Log",
         "What nccl-tests or rccl-tests printed. The button in the panel Measured takes it from the clipboard; until "
         "then it is an example.",
         {.mode = {"run", "log"}, .file_beside = "log_file", .max_bytes = 40'000});
  f.file("log_file", in.log_file, "Or a file", "The log as a file; it counts before the text above.",
         {.mode = {"run", "log"}}, {.reads = {FileKind::collective_log}, .accepts = "log, txt, out"});
  shared::chip(
      f, "log_chip", in.log_chip,
      {.label = "Chip of the log", .help = "Its links are what the prediction takes.", .when = {"run", "log"}});
  f.choice("log_network", in.log_network, log_networks, "Network of the log",
           "What joins its nodes. The prediction's errors are known on NVLink and InfiniBand alone.",
           {.when = {"run", "log"}});
  f.integer("log_node_ranks", in.log_node_ranks, "Ranks per node of the log",
            "Behind one fast switch: 8 of an HGX box, 72 of a GB200 rack.",
            {.range = {1, 576, Scale::log}, .typical = {1, 72}, .when = {"run", "log"}});
  f.real("log_port_bytes_per_s", in.log_port_bytes_per_s, {"Network port of a rank", "B/s"},
         "Line rate, one way; a rank's share where ranks share a port. 50 GB/s is 400 Gb/s.",
         {.range = {1e8, 1e12, Scale::log}, .typical = {1e9, 1e11}, .when = {"run", "log"}});
  f.toggle("nvls", in.nvls, "NVLS",
           "The prediction may let NVSwitch add and copy, on Hopper and later. Off is NCCL_NVLS_ENABLE=0.");
  f.toggle("in_network", in.in_network, "SHARP between nodes",
           "The prediction may let the network's switches add; only for an all-reduce of several nodes.");
}

void describe(Fields& f, MeasuredOutputs& o) {
  constexpr std::string_view no_run = "There is no run, or none of its sizes tells it.";
  constexpr std::string_view no_prediction = "There is no prediction, or the run has no such size.";
  constexpr std::string_view few = "The run has too few sizes, or spans fewer than four doublings.";
  constexpr std::string_view tuner = "src/graph/tuning.cc and topo.h of NCCL; line rates of the chip and its ports";
  const auto figure = [&](std::string_view key, double& slot, std::string_view label, std::string_view unit,
                          std::string_view help, std::string_view absent, std::string_view source = {}) {
    f.real(key, slot, {label, unit}, help, {.absent = absent, .source = source});
  };
  f.group("The measured run");
  figure("run_ranks", o.ranks, "Ranks of the run", "", "A log tells them by its two bandwidths at the largest size.",
         no_run);
  figure("run_sizes", o.sizes, "Sizes", "", "Message sizes that were timed.", no_run);
  figure("run_spikes", o.spikes, "One-off spikes", "",
         "Over 1.25 times the next larger size, and not so in place; left out of every fit.", no_run);
  figure("measured_floor_s", o.measured_floor_s, "Floor", "s", "Median of the times at 1 KiB and below.", no_run);
  figure("predicted_floor_s", o.predicted_floor_s, "Floor from the hardware", "s",
         "NCCL's latencies for the algorithm and protocol that it takes at 1 KiB.", no_prediction, tuner);
  figure("measured_gib_bytes_per_s", o.measured_gib_bytes_per_s, "Bus bandwidth at 1 GiB", "B/s", "From size and time.",
         no_run);
  figure("predicted_gib_bytes_per_s", o.predicted_gib_bytes_per_s, "The same from the hardware", "B/s",
         "The links' usable rate, by the algorithm that NCCL takes.", no_prediction, tuner);
  figure("measured_largest_bytes_per_s", o.measured_largest_bytes_per_s, "Bus bandwidth, largest size", "B/s",
         "From size and time.", no_run);
  figure("predicted_largest_bytes_per_s", o.predicted_largest_bytes_per_s, "The same from the hardware", "B/s",
         "The links' usable rate, by the algorithm that NCCL takes.", no_prediction, tuner);
  figure("middle_least_percent", o.middle_least_percent, "Between, most too fast", "%",
         "Predicted time over measured, less 1, from 1 KiB to 1 GiB.", no_prediction);
  figure("middle_most_percent", o.middle_most_percent, "Between, most too slow", "%",
         "Predicted time over measured, less 1, from 1 KiB to 1 GiB.", no_prediction);
  f.text("claims", o.claims, "Answers for",
         "Parts within 25 % (floor), a factor of 2 (middle), 15 % (1 GiB, plateau), on NVLink and InfiniBand.");
  f.text("no_claim", o.no_claim, "Not claimed", "Why the prediction answers for fewer parts, or for none; else empty.");
  f.text("log_says", o.log_says, "About the log", "What is odd in a log; empty where a published run is shown.");
  f.text("run_says", o.run_says, "Missing", "Why there is no run or no prediction; else empty.");
  f.group("Lines through it");
  figure("alpha_s", o.alpha_s, "Alpha of one line", "s", "Not shown where the sizes span fewer than four doublings.",
         few);
  figure("line_bus_bytes_per_s", o.line_bus_bytes_per_s, "Bandwidth of one line", "B/s",
         "B of alpha + f S / B, least squares of relative errors.", few);
  figure("one_line_percent", o.one_line_percent, "Error of one line", "%", "Root mean square of relative errors.", few);
  figure("one_line_worst_percent", o.one_line_worst_percent, "Its worst", "%", "Below 0: the line is too fast.", few);
  figure("two_lines_percent", o.two_lines_percent, "Error of two lines", "%", "The best split into two.", few);
  figure("three_lines_percent", o.three_lines_percent, "Error of three lines", "%", "The best split into three.", few);
  f.table("crossings", o.crossings, "Crossings", "Where neighbouring doublings leave the line.", {.max_items = 64});
  f.table("candidates", o.candidates, "What NCCL weighs", "On the machine of the run.", {.max_items = 16});
  f.table("choices", o.choices, "Expected choice", "By NCCL's own ranking.", {.max_items = 16});
}

}  // namespace chapters::distributed::collectives
