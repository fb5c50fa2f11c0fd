#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a profiler says about one run of one kernel: Nsight Compute's counters, or those of rocprof-compute.
namespace models::gpu {

/// A figure of a report. Shares are in percent, 0 to 100; everything else is in SI units. The order is that of
/// report_figures().
enum class Figure : std::uint8_t {
  duration_s,
  unprofiled_s,
  elapsed_cycles,
  sm_active_cycles,
  sm_hz,
  dram_hz,
  sm_pct,      ///< "Compute (SM) Throughput": the busiest of the SM's pipes, over elapsed cycles
  memory_pct,  ///< "Memory Throughput": the busiest of all units that move data, over elapsed cycles
  dram_pct,
  l1_pct,  ///< over the cycles in which SMs were active
  l2_pct,
  l1_hit_pct,
  l2_hit_pct,
  dram_bytes_per_s,
  ipc_active,
  issue_slots_busy_pct,
  eligible_pct,
  no_eligible_pct,
  active_warps_per_scheduler,
  eligible_warps_per_scheduler,
  warp_cycles_per_issued,
  spill_overhead_pct,
  registers,
  shared_static_bytes,
  shared_dynamic_bytes,
  theoretical_occupancy_pct,
  achieved_occupancy_pct,
  blocks_per_sm,
  waves_per_sm,
  limit_registers,
  limit_shared,
  limit_warps,
  limit_blocks,
  tensor_pipe_pct,
  fma_pipe_pct,
  alu_pipe_pct,
  fp64_pipe_pct,
  lsu_pipe_pct,
  useful_bytes_of_32,
  requests_load,
  sectors_load,
  sectors_per_request_load,
  grid_blocks,
  block_threads,
  sm_count,
  compute_capability,  ///< 75 is 7.5
  wavefronts,
  wavefront_occupancy_pct,
  insufficient_lds_pct,
  insufficient_vgpr_pct,
  l1_utilization_pct,
  l1_coalescing_pct,
  l2_utilization_pct,
  fabric_read_bytes_per_s,
};
inline constexpr std::size_t figure_count = static_cast<std::size_t>(Figure::fabric_read_bytes_per_s) + 1;

/// What a unit of a report measures.
enum class Measure : std::uint8_t { plain, percent, seconds, hertz, bytes, bytes_per_s };

/// How reports name a figure. Several names stand in one text with '|' between them.
struct FigureNames {
  Figure figure{};
  Measure measure{};
  std::string_view key;      ///< in JSON
  std::string_view details;  ///< in the details page of Nsight Compute
  std::string_view raw;      ///< its metric in the raw page
  std::string_view amd;      ///< "section metric" of rocprof-compute: "16.1 Hit rate"
};
/// All figures in their order.
std::span<const FigureNames> report_figures();
inline const FigureNames& names_of(Figure figure) { return report_figures()[static_cast<std::size_t>(figure)]; }

/// Why a warp could not be issued: names of Nsight Compute.
enum class StallReason : std::uint8_t {
  long_scoreboard,
  short_scoreboard,
  mio_throttle,
  lg_throttle,
  tex_throttle,
  math_pipe_throttle,
  barrier,
  membar,
  wait,
  not_selected,
  selected,
  branch_resolving,
  no_instruction,
  imc_miss,
  dispatch_stall,
  drain,
  sleeping,
  misc,
};
inline constexpr std::size_t stall_reason_count = static_cast<std::size_t>(StallReason::misc) + 1;
/// "long_scoreboard".
std::string_view stall_key(StallReason reason);
std::optional<StallReason> stall_reason_of(std::string_view key);

struct Stall {
  StallReason reason{};
  double cycles = std::nan("");     ///< between two instructions of a warp
  double share_pct = std::nan("");  ///< Its part of all cycles between two instructions of a warp.
};

/// The tool's verdict on the two throughputs.
enum class SolVerdict : std::uint8_t {
  undecided,
  balanced,
  latency,
  small_grid,
  memory_heavier,
  compute_heavier,
  near_roof
};
inline constexpr std::size_t sol_verdict_count = static_cast<std::size_t>(SolVerdict::near_roof) + 1;
/// "small_grid".
std::string_view sol_verdict_key(SolVerdict verdict);

/// A rule of the tool that fired: "uncoalesced_global_load", "stall:mio_throttle", "bank_conflicts_shared_store".
struct ToolRule {
  std::string rule;
  double estimate_pct = std::nan("");  ///< what the tool thinks that could be won
  double value = std::nan("");         ///< bytes of 32 that are used, ways of a conflict, percent of a pipe
};

struct KernelReport {
  std::string chip, kernel, does, tool;
  std::array<double, figure_count> figures;  ///< NaN: the report does not print it
  std::vector<Stall> stalls;
  std::vector<ToolRule> rules;
  SolVerdict printed_verdict = SolVerdict::undecided;  ///< undecided: the report does not print one
  bool amd = false;

  KernelReport() { figures.fill(std::numeric_limits<double>::quiet_NaN()); }
  double operator[](Figure f) const { return figures[static_cast<std::size_t>(f)]; }
  double& operator[](Figure f) { return figures[static_cast<std::size_t>(f)]; }
  bool has(Figure f) const { return !std::isnan((*this)[f]); }
};

}  // namespace models::gpu
