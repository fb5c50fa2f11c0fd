#include "models/machine/kernel_rules_gpu.h"

#include "models/machine/kernel_rules_memory.h"

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
  return predict_memory_kernel(ladder, rung, gpu);
}

}  // namespace models
