// The ladder of quantization to FP8 on the GPU: an n x n matrix in BF16 becomes e4m3 with a scale a row. Each version
// is a file of rungs/, fp8_NAME.cu.
//
// cuda-fp8-quantize:
//   two_pass  scales in one kernel, numbers in a second
//   fused     one kernel, two loops over a row
//   vector    16 bytes a load, the row stays in registers, rounded by an instruction where there is one
//
//   ridgeline kernels run cuda-fp8-quantize --size 8192
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/cuda/deviation.h"
#include "kernels/cuda/fp8_quantize.h"
#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {

std::uint8_t e4m3_nearest(float value) {
  // Magnitudes of the patterns 0 to 126 grow; 127 is NaN.
  const auto magnitude_of = [](int bits) {
    const int exponent = bits >> 3, fraction = bits & 7;
    return exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  };
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const double magnitude = std::abs(static_cast<double>(value));
  int low = 0, high = 126;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (magnitude_of(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - magnitude_of(low), above = magnitude_of(high) - magnitude;
  const bool up = above < below || (above == below && high % 2 == 0);
  return static_cast<std::uint8_t>(sign | (up ? high : low));
}

namespace {

/// Magnitude and scaling are two operations an element; 3 bytes move for each.
models::OpCost fp8_cost(std::int64_t n) {
  const auto d = static_cast<double>(n);
  return {2 * d * d, 2 * d * d, d * d + 4 * d};
}

std::vector<Launch> fp8_launches(std::string_view rung, std::int64_t n, int) {
  const auto rows = static_cast<unsigned>(n);
  const Argument scales = output(n * n);
  if (rung == "two_pass")
    return {{.grid_x = rows, .block_x = 256, .entry = "fp8_two_pass_scale", .arguments = {input(0), scales, whole(n)}},
            {.grid_x = rows, .block_x = 256, .arguments = {input(0), scales, output(), whole(n)}}};
  // 32 numbers a thread or more, so that there is something in flight, and 64 at most.
  const std::int64_t threads = rung == "vector" ? std::clamp<std::int64_t>((n / 32 + 31) / 32 * 32, 32, 256) : 256;
  return {
      {.grid_x = rows, .block_x = static_cast<unsigned>(threads), .arguments = {input(0), output(), scales, whole(n)}}};
}

/// Every bit is right or wrong: the scales and FP8 numbers of 2,048 rows at most. The error is the share of numbers
/// that are wrong; all of the output is searched for NaN.
Deviation fp8_compare(const Outcome& outcome) {
  const std::int64_t n = outcome.size;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(outcome.out.data());
  Deviation d;
  d.never_written = std::count_if(bytes, bytes + n * n, [](std::uint8_t b) { return (b & 0x7f) == 0x7f; });
  std::int64_t wrong = 0;
  const auto lines = chosen_lines(n, 2048, outcome.seed);
  std::vector<float> row(static_cast<std::size_t>(n));
  for (const std::int64_t r : lines) {
    float largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      row[static_cast<std::size_t>(i)] = static_cast<float>(input_value(outcome.operation, outcome.seed, 0, r * n + i));
      largest = std::max(largest, std::abs(row[static_cast<std::size_t>(i)]));
    }
    const float expected = largest > 0 ? largest / 448.0f : 1.0f, inverse = 1.0f / expected;
    float scale = 0;
    std::memcpy(&scale, bytes + n * n + 4 * r, sizeof scale);
    if (std::isnan(scale)) ++d.never_written;
    if (scale != expected) ++wrong;
    for (std::int64_t i = 0; i < n; ++i)
      if (bytes[r * n + i] != e4m3_nearest(row[static_cast<std::size_t>(i)] * inverse)) ++wrong;
  }
  d.error = static_cast<double>(wrong) / static_cast<double>(static_cast<std::int64_t>(lines.size()) * (n + 1));
  return d;
}

const Ladder& fp8_ladder() {
  static const std::array rungs{
      Rung{"two_pass", "scales, then numbers",
           "One kernel finds the largest magnitude of each row, a second scales and rounds: the matrix is read twice.",
           embedded_source("cuda/rungs/fp8_two_pass.cu"), "fp8_two_pass", "gpu_copy"},
      Rung{
          "fused", "one kernel, two loops",
          "A block does both for a row: the second loop finds the row in a cache, 3 bytes move for each number, not 5.",
          embedded_source("cuda/rungs/fp8_fused.cu"), "fp8_fused", "gpu_copy"},
      Rung{"vector", "vectors, row in registers",
           "Eight numbers a load and a store; from compute capability 8.9 on an instruction rounds two numbers.",
           embedded_source("cuda/rungs/fp8_vector.cu"), "fp8_vector", "gpu_copy"},
  };
  static const Ladder ladder = matrix_ladder("cuda-fp8-quantize", "GPU FP8 quantization", Measure::bytes_per_s,
                                             {.lo = 256, .usual = 8192, .hi = 16384}, rungs, fp8_cost);
  return ladder;
}

}  // namespace

/// Values up to 1,000: without its scale a row would stand at the largest FP8 number.
const Operation& fp8_quantize_operation() {
  static const Operation operation{
      .ladder = &fp8_ladder(),
      .granule = 16,
      .edge_size = 1040,
      .inputs = {{.element = Element::bf16, .count = [](std::int64_t n) { return n * n; }, .lo = -1000, .scale = 2000}},
      .output_bytes = [](std::int64_t n) { return n * n + 4 * n; },
      .launches = fp8_launches,
      .compare = fp8_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
