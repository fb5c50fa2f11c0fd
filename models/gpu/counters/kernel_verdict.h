#pragma once
#include "models/gpu/counters/kernel_report.h"

/// What a kernel's report says about what bounds it. All of it follows from figures: a kernel's name decides nothing.
namespace models::gpu {

/// Limits of the tool's rule, in percent.
struct SolThresholds {
  double low = 60;         ///< both throughputs under it: neither is the limit
  double roof = 80;        ///< one at it or over: near that limit
  double difference = 10;  ///< closer than that they are balanced
  bool operator==(const SolThresholds&) const = default;
};

/// The speed-of-light rule of Nsight Compute: both under `roof` and under `low`: small_grid below one wave, else
/// latency; under `roof` and `difference` apart: the larger; else balanced. `waves` may be NaN. Undecided where a
/// throughput is missing and the other does not reach the roof.
SolVerdict sol_verdict(double sm_pct, double memory_pct, double waves, const SolThresholds& limits = {});

enum class KernelClass : std::uint8_t { undecided, memory, compute, latency, launch };
inline constexpr std::size_t kernel_class_count = 5;
/// "memory".
std::string_view kernel_class_key(KernelClass bound);

enum class Cause : std::uint8_t {
  unknown,
  // memory
  dram_roof,
  dram_traffic,
  uncoalesced,
  l1_sectors,
  l1_roof,
  lsu_pipe,
  shared_pipe,
  bank_conflicts,
  mio_queue,
  lg_queue,
  register_spill,
  l2_or_host_link,
  // compute
  tensor_pipe,
  fp64_pipe,
  fma_pipe,
  issue_slots,
  // latency
  long_scoreboard,
  short_scoreboard,
  barrier,
  math_pipe,
  dependency,
  divergence,
  tail_wave,
  occupancy_shared,
  occupancy_registers,
  // launch
  grid_too_small,
  load_imbalance,
};
inline constexpr std::size_t cause_count = static_cast<std::size_t>(Cause::load_imbalance) + 1;
/// "bank_conflicts".
std::string_view cause_key(Cause cause);

/// What decided class and cause.
enum class Evidence : std::uint8_t {
  nothing,           ///< the report prints nothing that decides
  amd_no_fault,      ///< AMD: occupancy alone is printed, and no resource holds it down; a weak sign
  amd_few_waves,     ///< AMD: fewer wavefronts than compute units
  amd_resource,      ///< AMD: wavefronts wait for room
  amd_caches,        ///< AMD: L1 or L2 are busy
  few_blocks,        ///< fewer blocks than SMs, or under one wave with both throughputs low
  idle_sms,          ///< SMs are active for a far smaller part than the grid would fill
  pipe_roof,         ///< a pipe of arithmetic at its roof
  dram_roof,         ///< DRAM at its roof
  memory_roof,       ///< a memory unit other than DRAM at its roof
  shared_figure,     ///< compute and memory print the same figure: one pipe of loads and stores is both
  l1_active,         ///< L1 is full while it works, though Memory over elapsed cycles is not
  l2_only,           ///< L2 is the memory figure and DRAM is at nothing
  memory_larger,     ///< memory is the larger of the two
  compute_larger,    ///< compute is the larger of the two
  compute_alone,     ///< compute is high, and memory is not printed
  last_wave,         ///< the last wave is partial and costs a fifth or more
  top_stall,         ///< neither is high: what warps wait for longest
  issue_bound,       ///< neither is high and the issue slots are the busiest unit
  data_before_pipe,  ///< a pipe is high, and warps wait longer for data than for it
  low_occupancy,     ///< neither is high and few warps fit
  neither,           ///< neither is high, and no stall is printed
};
inline constexpr std::size_t evidence_count = static_cast<std::size_t>(Evidence::neither) + 1;

struct Diagnosis {
  SolVerdict verdict = SolVerdict::undecided;
  KernelClass bound = KernelClass::undecided;
  Cause cause = Cause::unknown;
  Evidence evidence = Evidence::nothing;
};
/// From where on a sign counts, in percent. These are no tool's: they were chosen on published reports, and a test says
/// how well what is chosen on one half of them does on the other.
struct SignThresholds {
  double full_over_active = 90;  ///< L1 is full while it works
  double hbm_idle = 30;          ///< DRAM so low that memory at a roof is another unit
  double few_instructions = 20;  ///< compute so low that the loads of few instructions fill L1
  double same_figure = 0.05;     ///< points by which compute and memory are one pipe
  double costly_tail = 20;
  double tail_can_matter = 64;  ///< below it a partial wave explains what a heavier unit lacks
  double held_back = 10;        ///< AMD: wavefronts so often find no room
};

Diagnosis diagnose(const KernelReport& report, const SolThresholds& limits = {}, const SignThresholds& signs = {});

/// What follows from other figures. NaN: some figure that it needs is not printed.
struct ReportIdentities {
  double blocks_per_sm = std::nan("");  ///< printed, or the least of the four limits
  double waves = std::nan("");          ///< blocks / (SMs x blocks an SM); as printed where these are not known
  double theoretical_occupancy_pct = std::nan("");
  double elapsed_cycles = std::nan("");     ///< time x clock
  double small_grid_pct = std::nan("");     ///< (SMs - blocks) / SMs, where blocks are fewer
  double tail_pct = std::nan("");           ///< 1 / (1 + whole waves), where the last one is partial; 0: it is full
  double occupancy_gap_pct = std::nan("");  ///< (theoretical - achieved) / theoretical
};
ReportIdentities report_identities(const KernelReport& report);

/// The tool's estimates, in percent: what SMs without a block could do, and what the partial last wave costs at most.
double small_grid_estimate_pct(double blocks, double sms);
double tail_estimate_pct(double waves);
double occupancy_gap_pct(double theoretical_pct, double achieved_pct);
/// Is a stall reason named: the scheduler issues in less than 0.8 of its cycles, and the reason takes over 0.3 of them?
bool names_stall(double issue_active, double cycles, double all_cycles);

/// The longest stall that is no healthy state (selected, not selected); null where none is printed.
const Stall* top_stall(const KernelReport& report);
/// Its share in percent, from the share that is printed or from cycles over all cycles between two instructions. NaN:
/// not known.
double stall_share_pct(const KernelReport& report, const Stall& stall);

}  // namespace models::gpu
