#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/roofline/hierarchy/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::format_text;

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

std::string_view label_of(models::LevelKind kind) { return level_choices[static_cast<std::size_t>(kind)].label; }

LevelRow row_of(const models::Level& level, const Inputs& in, double scale, const std::vector<double>& curve_bytes) {
  const models::Access access{in.pattern, in.in_flight_bytes, in.access_bytes};
  const models::Move move = models::move_bytes(level, in.bytes, access);
  LevelRow row;
  row.level = models::level_id(level.kind);
  row.name = level.label;
  row.capacity_bytes = level.capacity_bytes.value.value_or(0);
  row.bandwidth_bytes_per_s = level.bandwidth_bytes_per_s.value.value_or(0);
  row.measured_bandwidth_bytes_per_s = level.measured_bandwidth_bytes_per_s.value.value_or(0);
  row.latency_s = level.latency_s.value.value_or(0);
  row.energy_j_per_byte = level.energy_j_per_byte.value.value_or(0);
  row.time_s = move.time_s.value_or(0);
  row.energy_j = move.energy_j.value_or(0);
  row.fits = move.fits;
  row.human_latency = level.latency_s.value ? models::human_duration(row.latency_s * scale) : "—";
  row.human_time = move.time_s ? models::human_duration(row.time_s * scale) : "—";
  row.facts = level;
  if (!move.time_s) return row;
  for (const double bytes : curve_bytes) {
    const models::Move at = models::move_bytes(level, bytes, access);
    row.curve_s.push_back(at.time_s.value_or(std::nan("")));
    if (at.fits) row.curve_within = row.curve_s.size();
  }
  return row;
}

/// Position of the level among the rows, or their number when the chip has it not or without a time.
std::size_t find_row(const std::vector<LevelRow>& rows, models::LevelKind kind) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const LevelRow& r) { return r.facts.kind == kind && r.time_s > 0; });
  return static_cast<std::size_t>(at - rows.begin());
}

std::string lacks(const Outputs& out, models::LevelKind kind, std::string_view input) {
  std::string s = out.chip_name + " states too little about its " + std::string(label_of(kind)) + " to time it: set " +
                  std::string(input) + " to ";
  std::vector<std::string_view> ids;
  for (const LevelRow& row : out.levels)
    if (row.time_s > 0) ids.push_back(row.level);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) s += i + 1 == ids.size() ? " or " : ", ";
    s += ids[i];
  }
  return s + ".";
}

/// The chosen level against another one; why not, where the chip states too little of that.
std::string compare(const Inputs& in, Outputs& out) {
  std::size_t other = out.selected;
  if (in.against == Against::nearer) {
    for (std::size_t i = 0; i < out.selected; ++i)
      if (out.levels[i].time_s > 0) other = i;
  } else {
    const auto kind = static_cast<models::LevelKind>(static_cast<int>(in.against) - 1);
    other = find_row(out.levels, kind);
    if (other == out.levels.size()) return lacks(out, kind, "against");
  }
  const LevelRow &row = out.levels[out.selected], &base = out.levels[other];
  out.compared_with = base.name;
  out.bandwidth_ratio = base.bandwidth_bytes_per_s / row.bandwidth_bytes_per_s;
  out.latency_ratio = row.latency_s / base.latency_s;
  out.energy_ratio = row.energy_j_per_byte / base.energy_j_per_byte;
  const auto times = [](double ratio) { return format_text(ratio, "", 2); };
  if (other != out.selected)
    out.comparison = "Against " + base.name + ": bandwidth / " + times(out.bandwidth_ratio) + ", latency x " +
                     times(out.latency_ratio) + ", energy x " + times(out.energy_ratio);
  return {};
}

