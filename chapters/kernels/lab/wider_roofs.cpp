#include <algorithm>

#include "chapters/kernels/lab/rate.h"

// Roofs that are no single core's multiply-adds and no single thread's memory.
namespace chapters::kernels::lab {
namespace {

/// A level of memory: its rate as a share of what the load ports take.
struct Level {
  std::string_view roof, title;
  double share;
};
// A second cache brings half of a line a cycle (Zen 3) to a whole one, a last cache a quarter, on one thread.
constexpr Level levels[] = {{"l1_read", "the assumed first cache", 1},
                            {"l2_read", "the assumed second cache", 0.5},
                            {"l3_read", "the assumed last cache", 0.25}};
/// Threads of a core that fill the memory, until all of them are measured together.
constexpr double filling_threads = 4;

}  // namespace

bool assume_wider_roof(const Inputs& in, std::string_view rung_roof, Ceilings& c) {
  models::CorePorts& core = c.ports.core;
  if (const RoofRow* r = measured_roof(in, "cpu", "threads")) core.threads = std::max(1.0, r->value);
  const RoofRow* one = measured_roof(in, "cpu", "dram_copy");
  core.thread_bytes_per_s = one && one->unit == "B/s" ? one->value : in.dram_bytes_per_s;
  const auto memory_is = [&](double bytes_per_s, std::string_view title) {
    c.machine.bandwidth_bytes_per_s = core.dram_bytes_per_s = bytes_per_s;
    c.bandwidth = title;
    return true;
  };
  for (const Level& level : levels)
    if (level.roof == rung_roof) return memory_is(level.share * core.loads_per_cycle * 32 * core.clock_hz, level.title);
  if (rung_roof == "dram_read_all" || rung_roof == "dram_copy_all")
    return memory_is(std::min(core.threads, filling_threads) * core.thread_bytes_per_s, "the assumed memory of all");
  if (rung_roof != "fma_all") return false;
  c.machine.peak_flops_per_s *= core.threads;
  c.arithmetic = "the assumed cores";
  return true;
}

}  // namespace chapters::kernels::lab
