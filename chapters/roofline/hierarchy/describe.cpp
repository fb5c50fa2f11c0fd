#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/roofline/hierarchy/lab.h"

namespace chapters::roofline::hierarchy {
namespace {

const Choices pattern_choices{
    {"stream", "Stream", "Independent accesses, always enough of them in flight to fill the level."},
    {"limited", "Limited in flight", "Only so many bytes are outstanding at once, as when occupancy is low."},
    {"chase", "Pointer chase", "Each access needs the answer of the one before."}};
const Choices level_choices{
    {"registers", "Registers", "The register files of all compute units."},
    {"shared", "Shared memory", "The scratchpads of all compute units; AMD says LDS."},
    {"l2", "L2 cache", "The cache that all compute units share."},
    {"memory", "Main memory", "HBM or GDDR next to the chip."},
    {"link", "Chip-to-chip link", "Another chip's memory, over NVLink, Infinity Fabric or ICI."},
    {"pcie", "PCIe", "The host's memory."},
    {"network", "Network", "A chip in another node."},
    {"storage", "NVMe drive", "One local drive."}};
const Choices against_choices = [] {
  Choices out{{"nearer", "The next level nearer", "One step towards the compute units."}};
  out.insert(out.end(), level_choices.begin(), level_choices.end());
  return out;
}();
const Choices network_choices{{"infiniband_hdr", "InfiniBand HDR", "200 Gb/s per port and direction."},
                              {"infiniband_ndr", "InfiniBand NDR", "400 Gb/s per port and direction."},
                              {"infiniband_xdr", "InfiniBand XDR", "800 Gb/s per port and direction."}};

static_assert(static_cast<int>(models::AccessPattern::chase) == 2 &&
                  static_cast<int>(models::LevelKind::storage) == 7 &&
                  static_cast<int>(Against::storage) == static_cast<int>(models::LevelKind::storage) + 1,
              "the choices above stand in the order of the enumerators");

}  // namespace

std::string_view level_name(models::LevelKind kind) { return level_choices[static_cast<std::size_t>(kind)].label; }

void describe(Fields& f, Inputs& in) {
  f.group("The fetch");
  f.choice("level", in.level, level_choices, "Level",
           "Which level the outputs speak of; a click on its row does the same.", {.headline = true});
  f.real("bytes", in.bytes, {"Bytes moved", "B"}, "How much data goes through a level once.",
         {.range = {1, 1e12, Scale::log}, .typical = {1e3, 1e11}, .headline = true});
  f.choice("pattern", in.pattern, pattern_choices, "Access pattern",
           "How the bytes are asked for: all at once, few at a time, or one after the other.");
  f.real("in_flight_bytes", in.in_flight_bytes, {"Bytes in flight", "B"},
         "Outstanding at once over the whole chip; bandwidth cannot exceed this over the latency.",
         {.range = {32, 1e9, Scale::log}, .typical = {1e3, 1e8}, .when = {"pattern", "limited"}});
  f.real("access_bytes", in.access_bytes, {"Bytes per access", "B"},
         "What one step of the chase fetches; 32 B is one sector of an NVIDIA cache line.",
         {.range = {4, 4096, Scale::log}, .when = {"pattern", "chase"}});
  f.group("The chip");
  shared::chip(f, "chip", in.chip, {.help = "Whose levels are shown."});
  f.choice("network", in.network, network_choices, "Network", "One port for each chip.");
  f.choice("against", in.against, against_choices, "Compared with", "The level that the ratios divide by.");
  f.group("Power of a cluster");
  shared::cluster_chips(f, "chips", in.chips, {.help = "How many chips stream their memory, for the power figures."});
  f.real("memory_j_per_bit", in.memory_j_per_bit, {"Energy per bit of memory", "J"},
         "4 to 7 pJ for HBM2 and HBM3; 20 pJ is what a DIMM across a board takes.", {.range = {1e-12, 25e-12}});
  f.real("streaming_percent", in.streaming_percent, {"Memory bandwidth in use", "%"},
         "100 is a cluster that is memory-bound all the time.", {.range = {0, 100}});
  f.real("fused_percent", in.fused_percent, {"Traffic kept by fusion", "%"},
         "This share of the memory traffic becomes shared-memory traffic.", {.range = {0, 100}});
}

void describe(Fields& f, LevelRow& r) {
  f.text("level", r.level, "Level");
  f.text("name", r.facts.label, "Name");
  f.real("capacity_bytes", r.capacity_bytes, {"Capacity", "B"}, {.absent = "Nobody states it."});
  f.real("bandwidth_bytes_per_s", r.bandwidth_bytes_per_s, {"Bandwidth", "B/s"}, {.absent = "Nobody states it."});
  f.real("measured_bandwidth_bytes_per_s", r.measured_bandwidth_bytes_per_s, {"Measured bandwidth", "B/s"},
         {.absent = "Nobody measured it."});
  f.real("latency_s", r.latency_s, {"Latency", "s"}, {.absent = "Nobody states it."});
  f.real("energy_j_per_byte", r.energy_j_per_byte, {"Energy per byte", "J/B"}, {.absent = "Nobody states it."});
  f.real("time_s", r.time_s, {"Time", "s"}, {.absent = "Its latency or bandwidth is not stated."});
  f.real("energy_j", r.energy_j, {"Energy", "J"}, {.absent = "Its energy is not stated."});
  f.text("human_latency", r.human_latency, "Latency when one clock is a second");
  f.text("human_time", r.human_time, "Time when one clock is a second");
  f.toggle("fits", r.move.fits, "Fits");
}

namespace {

constexpr std::string_view chip_data = "assets/hardware, each figure with its own source",
                           little = "Little 1961: throughput = in flight / latency",
                           energies = "Horowitz 2014 (SRAM), Chen, Emer, Sze 2016 (registers), 4 to 7 pJ per bit (HBM)";

void describe_fetch(Fields& f, Outputs& o) {
  f.group("The fetch");
  f.text("limit", o.limit, "Limited by", "Whether waiting or transferring takes longer.");
  f.real("time_s", o.chosen.time_s, {"Time", "s"}, "To move the bytes once at the chosen level.",
         {.headline = true, .formula = "latency + bytes / bandwidth", .source = little});
  f.real("energy_j", o.chosen.energy_j, {"Energy", "J"}, "To move the bytes once at the chosen level.",
         {
             .headline = true,
             .absent = "Nobody states what a byte costs there.",
             .formula = "bytes x energy per byte",
             .source = energies,
         });
  f.real("achieved_bandwidth_bytes_per_s", o.achieved_bandwidth_bytes_per_s, {"Achieved bandwidth", "B/s"},
         {.headline = true, .formula = "bytes / time"});
  f.text("fits", o.fits, "Fits into the level", "Whether the bytes can rest there at once.");
  f.text("human_time", o.chosen.human_time, "Time if a clock is 1 s", {.formula = "time x boost clock"});
  f.real("accesses", o.accesses, "Accesses in a row", "Each waits for the one before; 1 where they do not.",
         {.formula = "bytes / bytes per access"});
  f.real("streamed_s", o.streamed_s, {"Time, streamed", "s"}, "The same bytes with enough in flight to fill the level.",
         {.formula = "latency + bytes / bandwidth", .source = little});
  f.real("limited_s", o.limited_s, {"Time, limited in flight", "s"},
         "The same bytes with those in flight that are set.",
         {.formula = "latency + bytes / min(bandwidth, in flight / latency)", .source = little});
  f.real("chased_s", o.chased_s, {"Time, as a chase", "s"}, "The same bytes, one access after the other.",
         {.formula = "accesses x latency + bytes / bandwidth"});
  f.real("streamed_ratio", o.streamed_ratio, {"As long as streamed", "\xC3\x97"}, {.formula = "time / time streamed"});
  f.text("human_streamed", o.human_streamed, "Streamed, if a clock is 1 s", {.formula = "time streamed x boost clock"});
  f.text("human_limited", o.human_limited, "Limited, if a clock is 1 s", {.formula = "its time x boost clock"});
  f.text("human_chased", o.human_chased, "As a chase, if a clock is 1 s", {.formula = "its time x boost clock"});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_fetch(f, o);
  f.group("The level");
  f.text("human_latency", o.chosen.human_latency, "Latency if a clock is 1 s", {.formula = "latency x boost clock"});
  f.real("latency_s", o.chosen.latency_s, {"Latency", "s"},
         {.headline = true, .source = "gpu-benches pointer chases where the chip was measured"});
  f.real("bandwidth_bytes_per_s", o.chosen.bandwidth_bytes_per_s, {"Bandwidth", "B/s"},
         "The whole chip's; links per direction.", {.source = chip_data});
  f.real("capacity_bytes", o.chosen.capacity_bytes, {"Capacity", "B"},
         {.absent = "Nobody states how much it holds.", .source = chip_data});
  f.real("energy_j_per_byte", o.chosen.energy_j_per_byte, {"Energy per byte", "J/B"},
         {.absent = "Nobody states what a byte costs there.", .source = energies});
  f.real("needed_in_flight_bytes", o.needed_in_flight_bytes, {"In flight to fill it", "B"},
         "Fewer bytes outstanding than this leave bandwidth unused.",
         {.formula = "latency x bandwidth", .source = little});
  f.group("Compared");
  f.text("compared_with", o.compared_with, "Compared with");
  f.real("bandwidth_ratio", o.bandwidth_ratio, {"Bandwidth, times less", "\xC3\x97"},
         {.formula = "its bandwidth / this bandwidth"});
  f.real("latency_ratio", o.latency_ratio, {"Latency, times more", "\xC3\x97"},
         {.formula = "this latency / its latency"});
  f.real("energy_ratio", o.energy_ratio, {"Energy per byte, times more", "\xC3\x97"},
         {.absent = "Nobody states what a byte costs in one of the two.", .formula = "this energy / its energy"});
  f.real("mean_bandwidth_step", o.mean_bandwidth_step, {"Bandwidth lost per level", "\xC3\x97"},
         "From each level to the next, on average over all levels.", {.formula = "(first / last)^(1 / steps)"});
  f.group("Power");
  f.real("memory_w", o.power.per_chip_w, {"Memory power per chip", "W"},
         {.formula = "bandwidth x 8 x energy per bit", .source = energies});
  f.real("memory_tdp_percent", o.memory_tdp_percent, {"Share of the chip's TDP", "%"},
         {.absent = "The chip states no TDP.", .formula = "memory power / TDP"});
  f.real("cluster_w", o.power.cluster_w, {"Memory power, cluster", "W"}, {.formula = "chips x memory power"});
  f.real("saved_w", o.power.saved_per_chip_w, {"Saved by fusion, per chip", "W"},
         {.formula = "share x bandwidth x (memory - shared energy per byte)"});
  f.real("saved_cluster_w", o.power.saved_cluster_w, {"Saved by fusion, cluster", "W"},
         {.formula = "chips x saved per chip"});
  f.real("saved_j_per_year", o.power.saved_j_per_year, {"Saved per year", "J"}, {.formula = "saved x 31,557,600 s"});
  f.group("All levels");
  f.table("levels", o.levels, "All levels");
}

void describe(Fields& f, View& v) {  // edges: as far as a plot zooms
  f.toggle("zoomed", v.plot.zoomed, "Zoomed");
  f.real("x_lo", v.plot.x_lo, {"Bytes from", "B"}, {.range = {0, 1e300}});
  f.real("x_hi", v.plot.x_hi, {"Bytes to", "B"}, {.range = {0, 1e300}});
  f.real("y_lo", v.plot.y_lo, {"Time from", "s"}, {.range = {0, 1e300}});
  f.real("y_hi", v.plot.y_hi, {"Time to", "s"}, {.range = {0, 1e300}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"roofline/hierarchy", "Memory hierarchy", question}, compute,
                                                  arrange, draw);
}

}  // namespace chapters::roofline::hierarchy