void compute_power(const Inputs& in, const models::Chip& chip, const std::vector<models::Level>& levels, Outputs& out) {
  models::TrafficPower power;
  power.bandwidth_bytes_per_s = chip.memory_bandwidth_bytes_per_s * in.streaming_percent / 100;
  power.memory_j_per_byte = in.memory_j_per_bit * 8;
  if (const models::Level* shared = models::find_level(levels, models::LevelKind::shared))
    power.on_chip_j_per_byte = shared->energy_j_per_byte.value.value_or(power.on_chip_j_per_byte);
  power.chips = static_cast<double>(in.chips);
  power.share_kept_on_chip = in.fused_percent / 100;
  const models::TrafficPowerResult r = models::traffic_power(power);
  out.memory_w = r.per_chip_w;
  out.memory_tdp_percent = chip.tdp_w ? 100 * r.per_chip_w / *chip.tdp_w : 0;
  out.cluster_w = r.cluster_w;
  out.saved_w = r.saved_per_chip_w;
  out.saved_cluster_w = r.saved_cluster_w;
  out.saved_j_per_year = r.saved_j_per_year;
  out.cluster_tdp_w = chip.tdp_w.value_or(0) * power.chips;
  out.still_memory_w = r.still_memory_w;
  out.moved_on_chip_w = r.moved_on_chip_w;
  out.power_title = "Memory traffic of " + format_text(power.chips, "") + (in.chips == 1 ? " chip" : " chips");
  out.power_note = "Saves " + format_text(out.saved_cluster_w, "W") + ", " +
                   format_text(out.saved_j_per_year / 3.6e9, "", 3) + " MWh a year";
  out.power_scale = "Full width: the TDP of all, " + format_text(out.cluster_tdp_w, "W") + ". Now " +
                    format_text(out.memory_tdp_percent, "%", 2) + " of it.";
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) {
    out.reason = "There is no chip '" + in.chip + "': choose one from the list.";
    return out;
  }
  out.chip_name = chip->short_name.empty() ? chip->name : chip->short_name;
  models::HierarchyOptions options;
  options.memory_j_per_bit = in.memory_j_per_bit;
  if (const models::Network* network = catalog().network(in.network)) {
    options.network_label = network->name;
    options.network_bytes_per_s_per_direction = network->bytes_per_s_per_direction;
  }
  const std::vector<models::Level> levels = models::memory_levels(*chip, options);
  for (int i = 0; i <= 96; ++i) out.curve_bytes.push_back(std::pow(10.0, i / 8.0));  // 1 B to 1 TB
  const double scale = models::human_scale(*chip);
  for (const models::Level& level : levels) out.levels.push_back(row_of(level, in, scale, out.curve_bytes));
  compute_power(in, *chip, levels, out);
  out.mean_bandwidth_step = models::mean_bandwidth_step(levels);

  out.selected = find_row(out.levels, in.level);
  if (out.selected == out.levels.size()) {
    out.reason = lacks(out, in.level, "level");
    return out;
  }
  const LevelRow& row = out.levels[out.selected];
  out.time_s = row.time_s;
  out.energy_j = row.energy_j;
  out.capacity_bytes = row.capacity_bytes;
  out.bandwidth_bytes_per_s = row.bandwidth_bytes_per_s;
  out.latency_s = row.latency_s;
  out.energy_j_per_byte = row.energy_j_per_byte;
  out.achieved_bandwidth_bytes_per_s = in.bytes / row.time_s;
  out.needed_in_flight_bytes = models::bytes_in_flight(row.facts).value_or(0);
  out.limit = models::move_bytes(row.facts, in.bytes, {in.pattern, in.in_flight_bytes, in.access_bytes}).latency_bound
                  ? "latency"
                  : "bandwidth";
  out.fits = row.capacity_bytes == 0 ? "no capacity stated" : row.fits ? "yes" : "no";
  out.human_latency = row.human_latency;
  out.human_time = row.human_time;

  if (out.reason = compare(in, out); !out.reason.empty()) return out;
  out.filling = format_text(out.needed_in_flight_bytes, "B") + " in flight fill it; here " + out.limit + " rules";
  return out;
}

void describe(Fields& f, Inputs& in) {
  shared::chip(f, "chip", in.chip, {.help = "Whose levels are shown."});
  f.real("bytes", in.bytes,
         {
             .label = "Bytes moved",
             .unit = "B",
             .help = "How much data goes through a level once.",
             .lo = 1,
             .hi = 1e12,
             .scale = Scale::log,
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
  f.choice("level", in.level, level_choices,
           {.label = "Level", .help = "Which level the outputs speak of; a click on its row does the same."});
  f.choice("against", in.against, against_choices,
           {.label = "Compared with", .help = "The level that the ratios divide by."});
  f.choice("network", in.network, network_choices, {.label = "Network", .help = "One port for each chip."});
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
             .label = "Traffic that fusion keeps on chip",
             .unit = "%",
             .help = "This share of the memory traffic becomes shared-memory traffic.",
             .lo = 0,
             .hi = 100,
         });
}

