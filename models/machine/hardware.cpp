#include "models/machine/hardware.h"

#include <cmath>
#include <variant>

namespace models {
namespace {

struct FormatRow {
  std::string_view id, label;
  double bytes;
};
constexpr std::array<FormatRow, format_count> format_rows{{{"fp64", "FP64", 8},
                                                           {"fp64_matrix", "FP64 matrix", 8},
                                                           {"fp32", "FP32", 4},
                                                           {"tf32", "TF32", 4},
                                                           {"fp16", "FP16", 2},
                                                           {"bf16", "BF16", 2},
                                                           {"fp8", "FP8", 1},
                                                           {"fp6", "FP6", 0.75},
                                                           {"fp4", "FP4", 0.5},
                                                           {"int8", "INT8", 1}}};

static_assert(format_rows.size() == static_cast<std::size_t>(Format::int8) + 1);

const FormatRow& row_of(Format format) { return format_rows[static_cast<std::size_t>(format)]; }

using Slot = std::variant<double Chip::*, std::optional<double> Chip::*, std::optional<int> Chip::*,
                          std::optional<double> Interconnect::*, std::optional<int> Interconnect::*,
                          std::optional<double> Measured::*, std::optional<double> Price::*, Format>;
struct Row {
  Figure figure;
  Slot slot;
};

constexpr double max_flops = 1e21, max_bytes = 1e18, max_bytes_per_s = 1e18;

/// Rows of the table, each with the unit and the range of its kind.
class RowList {
 public:
  void add(std::string_view key, std::string_view unit, double minimum, double maximum, Slot slot) {
    const bool integer = std::holds_alternative<std::optional<int> Chip::*>(slot) ||
                         std::holds_alternative<std::optional<int> Interconnect::*>(slot);
    rows_.push_back({{key, unit, minimum, maximum, integer}, slot});
  }
  void rate(std::string_view key, Slot slot) { add(key, "B/s", 1, max_bytes_per_s, slot); }
  void size(std::string_view key, Slot slot) { add(key, "B", 1, max_bytes, slot); }
  void cycles(std::string_view key, Slot slot) { add(key, "cycles", 1, 1e6, slot); }
  void usd(std::string_view key, std::string_view unit, Slot slot) { add(key, unit, 0, 1e9, slot); }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::vector<Row> rows_;
};

void add_chip_rows(RowList& rows) {
  constexpr std::array<std::string_view, format_count> peak_keys{
      "peak_flops_per_s.fp64", "peak_flops_per_s.fp64_matrix", "peak_flops_per_s.fp32", "peak_flops_per_s.tf32",
      "peak_flops_per_s.fp16", "peak_flops_per_s.bf16",        "peak_flops_per_s.fp8",  "peak_flops_per_s.fp6",
      "peak_flops_per_s.fp4",  "peak_flops_per_s.int8"};
  rows.add("year_announced", "year", 1950, 2200, &Chip::year_announced);
  rows.add("year_available", "year", 1950, 2200, &Chip::year_available);
  for (const Format format : all_formats)
    rows.add(peak_keys[static_cast<std::size_t>(format)], "FLOP/s", 1, max_flops, format);
  rows.size("memory_bytes", &Chip::memory_bytes);
  rows.rate("memory_bandwidth_bytes_per_s", &Chip::memory_bandwidth_bytes_per_s);
  rows.size("l2_bytes", &Chip::l2_bytes);
  rows.size("l3_bytes", &Chip::l3_bytes);
  rows.add("compute_units", "", 1, 1e7, &Chip::compute_units);
  rows.size("shared_mem_per_unit_bytes", &Chip::shared_mem_per_unit_bytes);
  rows.size("register_file_per_unit_bytes", &Chip::register_file_per_unit_bytes);
  rows.size("tensor_mem_per_unit_bytes", &Chip::tensor_mem_per_unit_bytes);
  rows.add("tensor_cores", "", 1, 1e8, &Chip::tensor_cores);
  rows.add("tensor_core_fma_per_cycle", "", 1, 1e6, &Chip::tensor_core_fma_per_cycle);
  rows.add("boost_clock_hz", "Hz", 1e3, 1e12, &Chip::boost_clock_hz);
  rows.add("matrix_clock_hz", "Hz", 1e3, 1e12, &Chip::matrix_clock_hz);
  rows.add("chip_count", "", 1, 1e6, &Chip::chip_count);
  rows.add("pcie_generation", "", 1, 6, &Chip::pcie_generation);
  rows.add("tdp_w", "W", 0.001, 1e9, &Chip::tdp_w);
}

void add_interconnect_rows(RowList& rows) {
  rows.rate("interconnect.bytes_per_s_per_direction", &Interconnect::bytes_per_s_per_direction);
  rows.rate("interconnect.bytes_per_s_bidirectional", &Interconnect::bytes_per_s_bidirectional);
  rows.add("interconnect.links", "", 1, 1e6, &Interconnect::links);
  rows.rate("interconnect.bytes_per_s_per_peer_per_direction", &Interconnect::bytes_per_s_per_peer_per_direction);
  rows.rate("interconnect.bisection_bytes_per_s_per_direction", &Interconnect::bisection_bytes_per_s_per_direction);
}

void add_measured_rows(RowList& rows) {
  rows.add("measured.matmul_bf16_flops_per_s", "FLOP/s", 1, max_flops, &Measured::matmul_bf16_flops_per_s);
  rows.add("measured.matmul_fp8_flops_per_s", "FLOP/s", 1, max_flops, &Measured::matmul_fp8_flops_per_s);
  rows.rate("measured.stream_read_bytes_per_s", &Measured::stream_read_bytes_per_s);
  rows.rate("measured.stream_scale_bytes_per_s", &Measured::stream_scale_bytes_per_s);
  rows.rate("measured.stream_init_bytes_per_s", &Measured::stream_init_bytes_per_s);
  rows.rate("measured.l1_bytes_per_s", &Measured::l1_bytes_per_s);
  rows.rate("measured.l2_bytes_per_s", &Measured::l2_bytes_per_s);
  rows.cycles("measured.l1_latency_cycles", &Measured::l1_latency_cycles);
  rows.cycles("measured.l2_latency_cycles", &Measured::l2_latency_cycles);
  rows.cycles("measured.dram_latency_cycles", &Measured::dram_latency_cycles);
  rows.add("measured.l2_latency_s", "s", 1e-12, 1, &Measured::l2_latency_s);
  rows.add("measured.dram_latency_s", "s", 1e-12, 1, &Measured::dram_latency_s);
  rows.rate("measured.allreduce_ring_busbw_bytes_per_s", &Measured::allreduce_ring_busbw_bytes_per_s);
  rows.rate("measured.allreduce_nvls_busbw_bytes_per_s", &Measured::allreduce_nvls_busbw_bytes_per_s);
  rows.rate("measured.allreduce_busbw_bytes_per_s", &Measured::allreduce_busbw_bytes_per_s);
  rows.rate("measured.allreduce_2_chips_busbw_bytes_per_s", &Measured::allreduce_2_chips_busbw_bytes_per_s);
  rows.rate("measured.allgather_busbw_bytes_per_s", &Measured::allgather_busbw_bytes_per_s);
  rows.rate("measured.reducescatter_busbw_bytes_per_s", &Measured::reducescatter_busbw_bytes_per_s);
}

void add_price_rows(RowList& rows) {
  rows.usd("price.launch_on_demand_usd_per_hour", "USD/h", &Price::launch_on_demand_usd_per_hour);
  rows.usd("price.on_demand_usd_per_hour", "USD/h", &Price::on_demand_usd_per_hour);
  rows.usd("price.low_usd_per_hour", "USD/h", &Price::low_usd_per_hour);
  rows.usd("price.high_usd_per_hour", "USD/h", &Price::high_usd_per_hour);
  rows.usd("price.msrp_usd", "USD", &Price::msrp_usd);
}

std::vector<Row> make_rows() {
  RowList rows;
  add_chip_rows(rows);
  add_interconnect_rows(rows);
  add_measured_rows(rows);
  add_price_rows(rows);
  return rows.take();
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = make_rows();
  return all;
}

const Row* find_row(std::string_view key) {
  for (const Row& row : rows())
    if (row.figure.key == key) return &row;
  return nullptr;
}

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace

std::string_view format_id(Format format) { return row_of(format).id; }
std::string_view format_label(Format format) { return row_of(format).label; }
double format_bytes(Format format) { return row_of(format).bytes; }
std::optional<Format> format_from_id(std::string_view id) {
  for (const Format format : all_formats)
    if (format_id(format) == id) return format;
  return std::nullopt;
}

std::optional<double> Chip::peak_flops_per_s(Format format) const {
  return dense_peak_flops_per_s[static_cast<std::size_t>(format)];
}

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = [] {
    std::vector<Figure> out;
    for (const Row& row : rows()) out.push_back(row.figure);
    return out;
  }();
  return all;
}

std::optional<double> figure_value(const Chip& chip, std::string_view key) {
  const Row* row = find_row(key);
  if (!row) return std::nullopt;
  return std::visit(
      Overload{[&](double Chip::*m) { return std::optional<double>(chip.*m); },
               [&](std::optional<double> Chip::*m) { return chip.*m; },
               [&](std::optional<int> Chip::*m) { return std::optional<double>(chip.*m); },
               [&](std::optional<double> Interconnect::*m) { return chip.interconnect.*m; },
               [&](std::optional<int> Interconnect::*m) { return std::optional<double>(chip.interconnect.*m); },
               [&](std::optional<double> Measured::*m) { return chip.measured.*m; },
               [&](std::optional<double> Price::*m) { return chip.price.*m; },
               [&](Format format) { return chip.peak_flops_per_s(format); }},
      row->slot);
}

bool set_figure(Chip& chip, std::string_view key, double value) {
  const Row* row = find_row(key);
  if (!row || !(value >= row->figure.minimum && value <= row->figure.maximum)) return false;
  if (row->figure.integer && value != std::floor(value)) return false;
  std::visit(
      Overload{[&](double Chip::*m) { chip.*m = value; }, [&](std::optional<double> Chip::*m) { chip.*m = value; },
               [&](std::optional<int> Chip::*m) { chip.*m = static_cast<int>(value); },
               [&](std::optional<double> Interconnect::*m) { chip.interconnect.*m = value; },
               [&](std::optional<int> Interconnect::*m) { chip.interconnect.*m = static_cast<int>(value); },
               [&](std::optional<double> Measured::*m) { chip.measured.*m = value; },
               [&](std::optional<double> Price::*m) { chip.price.*m = value; },
               [&](Format format) { chip.dense_peak_flops_per_s[static_cast<std::size_t>(format)] = value; }},
      row->slot);
  return true;
}

std::string_view figure_source(const Chip& chip, std::string_view key) {
  const auto found = chip.sources.find(std::string(key));
  return found == chip.sources.end() ? std::string_view("no source given") : std::string_view(found->second);
}

std::optional<double> pcie_bytes_per_s_per_direction(int generation, int lanes) {
  constexpr std::array<double, 6> bytes_per_s_per_lane{2.5e9 / 8 * 8 / 10,   5e9 / 8 * 8 / 10,
                                                       8e9 / 8 * 128 / 130,  16e9 / 8 * 128 / 130,
                                                       32e9 / 8 * 128 / 130, 64e9 / 8 * 242 / 256};
  if (generation < 1 || generation > 6 || lanes < 1 || lanes > 32) return std::nullopt;
  return bytes_per_s_per_lane[static_cast<std::size_t>(generation - 1)] * lanes;
}

}  // namespace models
