#pragma once
#include "models/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Accelerators and links as data: what a chip can do at most, what was measured on it, and where each figure comes
/// from.
namespace models {

/// Number formats that a chip may state a dense peak for. fp64 and fp32 are the vector units;
/// fp64_matrix and all below fp32 are the matrix units (Tensor Core, Matrix Core, MXU), without 2:4 sparsity.
enum class Format : std::uint8_t { fp64, fp64_matrix, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8 };
inline constexpr std::size_t format_count = 10;
inline constexpr std::array<Format, format_count> all_formats{
    Format::fp64, Format::fp64_matrix, Format::fp32, Format::tf32, Format::fp16,
    Format::bf16, Format::fp8,         Format::fp6,  Format::fp4,  Format::int8};

std::string_view format_id(Format format);     ///< "bf16": the key in files and on the command line
std::string_view format_label(Format format);  ///< "BF16": for people
std::optional<Format> format_from_id(std::string_view id);
/// Bytes that one element takes in memory, block scales not counted: fp64 8, fp32 and tf32 4, fp6 0.75, fp4 0.5.
double format_bytes(Format format);

/// The chip-to-chip link. "Per direction" is what a ring all-reduce can use; vendors print the sum of both directions.
struct Interconnect {
  std::string name;
  std::optional<double> bytes_per_s_per_direction;
  std::optional<double> bytes_per_s_bidirectional;
  std::optional<int> links;
  std::optional<double> bytes_per_s_per_peer_per_direction;  ///< In a full mesh, all that one pair of chips sees.
  std::optional<double> bisection_bytes_per_s_per_direction;
  bool operator==(const Interconnect&) const = default;
};

/// What people measured on the chip; never a specification.
struct Measured {
  std::optional<double> matmul_bf16_flops_per_s, matmul_fp8_flops_per_s;  ///< best dense matmul found over many shapes
  std::optional<double> stream_read_bytes_per_s, stream_scale_bytes_per_s, stream_init_bytes_per_s;
  std::optional<double> l1_bytes_per_s, l2_bytes_per_s;
  std::optional<double> l1_latency_cycles, l2_latency_cycles, dram_latency_cycles;
  std::optional<double> l2_latency_s, dram_latency_s;
  /// Bus bandwidth of collectives over 8 chips of one node, unless the name says 2.
  std::optional<double> allreduce_ring_busbw_bytes_per_s, allreduce_nvls_busbw_bytes_per_s, allreduce_busbw_bytes_per_s;
  std::optional<double> allreduce_2_chips_busbw_bytes_per_s, allgather_busbw_bytes_per_s,
      reducescatter_busbw_bytes_per_s;
  std::string note;
  bool operator==(const Measured&) const = default;
};

/// US dollars; on-demand prices are for one chip and one hour.
struct Price {
  std::optional<double> launch_on_demand_usd_per_hour, on_demand_usd_per_hour;
  std::optional<double> low_usd_per_hour, high_usd_per_hour;  ///< range seen at smaller clouds
  std::optional<double> msrp_usd;
  bool operator==(const Price&) const = default;
};

/// One accelerator. SI units; capacities of main memory are decimal as sold, those of caches and registers exact as the
/// device reports them (H100: L2 52,428,800 B). A figure nobody states is empty.
struct Chip {
  std::string id;  ///< [a-z0-9_]+
  std::string name;
  std::string short_name;  ///< for plot labels: "H100 SXM"
  std::string vendor, architecture, form_factor, memory_type;
  std::string confidence;  ///< high, medium, low or user
  std::vector<std::string> notes;

  std::optional<int> year_announced, year_available;
  std::array<std::optional<double>, format_count> dense_peak_flops_per_s{};
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;
  std::optional<double> l2_bytes;
  std::optional<double> l3_bytes;    ///< memory-side cache: AMD Infinity Cache, TPU v4 CMEM
  std::optional<int> compute_units;  ///< SM, CU, TensorCore, NeuronCore
  std::optional<double> shared_mem_per_unit_bytes, register_file_per_unit_bytes;
  std::optional<double> tensor_mem_per_unit_bytes;  ///< Blackwell TMEM
  std::optional<int> tensor_cores;
  std::optional<double> tensor_core_fma_per_cycle;  ///< FP16 multiply-adds of one Tensor Core in one clock
  /// The largest clock of the compute units: where there is a vector unit, the one that reproduces the stated FP32
  /// peak. All that is counted by the clock (registers, shared memory, caches, latencies in cycles) uses it.
  std::optional<double> boost_clock_hz;
  std::optional<double> matrix_clock_hz;  ///< at which the matrix peaks are stated, where that is a lower one
  std::optional<int> chip_count;          ///< Chips in an entry that is several together (a rack); empty for one chip.
  std::optional<int> pcie_generation;     ///< The generation of the x16 host link.
  std::optional<double> tdp_w;
  Interconnect interconnect;
  Measured measured;
  Price price;

  std::map<std::string, double> announced;     ///< figure key -> value announced earlier, where the shipped one differs
  std::map<std::string, std::string> sources;  ///< figure key -> reference; every figure of the bundled chips has one

  /// Dense peak in flop/s (op/s for int8), or nothing when the chip states none for the format.
  std::optional<double> peak_flops_per_s(Format format) const;
  bool is_several() const { return chip_count.value_or(1) > 1; }  ///< a rack: no lab of one chip may compute it
  bool operator==(const Chip&) const = default;
};

/// One figure that a chip may have, by the key it has in JSON ("memory_bytes", "peak_flops_per_s.bf16",
/// "measured.l2_bytes_per_s").
struct Figure {
  std::string_view key;
  std::string_view
      unit;  ///< SI: "B", "B/s", "FLOP/s", "s", "Hz", "W", "cycles", "USD", "USD/h", "year" or "" for counts
  double minimum, maximum;  ///< what a file may say, both inclusive
  bool integer;
};
/// All figures, in the order in which a table should show them.
const std::vector<Figure>& figures();
std::optional<double> figure_value(const Chip& chip, std::string_view key);
/// Sets the figure; false, and nothing done, when no figure has that key or the value is outside its range (or not
/// whole where it must be).
bool set_figure(Chip& chip, std::string_view key, double value);
/// The reference of the figure, or "no source given" for chips whose file names none.
std::string_view figure_source(const Chip& chip, std::string_view key);

/// A link that belongs to no chip: InfiniBand, Ethernet, PCIe.
struct Network {
  std::string id, name;
  std::string kind;                      ///< infiniband, ethernet or pcie
  double bytes_per_s_per_direction = 0;  ///< raw, after line coding
  std::string source;
  bool operator==(const Network&) const = default;
};

/// Reads chips from JSON text: one chip object or {"references": {...}, "chips": [...]}; keys as in assets/hardware.
/// `origin` is how errors call the text (a file name). On bad input the error is one sentence that names origin, chip,
/// key, value and what is allowed; nothing throws. A file that only holds networks gives no chips.
Result<std::vector<Chip>> parse_chips(std::string_view json_text, std::string_view origin);
/// Reads one network object or {"networks": [...]} of the same files; a file that only holds chips gives none.
Result<std::vector<Network>> parse_networks(std::string_view json_text, std::string_view origin);

/// Raw bytes/s per direction of a PCIe link after line coding (8b/10b for generations 1 and 2, 128b/130b for 3 to 5,
/// 242/256 FLIT for 6). Nothing for other generations or lanes outside 1..32. Source: PCI-SIG base specifications 3.0
/// and 6.0.
std::optional<double> pcie_bytes_per_s_per_direction(int generation, int lanes = 16);

}  // namespace models
