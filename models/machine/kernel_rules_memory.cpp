#include "models/machine/kernel_rules_memory.h"

// Passes over the operands and sectors at the L2, counted in the source of each kernel.
namespace models {
namespace {

struct PassRule {
  std::string_view ladder, rung;
  double moved;    ///< bytes over the memory's wire for each byte of the algorithm
  double sectors;  ///< bytes at the L2 for each byte of the algorithm
  std::string_view why;
};
constexpr PassRule pass_rules[] = {
    {"cuda-softmax", "three", 2.5, 2.5, "Three reads and two writes of the matrix where one of each would do."},
    {"cuda-softmax", "fused", 1, 1, "One read and one write; a row of 8,192 floats stays in a cache for three loops."},
    {"cuda-softmax", "online", 1, 1, "One read and one write; two loops over a row instead of three."},
    {"cuda-softmax", "vector", 1, 1, "One read and one write, with the row in registers."},
    {"cuda-layernorm-gelu", "passes", 3, 3, "Four reads and two writes of the matrix where one of each would do."},
    {"cuda-layernorm-gelu", "unfused", 2, 2, "LayerNorm reads and writes the matrix, and GELU does so again."},
    {"cuda-layernorm-gelu", "fused", 1, 1, "One read and one write; a row stays in a cache for three loops."},
    {"cuda-layernorm-gelu", "vector", 1, 1, "One read and one write, with the row in registers."},
    {"cuda-gemv", "fp16", 1, 1, "Every weight once; x stays in a cache."},
    {"cuda-gemv", "wide", 1, 1, "Every weight once; x stays in a cache."},
    {"cuda-gemv", "int8", 1, 1, "Every weight once, in half of the bytes."},
    {"cuda-gemv", "int4", 1, 1, "Every weight once, in 4.125 bits with its share of a scale."},
    {"cuda-paged-decode", "split", 1, 4, "Four query heads read the same K and V, three of them from the L2."},
    {"cuda-paged-decode", "paged", 1, 4, "Four query heads read the same K and V, three of them from the L2."},
    {"cuda-paged-decode", "gqa", 1, 1, "K and V cross the L2 once for the four query heads that share them."},
    {"cuda-fp8-quantize", "two_pass", 5.0 / 3, 5.0 / 3,
     "The matrix is read twice and written once in a byte: 5 bytes, not 3."},
    {"cuda-fp8-quantize", "fused", 1, 1, "Two bytes in, one out; the row stays in a cache for the second loop."},
    {"cuda-fp8-quantize", "vector", 1, 1, "Two bytes in, one out, with the row in registers."},
};

}  // namespace

std::optional<KernelPrediction> predict_memory_kernel(std::string_view ladder, std::string_view rung,
                                                      const GpuPorts& gpu) {
  for (const PassRule& r : pass_rules) {
    if (r.ladder != ladder || r.rung != rung) continue;
    // 32 useful bytes a sector where all pass once; loads enough in flight are not the limit.
    const WarpStream loop{.useful_bytes = 256, .sectors = 8 * r.sectors, .bytes_per_thread = 64};
    KernelPrediction p{
        .bound = warp_stream_bound(gpu, loop), .why = r.why, .ports = warp_stream_ports(gpu, loop), .moved = r.moved};
    p.ports.room[0].demand *= r.moved;
    if (1 / r.moved < p.bound.share) p.bound = {1 / r.moved, KernelLimit::memory};
    return p;
  }
  return std::nullopt;
}

}  // namespace models
