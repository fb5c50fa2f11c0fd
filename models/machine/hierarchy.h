#pragma once
#include "models/machine/hardware.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The memory and link hierarchy of a chip: what each level holds, how fast, how far, how many joules a byte.
namespace models {

/// How a figure is known: stated by a vendor, measured on hardware, computed from stated facts, or assumed (then the
/// text says on what).
enum class Basis { specified, measured, computed, assumed };
std::string_view basis_id(Basis basis);

/// What a figure was worked out from, where it was; `factors` of Sourced are the numbers, in the order named here.
enum class Origin : std::uint8_t {
  stated,             ///< as it is, by its source
  chase_cycles,       ///< cycles of a pointer chase at the boost clock
  units_of_bytes,     ///< compute units, and bytes of each
  register_operands,  ///< compute units, lanes of each, clock in Hz: three FP32 operands a lane and clock
  shared_banks,       ///< compute units, clock in Hz: 32 banks of 4 B
  l2_per_clock,       ///< compute units, clock in Hz: 35 B a unit and clock, as gpu-benches finds
  joules_a_bit,       ///< J a bit of HBM
  memory_of_peers,    ///< chips behind the link
};

/// A figure with where it comes from; empty where nobody states it and nothing sound derives it.
struct Sourced {
  std::optional<double> value;
  Basis basis = Basis::assumed;
  std::string source{};  ///< empty where an origin other than `stated` says it
  Origin origin = Origin::stated;
  std::array<double, 3> factors{};
};

enum class LevelKind { registers, shared, l2, memory, link, pcie, network, storage };
std::string_view level_id(LevelKind kind);  ///< "registers", "shared", ...

/// One level. Bandwidths are of the whole chip, links per direction. Energy counts the level itself, and for levels
/// beyond the chip also the read and the write of main memory at the two ends.
struct Level {
  LevelKind kind = LevelKind::registers;
  std::string label;  ///< "Registers", "HBM3", "NVLink 4"
  Sourced capacity_bytes, bandwidth_bytes_per_s, latency_s, energy_j_per_byte;
  Sourced measured_bandwidth_bytes_per_s;  ///< empty when nobody measured it
};

/// What a chip's own data does not say. Every default is an assumption that the level's source text repeats.
struct HierarchyOptions {
  int link_peers = 7;  ///< chips reachable over the link, whose memory is its capacity: 8 in a node
  double link_latency_s = 1e-6;
  double pcie_latency_s = 1e-6;
  double host_memory_bytes = 2e12;
  std::string network_label = "InfiniBand NDR";
  double network_bytes_per_s_per_direction = 50e9;  ///< 400 Gb/s, one port for each chip
  double network_latency_s = 2e-6;
  double storage_bytes = 3.84e12;
  double storage_bytes_per_s = 7e9;  ///< NVMe on four PCIe 4 lanes
  double storage_latency_s = 80e-6;
  double memory_j_per_bit = 5.5e-12;  ///< HBM2 and HBM3: 4 to 7 pJ a bit
};

/// FP32 lanes of one compute unit, from peak = units x lanes x 2 x clock, rounded to a power of two (boost clocks vary
/// by 10 %). 64 for V100, A100 and MI250X, 128 for Ada, Hopper, Blackwell and MI300X; nothing where the chip is no GPU
/// or lacks a figure.
std::optional<int> fp32_lanes_per_unit(const Chip& chip);

/// The levels that the chip has, from the nearest to the farthest. Registers: units x lanes x 12 B (three FP32
/// operands) x clock. Shared memory: units x 32 banks x 4 B x clock (NVIDIA CUDA C++ programming guide).
std::vector<Level> memory_levels(const Chip& chip, const HierarchyOptions& options = {});
const Level* find_level(const std::vector<Level>& levels, LevelKind kind);

/// How the bytes are asked for. What a level delivers is what is in flight over how long each byte takes (Little's law,
/// 1961).
enum class AccessPattern { stream, limited, chase };
struct Access {
  AccessPattern pattern = AccessPattern::stream;  ///< stream: always enough in flight to fill the level
  double in_flight_bytes = 262144;                ///< limited: outstanding at once, over the whole chip
  double access_bytes = 32;  ///< chase: each access waits for the one before; 32 B is a sector of NVIDIA's caches
};

/// Time and energy to move bytes at a level. Empty where the level lacks the figure.
/// stream: latency + bytes / bandwidth. limited: the bandwidth is at most in flight / latency. chase: one latency an
/// access, at least one.
struct Move {
  std::optional<double> time_s, energy_j;
  bool fits = true;            ///< false when the bytes exceed the level's capacity
  bool latency_bound = false;  ///< waiting takes longer than the transfer at full bandwidth
};
Move move_bytes(const Level& level, double bytes, const Access& access = {});

/// Bytes that must be in flight to fill the level: latency x bandwidth (Little's law). Empty where a figure is missing.
std::optional<double> bytes_in_flight(const Level& level);
/// By how much bandwidth falls from one level to the next, as the geometric mean over all levels that state it; 1 for a
/// single level.
double mean_bandwidth_step(const std::vector<Level>& levels);

/// Human seconds for one real second, so that one clock of the chip (one register access) takes one second; 1e9 if it
/// states no clock.
double human_scale(const Chip& chip);

/// Watts that memory traffic draws in a cluster whose chips all stream, before and after a share of it stays on the
/// chip.
struct TrafficPower {
  double bandwidth_bytes_per_s = 0;   ///< The bandwidth of main memory on each chip.
  double memory_j_per_byte = 44e-12;  ///< 5.5 pJ a bit
  double on_chip_j_per_byte = 1.25e-12;
  double chips = 1;
  double share_kept_on_chip = 0;  ///< 0 to 1: what fusion turns from memory traffic into shared-memory traffic
};
struct TrafficPowerResult {
  double per_chip_w = 0, cluster_w = 0, saved_per_chip_w = 0, saved_cluster_w = 0, saved_j_per_year = 0;
  double still_memory_w = 0,
         moved_on_chip_w = 0;  ///< what the cluster draws after fusion: memory that stayed, and its on-chip part
};
TrafficPowerResult traffic_power(const TrafficPower& inputs);

}  // namespace models
