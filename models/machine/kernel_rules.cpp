#include "models/machine/kernel_rules.h"

#include <array>

#include "models/machine/kernel_rules_cpu.h"
#include "models/machine/kernel_rules_gpu.h"

// What a rung asks for is counted in its source. Published shares stand beside it where the same version was measured.
namespace models {
namespace {

constexpr std::string_view zen5 =
    "AMD EPYC Zen 5, one thread, N = 1536, of its AVX2 peak; our own measurement of 2026, not published";
constexpr std::string_view zen5_6x16 =
    "AMD EPYC Zen 5, one thread, N = 1536, of its AVX2 peak, with a tile of 6 × 16; our own measurement of 2026, not "
    "published";

struct FmaRule {
  std::string_view ladder, rung;
  FmaLoop loop;
  std::string_view why;
  double published = 0;
  std::string_view source{};
};
constexpr FmaRule fma_rules[] = {
    {"cpu-sgemm",
     "naive",
     {.lanes = 1, .chains = 1, .loads = 2},
     "One scalar sum: each multiply-add waits four cycles for the one before, with one lane of the vector in use. "
     "Strided columns of B come on top.",
     0.006,
     zen5},
    {"cpu-sgemm",
     "ikj",
     {.lanes = 1, .chains = 8, .loads = 2, .stores = 1},
     "Sums are independent, but each scalar multiply-add loads b and c and stores c.",
     0.06,
     zen5},
    {"cpu-sgemm",
     "simd",
     {.lanes = 8, .chains = 8, .loads = 2, .stores = 1},
     "Eight lanes, still two loads and a store for each multiply-add: half of what the FMA ports take.",
     0.37,
     zen5},
    {"cpu-sgemm",
     "blocked",
     {.lanes = 8, .chains = 8, .loads = 2, .stores = 1},
     "The same inner loop: tiles that stay in the cache bring memory nearer, not more ports.",
     0.40,
     zen5},
    {"cpu-sgemm",
     "tile",
     {.lanes = 8, .chains = 12, .loads = 8.0 / 12},
     "Twelve sums in registers: two loads of B and six broadcasts of A feed twelve multiply-adds.",
     0.80,
     zen5},
    {"cpu-sgemm",
     "spill",
     {.lanes = 8, .chains = 16, .loads = 10.0 / 16 + 1, .stores = 1, .through_memory = true},
     "Sixteen sums on the stack: each multiply-add loads one and stores it, and a core stores once a cycle.",
     0.47,
     zen5},
    {"cpu-sgemm",
     "packed",
     {.lanes = 8, .chains = 12, .loads = 7.0 / 12},
     "A tile of 4 × 24: three loads of B and four broadcasts of A feed twelve multiply-adds, and packed panels make "
     "every load stream.",
     0.96,
     zen5_6x16},
    {"cpu-fma",
     "scalar",
     {.lanes = 1, .chains = 0.5},
     "A multiply of four cycles, then an add of four that waits for it, in one lane."},
    {"cpu-fma",
     "chains-1",
     {.lanes = 8, .chains = 1},
     "One chain, four cycles a step, two units: an eighth.",
     16.0 / 135,
     zen5},
    {"cpu-fma",
     "chains-2",
     {.lanes = 8, .chains = 2},
     "Two of the eight steps that fit into latency times units.",
     33.0 / 135,
     zen5},
    {"cpu-fma",
     "chains-4",
     {.lanes = 8, .chains = 4},
     "Four of the eight steps that fit into latency times units. The published 51 % is 69 over 135 GFLOP/s: at "
     "16 flops a cycle for four chains and 32 for the roof, 4.31 GHz in the one run and 4.22 in the other.",
     69.0 / 135,
     zen5},
    {"cpu-fma",
     "chains-8",
     {.lanes = 8, .chains = 8},
     "Latency times units is eight: every cycle starts two.",
     130.0 / 135,
     zen5},
    {"cpu-fma", "chains-12", {.lanes = 8, .chains = 12}, "More than eight chains change nothing.", 1, zen5},
    {"cpu-fma", "avx512", {.lanes = 16, .chains = 12}, "Twelve chains of sixteen lanes."},
    {"cpu-sgemm",
     "avx512",
     {.lanes = 16, .chains = 24, .loads = 14.0 / 24},
     "A tile of 12 × 32 with vectors of sixteen: 24 sums, two loads of B and twelve broadcasts.",
     0.93,
     zen5},
};

// Bytes behind the first cache for each multiply-add of one float, counted in the sources of cpu-sgemm for a product
// whose operands do not fit into 48 KiB (N of 768 and more). naive: a line of 64 bytes for each float of B. ikj and
// simd: a float of B. blocked: C is read and written once for 32 steps of k, A is read once for 256 columns. tile and
// spill: 16 floats of B and 6 or 8 of A for 96 or 128 multiply-adds. packed and avx512: a panel of B stays, A passes
// (4 floats for 96, 12 for 384), C is read and written once for 256 steps of k.
struct SecondLevel {
  std::string_view rung;
  double bytes_per_fma;
};
constexpr SecondLevel second_level[] = {
    {"naive", 64},
    {"ikj", 4},
    {"simd", 4},
    {"blocked", 8.0 / 32 + 4.0 / 256},
    {"tile", 4.0 * (16 + 6) / 96},
    {"spill", 4.0 * (16 + 8) / 128},
    {"packed", 4.0 * 4 / 96 + 8.0 / 256},
    {"avx512", 4.0 * 12 / 384 + 8.0 / 256},
};

struct StreamRule {
  std::string_view ladder, rung;
  StreamLoop loop;
  std::string_view why;
  double published = 0;
};
constexpr std::string_view zen5_triad =
    "AMD EPYC Zen 5, one thread, of 39 GB/s; our own measurement of 2026, not published";
constexpr StreamRule stream_rules[] = {
    {"cpu-copy",
     "scalar",
     {1.5, 1.0 / 8},
     "A store reads its line before it overwrites it: three bytes move for two. One load and one store a cycle would "
     "do for eight bytes."},
    {"cpu-copy", "simd", {1.5, 1.0 / 64}, "Fewer instructions, the same three bytes for two."},
    {"cpu-copy", "streaming", {1, 1.0 / 64}, "Streaming stores do not read: two bytes for two."},
    {"cpu-copy", "library", {1, 1.0 / 64}, "A large copy streams."},
    {"cpu-triad",
     "scalar",
     {4.0 / 3, 1.0 / 12},
     "Two arrays are read, and the line that is written is read as well: four bytes for three."},
    {"cpu-triad", "simd", {4.0 / 3, 1.0 / 96}, "Fewer instructions, the same four bytes for three."},
    {"cpu-triad", "streaming", {1, 1.0 / 96}, "Streaming stores do not read: three bytes for three."},
    {"cpu-softmax",
     "expf",
     {1.5, 2},
     "About 16 cycles for an element of eight useful bytes: the library's exponential, one at a time.",
     2.0 / 39},
    {"cpu-softmax", "simd", {1.5, 10.0 / 64}, "About 40 instructions for eight elements, four a cycle.", 20.8 / 39},
    {"cpu-softmax",
     "online",
     {1.5, 19.0 / 64},
     "Three exponentials for one: about 75 instructions for eight elements.",
     13.7 / 39},
};

struct ChaseRule {
  std::string_view rung;
  ChaseLoop loop;
  std::string_view why;
};
constexpr ChaseRule chase_rules[] = {
    {"random", {1, 1, 1}, "One line of 64 bytes for each latency and each walk of the page table."},
    {"huge-pages", {1, 1, 0}, "The same without the walks."},
    {"in-page", {1, 0.5, 0}, "Lines come in pairs where the adjacent one is fetched with a miss: half of the waits."},
    {"eight-chains", {8, 1, 0}, "Eight lines for each latency."},
    {"sequential", {1, 0, 0}, "The prefetcher hides the latency: bandwidth is what is left."},
};

KernelPrediction of_fma(const FmaRule& rule, const CorePorts& core) {
  KernelPrediction out{.bound = fma_bound(core, rule.loop),
                       .why = rule.why,
                       .published_share = rule.published,
                       .published_source = rule.source,
                       .ports = fma_ports(core, rule.loop)};
  // A vector of floats a load or store for each vector multiply-add of two operations a lane.
  out.first_level_bytes_per_flop = (rule.loop.loads + rule.loop.stores) * 4 / 2;
  if (rule.ladder == "cpu-sgemm")
    for (const SecondLevel& s : second_level)
      if (s.rung == rule.rung) out.second_level_bytes_per_flop = s.bytes_per_fma / 2;
  return out;
}

}  // namespace

std::optional<KernelPrediction> predict_kernel(std::string_view ladder, std::string_view rung,
                                               const KernelMachine& machine) {
  for (const auto& r : fma_rules)
    if (r.ladder == ladder && r.rung == rung) return of_fma(r, machine.core);
  for (const auto& r : stream_rules)
    if (r.ladder == ladder && r.rung == rung)
      return KernelPrediction{.bound = stream_bound(machine.core, r.loop),
                              .why = r.why,
                              .published_share = r.published,
                              .published_source = zen5_triad,
                              .ports = stream_ports(machine.core, r.loop),
                              .moved = r.loop.moved};
  if (ladder == "cpu-latency")
    for (const auto& r : chase_rules)
      if (r.rung == rung) {
        return KernelPrediction{.bound = chase_bound(machine.core, r.loop),
                                .why = r.why,
                                .published_source = {},
                                .ports = chase_ports(machine.core, r.loop)};
      }
  if (auto cpu = predict_cpu_kernel(ladder, rung, machine.core)) return cpu;
  if (auto cuda = predict_gpu_kernel(ladder, rung, machine.gpu)) return cuda;
  return predict_opengl_kernel(ladder, rung, machine.gpu);
}

}  // namespace models
