#include "models/machine/kernel_rules_gpu.h"

#include "models/machine/kernel_rules_probe.h"

// What a CUDA rung asks for is counted in its source. The shares are those of our own run of the same kernel.
namespace models {
namespace {

constexpr std::string_view h100_products = "NVIDIA H100 SXM, 4096: our own run of these kernels, 22 November 2026";
/// cuBLAS in the same run, and the FP32 peak of the data sheet.
constexpr double h100_cublas_flops_per_s = 51.43e12, h100_peak_flops_per_s = 66.9e12;
constexpr std::string_view h100_streams =
    "NVIDIA H100 SXM, of the 3.35 TB/s of its data sheet: our own run of these kernels, 22 November 2026";

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
     {.useful_bytes = 256, .sectors = 8, .wavefronts = 33, .bytes_per_thread = 32},
     "Sectors are full; a column of the tile is one bank, 32 wavefronts for 128 bytes.",
     0.429},
    {"cuda-transpose",
     "padded",
     {.useful_bytes = 256, .sectors = 8, .wavefronts = 2, .bytes_per_thread = 32},
     "Rows of 33 words spread a column over all banks: two wavefronts.",
     0.712},
    {"cuda-transpose",
     "swizzled",
     {.useful_bytes = 256, .sectors = 8, .wavefronts = 2, .bytes_per_thread = 32},
     "The same two wavefronts without the padding.",
     0.710},
    {"cuda-transpose",
     "vector",
     {.useful_bytes = 1024, .sectors = 32, .wavefronts = 8, .bytes_per_thread = 128},
     "Sixteen bytes a lane everywhere, four loads in flight.",
     0.857},
    {"cuda-reduction",
     "interleaved",
     {.useful_bytes = 128, .sectors = 4, .bytes_per_thread = 4, .tree_cycles = 8 * 70},
     "Four bytes a thread in flight, and eight steps of about 70 cycles that every warp walks before the block makes "
     "room.",
     0.263},
    {"cuda-reduction",
     "sequential",
     {.useful_bytes = 128, .sectors = 4, .bytes_per_thread = 4, .tree_cycles = 8 * 55},
     "Whole warps drop out, so a step is shorter; the eight barriers stay.",
     0.271},
    {"cuda-reduction",
     "first_add",
     {.useful_bytes = 128, .sectors = 4, .bytes_per_thread = 8, .tree_cycles = 8 * 55},
     "Two loads in flight a thread for the same tree.",
     0.496},
    {"cuda-reduction",
     "shuffle",
     {.useful_bytes = 128, .sectors = 4, .bytes_per_thread = 8, .tree_cycles = 280},
     "Ten shuffles of about 25 cycles and one barrier in place of eight.",
     0.658},
    {"cuda-reduction",
     "grid_stride",
     {.useful_bytes = 512, .sectors = 16, .bytes_per_thread = 64, .tree_cycles = 0},
     "64 bytes a thread in flight; the tree runs once a block, not once for each 512 numbers.",
     0.858},
};

/// Wavefronts a product of a warp: what its fragments take, and half of one for storing the tile that serves it.
struct WarpMmaRule {
  std::string_view ladder, rung;
  double wavefronts;
  std::string_view why;
};
constexpr std::string_view swizzled_matrices =
    "24 matrices of eight rows for 16 products, a wavefront each; storing the tiles half of one a product.";
constexpr WarpMmaRule warp_mma_rules[] = {
    {"cuda-bf16-gemm", "wmma", 16, "A fragment lies in 16 lines, and two of them serve two products."},
    {"cuda-bf16-gemm", "mma", 12.5,
     "24 loads of words for 16 products, each of eight rows on the same banks; storing the tiles half a wavefront."},
    {"cuda-bf16-gemm", "async", 12.5, "The same loads of words: the copies go another way, but no fragment does."},
    {"cuda-bf16-gemm", "ldmatrix", 12.5,
     "Six ldmatrix for 16 products, each of four matrices, and a matrix has eight rows on the same banks."},
    {"cuda-bf16-gemm", "swizzle", 2, swizzled_matrices},
    {"cuda-bf16-gemm", "pipeline", 2, swizzled_matrices},
    {"cuda-bf16-gemm", "wgmma", 1.125,
     "64 rows of A and 128 of B, 48 wavefronts, for 64 products; storing the tiles three eighths of one a product."},
    {"cuda-attention", "mma", 16.5,
     "One ldmatrix for two products, four matrices with eight rows on the same banks; storing the tiles half of one."},
    {"cuda-attention", "swizzle", 2.5,
     "One ldmatrix for two products, four wavefronts; storing the tiles half of one."},
    {"cuda-attention", "pipeline", 2.5,
     "One ldmatrix for two products, four wavefronts; storing the tiles half of one."},
};
/// Attention without tensor cores: wavefronts a multiply-add, the mean of both products.
constexpr WarpMmaRule attention_fma_rules[] = {
    {"cuda-attention", "naive", 8.75,
     "Scores: 32 keys lie in 32 lines, 33 wavefronts for two multiply-adds; values: two wavefronts for two."},
    {"cuda-attention", "online", 0.59375,
     "Scores: five wavefronts for eight multiply-adds; values: eight, and a shuffle, for sixteen."},
};

}  // namespace

std::optional<KernelPrediction> predict_gpu_kernel(std::string_view ladder, std::string_view rung,
                                                   const GpuPorts& gpu) {
  for (const auto& r : warp_stream_rules)
    if (r.ladder == ladder && r.rung == rung)
      return KernelPrediction{.bound = warp_stream_bound(gpu, r.loop),
                              .why = r.why,
                              .published_share = r.published,
                              .published_source = h100_streams,
                              .ports = warp_stream_ports(gpu, r.loop)};
  if (ladder == "cuda-sgemm")
    for (const auto& r : warp_fma_rules)
      if (r.rung == rung)
        return KernelPrediction{.bound = warp_fma_bound(gpu, r.wavefronts),
                                .why = r.why,
                                .published_share = r.published_flops_per_s / h100_cublas_flops_per_s,
                                .published_source = h100_products,
                                .published_flops_per_s = r.published_flops_per_s,
                                .published_peak_share = r.published_flops_per_s / h100_peak_flops_per_s,
                                .ports = warp_fma_ports(gpu, r.wavefronts),
                                // 128 bytes a wavefront, 64 operations a warp's multiply-add
                                .first_level_bytes_per_flop = r.wavefronts * 128 / 64};
  for (const auto& r : warp_mma_rules)
    if (r.ladder == ladder && r.rung == rung && gpu.tensor_flops_per_cycle > 0)
      return KernelPrediction{.bound = warp_mma_bound(gpu, r.wavefronts),
                              .why = r.why,
                              .published_source = {},
                              .ports = warp_mma_ports(gpu, r.wavefronts),
                              .first_level_bytes_per_flop = r.wavefronts * 128 / 4096};
  for (const auto& r : attention_fma_rules)
    if (r.ladder == ladder && r.rung == rung)
      return KernelPrediction{.bound = warp_fma_bound(gpu, r.wavefronts),
                              .why = r.why,
                              .published_source = {},
                              .ports = warp_fma_ports(gpu, r.wavefronts),
                              .first_level_bytes_per_flop = r.wavefronts * 128 / 64};
  return predict_probe_kernel(ladder, rung, gpu);
}

}  // namespace models