void describe(Fields& f, LevelRow& r) {
  f.text("level", r.level, {.label = "Level"});
  f.text("name", r.name, {.label = "Name"});
  f.real("capacity_bytes", r.capacity_bytes, {.label = "Capacity", .unit = "B", .help = "0: nobody states it."});
  f.real("bandwidth_bytes_per_s", r.bandwidth_bytes_per_s,
         {.label = "Bandwidth", .unit = "B/s", .help = "0: nobody states it."});
  f.real("measured_bandwidth_bytes_per_s", r.measured_bandwidth_bytes_per_s,
         {.label = "Measured bandwidth", .unit = "B/s", .help = "0: nobody measured it."});
  f.real("latency_s", r.latency_s, {.label = "Latency", .unit = "s", .help = "0: nobody states it."});
  f.real("energy_j_per_byte", r.energy_j_per_byte, {.label = "Energy a byte", .unit = "J/B"});
  f.real("time_s", r.time_s, {.label = "Time", .unit = "s"});
  f.real("energy_j", r.energy_j, {.label = "Energy", .unit = "J"});
  f.text("human_latency", r.human_latency, {.label = "Latency when one clock is a second"});
  f.text("human_time", r.human_time, {.label = "Time when one clock is a second"});
  f.toggle("fits", r.fits, {.label = "Fits"});
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view chip_data = "assets/hardware, each figure with its own source",
                             little = "Little 1961: throughput = in flight / latency",
                             energies = "Horowitz 2014 (SRAM), Chen, Emer, Sze 2016 (registers), 4 to 7 pJ a bit (HBM)";
  f.real("time_s", o.time_s,
         {
             .label = "Time",
             .unit = "s",
             .help = "To move the bytes once at the chosen level.",
             .formula = "latency + bytes / bandwidth",
             .source = little,
         });
  f.real("energy_j", o.energy_j,
         {
             .label = "Energy",
             .unit = "J",
             .help = "To move the bytes once at the chosen level.",
             .formula = "bytes x energy a byte",
             .source = energies,
         });
  f.real("achieved_bandwidth_bytes_per_s", o.achieved_bandwidth_bytes_per_s,
         {.label = "Achieved bandwidth", .unit = "B/s", .formula = "bytes / time"});
  f.text("limit", o.limit, {.label = "Limited by", .help = "Whether waiting or transferring takes longer."});
  f.text("fits", o.fits, {.label = "Fits into the level", .help = "Whether the bytes can rest there at once."});
  f.text("human_time", o.human_time, {.label = "If a clock took 1 s: time", .formula = "time x boost clock"});
  f.text("human_latency", o.human_latency,
         {.label = "If a clock took 1 s: latency", .formula = "latency x boost clock"});
  f.real("capacity_bytes", o.capacity_bytes, {.label = "Capacity", .unit = "B", .source = chip_data});
  f.real("bandwidth_bytes_per_s", o.bandwidth_bytes_per_s,
         {
             .label = "Bandwidth",
             .unit = "B/s",
             .help = "Of the whole chip; links per direction.",
             .source = chip_data,
         });
  f.real("latency_s", o.latency_s,
         {.label = "Latency", .unit = "s", .source = "gpu-benches pointer chases where the chip was measured"});
  f.real("energy_j_per_byte", o.energy_j_per_byte, {.label = "Energy a byte", .unit = "J/B", .source = energies});
  f.real("needed_in_flight_bytes", o.needed_in_flight_bytes,
         {
             .label = "In flight to fill it",
             .unit = "B",
             .help = "Fewer bytes outstanding than this leave bandwidth unused.",
             .formula = "latency x bandwidth",
             .source = little,
         });
  f.text("compared_with", o.compared_with, {.label = "Compared with"});
  f.real("bandwidth_ratio", o.bandwidth_ratio,
         {.label = "Bandwidth, times less", .formula = "its bandwidth / this bandwidth"});
  f.real("latency_ratio", o.latency_ratio, {.label = "Latency, times more", .formula = "this latency / its latency"});
  f.real("energy_ratio", o.energy_ratio, {.label = "Energy a byte, times more", .formula = "this energy / its energy"});
  f.real("mean_bandwidth_step", o.mean_bandwidth_step,
         {.label = "Bandwidth lost a step",
          .help = "From each level to the next, on average over all levels.",
          .formula = "(first / last)^(1 / steps)"});
  f.real("memory_w", o.memory_w,
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
             .help = "0 where the chip states no TDP.",
             .formula = "memory power / TDP",
         });
  f.real("cluster_w", o.cluster_w,
         {.label = "Memory power of the cluster", .unit = "W", .formula = "chips x memory power"});
  f.real("saved_w", o.saved_w,
         {.label = "Saved by fusion, a chip",
          .unit = "W",
          .formula = "share x bandwidth x (memory - shared energy a byte)"});
  f.real("saved_cluster_w", o.saved_cluster_w,
         {.label = "Saved by fusion, cluster", .unit = "W", .formula = "chips x saved a chip"});
  f.real("saved_j_per_year", o.saved_j_per_year,
         {.label = "Saved in a year", .unit = "J", .formula = "saved x 31,557,600 s"});
  f.table("levels", o.levels, {.label = "All levels"});
}

void describe(Fields& f, View& v) {
  f.toggle("zoomed", v.plot.zoomed, {.label = "Zoomed"});
  f.real("x_lo", v.plot.x_lo,
         {
             .label = "Bytes from",
             .unit = "B",
             .lo = 0,
             .hi = 1e15,
         });
  f.real("x_hi", v.plot.x_hi,
         {
             .label = "Bytes to",
             .unit = "B",
             .lo = 0,
             .hi = 1e15,
         });
  f.real("y_lo", v.plot.y_lo,
         {
             .label = "Time from",
             .unit = "s",
             .lo = 0,
             .hi = 1e12,
         });
  f.real("y_hi", v.plot.y_hi,
         {
             .label = "Time to",
             .unit = "s",
             .lo = 0,
             .hi = 1e12,
         });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, View>(
      {.id = "roofline/hierarchy", .title = "Memory hierarchy", .question = question}, compute, draw);
}

}  // namespace chapters::roofline::hierarchy
