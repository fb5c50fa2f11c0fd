// The ladder of copies on the GPU: out = in, an array of floats. Each version is a file of rungs/, copy_NAME.cu.
//
// cuda-copy:
//   scalar       each thread loads and stores one float
//   float4       16 bytes an instruction
//   in_flight    four loads before the first store
//   grid_stride  one wave of blocks walks the whole array
//
//   ridgeline kernels run cuda-copy --size 1GiB
//   ridgeline kernels run cuda-copy --rung float4 --source mine.cu
#include <array>
#include <cmath>

#include "kernels/cuda/operation.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

std::int64_t copy_floats(std::int64_t bytes) { return bytes / 4; }
std::int64_t copy_bytes(std::int64_t bytes) { return bytes; }

models::OpCost copy_cost(std::int64_t bytes) { return models::copy(static_cast<double>(bytes) / 4, 4); }

std::vector<Launch> copy_launches(std::string_view rung, std::int64_t bytes, int multiprocessors) {
  const std::int64_t n = bytes / 4;
  std::int64_t blocks = (n + 255) / 256;
  if (rung == "float4") blocks = (n / 4 + 255) / 256;
  if (rung == "in_flight") blocks = (n / 4 + 1023) / 1024;
  if (rung == "grid_stride")
    blocks = 8ll * multiprocessors;  // 2048 threads: what a multiprocessor holds of such small kernels
  return {{.grid_x = static_cast<unsigned>(blocks), .block_x = 256, .n = static_cast<unsigned>(n)}};
}

/// A copy is exact or wrong.
Deviation copy_compare(const Outcome& outcome) {
  const std::span<const float> out = floats_of(outcome);
  Deviation d;
  ErrorNorm norm;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto expected = input_value(outcome.operation, outcome.seed, 0, static_cast<std::int64_t>(i));
    if (std::isnan(out[i])) ++d.never_written;
    norm.add(static_cast<double>(out[i]), expected);
  }
  d.error = norm.value();
  return d;
}

const Ladder& copy_ladder() {
  static const std::array rungs{
      Rung{"scalar", "one float a thread", "The plain copy: each thread loads and stores 4 bytes.",
           embedded_source("cuda/rungs/copy_scalar.cu"), "copy_scalar", "gpu_copy"},
      Rung{"float4", "float4",
           "16 bytes an instruction: a quarter of the instructions, four times the bytes in flight.",
           embedded_source("cuda/rungs/copy_float4.cu"), "copy_float4", "gpu_copy"},
      Rung{"in_flight", "four loads in flight",
           "Four loads before the first store: more bytes in flight, as Little's law asks.",
           embedded_source("cuda/rungs/copy_in_flight.cu"), "copy_in_flight", "gpu_copy"},
      Rung{"grid_stride", "grid stride",
           "One wave of blocks walks the whole array: no block starts or ends in between.",
           embedded_source("cuda/rungs/copy_grid_stride.cu"), "copy_grid_stride", "gpu_copy"},
  };
  static const Ladder ladder = array_ladder("cuda-copy", "GPU copy", rungs, copy_cost);
  return ladder;
}

}  // namespace

const Operation& copy_operation() {
  static const Operation operation{
      .ladder = &copy_ladder(),
      .granule = 16,
      .edge_size = 16ll * 10007,
      .inputs = {{.count = copy_floats}},
      .output_bytes = copy_bytes,
      .launches = copy_launches,
      .compare = copy_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
