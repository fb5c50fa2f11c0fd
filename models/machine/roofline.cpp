#include "models/machine/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace models {

std::string_view regime_id(Regime regime) {
  static constexpr std::string_view ids[] = {"memory", "compute", "launch", "link"};
  static_assert(std::size(ids) == static_cast<std::size_t>(Regime::link) + 1);
  return ids[static_cast<std::size_t>(regime)];
}

Result<Machine> machine_of(const Chip& chip, Format format, double launch_s) {
  const std::optional<double> peak = chip.peak_flops_per_s(format);
  if (peak) return Result<Machine>::ok({*peak, chip.memory_bandwidth_bytes_per_s, launch_s});
  std::string has;
  for (const Format other : all_formats)
    if (chip.peak_flops_per_s(other)) has.append(has.empty() ? "" : ", ").append(format_id(other));
  return Result<Machine>::fail(chip.short_name + " states no dense " + std::string(format_label(format)) +
                               " peak; choose one of " + has + ".");
}

double ridge_flops_per_byte(const Machine& machine) { return machine.peak_flops_per_s / machine.bandwidth_bytes_per_s; }

double attainable_flops_per_s(const Machine& machine, double intensity) {
  return std::min(machine.peak_flops_per_s, intensity * machine.bandwidth_bytes_per_s);
}

Result<Placement> place(const Machine& machine, const Work& work, LaunchCost launch_cost) {
  using Out = Result<Placement>;
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  const auto not_negative = [](double x) { return x >= 0 && std::isfinite(x); };
  if (!positive(machine.peak_flops_per_s)) return Out::fail("The peak must be above 0 FLOP/s.");
  if (!positive(machine.bandwidth_bytes_per_s)) return Out::fail("The bandwidth must be above 0 B/s.");
  if (!not_negative(work.flops)) return Out::fail("FLOP must be 0 or more.");
  if (!positive(work.bytes))
    return Out::fail("Bytes must be above 0: work that moves nothing has no arithmetic intensity.");
  if (!not_negative(machine.launch_s) || !not_negative(work.kernels))
    return Out::fail("Launch time and kernel count must be 0 or more.");

  Placement out;
  out.intensity = work.flops / work.bytes;
  out.ridge = ridge_flops_per_byte(machine);
  out.attainable_flops_per_s = attainable_flops_per_s(machine, out.intensity);
  out.compute_s = work.flops / machine.peak_flops_per_s;
  out.memory_s = work.bytes / machine.bandwidth_bytes_per_s;
  out.launch_s = machine.launch_s * work.kernels;
  const double work_s = std::max(out.compute_s, out.memory_s);
  out.time_s = launch_cost == LaunchCost::added ? work_s + out.launch_s : std::max(work_s, out.launch_s);
  out.achieved_flops_per_s = work.flops / out.time_s;
  out.regime = out.launch_s > work_s ? Regime::launch : out.intensity >= out.ridge ? Regime::compute : Regime::memory;
  if (!std::isfinite(out.intensity) || !std::isfinite(out.time_s) || !(out.time_s > 0))
    return Out::fail("FLOP and bytes are too far from any machine to compute with.");
  return Out::ok(out);
}

std::vector<Ceiling> bandwidth_ceilings(const Chip& chip, const HierarchyOptions& options) {
  std::vector<Ceiling> out;
  for (const Level& level : memory_levels(chip, options)) {
    if (level.kind == LevelKind::registers || level.kind == LevelKind::network || level.kind == LevelKind::storage)
      continue;
    const auto add = [&](const Sourced& rate, const std::string& label) {
      if (rate.value) out.push_back({label, *rate.value, rate.basis, rate, level.kind, Format::bf16});
    };
    add(level.bandwidth_bytes_per_s, level.label);
    if (level.bandwidth_bytes_per_s.basis != Basis::measured)
      add(level.measured_bandwidth_bytes_per_s, level.label + ", measured");
  }
  return out;
}

std::vector<Ceiling> compute_ceilings(const Chip& chip) {
  std::vector<Ceiling> out;
  for (const Format format : all_formats) {
    const std::string peak_key = "peak_flops_per_s." + std::string(format_id(format));
    if (const auto peak = chip.peak_flops_per_s(format))
      out.push_back({std::string(format_label(format)),
                     *peak,
                     Basis::specified,
                     {peak, Basis::specified, std::string(figure_source(chip, peak_key))},
                     LevelKind::memory,
                     format});
    const std::string best_key = "measured.matmul_" + std::string(format_id(format)) + "_flops_per_s";
    if (const auto best = figure_value(chip, best_key))
      out.push_back({std::string(format_label(format)) + " matmul, measured",
                     *best,
                     Basis::measured,
                     {best, Basis::measured, std::string(figure_source(chip, best_key))},
                     LevelKind::memory,
                     format});
  }
  return out;
}

double square_gemm_side_at(double ridge, double element_bytes) { return 1.5 * ridge * element_bytes; }

}  // namespace models
