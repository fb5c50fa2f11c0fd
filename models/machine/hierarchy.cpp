#include "models/machine/hierarchy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace models {
namespace {

// Energy a byte. Register file to scratchpad 1 : 6 is Chen, Emer, Sze 2016 (Eyeriss); the SRAM figures are Horowitz,
// ISSCC 2014, 45 nm.
constexpr double shared_j_per_byte = 5e-12 / 4;  // 8 KB SRAM, 5 pJ for 32 bits
constexpr double register_j_per_byte = shared_j_per_byte / 6;
constexpr double l2_j_per_byte = 100e-12 / 8;    // 1 MB SRAM, 100 pJ for 64 bits
constexpr double serdes_j_per_byte = 5e-12 * 8;  // 5 pJ a bit over a board or a short cable
constexpr double network_w_per_bytes_per_s =
    68.0 / 50e9;  // two adapters of 25 W and two optical modules of 9 W at 400 Gb/s
constexpr double storage_w_per_bytes_per_s = 12.0 / 7e9;  // a 12 W drive that reads 7 GB/s

// gpu-benches measures 34.7 (H100 PCIe), 35.5 (A100) and 37.5 (H200) bytes a clock and SM out of L2.
constexpr double l2_bytes_per_cycle_per_unit = 35;
// H100 PCIe in gpu-benches, used where a chip has no measurement of its own.
constexpr double other_l1_cycles = 34, other_l2_s = 151e-9, other_memory_s = 371e-9;

Sourced worked_out(double value, Basis basis, Origin origin, const std::array<double, 3>& factors) {
  return {value, basis, {}, origin, factors};
}

/// Whether the kernel lab measured the chip's figures, where others come from a data sheet.
bool is_this_machine(const Chip& chip) { return chip.vendor == "this machine"; }

Sourced specified(const Chip& chip, std::string_view key) {
  return {figure_value(chip, key), is_this_machine(chip) ? Basis::measured : Basis::specified,
          std::string(figure_source(chip, key))};
}
Sourced measured(const Chip& chip, std::string_view key) {
  if (!figure_value(chip, key)) return {};
  return {figure_value(chip, key), Basis::measured, std::string(figure_source(chip, key))};
}

void set_latency(Level& level, const Chip& chip, const std::optional<double>& seconds,
                 const std::optional<double>& cycles, double otherwise_s) {
  if (seconds)
    level.latency_s = {seconds, Basis::measured,
                       is_this_machine(chip) ? "the kernel lab's pointer chase on this machine"
                                             : "gpu-benches pointer chase on this chip"};
  else if (cycles && chip.boost_clock_hz)
    level.latency_s = worked_out(*cycles / *chip.boost_clock_hz, Basis::measured, Origin::chase_cycles, {*cycles});
  else
    level.latency_s = {otherwise_s, Basis::assumed, "taken from the H100 PCIe, as gpu-benches measured it"};
}

void add_on_chip(std::vector<Level>& out, const Chip& chip) {
  const std::optional<int> lanes = fp32_lanes_per_unit(chip);
  const double clock_hz = chip.boost_clock_hz.value_or(0);
  const double units = chip.compute_units.value_or(0);
  if (lanes && chip.register_file_per_unit_bytes) {
    Level level{LevelKind::registers, "Registers", {}, {}, {}, {}, {}};
    level.capacity_bytes = worked_out(units * *chip.register_file_per_unit_bytes, Basis::computed,
                                      Origin::units_of_bytes, {units, *chip.register_file_per_unit_bytes});
    level.bandwidth_bytes_per_s = worked_out(units * *lanes * 12 * clock_hz, Basis::computed, Origin::register_operands,
                                             {units, static_cast<double>(*lanes), clock_hz});
    level.latency_s = {1 / clock_hz, Basis::computed, "one clock"};
    level.energy_j_per_byte = {register_j_per_byte, Basis::assumed,
                               "a sixth of a scratchpad access (Chen, Emer, Sze 2016)"};
    out.push_back(level);
  }
  if (chip.shared_mem_per_unit_bytes && units > 0) {
    Level level{LevelKind::shared, "Shared memory", {}, {}, {}, {}, measured(chip, "measured.l1_bytes_per_s")};
    level.capacity_bytes = worked_out(units * *chip.shared_mem_per_unit_bytes, Basis::computed, Origin::units_of_bytes,
                                      {units, *chip.shared_mem_per_unit_bytes});
    if (lanes) {
      level.bandwidth_bytes_per_s =
          worked_out(units * 128 * clock_hz, chip.vendor == "NVIDIA" ? Basis::computed : Basis::assumed,
                     Origin::shared_banks, {units, clock_hz});
      set_latency(level, chip, std::nullopt, chip.measured.l1_latency_cycles, other_l1_cycles / clock_hz);
    }
    level.energy_j_per_byte = {shared_j_per_byte, Basis::assumed,
                               "8 KB SRAM in 45 nm, 5 pJ for 32 bits (Horowitz 2014); less in newer processes"};
    out.push_back(level);
  }
  if (chip.l2_bytes) {
    Level level{
        LevelKind::l2, "L2", specified(chip, "l2_bytes"), {}, {}, {}, measured(chip, "measured.l2_bytes_per_s")};
    if (chip.measured.l2_bytes_per_s)
      level.bandwidth_bytes_per_s = level.measured_bandwidth_bytes_per_s;
    else if (lanes && chip.vendor == "NVIDIA")
      level.bandwidth_bytes_per_s = worked_out(units * l2_bytes_per_cycle_per_unit * clock_hz, Basis::assumed,
                                               Origin::l2_per_clock, {units, clock_hz});
    if (lanes || chip.measured.l2_latency_s)
      set_latency(level, chip, chip.measured.l2_latency_s, chip.measured.l2_latency_cycles, other_l2_s);
    level.energy_j_per_byte = {l2_j_per_byte, Basis::assumed, "1 MB SRAM in 45 nm, 100 pJ for 64 bits (Horowitz 2014)"};
    out.push_back(level);
  }
}

Level far_level(LevelKind kind, std::string label, double latency_s, double own_j_per_byte, double memory_j_per_byte,
                const char* energy_source) {
  Level level{kind, std::move(label), {}, {}, {}, {}, {}};
  level.latency_s = {latency_s, Basis::assumed, "typical of such links and drives; no vendor states it for the chip"};
  level.energy_j_per_byte = {own_j_per_byte + 2 * memory_j_per_byte, Basis::assumed, energy_source};
  return level;
}

}  // namespace

