#include "models/gpu/counters/kernel_verdict.h"

#include <algorithm>
#include <array>
#include <optional>

namespace models::gpu {
namespace {

constexpr double named_stall = 30;  ///< the tool names a stall from here on
constexpr double least_compute_units = 60;

constexpr std::array<std::string_view, kernel_class_count> class_keys{"undecided", "memory", "compute", "latency",
                                                                      "launch"};
constexpr std::array<std::string_view, cause_count> cause_keys{"unknown",          "dram_roof",
                                                               "dram_traffic",     "uncoalesced",
                                                               "l1_sectors",       "l1_roof",
                                                               "lsu_pipe",         "shared_pipe",
                                                               "bank_conflicts",   "mio_queue",
                                                               "lg_queue",         "register_spill",
                                                               "l2_or_host_link",  "tensor_pipe",
                                                               "fp64_pipe",        "fma_pipe",
                                                               "issue_slots",      "long_scoreboard",
                                                               "short_scoreboard", "barrier",
                                                               "math_pipe",        "dependency",
                                                               "divergence",       "tail_wave",
                                                               "occupancy_shared", "occupancy_registers",
                                                               "grid_too_small",   "load_imbalance"};

bool has_rule(const KernelReport& r, std::string_view prefix) {
  return std::any_of(r.rules.begin(), r.rules.end(), [&](const ToolRule& t) { return t.rule.starts_with(prefix); });
}

double estimate_of(const KernelReport& r, std::string_view prefix) {
  double best = -1;
  for (const ToolRule& t : r.rules)
    if (t.rule.starts_with(prefix) && t.estimate_pct > best) best = t.estimate_pct;
  return best;
}

double sectors_a_request(const KernelReport& r) {
  if (r.has(Figure::sectors_per_request_load)) return r[Figure::sectors_per_request_load];
  return r[Figure::sectors_load] / r[Figure::requests_load];
}

/// The pipe of arithmetic that is busiest, where one is printed.
struct Pipe {
  Cause cause = Cause::unknown;
  double pct = -1;
};
Pipe busiest_pipe(const KernelReport& r) {
  Pipe out;
  const auto take = [&](Figure figure, Cause cause) {
    if (r[figure] > out.pct) out = {cause, r[figure]};
  };
  take(Figure::tensor_pipe_pct, Cause::tensor_pipe);
  take(Figure::fp64_pipe_pct, Cause::fp64_pipe);
  take(Figure::fma_pipe_pct, Cause::fma_pipe);
  take(Figure::alu_pipe_pct, Cause::fma_pipe);
  for (const ToolRule& t : r.rules) {
    if (t.rule == "high_pipe_utilization:tensor" && t.value > out.pct) out = {Cause::tensor_pipe, t.value};
    if (t.rule == "high_pipe_utilization:fp64" && t.value > out.pct) out = {Cause::fp64_pipe, t.value};
  }
  return out;
}

/// Cause of a kernel that computes; where no pipe is printed, fewer instructions than the pipe has work say that one
/// instruction keeps it busy for many cycles, which is a tensor core.
Cause compute_cause(const KernelReport& r) {
  const Pipe pipe = busiest_pipe(r);
  if (pipe.cause != Cause::unknown) return pipe.cause;
  if (r.has(Figure::issue_slots_busy_pct)) {
    if (r[Figure::issue_slots_busy_pct] >= r[Figure::sm_pct] - 1) return Cause::issue_slots;
    return r[Figure::issue_slots_busy_pct] < 0.5 * r[Figure::sm_pct] ? Cause::tensor_pipe : Cause::fma_pipe;
  }
  if (r[Figure::warp_cycles_per_issued] > 30) return Cause::tensor_pipe;
  return r[Figure::compute_capability] >= 90 ? Cause::tensor_pipe : Cause::fma_pipe;
}

bool says_uncoalesced(const KernelReport& r) {
  return has_rule(r, "uncoalesced") || sectors_a_request(r) >= 8 || r[Figure::useful_bytes_of_32] <= 16 ||
         (r.amd && r[Figure::l2_hit_pct] >= 50 && r[Figure::l1_hit_pct] < 10);
}

/// Cause of a kernel whose memory units are busy, and DRAM is not.
Cause chip_memory_cause(const KernelReport& r, const SignThresholds& signs) {
  const Stall* stall = top_stall(r);
  const double share = stall ? stall_share_pct(r, *stall) : 0;
  const double conflicts = estimate_of(r, "bank_conflicts"), sectors = estimate_of(r, "uncoalesced");
  if (conflicts >= 0 && conflicts >= sectors) return Cause::bank_conflicts;
  if (sectors_a_request(r) >= 8) return Cause::uncoalesced;
  if (says_uncoalesced(r)) return r[Figure::memory_pct] >= 80 ? Cause::l1_sectors : Cause::uncoalesced;
  if (stall && share > named_stall) {
    if (stall->reason == StallReason::mio_throttle) return Cause::mio_queue;
    if (stall->reason == StallReason::lg_throttle) return Cause::lg_queue;
  }
  if (stall && stall->reason == StallReason::barrier && r[Figure::l1_pct] >= signs.full_over_active)
    return Cause::bank_conflicts;
  if (r[Figure::memory_pct] >= 80) return Cause::l1_roof;
  if (r[Figure::l1_hit_pct] < 5) return r[Figure::l1_pct] >= 95 ? Cause::bank_conflicts : Cause::shared_pipe;
  if (std::abs(r[Figure::sm_pct] - r[Figure::memory_pct]) < signs.same_figure) return Cause::shared_pipe;
  return Cause::l1_roof;
}

Cause dram_cause(const KernelReport& r) {
  if (r[Figure::spill_overhead_pct] >= 50) return Cause::register_spill;
  if (says_uncoalesced(r)) return Cause::uncoalesced;
  return r[Figure::dram_pct] >= 80 && !(r[Figure::l2_hit_pct] > 25 && r[Figure::l1_hit_pct] > 10) ? Cause::dram_roof
                                                                                                  : Cause::dram_traffic;
}

Cause memory_cause(const KernelReport& r, const SignThresholds& signs) {
  const bool dram_leads =
      r[Figure::dram_pct] >= 60 || (r.has(Figure::dram_pct) && r[Figure::dram_pct] >= r[Figure::memory_pct] - 1);
  return dram_leads ? dram_cause(r) : chip_memory_cause(r, signs);
}

std::optional<Cause> cause_of_stall(StallReason reason) {
  switch (reason) {
    case StallReason::long_scoreboard:
    case StallReason::tex_throttle:
      return Cause::long_scoreboard;
    case StallReason::short_scoreboard:
      return Cause::short_scoreboard;
    case StallReason::mio_throttle:
      return Cause::mio_queue;
    case StallReason::lg_throttle:
    case StallReason::drain:
      return Cause::lg_queue;
    case StallReason::barrier:
    case StallReason::membar:
      return Cause::barrier;
    case StallReason::math_pipe_throttle:
      return Cause::math_pipe;
    case StallReason::wait:
    case StallReason::dispatch_stall:
      return Cause::dependency;
    case StallReason::branch_resolving:
    case StallReason::no_instruction:
      return Cause::divergence;
    default:
      return std::nullopt;
  }
}

std::optional<Diagnosis> by_grid(const KernelReport& r, const SolThresholds& limits, SolVerdict verdict) {
  if (r[Figure::sm_pct] >= limits.low || r[Figure::memory_pct] >= limits.low || r[Figure::dram_pct] >= limits.low)
    return std::nullopt;
  const bool printed = r.has(Figure::sm_pct) || r.has(Figure::memory_pct);
  const bool few = r[Figure::grid_blocks] == 1 || r[Figure::grid_blocks] < r[Figure::sm_count];
  if (!(few && printed) && verdict != SolVerdict::small_grid) return std::nullopt;
  // What the grid fills, and the part of the time for which an SM works on average; NaN compares false.
  const double filled = r[Figure::grid_blocks] / r[Figure::sm_count],
               active = r[Figure::sm_active_cycles] / r[Figure::elapsed_cycles];
  if (active < 0.5 * filled && active < 0.5)
    return Diagnosis{verdict, KernelClass::launch, Cause::load_imbalance, Evidence::idle_sms};
  return Diagnosis{verdict, KernelClass::launch, Cause::grid_too_small, Evidence::few_blocks};
}

/// A unit at its roof.
std::optional<Diagnosis> by_roof(const KernelReport& r, const SolThresholds& limits, const SignThresholds& signs,
                                 SolVerdict verdict) {
  const Pipe pipe = busiest_pipe(r);
  const double memory = r.has(Figure::memory_pct) ? r[Figure::memory_pct] : r[Figure::dram_pct];
  if (pipe.pct >= limits.roof && !(memory > pipe.pct))
    return Diagnosis{verdict, KernelClass::compute, pipe.cause, Evidence::pipe_roof};
  if (r[Figure::dram_pct] >= limits.roof)
    return Diagnosis{verdict, KernelClass::memory, dram_cause(r), Evidence::dram_roof};
  if (std::abs(r[Figure::sm_pct] - r[Figure::memory_pct]) < signs.same_figure && r[Figure::sm_pct] >= limits.low &&
      pipe.pct < r[Figure::sm_pct] - 5 && r[Figure::issue_slots_busy_pct] != r[Figure::sm_pct])
    return Diagnosis{verdict, KernelClass::memory, memory_cause(r, signs), Evidence::shared_figure};
  if (r[Figure::memory_pct] >= limits.roof && !(r[Figure::sm_pct] > r[Figure::memory_pct]))
    return Diagnosis{verdict, KernelClass::memory, memory_cause(r, signs), Evidence::memory_roof};
  if (r[Figure::sm_pct] >= limits.roof)
    return Diagnosis{verdict, KernelClass::compute, compute_cause(r), Evidence::pipe_roof};
  return std::nullopt;
}

/// L1 is full while it works, and DRAM has next to nothing to do.
std::optional<Diagnosis> by_l1(const KernelReport& r, const SignThresholds& signs, SolVerdict verdict) {
  if (!(r[Figure::l1_pct] >= signs.full_over_active) || r[Figure::dram_pct] >= signs.hbm_idle) return std::nullopt;
  const bool no_memory_figure = !r.has(Figure::memory_pct), few = r[Figure::sm_pct] < signs.few_instructions;
  if (!no_memory_figure && !few) return std::nullopt;
  const Cause cause = no_memory_figure ? chip_memory_cause(r, signs) : Cause::uncoalesced;
  return Diagnosis{verdict, KernelClass::memory, cause, Evidence::l1_active};
}

std::optional<Diagnosis> by_larger(const KernelReport& r, const ReportIdentities& also, const SolThresholds& limits,
                                   const SignThresholds& signs, SolVerdict verdict) {
  const double memory = r.has(Figure::memory_pct) ? r[Figure::memory_pct] : r[Figure::dram_pct], sm = r[Figure::sm_pct];
  const bool compute_leads = sm >= limits.low && !(memory >= sm);
  if (compute_leads && also.tail_pct >= signs.costly_tail && sm < signs.tail_can_matter)
    return Diagnosis{verdict, KernelClass::latency, Cause::tail_wave, Evidence::last_wave};
  if (compute_leads)
    return Diagnosis{verdict, KernelClass::compute, compute_cause(r),
                     std::isnan(memory) ? Evidence::compute_alone : Evidence::compute_larger};
  if (memory >= limits.low)
    return Diagnosis{verdict, KernelClass::memory, memory_cause(r, signs), Evidence::memory_larger};
  return std::nullopt;
}

/// A pipe that is high but not full, with or without what warps wait for.
std::optional<Diagnosis> by_pipe(const KernelReport& r, const SolThresholds& limits, SolVerdict verdict) {
  const Pipe pipe = busiest_pipe(r);
  if (pipe.pct < limits.low) return std::nullopt;
  double pipe_cycles = 0, other_cycles = 0, longest = 0;
  Cause waited = Cause::dependency;
  for (const Stall& s : r.stalls) {
    if (!(s.cycles > 0) || s.reason == StallReason::not_selected || s.reason == StallReason::selected) continue;
    if (s.reason == StallReason::math_pipe_throttle) {
      pipe_cycles += s.cycles;
      continue;
    }
    other_cycles += s.cycles;
    const auto cause = cause_of_stall(s.reason);
    if (!cause || *cause == Cause::dependency || s.cycles <= longest) continue;
    longest = s.cycles;
    waited = *cause;
  }
  if (r.stalls.size() >= 3 && other_cycles > pipe_cycles)
    return Diagnosis{verdict, KernelClass::latency, waited, Evidence::data_before_pipe};
  return Diagnosis{verdict, KernelClass::compute, pipe.cause, Evidence::compute_alone};
}

Diagnosis by_waiting(const KernelReport& r, const ReportIdentities& also, const SignThresholds& signs,
                     SolVerdict verdict) {
  const auto latency = [&](Cause cause, Evidence evidence) {
    return Diagnosis{verdict, KernelClass::latency, cause, evidence};
  };
  if (r[Figure::l2_pct] >= 30 && r[Figure::l2_pct] >= r[Figure::memory_pct] && r[Figure::dram_pct] < 1 &&
      r[Figure::sm_pct] < signs.few_instructions)
    return {verdict, KernelClass::memory, Cause::l2_or_host_link, Evidence::l2_only};
  const Stall* stall = top_stall(r);
  if (stall && !(stall_share_pct(r, *stall) <= named_stall))
    if (const auto cause = cause_of_stall(stall->reason)) return latency(*cause, Evidence::top_stall);
  if (r[Figure::issue_slots_busy_pct] >= 50 && r[Figure::issue_slots_busy_pct] >= r[Figure::sm_pct] - 0.1)
    return latency(Cause::divergence, Evidence::issue_bound);
  if (!r.has(Figure::sm_pct) && !r.has(Figure::memory_pct)) {
    // Where blocks an SM are not printed a wave has one each.
    const double waves = std::isnan(also.waves) ? r[Figure::grid_blocks] / r[Figure::sm_count] : also.waves;
    if (tail_estimate_pct(waves) >= signs.costly_tail) return latency(Cause::tail_wave, Evidence::last_wave);
    return {verdict, KernelClass::undecided, Cause::unknown, Evidence::nothing};
  }
  if (also.tail_pct >= 40) return latency(Cause::tail_wave, Evidence::last_wave);
  if (also.theoretical_occupancy_pct <= 25) {
    const bool shared =
        r[Figure::limit_shared] <= r[Figure::limit_registers] || has_rule(r, "theoretical_occupancy:shared");
    return latency(shared ? Cause::occupancy_shared : Cause::occupancy_registers, Evidence::low_occupancy);
  }
  return latency(Cause::long_scoreboard, Evidence::neither);
}

Diagnosis diagnose_amd(const KernelReport& r, const SignThresholds& signs) {
  const auto say = [](KernelClass bound, Cause cause, Evidence evidence) {
    return Diagnosis{SolVerdict::undecided, bound, cause, evidence};
  };
  if (r[Figure::wavefronts] < least_compute_units || r[Figure::grid_blocks] < least_compute_units)
    return say(KernelClass::launch, Cause::grid_too_small, Evidence::amd_few_waves);
  if (r[Figure::l1_utilization_pct] >= 80 || r[Figure::l2_utilization_pct] >= 80)
    return say(KernelClass::memory, says_uncoalesced(r) ? Cause::uncoalesced : Cause::dram_traffic,
               Evidence::amd_caches);
  if (r[Figure::insufficient_lds_pct] >= signs.held_back)
    return say(KernelClass::latency, Cause::occupancy_shared, Evidence::amd_resource);
  if (r[Figure::insufficient_vgpr_pct] >= signs.held_back)
    return say(KernelClass::latency, Cause::occupancy_registers, Evidence::amd_resource);
  if (r.has(Figure::wavefront_occupancy_pct) || r.has(Figure::insufficient_lds_pct) ||
      r.has(Figure::insufficient_vgpr_pct))
    return say(KernelClass::memory, Cause::uncoalesced, Evidence::amd_no_fault);
  return say(KernelClass::undecided, Cause::unknown, Evidence::nothing);
}

/// Warps that an SM holds. Not a number where the report names no capability, or none that there is.
double max_warps(double capability) {
  if (!(capability >= 60 && capability < 130)) return std::nan("");
  const int c = static_cast<int>(capability);
  if (c == 75) return 32;
  if (c == 86 || c == 87 || c == 89 || c / 10 == 12) return 48;
  return 64;
}

}  // namespace

std::string_view kernel_class_key(KernelClass bound) { return class_keys[static_cast<std::size_t>(bound)]; }
std::string_view cause_key(Cause cause) { return cause_keys[static_cast<std::size_t>(cause)]; }

SolVerdict sol_verdict(double sm, double memory, double waves, const SolThresholds& limits) {
  if (sm >= limits.roof || memory >= limits.roof) return SolVerdict::near_roof;
  if (std::isnan(sm) || std::isnan(memory)) return SolVerdict::undecided;
  if (sm < limits.low && memory < limits.low) return waves < 1 ? SolVerdict::small_grid : SolVerdict::latency;
  if (std::abs(sm - memory) < limits.difference) return SolVerdict::balanced;
  return sm > memory ? SolVerdict::compute_heavier : SolVerdict::memory_heavier;
}

double small_grid_estimate_pct(double blocks, double sms) {
  return blocks < sms && blocks >= 0 ? 100 * (sms - blocks) / sms : std::nan("");
}

double tail_estimate_pct(double waves) {
  if (!(waves >= 1)) return std::nan("");
  const double whole = std::floor(waves);
  return waves > whole ? 100 / (1 + whole) : 0;
}

double occupancy_gap_pct(double theoretical, double achieved) {
  return theoretical > 0 ? 100 * (theoretical - achieved) / theoretical : std::nan("");
}

bool names_stall(double issue_active, double cycles, double all_cycles) {
  return issue_active < 0.8 && cycles > 0.3 * all_cycles;
}

double stall_share_pct(const KernelReport& r, const Stall& stall) {
  if (!std::isnan(stall.share_pct)) return stall.share_pct;
  return r[Figure::warp_cycles_per_issued] > 0 ? 100 * stall.cycles / r[Figure::warp_cycles_per_issued] : std::nan("");
}

const Stall* top_stall(const KernelReport& r) {
  const Stall* best = nullptr;
  const auto size = [&](const Stall& s) {
    return !std::isnan(s.cycles) ? s.cycles : std::isnan(s.share_pct) ? 0.0 : s.share_pct;
  };
  for (const Stall& s : r.stalls) {
    if (s.reason == StallReason::selected || s.reason == StallReason::not_selected) continue;
    if (!best || size(s) > size(*best)) best = &s;
  }
  return best;
}

ReportIdentities report_identities(const KernelReport& r) {
  ReportIdentities out;
  out.blocks_per_sm = r[Figure::blocks_per_sm];
  if (std::isnan(out.blocks_per_sm))
    for (const Figure limit :
         {Figure::limit_registers, Figure::limit_shared, Figure::limit_warps, Figure::limit_blocks})
      out.blocks_per_sm = std::fmin(out.blocks_per_sm, r[limit]);
  out.waves = r[Figure::grid_blocks] / (r[Figure::sm_count] * out.blocks_per_sm);
  if (!std::isfinite(out.waves)) out.waves = r[Figure::waves_per_sm];
  const double warps = std::ceil(r[Figure::block_threads] / 32);
  out.theoretical_occupancy_pct = 100 * out.blocks_per_sm * warps / max_warps(r[Figure::compute_capability]);
  if (!(out.theoretical_occupancy_pct <= 100.5)) out.theoretical_occupancy_pct = r[Figure::theoretical_occupancy_pct];
  out.elapsed_cycles = r[Figure::duration_s] * r[Figure::sm_hz];
  out.small_grid_pct = small_grid_estimate_pct(r[Figure::grid_blocks], r[Figure::sm_count]);
  out.tail_pct = tail_estimate_pct(out.waves);
  out.occupancy_gap_pct =
      occupancy_gap_pct(std::isnan(r[Figure::theoretical_occupancy_pct]) ? out.theoretical_occupancy_pct
                                                                         : r[Figure::theoretical_occupancy_pct],
                        r[Figure::achieved_occupancy_pct]);
  return out;
}

Diagnosis diagnose(const KernelReport& r, const SolThresholds& limits, const SignThresholds& signs) {
  if (r.amd) return diagnose_amd(r, signs);
  const ReportIdentities also = report_identities(r);
  const SolVerdict verdict = sol_verdict(r[Figure::sm_pct], r[Figure::memory_pct], also.waves, limits);
  if (const auto d = by_l1(r, signs, verdict)) return *d;
  if (const auto d = by_grid(r, limits, verdict)) return *d;
  if (const auto d = by_roof(r, limits, signs, verdict)) return *d;
  if (const auto d = by_larger(r, also, limits, signs, verdict)) return *d;
  if (const auto d = by_pipe(r, limits, verdict)) return *d;
  return by_waiting(r, also, signs, verdict);
}

}  // namespace models::gpu
