#include "models/machine/kernel_rules.h"

#include <array>

// What a rung asks for is counted in its source. Published shares stand beside it where the same version was measured.
namespace models {
namespace {

constexpr std::string_view h100_products = "NVIDIA H100 SXM, 4096: our own run of these kernels, 22 November 2026";
/// cuBLAS in the same run, and the FP32 peak of the data sheet.
constexpr double h100_cublas_flops_per_s = 51.43e12, h100_peak_flops_per_s = 66.9e12;
constexpr std::string_view h100_streams =
    "NVIDIA H100 SXM, of the 3.35 TB/s of its data sheet: our own run of these kernels, 22 November 2026";
constexpr std::string_view zen5 =
    "AMD EPYC Zen 5, one thread, N = 1536, of its AVX2 peak; our own measurement of 2026, not published";

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
     {
         .lanes = 1,
         .chains = 8,
         .loads = 2,
         .stores = 1,
     },
     "Sums are independent, but each scalar multiply-add loads b and c and stores c.",
     0.06,
     zen5},
    {"cpu-sgemm",
     "simd",
     {
         .lanes = 8,
         .chains = 8,
         .loads = 2,
         .stores = 1,
     },
     "Eight lanes, still two loads and a store for each multiply-add: half of what the FMA ports take.",
     0.37,
     zen5},
    {"cpu-sgemm",
     "blocked",
     {
         .lanes = 8,
         .chains = 8,
         .loads = 2,
         .stores = 1,
     },
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
     {
         .lanes = 8,
         .chains = 16,
         .loads = 10.0 / 16 + 1,
         .stores = 1,
         .through_memory = true,
     },
     "Sixteen sums on the stack: each multiply-add loads one and stores it, and a core stores once a cycle.",
     0.47,
     zen5},
    {"cpu-sgemm",
     "packed",
     {.lanes = 8, .chains = 12, .loads = 8.0 / 12},
     "As the register tile; packed panels make every load stream.",
     0.96,
     zen5},
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
     "A tile of 12 x 32 with vectors of sixteen: 24 sums, two loads of B and twelve broadcasts.",
     0.93,
     zen5},
};

// Bytes behind the first cache for each multiply-add of one float, counted in the sources of cpu-sgemm for a product
// whose operands do not fit into 48 KiB (N of 768 and more). naive: a line of 64 bytes for each float of B. ikj and
// simd: a float of B. blocked: C is read and written once for 32 steps of k, A is read once for 256 columns. tile and
// spill: 16 floats of B and 6 or 8 of A for 96 or 128 multiply-adds. packed and avx512: a panel of B stays, A passes
// (6 floats for 96, 12 for 384), C is read and written once for 256 steps of k.
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
    {"packed", 4.0 * 6 / 96 + 8.0 / 256},
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

struct WarpFmaRule {
  std::string_view rung;
  double wavefronts;
  std::string_view why;
  double published_flops_per_s;  ///< our own run of this kernel on an H100
};
constexpr WarpFmaRule warp_fma_rules[] = {
    {"uncoalesced", 33,
     "A warp's load of A touches 32 lines, and B is one word for all lanes: 33 wavefronts a multiply-add.", 0.5018e12},
    {"coalesced", 2, "One wavefront for a row of B, one for the word of A.", 6.042e12},
    {"shared", 1.25, "A row of B is one wavefront; four words of A along k come in one broadcast.", 8.853e12},
    {"register", 28.0 / 64,
     "Eight loads of A with two rows on one bank, 16 wavefronts, and B in four-word loads 32 bytes apart, about 12, "
     "for 64 multiply-adds.",
     16.54e12},
    {"vector", 24.0 / 64,
     "Two four-word loads of A, four wavefronts each, two of B with two lanes on a bank, eight each, for 64 "
     "multiply-adds.",
     34.04e12},
    {"warp", 16.0 / 64,
     "Lanes lie so that all four loads are free of conflicts: four wavefronts each for 64 multiply-adds.", 44.47e12},
};