std::string_view basis_id(Basis basis) {
  static constexpr std::string_view ids[] = {"specified", "measured", "computed", "assumed"};
  static_assert(std::size(ids) == static_cast<std::size_t>(Basis::assumed) + 1);
  return ids[static_cast<std::size_t>(basis)];
}

std::string_view level_id(LevelKind kind) {
  static constexpr std::string_view ids[] = {"registers", "shared", "l2",      "memory",
                                             "link",      "pcie",   "network", "storage"};
  static_assert(std::size(ids) == static_cast<std::size_t>(LevelKind::storage) + 1);
  return ids[static_cast<std::size_t>(kind)];
}

std::optional<int> fp32_lanes_per_unit(const Chip& chip) {
  const std::optional<double> peak = chip.peak_flops_per_s(Format::fp32);
  if (!peak || !chip.compute_units || !chip.boost_clock_hz || !chip.register_file_per_unit_bytes) return std::nullopt;
  const double power = std::round(std::log2(*peak / (2.0 * *chip.compute_units * *chip.boost_clock_hz)));
  if (!(power >= 5 && power <= 9)) return std::nullopt;  // 32 to 512 lanes: what GPUs have
  return 1 << static_cast<int>(power);
}

std::vector<Level> memory_levels(const Chip& chip, const HierarchyOptions& options) {
  std::vector<Level> out;
  add_on_chip(out, chip);
  const double memory_j_per_byte = options.memory_j_per_bit * 8;

  Level memory{LevelKind::memory,
               chip.memory_type.empty() ? "Memory" : chip.memory_type,
               specified(chip, "memory_bytes"),
               specified(chip, "memory_bandwidth_bytes_per_s"),
               {},
               {},
               {}};
  for (const char* key :
       {"measured.stream_read_bytes_per_s", "measured.stream_init_bytes_per_s", "measured.stream_scale_bytes_per_s"})
    if (!memory.measured_bandwidth_bytes_per_s.value) memory.measured_bandwidth_bytes_per_s = measured(chip, key);
  set_latency(memory, chip, chip.measured.dram_latency_s, chip.measured.dram_latency_cycles, other_memory_s);
  memory.energy_j_per_byte =
      worked_out(memory_j_per_byte, Basis::assumed, Origin::joules_a_bit, {options.memory_j_per_bit});
  out.push_back(memory);

  if (chip.interconnect.bytes_per_s_per_direction) {
    Level link = far_level(LevelKind::link, chip.interconnect.name.empty() ? "Link" : chip.interconnect.name,
                           options.link_latency_s, serdes_j_per_byte, memory_j_per_byte,
                           "5 pJ per bit on the link, and main memory at both ends");
    link.bandwidth_bytes_per_s = specified(chip, "interconnect.bytes_per_s_per_direction");
    link.capacity_bytes = worked_out(options.link_peers * chip.memory_bytes, Basis::computed, Origin::memory_of_peers,
                                     {static_cast<double>(options.link_peers)});
    link.measured_bandwidth_bytes_per_s = measured(chip, "measured.allgather_busbw_bytes_per_s");
    out.push_back(link);
  }
  if (chip.pcie_generation) {
    Level pcie = far_level(LevelKind::pcie, "PCIe " + std::to_string(std::lround(*chip.pcie_generation)) + " x16",
                           options.pcie_latency_s, serdes_j_per_byte, memory_j_per_byte,
                           "5 pJ per bit on the link, and memory at both ends");
    pcie.bandwidth_bytes_per_s = {pcie_bytes_per_s_per_direction(*chip.pcie_generation), Basis::computed,
                                  "16 lanes after line coding, per direction (PCI-SIG)"};
    pcie.capacity_bytes = {options.host_memory_bytes, Basis::assumed, "memory of the host"};
    out.push_back(pcie);
  }
  Level network = far_level(LevelKind::network, options.network_label, options.network_latency_s,
                            network_w_per_bytes_per_s, memory_j_per_byte,
                            "two adapters of 25 W and two optical modules of 9 W at 50 GB/s, and memory at both ends");
  network.bandwidth_bytes_per_s = {options.network_bytes_per_s_per_direction, Basis::specified,
                                   "one port for each chip, per direction"};
  out.push_back(network);
  Level storage = far_level(LevelKind::storage, "NVMe", options.storage_latency_s, storage_w_per_bytes_per_s,
                            memory_j_per_byte, "a 12 W drive that reads 7 GB/s, and memory at both ends");
  storage.bandwidth_bytes_per_s = {options.storage_bytes_per_s, Basis::assumed,
                                   "sequential reads of a drive on four PCIe 4 lanes"};
  storage.capacity_bytes = {options.storage_bytes, Basis::assumed, "one drive"};
  out.push_back(storage);
  return out;
}

