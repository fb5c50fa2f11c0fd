#include "models/gpu/counters/kernel_report.h"

#include <algorithm>

namespace models::gpu {
namespace {

// Labels of Nsight Compute from 2019 ("SOL SM", "Memory [%]") to 2025; metrics as in its section files; rocprof-compute
// as in its analysis configurations.
constexpr std::array<FigureNames, figure_count> all_names{{
    {Figure::duration_s, Measure::seconds, "duration_s", "Duration", "gpu__time_duration.sum|gpu__time_duration.avg",
     "0.1 Mean(ns)"},
    {Figure::unprofiled_s, Measure::seconds, "time_unprofiled_s", "", "", ""},
    {Figure::elapsed_cycles, Measure::plain, "elapsed_cycles", "Elapsed Cycles|SOL Elapsed Cycles",
     "gpc__cycles_elapsed.max|sm__cycles_elapsed.max", ""},
    {Figure::sm_active_cycles, Measure::plain, "sm_active_cycles", "SM Active Cycles", "sm__cycles_active.avg", ""},
    {Figure::sm_hz, Measure::hertz, "sm_hz", "SM Frequency",
     "gpc__cycles_elapsed.avg.per_second|smsp__cycles_elapsed.avg.per_second|sm__cycles_elapsed.avg.per_second", ""},
    {Figure::dram_hz, Measure::hertz, "dram_hz", "DRAM Frequency|Memory Frequency",
     "dram__cycles_elapsed.avg.per_second", ""},
    {Figure::sm_pct, Measure::percent, "sm_pct", "Compute (SM) Throughput|Compute (SM) [%]|SM [%]|SOL SM",
     "sm__throughput.avg.pct_of_peak_sustained_elapsed", ""},
    {Figure::memory_pct, Measure::percent, "memory_pct", "Memory Throughput|Memory [%]|SOL Memory",
     "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", ""},
    {Figure::dram_pct, Measure::percent, "dram_pct", "DRAM Throughput|SOL DRAM",
     "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed|dram__throughput.avg.pct_of_peak_sustained_elapsed", ""},
    {Figure::l1_pct, Measure::percent, "l1_pct", "L1/TEX Cache Throughput|SOL L1/TEX Cache|SOL TEX",
     "l1tex__throughput.avg.pct_of_peak_sustained_active", ""},
    {Figure::l2_pct, Measure::percent, "l2_pct", "L2 Cache Throughput|SOL L2 Cache|SOL L2",
     "lts__throughput.avg.pct_of_peak_sustained_elapsed", ""},
    {Figure::l1_hit_pct, Measure::percent, "l1_hit_pct", "L1/TEX Hit Rate|L1 Hit Rate", "l1tex__t_sector_hit_rate.pct",
     "16.1 Hit rate"},
    {Figure::l2_hit_pct, Measure::percent, "l2_hit_pct", "L2 Hit Rate", "lts__t_sector_hit_rate.pct", "17.1 Hit Rate"},
    {Figure::dram_bytes_per_s, Measure::bytes_per_s, "dram_bytes_per_s", "Memory Throughput",
     "dram__bytes.sum.per_second", ""},
    {Figure::ipc_active, Measure::plain, "ipc_active", "Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active",
     ""},
    {Figure::issue_slots_busy_pct, Measure::percent, "issue_slots_busy_pct", "Issue Slots Busy",
     "sm__inst_issued.avg.pct_of_peak_sustained_active", ""},
    {Figure::eligible_pct, Measure::percent, "eligible_pct", "One or More Eligible",
     "smsp__issue_active.avg.pct|smsp__issue_active.avg.pct_of_peak_sustained_active", ""},
    {Figure::no_eligible_pct, Measure::percent, "no_eligible_pct", "No Eligible",
     "smsp__issue_inst0.avg.pct_of_peak_sustained_active", ""},
    {Figure::active_warps_per_scheduler, Measure::plain, "active_warps_per_scheduler", "Active Warps Per Scheduler",
     "smsp__warps_active.avg.per_cycle_active", ""},
    {Figure::eligible_warps_per_scheduler, Measure::plain, "eligible_warps_per_scheduler",
     "Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active", ""},
    {Figure::warp_cycles_per_issued, Measure::plain, "warp_cycles_per_issued", "Warp Cycles Per Issued Instruction",
     "smsp__average_warp_latency_per_inst_issued.ratio|smsp__average_warps_active_per_issue_active.ratio", ""},
    {Figure::spill_overhead_pct, Measure::percent, "spill_overhead_pct", "Local Memory Spilling Request Overhead", "",
     ""},
    {Figure::registers, Measure::plain, "registers", "Registers Per Thread", "launch__registers_per_thread",
     "7.1 VGPRs"},
    {Figure::shared_static_bytes, Measure::bytes, "shared_static_bytes", "Static Shared Memory Per Block",
     "launch__shared_mem_per_block_static", ""},
    {Figure::shared_dynamic_bytes, Measure::bytes, "shared_dynamic_bytes", "Dynamic Shared Memory Per Block",
     "launch__shared_mem_per_block_dynamic", ""},
    {Figure::theoretical_occupancy_pct, Measure::percent, "theoretical_occupancy_pct", "Theoretical Occupancy",
     "sm__maximum_warps_per_active_cycle_pct", ""},
    {Figure::achieved_occupancy_pct, Measure::percent, "achieved_occupancy_pct", "Achieved Occupancy",
     "sm__warps_active.avg.pct_of_peak_sustained_active", ""},
    {Figure::blocks_per_sm, Measure::plain, "blocks_per_sm", "", "", ""},
    {Figure::waves_per_sm, Measure::plain, "waves_per_sm", "Waves Per SM", "launch__waves_per_multiprocessor", ""},
    {Figure::limit_registers, Measure::plain, "registers", "Block Limit Registers", "launch__occupancy_limit_registers",
     ""},
    {Figure::limit_shared, Measure::plain, "shared", "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem",
     ""},
    {Figure::limit_warps, Measure::plain, "warps", "Block Limit Warps", "launch__occupancy_limit_warps", ""},
    {Figure::limit_blocks, Measure::plain, "blocks", "Block Limit SM", "launch__occupancy_limit_blocks", ""},
    {Figure::tensor_pipe_pct, Measure::percent, "tensor_pipe_pct", "",
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active|"
     "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
     ""},
    {Figure::fma_pipe_pct, Measure::percent, "fma_pipe_pct", "",
     "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", ""},
    {Figure::alu_pipe_pct, Measure::percent, "alu_pipe_pct", "",
     "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", ""},
    {Figure::fp64_pipe_pct, Measure::percent, "fp64_pipe_pct", "",
     "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active|"
     "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
     ""},
    {Figure::lsu_pipe_pct, Measure::percent, "lsu_pipe_pct", "",
     "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", ""},
    {Figure::useful_bytes_of_32, Measure::plain, "useful_bytes_of_32", "", "", ""},
    {Figure::requests_load, Measure::plain, "requests_load", "", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ""},
    {Figure::sectors_load, Measure::plain, "sectors_load", "", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", ""},
    {Figure::sectors_per_request_load, Measure::plain, "sectors_per_request_load", "",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", ""},
    {Figure::grid_blocks, Measure::plain, "grid_blocks", "Grid Size", "launch__grid_size", ""},
    {Figure::block_threads, Measure::plain, "block_threads", "Block Size", "launch__block_size", "7.1 Workgroup Size"},
    {Figure::sm_count, Measure::plain, "sm_count", "# SMs", "device__attribute_multiprocessor_count|launch__sm_count",
     ""},
    {Figure::compute_capability, Measure::plain, "compute_capability", "", "", ""},
    {Figure::wavefronts, Measure::plain, "wavefronts", "", "", "7.1 Total Wavefronts"},
    {Figure::wavefront_occupancy_pct, Measure::percent, "wavefront_occupancy_pct", "", "", "2.1 Wavefront Occupancy"},
    {Figure::insufficient_lds_pct, Measure::percent, "insufficient_lds_pct", "", "", "6.2 Insufficient CU LDS"},
    {Figure::insufficient_vgpr_pct, Measure::percent, "insufficient_vgpr_pct", "", "", "6.2 Insufficient SIMD VGPRs"},
    {Figure::l1_utilization_pct, Measure::percent, "l1_utilization_pct", "", "", "16.1 Utilization"},
    {Figure::l1_coalescing_pct, Measure::percent, "l1_coalescing_pct", "", "", "16.1 Coalescing"},
    {Figure::l2_utilization_pct, Measure::percent, "l2_utilization_pct", "", "", "17.1 Utilization"},
    {Figure::fabric_read_bytes_per_s, Measure::bytes_per_s, "fabric_read_bytes_per_s", "", "",
     "17.1 L2-Fabric Read BW"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < figure_count; ++i)
    if (static_cast<std::size_t>(all_names[i].figure) != i) return false;
  return true;
}
static_assert(in_order());

constexpr std::array<std::string_view, stall_reason_count> stall_keys{
    "long_scoreboard", "short_scoreboard", "mio_throttle",   "lg_throttle",  "tex_throttle", "math_pipe_throttle",
    "barrier",         "membar",           "wait",           "not_selected", "selected",     "branch_resolving",
    "no_instruction",  "imc_miss",         "dispatch_stall", "drain",        "sleeping",     "misc"};

constexpr std::array<std::string_view, sol_verdict_count> verdict_keys{
    "undecided", "balanced", "latency", "small_grid", "memory_heavier", "compute_heavier", "near_roof"};

}  // namespace

std::span<const FigureNames> report_figures() { return all_names; }

std::string_view stall_key(StallReason reason) { return stall_keys[static_cast<std::size_t>(reason)]; }

std::optional<StallReason> stall_reason_of(std::string_view key) {
  if (key == "no_instructions") return StallReason::no_instruction;
  const auto at = std::find(stall_keys.begin(), stall_keys.end(), key);
  if (at == stall_keys.end()) return std::nullopt;
  return static_cast<StallReason>(at - stall_keys.begin());
}

std::string_view sol_verdict_key(SolVerdict verdict) { return verdict_keys[static_cast<std::size_t>(verdict)]; }

}  // namespace models::gpu
