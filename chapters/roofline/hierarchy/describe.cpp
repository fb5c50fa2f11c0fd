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
    {"memory", "Main memory", "HBM or GDDR beside the chip."},
    {"link", "Chip-to-chip link", "Another chip's memory, over NVLink, Infinity Fabric or ICI."},
    {"pcie", "PCIe", "The host's memory."},
    {"network", "Network", "A chip in another node."},
    {"storage", "NVMe drive", "One local drive."}};
const Choices against_choices = [] {
  Choices out{{"nearer", "The next level nearer", "One step towards the compute units."}};
  out.insert(out.end(), level_choices.begin(), level_choices.end());
  return out;
}();
const Choices network_choices{{"infiniband_hdr", "InfiniBand HDR", "200 Gb/s a port and direction."},
                              {"infiniband_ndr", "InfiniBand NDR", "400 Gb/s a port and direction."},
                              {"infiniband_xdr", "InfiniBand XDR", "800 Gb/s a port and direction."}};

static_assert(static_cast<int>(models::AccessPattern::chase) == 2 &&
                  static_cast<int>(models::LevelKind::storage) == 7 &&
                  static_cast<int>(Against::storage) == static_cast<int>(models::LevelKind::storage) + 1,
              "the choices above stand in the order of the enumerators");

}  // namespace

std::string_view level_name(models::LevelKind kind) { return level_choices[static_cast<std::size_t>(kind)].label; }

void describe(Fields& f, Inputs& in) {
  f.group("The fetch");
  f.choice("level", in.level, level_choices,
           {.label = "Level",
            .help = "Which level the outputs speak of; a click on its row does the same.",
            .headline = true});
  f.real("bytes", in.bytes,
         {
             .label = "Bytes moved",
             .unit = "B",
             .help = "How much data goes through a level once.",
             .lo = 1,
             .hi = 1e12,
             .scale = Scale::log,
             .typical_lo = 1e3,
             .typical_hi = 1e11,
             .headline = true,
         });
  f.choice("pattern", in.pattern, pattern_choices,
           {.label = "Access pattern",
            .help = "How the bytes are asked for: all at once, few at a time, or one after the other."});
  f.real("in_flight_bytes", in.in_flight_bytes,
         {
             .label = "Bytes in flight",
             .unit = "B",
             .help = "Outstanding at once over the whole chip; bandwidth cannot exceed this over the latency.",
             .lo = 32,
             .hi = 1e9,
             .scale = Scale::log,
             .typical_lo = 1e3,
             .typical_hi = 1e8,
             .when = {"pattern", "limited"},
         });
  f.real("access_bytes", in.access_bytes,
         {
             .label = "Bytes an access",
             .unit = "B",
             .help = "What one step of the chase fetches; 32 B is one sector of an NVIDIA cache line.",
             .lo = 4,
             .hi = 4096,
             .scale = Scale::log,
             .when = {"pattern", "chase"},
         });
  f.group("The chip");
  shared::chip(f, "chip", in.chip, {.help = "Whose levels are shown."});
  f.choice("network", in.network, network_choices, {.label = "Network", .help = "One port for each chip."});
  f.choice("against", in.against, against_choices,
           {.label = "Compared with", .help = "The level that the ratios divide by."});
  f.group("Power of a cluster");
  shared::cluster_chips(f, "chips", in.chips, {.help = "How many chips stream their memory, for the power figures."});
  f.real("memory_j_per_bit", in.memory_j_per_bit,
         {
             .label = "Energy a bit of memory",
             .unit = "J",
             .help = "4 to 7 pJ for HBM2 and HBM3; 20 pJ is what a DIMM across a board takes.",
             .lo = 1e-12,
             .hi = 25e-12,
         });
  f.real("streaming_percent", in.streaming_percent,
         {
             .label = "Memory bandwidth in use",
             .unit = "%",
             .help = "100 is a cluster that is memory-bound all the time.",
             .lo = 0,
             .hi = 100,
         });
  f.real("fused_percent", in.fused_percent,
         {
             .label = "Traffic kept by fusion",
             .unit = "%",
             .help = "This share of the memory traffic becomes shared-memory traffic.",
             .lo = 0,
             .hi = 100,
         });
}