const Level* find_level(const std::vector<Level>& levels, LevelKind kind) {
  for (const Level& level : levels)
    if (level.kind == kind) return &level;
  return nullptr;
}

Move move_bytes(const Level& level, double bytes, const Access& access) {
  Move out;
  if (level.bandwidth_bytes_per_s.value && level.latency_s.value) {
    const double latency_s = *level.latency_s.value, transfer_s = bytes / *level.bandwidth_bytes_per_s.value;
    double waiting_s = latency_s;
    if (access.pattern == AccessPattern::chase) waiting_s = std::max(1.0, bytes / access.access_bytes) * latency_s;
    if (access.pattern == AccessPattern::limited)
      waiting_s += std::max(0.0, bytes * latency_s / access.in_flight_bytes - transfer_s);
    out.time_s = waiting_s + transfer_s;
    out.latency_bound = waiting_s > transfer_s;
  }
  if (level.energy_j_per_byte.value) out.energy_j = bytes * *level.energy_j_per_byte.value;
  out.fits = !level.capacity_bytes.value || bytes <= *level.capacity_bytes.value;
  return out;
}

std::optional<double> bytes_in_flight(const Level& level) {
  if (!level.bandwidth_bytes_per_s.value || !level.latency_s.value) return std::nullopt;
  return *level.bandwidth_bytes_per_s.value * *level.latency_s.value;
}

double mean_bandwidth_step(const std::vector<Level>& levels) {
  double first = 0, last = 0;
  int stated = 0;
  for (const Level& level : levels) {
    if (!level.bandwidth_bytes_per_s.value) continue;
    last = *level.bandwidth_bytes_per_s.value;
    if (stated++ == 0) first = last;
  }
  return stated > 1 ? std::pow(first / last, 1.0 / (stated - 1)) : 1;
}

double human_scale(const Chip& chip) { return chip.boost_clock_hz.value_or(1e9); }

TrafficPowerResult traffic_power(const TrafficPower& in) {
  TrafficPowerResult out;
  out.per_chip_w = in.bandwidth_bytes_per_s * in.memory_j_per_byte;
  out.cluster_w = out.per_chip_w * in.chips;
  out.saved_per_chip_w =
      in.bandwidth_bytes_per_s * in.share_kept_on_chip * (in.memory_j_per_byte - in.on_chip_j_per_byte);
  out.saved_cluster_w = out.saved_per_chip_w * in.chips;
  out.still_memory_w = out.cluster_w * (1 - in.share_kept_on_chip);
  out.moved_on_chip_w = in.chips * in.bandwidth_bytes_per_s * in.share_kept_on_chip * in.on_chip_j_per_byte;
  out.saved_j_per_year = out.saved_cluster_w * 31557600.0;
  return out;
}

}  // namespace models
