#include "models/machine/kernel_rules_cpu.h"

#include <algorithm>
#include <charconv>
#include <system_error>

// What these rungs ask for is counted in their sources (kernels/cpu).
namespace models {
namespace {

struct CpuStreamRule {
  std::string_view ladder, rung;
  StreamLoop loop;
  std::string_view why;
};
// Useful bytes: one read and one write of each number (cpu-layernorm), a byte a weight (cpu-gemv). A pass of LayerNorm
// reads, allocates and writes: 12 bytes a number, four passes 48 for the 8 that one read and one write would be.
constexpr CpuStreamRule cpu_stream_rules[] = {
    {"cpu-layernorm",
     "passes",
     {6, 18.0 / 8},
     "Four passes read, allocate and write each number: 48 bytes where 8 would do. The library's exponential takes 16 "
     "cycles for an element, the rest a few."},
    {"cpu-layernorm",
     "fused",
     {1.5, 18.0 / 8},
     "12 bytes a number, of which one store's allocation is a third. The exponential's 16 cycles stay."},
    {"cpu-layernorm",
     "simd",
     {6, 12.0 / 64},
     "48 bytes a number, and about 48 instructions for eight of them, four a cycle."},
    {"cpu-layernorm",
     "simd-fused",
     {1.5, 11.0 / 64},
     "12 bytes a number: read, allocated, written. About 44 instructions for eight of them."},
    {"cpu-gemv",
     "fp32",
     {4, 1.0 / 8},
     "Four bytes a weight, where one would do. Two loads for eight weights, two a cycle, would do for more."},
    {"cpu-gemv",
     "dequant",
     {1, 1.0 / 8},
     "One byte a weight; but a load of weights and one of x for eight of them, and two loads a cycle."},
    {"cpu-gemv", "maddubs", {1, 1.0 / 32}, "One byte a weight; four instructions for 32 weights, four a cycle."},
    {"cpu-gemv", "vnni", {1, 1.0 / 64}, "One byte a weight; 64 products and two loads a cycle."},
};

/// Sums by all threads: cycles for a byte of 4-byte numbers, by one thread.
struct SumRule {
  std::string_view rung;
  double cycles_per_byte;
  bool all_threads;
  std::string_view why;
};
constexpr SumRule sum_rules[] = {
    {"one-thread", 4.0 / 4, false, "An addition waits four cycles for the one before and takes up four bytes."},
    {"one-line", 8.0 / 4, false,
     "An addition stores its sum and loads it again, eight cycles, and only the core that has the line can add: all "
     "threads together are at most as fast as one. The line's ways between cores come on top."},
    {"padded", 8.0 / 4, true, "Eight cycles an addition through memory, on each thread."},
    {"local", 4.0 / 4, true, "Four cycles an addition, on each thread."},
    {"local-simd", 1.0 / 64, true, "Two loads of 32 bytes a cycle, on each thread."},
};

/// Cycles until a line is there that lies in a first, second or last cache: low ones of current cores (Zen 3: 4, 12,
/// 46; Golden Cove: 5, 15, 70 and more), so that the rule is a bound. 0: main memory.
struct LevelRule {
  std::string_view rung;
  double chase_cycles;
  std::string_view chase_why;
};
constexpr std::string_view chase_first = "A line in four cycles, the first cache's latency.",
                           chase_second = "A line in twelve cycles, the second cache's latency.",
                           chase_last = "A line in forty cycles, about the last cache's latency.",
                           chase_memory = "A line in the memory's latency.";
constexpr LevelRule level_rules[] = {
    {"4k", 4, chase_first},     {"16k", 4, chase_first},  {"64k", 12, chase_second},
    {"256k", 12, chase_second}, {"1m", 12, chase_second}, {"4m", 40, chase_last},
    {"16m", 40, chase_last},    {"64m", 40, chase_last},  {"256m", 0, chase_memory},
};

KernelPrediction of_cpu_stream(const CorePorts& core, const StreamLoop& loop, std::string_view why) {
  return {.bound = stream_bound(core, loop),
          .why = why,
          .published_source = {},
          .ports = stream_ports(core, loop),
          .moved = loop.moved};
}

KernelPrediction of_level(const CorePorts& core, const LevelRule& rule) {
  const ChaseLoop loop{.waits = rule.chase_cycles > 0 ? 0.0 : 1.0, .cycles = rule.chase_cycles};
  return {.bound = chase_bound(core, loop),
          .why = rule.chase_why,
          .published_source = {},
          .ports = chase_ports(core, loop)};
}

/// "4" is four threads, "all" all; 0 for anything else.
double threads_of(std::string_view rung, const CorePorts& core) {
  if (rung == "all") return std::max(1.0, core.threads);
  int count = 0;
  const auto [end, fault] = std::from_chars(rung.data(), rung.data() + rung.size(), count);
  return fault == std::errc{} && end == rung.data() + rung.size() ? count : 0;
}

}  // namespace

std::optional<KernelPrediction> predict_cpu_kernel(std::string_view ladder, std::string_view rung,
                                                   const CorePorts& core) {
  for (const auto& r : cpu_stream_rules)
    if (r.ladder == ladder && r.rung == rung) return of_cpu_stream(core, r.loop, r.why);
  if (ladder == "cpu-sum")
    for (const auto& r : sum_rules)
      if (r.rung == rung)
        return of_cpu_stream(core, {1, r.cycles_per_byte / (r.all_threads ? std::max(1.0, core.threads) : 1)}, r.why);
  for (const auto& r : level_rules) {
    if (r.rung != rung) continue;
    if (ladder == "cpu-read-sets")
      return of_cpu_stream(core, {1, 1.0 / 64}, "Two loads of 32 bytes a cycle, or what its level of memory brings.");
    if (ladder == "cpu-latency-sets") return of_level(core, r);
  }
  const bool triad = ladder == "cpu-triad-threads";
  if (const double threads = triad || ladder == "cpu-sgemm-threads" ? threads_of(rung, core) : 0; threads > 0) {
    const double each = triad ? core.thread_bytes_per_s / core.dram_bytes_per_s : 1 / std::max(1.0, core.threads);
    return KernelPrediction{.bound = thread_bound(threads, each),
                            .why = triad ? "Each thread draws what one core can ask for, until the memory is full."
                                         : "Each thread has the multiply-add units of a core.",
                            .published_source = {},
                            .ports = thread_ports(threads, each)};
  }
  return std::nullopt;
}

}  // namespace models
