#pragma once
#include "models/machine/hardware.h"
#include "models/machine/hierarchy.h"

#include <string>
#include <string_view>
#include <vector>

/// The roofline model: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 52(4),
/// 2009; hierarchical ceilings after Ilic, Pratas, Sousa 2014 (cache-aware) and Yang et al. 2019 (hierarchical, GPUs).
namespace models {

enum class Regime { memory, compute, launch, link };
std::string_view regime_id(Regime regime);

/// What a machine can do at most, and what starting a kernel costs.
struct Machine {
  double peak_flops_per_s = 0;
  double bandwidth_bytes_per_s = 0;
  double launch_s = 0;  ///< for each kernel; 0 leaves the classical roofline
};
/// The chip's dense peak and specified memory bandwidth; an error naming what the chip has when it states no peak for
/// the format.
Result<Machine> machine_of(const Chip& chip, Format format, double launch_s = 0);

/// flop/byte at which memory and compute take equally long: peak / bandwidth.
double ridge_flops_per_byte(const Machine& machine);
/// flop/s that an intensity (flop/byte) can reach: min(peak, intensity x bandwidth).
double attainable_flops_per_s(const Machine& machine, double intensity);

struct Work {
  double flops = 0;
  double bytes = 0;
  double kernels = 1;
};

/// added: every launch is waited for, time = max(compute, memory) + launches. hidden: the CPU runs ahead, time =
/// max(compute, memory, launches).
enum class LaunchCost { added, hidden };

struct Placement {
  double intensity = 0;               ///< flop/byte
  double ridge = 0;                   ///< flop/byte
  double attainable_flops_per_s = 0;  ///< the roof above this intensity, launches aside
  double compute_s = 0, memory_s = 0, launch_s = 0;
  double time_s = 0;
  double achieved_flops_per_s = 0;  ///< flops / time_s: under the roof by what launches cost
  Regime regime =
      Regime::memory;  ///< the largest term; launch only when it exceeds both others, compute from the ridge on
};
/// Time of the work on the machine. Infeasible: bytes or flops negative or not finite, bytes 0, a peak or bandwidth
/// that is not above 0.
Result<Placement> place(const Machine& machine, const Work& work, LaunchCost launch_cost = LaunchCost::added);

/// A line of the plot: bytes/s of a level or flop/s of a format, specified or measured.
struct Ceiling {
  std::string label;
  double per_s = 0;
  Basis basis = Basis::specified;
  Sourced source;                       ///< the rate with where it comes from
  LevelKind level = LevelKind::memory;  ///< The level of a bandwidth ceiling.
  Format format = Format::bf16;         ///< The format of a compute ceiling.
};
/// From shared memory out to PCIe, each level's bandwidth and its measured one where there is one.
std::vector<Ceiling> bandwidth_ceilings(const Chip& chip, const HierarchyOptions& options = {});
/// Each format the chip states a peak for, and the best measured matmul where there is one.
std::vector<Ceiling> compute_ceilings(const Chip& chip);

/// The side of the smallest square matmul whose intensity reaches the ridge: 1.5 x ridge x element bytes.
double square_gemm_side_at(double ridge, double element_bytes);

}  // namespace models