struct WarpStreamRule {
  std::string_view ladder, rung;
  WarpStream loop;
  std::string_view why;
  double published;  ///< our own run of this kernel on an H100
};
constexpr WarpStreamRule warp_stream_rules[] = {
    {"cuda-copy",
     "scalar",
     {.useful_bytes = 256, .sectors = 8, .bytes_per_thread = 8},
     "2,048 threads with one load of four bytes each in flight, stored once it is there.",
     0.704},
    {"cuda-copy",
     "float4",
     {.useful_bytes = 1024, .sectors = 32, .bytes_per_thread = 32},
     "Four times the bytes in flight with the same threads.",
     0.888},
    {"cuda-copy",
     "in_flight",
     {.useful_bytes = 1024, .sectors = 32, .bytes_per_thread = 128},
     "Four loads of 16 bytes in flight a thread.",
     0.876},
    {"cuda-copy",
     "grid_stride",
     {.useful_bytes = 1024, .sectors = 32, .bytes_per_thread = 128},
     "As before, and no blocks to start while it runs.",
     0.820},
    {"cuda-transpose",
     "naive",
     {.useful_bytes = 256, .sectors = 36, .bytes_per_thread = 8},
     "A warp reads 4 sectors and writes 32: 1,152 bytes at the L2 for 256 useful ones.",
     0.123},
    {"cuda-transpose",
     "tile",
     {
         .useful_bytes = 256,
         .sectors = 8,
         .wavefronts = 33,
         .bytes_per_thread = 32,
     },
     "Sectors are full; a column of the tile is one bank, 32 wavefronts for 128 bytes.",
     0.429},
    {"cuda-transpose",
     "padded",
     {
         .useful_bytes = 256,
         .sectors = 8,
         .wavefronts = 2,
         .bytes_per_thread = 32,
     },
     "Rows of 33 words spread a column over all banks: two wavefronts.",
     0.712},
    {"cuda-transpose",
     "swizzled",
     {
         .useful_bytes = 256,
         .sectors = 8,
         .wavefronts = 2,
         .bytes_per_thread = 32,
     },
     "The same two wavefronts without the padding.",
     0.710},
    {"cuda-transpose",
     "vector",
     {
         .useful_bytes = 1024,
         .sectors = 32,
         .wavefronts = 8,
         .bytes_per_thread = 128,
     },
     "Sixteen bytes a lane everywhere, four loads in flight.",
     0.857},
    {"cuda-reduction",
     "interleaved",
     {
         .useful_bytes = 128,
         .sectors = 4,
         .bytes_per_thread = 4,
         .tree_cycles = 8 * 70,
     },
     "Four bytes a thread in flight, and eight steps of about 70 cycles that every warp walks before the block makes "
     "room.",
     0.263},
    {"cuda-reduction",
     "sequential",
     {
         .useful_bytes = 128,
         .sectors = 4,
         .bytes_per_thread = 4,
         .tree_cycles = 8 * 55,
     },
     "Whole warps drop out, so a step is shorter; the eight barriers stay.",
     0.271},
    {"cuda-reduction",
     "first_add",
     {
         .useful_bytes = 128,
         .sectors = 4,
         .bytes_per_thread = 8,
         .tree_cycles = 8 * 55,
     },
     "Two loads in flight a thread for the same tree.",
     0.496},
    {"cuda-reduction",
     "shuffle",
     {
         .useful_bytes = 128,
         .sectors = 4,
         .bytes_per_thread = 8,
         .tree_cycles = 280,
     },
     "Ten shuffles of about 25 cycles and one barrier in place of eight.",
     0.658},
    {"cuda-reduction",
     "grid_stride",
     {
         .useful_bytes = 512,
         .sectors = 16,
         .bytes_per_thread = 64,
         .tree_cycles = 0,
     },
     "64 bytes a thread in flight; the tree runs once a block, not once for each 512 numbers.",
     0.858},
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
  for (const auto& r : warp_stream_rules)
    if (r.ladder == ladder && r.rung == rung)
      return KernelPrediction{.bound = warp_stream_bound(machine.gpu, r.loop),
                              .why = r.why,
                              .published_share = r.published,
                              .published_source = h100_streams,
                              .ports = warp_stream_ports(machine.gpu, r.loop)};
  if (ladder == "cuda-sgemm")
    for (const auto& r : warp_fma_rules)
      if (r.rung == rung)
        return KernelPrediction{.bound = warp_fma_bound(machine.gpu, r.wavefronts),
                                .why = r.why,
                                .published_share = r.published_flops_per_s / h100_cublas_flops_per_s,
                                .published_source = h100_products,
                                .published_flops_per_s = r.published_flops_per_s,
                                .published_peak_share = r.published_flops_per_s / h100_peak_flops_per_s,
                                .ports = warp_fma_ports(machine.gpu, r.wavefronts),
                                // 128 bytes a wavefront, 64 operations a warp's multiply-add
                                .first_level_bytes_per_flop = r.wavefronts * 128 / 64};
  return std::nullopt;
}

}  // namespace models