void describe(Fields& f, LevelRow& r) {
  f.text("level", r.level, {.label = "Level"});
  f.text("name", r.facts.label, {.label = "Name"});
  f.real("capacity_bytes", r.capacity_bytes,
         {.label = "Capacity", .unit = "B", .may_be_missing = true, .absent = "Nobody states it."});
  f.real("bandwidth_bytes_per_s", r.bandwidth_bytes_per_s,
         {.label = "Bandwidth", .unit = "B/s", .may_be_missing = true, .absent = "Nobody states it."});
  f.real("measured_bandwidth_bytes_per_s", r.measured_bandwidth_bytes_per_s,
         {.label = "Measured bandwidth", .unit = "B/s", .may_be_missing = true, .absent = "Nobody measured it."});
  f.real("latency_s", r.latency_s,
         {.label = "Latency", .unit = "s", .may_be_missing = true, .absent = "Nobody states it."});
  f.real("energy_j_per_byte", r.energy_j_per_byte,
         {.label = "Energy a byte", .unit = "J/B", .may_be_missing = true, .absent = "Nobody states it."});
  f.real("time_s", r.time_s,
         {.label = "Time", .unit = "s", .may_be_missing = true, .absent = "Its latency or bandwidth is not stated."});
  f.real("energy_j", r.energy_j,
         {.label = "Energy", .unit = "J", .may_be_missing = true, .absent = "Its energy is not stated."});
  f.text("human_latency", r.human_latency, {.label = "Latency when one clock is a second"});
  f.text("human_time", r.human_time, {.label = "Time when one clock is a second"});
  f.toggle("fits", r.move.fits, {.label = "Fits"});
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view chip_data = "assets/hardware, each figure with its own source",
                             little = "Little 1961: throughput = in flight / latency",
                             energies = "Horowitz 2014 (SRAM), Chen, Emer, Sze 2016 (registers), 4 to 7 pJ a bit (HBM)";
  f.group("The fetch");
  f.text("limit", o.limit, {.label = "Limited by", .help = "Whether waiting or transferring takes longer."});
  f.real("time_s", o.chosen.time_s,
         {
             .label = "Time",
             .unit = "s",
             .help = "To move the bytes once at the chosen level.",
             .headline = true,
             .formula = "latency + bytes / bandwidth",
             .source = little,
         });
  f.real("energy_j", o.chosen.energy_j,
         {
             .label = "Energy",
             .unit = "J",
             .help = "To move the bytes once at the chosen level.",
             .headline = true,
             .may_be_missing = true,
             .absent = "Nobody states what a byte costs there.",
             .formula = "bytes x energy a byte",
             .source = energies,
         });
  f.real("achieved_bandwidth_bytes_per_s", o.achieved_bandwidth_bytes_per_s,
         {.label = "Achieved bandwidth", .unit = "B/s", .headline = true, .formula = "bytes / time"});
  f.text("fits", o.fits, {.label = "Fits into the level", .help = "Whether the bytes can rest there at once."});
  f.text("human_time", o.chosen.human_time, {.label = "Time if a clock is 1 s", .formula = "time x boost clock"});
  f.group("The level");
  f.text("human_latency", o.chosen.human_latency,
         {.label = "Latency if a clock is 1 s", .formula = "latency x boost clock"});
  f.real("latency_s", o.chosen.latency_s,
         {.label = "Latency",
          .unit = "s",
          .headline = true,
          .source = "gpu-benches pointer chases where the chip was measured"});
  f.real("bandwidth_bytes_per_s", o.chosen.bandwidth_bytes_per_s,
         {
             .label = "Bandwidth",
             .unit = "B/s",
             .help = "Of the whole chip; links per direction.",
             .source = chip_data,
         });
  f.real("capacity_bytes", o.chosen.capacity_bytes,
         {.label = "Capacity",
          .unit = "B",
          .may_be_missing = true,
          .absent = "Nobody states how much it holds.",
          .source = chip_data});
  f.real("energy_j_per_byte", o.chosen.energy_j_per_byte,
         {.label = "Energy a byte",
          .unit = "J/B",
          .may_be_missing = true,
          .absent = "Nobody states what a byte costs there.",
          .source = energies});
  f.real("needed_in_flight_bytes", o.needed_in_flight_bytes,
         {
             .label = "In flight to fill it",
             .unit = "B",
             .help = "Fewer bytes outstanding than this leave bandwidth unused.",
             .formula = "latency x bandwidth",
             .source = little,
         });
  f.group("Compared");
  f.text("compared_with", o.compared_with, {.label = "Compared with"});
  f.real("bandwidth_ratio", o.bandwidth_ratio,
         {.label = "Bandwidth, times less", .formula = "its bandwidth / this bandwidth"});
  f.real("latency_ratio", o.latency_ratio, {.label = "Latency, times more", .formula = "this latency / its latency"});
  f.real("energy_ratio", o.energy_ratio,
         {.label = "Energy a byte, times more",
          .may_be_missing = true,
          .absent = "Nobody states what a byte costs in one of the two.",
          .formula = "this energy / its energy"});
  f.real("mean_bandwidth_step", o.mean_bandwidth_step,
         {.label = "Bandwidth lost a step",
          .help = "From each level to the next, on average over all levels.",
          .formula = "(first / last)^(1 / steps)"});
  f.group("Power");
  f.real("memory_w", o.power.per_chip_w,
         {
             .label = "Memory power a chip",
             .unit = "W",
             .formula = "bandwidth x 8 x energy a bit",
             .source = energies,
         });
  f.real("memory_tdp_percent", o.memory_tdp_percent,
         {
             .label = "Share of the chip's TDP",
             .unit = "%",
             .may_be_missing = true,
             .absent = "The chip states no TDP.",
             .formula = "memory power / TDP",
         });
  f.real("cluster_w", o.power.cluster_w,
         {.label = "Memory power, cluster", .unit = "W", .formula = "chips x memory power"});
  f.real("saved_w", o.power.saved_per_chip_w,
         {.label = "Saved by fusion, a chip",
          .unit = "W",
          .formula = "share x bandwidth x (memory - shared energy a byte)"});
  f.real("saved_cluster_w", o.power.saved_cluster_w,
         {.label = "Saved by fusion, cluster", .unit = "W", .formula = "chips x saved a chip"});
  f.real("saved_j_per_year", o.power.saved_j_per_year,
         {.label = "Saved in a year", .unit = "J", .formula = "saved x 31,557,600 s"});
  f.group("All levels");
  f.table("levels", o.levels, {.label = "All levels"});
}

void describe(Fields& f, View& v) {  // edges: as far as a plot zooms
  f.toggle("zoomed", v.plot.zoomed, {.label = "Zoomed"});
  f.real("x_lo", v.plot.x_lo,
         {
             .label = "Bytes from",
             .unit = "B",
             .lo = 0,
             .hi = 1e300,
         });
  f.real("x_hi", v.plot.x_hi,
         {
             .label = "Bytes to",
             .unit = "B",
             .lo = 0,
             .hi = 1e300,
         });
  f.real("y_lo", v.plot.y_lo,
         {
             .label = "Time from",
             .unit = "s",
             .lo = 0,
             .hi = 1e300,
         });
  f.real("y_hi", v.plot.y_hi,
         {
             .label = "Time to",
             .unit = "s",
             .lo = 0,
             .hi = 1e300,
         });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "roofline/hierarchy", .title = "Memory hierarchy", .question = question}, compute, arrange, draw);
}

}  // namespace chapters::roofline::hierarchy
