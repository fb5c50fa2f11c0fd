// The ladder of sums on the GPU: an array of floats becomes one. Each version is a file of rungs/, reduce_NAME.cu.
//
// cuda-reduction:
//   interleaved  a tree over neighbours: working threads are spread over all warps
//   sequential   working threads stay together: whole warps finish early
//   first_add    every thread adds two values as it loads them
//   shuffle      warps add through registers: one barrier instead of eight
//   grid_stride  a few blocks walk the array with four float4 in flight a thread
//
//   ridgeline kernels run cuda-reduction --size 1GiB
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

std::int64_t reduction_floats(std::int64_t bytes) { return bytes / 4; }

/// Room for the partial sums of every pass (n/256 at most, then n/65536, ...), each on 16 bytes, and the result in the
/// last float.
std::int64_t output_floats(std::int64_t bytes) {
  std::int64_t total = 0;
  for (std::int64_t n = bytes / 4; n > 256;) {
    n = (n + 255) / 256;
    total += (n + 3) / 4 * 4;
  }
  return total + 4;
}
std::int64_t reduction_output_bytes(std::int64_t bytes) { return 4 * output_floats(bytes); }

/// n - 1 additions; the array is read once and one float is written.
models::OpCost reduction_cost(std::int64_t bytes) {
  return {static_cast<double>(bytes) / 4 - 1, static_cast<double>(bytes), 4};
}

std::int64_t blocks_of(std::string_view rung, std::int64_t n, int multiprocessors) {
  if (rung == "grid_stride")
    return std::clamp<std::int64_t>(n / 4096, 1, 8ll * multiprocessors);  // at least 16 floats a thread
  const std::int64_t a_block = rung == "first_add" || rung == "shuffle" ? 512 : 256;
  return (n + a_block - 1) / a_block;
}

std::vector<Launch> reduction_launches(std::string_view rung, std::int64_t bytes, int multiprocessors) {
  std::vector<Launch> passes;
  std::int64_t n = bytes / 4, input = -1, output = 0;
  for (bool last = false; !last;) {
    const std::int64_t blocks = blocks_of(rung, n, multiprocessors);
    last = blocks == 1;
    if (last) output = output_floats(bytes) - 1;
    passes.push_back({
        .grid_x = static_cast<unsigned>(blocks),
        .block_x = 256,
        .n = static_cast<unsigned>(n),
        .input_offset = input,
        .output_offset = output,
    });
    input = output;
    output += (blocks + 3) / 4 * 4;
    n = blocks;
  }
  return passes;
}

/// All values are positive, so that a number left out shows. The bound is that of 4096 additions one after the other.
Deviation reduction_compare(const Outcome& outcome) {
  double sum = 0;
  for (std::int64_t i = 0; i < outcome.size / 4; ++i) sum += input_value(outcome.operation, outcome.seed, 0, i);
  Deviation d;
  const double difference = static_cast<double>(floats_of(outcome).back()) - sum;
  d.never_written = difference == difference ? 0 : 1;
  d.error = std::abs(difference) / sum;
  d.bound = std::sqrt(4096.0) * 2 * 0x1p-23;
  return d;
}

const Ladder& reduction_ladder() {
  static const std::array rungs{
      Rung{"interleaved", "interleaved addressing",
           "A tree over neighbours: the threads that work are spread over all warps.",
           embedded_source("cuda/rungs/reduce_interleaved.cu"), "reduce_interleaved", "gpu_read"},
      Rung{"sequential", "sequential addressing",
           "The working threads stay together, so whole warps finish early; no bank conflicts.",
           embedded_source("cuda/rungs/reduce_sequential.cu"), "reduce_sequential", "gpu_read"},
      Rung{"first_add", "first add during load",
           "Every thread adds two values as it loads them: half the blocks, two loads in flight.",
           embedded_source("cuda/rungs/reduce_first_add.cu"), "reduce_first_add", "gpu_read"},
      Rung{"shuffle", "warp shuffles", "Warps add through registers: one barrier instead of eight.",
           embedded_source("cuda/rungs/reduce_shuffle.cu"), "reduce_shuffle", "gpu_read"},
      Rung{"grid_stride", "vectors, grid stride",
           "A few blocks walk the array with four float4 in flight a thread; one tree a block.",
           embedded_source("cuda/rungs/reduce_grid_stride.cu"), "reduce_grid_stride", "gpu_read"},
  };
  static const Ladder ladder = array_ladder("cuda-reduction", "GPU sum", rungs, reduction_cost);
  return ladder;
}

}  // namespace

const Operation& reduction_operation() {
  static const Operation operation{
      .ladder = &reduction_ladder(),
      .granule = 16,
      .edge_size = 16ll * 10007,
      .inputs = {{.count = reduction_floats}},
      .repeatable = false,
      .output_bytes = reduction_output_bytes,
      .launches = reduction_launches,
      .compare = reduction_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
