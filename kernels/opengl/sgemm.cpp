// The ladder of matmuls through OpenGL: C = A B, n x n floats. Each version is a file of rungs/, sgemm_NAME.glsl.
//
// gl-sgemm:
//   naive     one invocation an element, along rows
//   shared    16 x 16 tiles in shared memory
//   register  4 x 4 sums an invocation in registers
//
//   ridgeline kernels run gl-sgemm --size 1024
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/opengl/operation.h"
#include "kernels/sources.h"

namespace kernels::opengl {
namespace {

std::int64_t sgemm_floats(std::int64_t n) { return n * n; }

models::OpCost sgemm_cost(std::int64_t n) {
  const auto d = static_cast<double>(n);
  return models::gemm(d, d, d, 4, 4, 4);
}

std::vector<Launch> sgemm_launches(std::string_view rung, std::int64_t n) {
  Launch l{.local_x = 16, .local_y = 16, .n = static_cast<unsigned>(n)};
  l.groups_x = l.groups_y = static_cast<unsigned>(n / (rung == "register" ? 64 : 16));
  if (rung == "naive") {
    l.local_x = 32;
    l.local_y = 8;
    l.groups_x = static_cast<unsigned>(n / 32);
    l.groups_y = static_cast<unsigned>(n / 8);
  }
  return {l};
}

/// `count` different numbers below n: all when n is no larger, otherwise one from each of `count` equal parts.
std::vector<std::size_t> some_lines(std::int64_t n, std::int64_t count, std::uint32_t seed) {
  std::vector<std::size_t> lines;
  count = std::min(n, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = i * n / count, width = (i + 1) * n / count - first;
    seed = seed * 1664525u + 1013904223u;
    lines.push_back(static_cast<std::size_t>(first + static_cast<std::int64_t>(seed >> 8) % width));
  }
  return lines;
}

/// The elements where 32 rows and 32 columns cross are compared, one of each in every 32nd of the matrix; all of C is
/// searched for NaN. Bound: sqrt(K) 2 eps of float, the growth of rounding errors that are independent.
Deviation sgemm_compare(std::string_view, std::int64_t size, Arrays inputs, std::span<const float> out,
                        std::uint32_t seed) {
  Deviation d;
  d.never_written = std::count_if(out.begin(), out.end(), [](float v) { return !(v == v); });
  const auto n = static_cast<std::size_t>(size);
  const std::vector<float>&a = inputs[0], &b = inputs[1];
  const auto rows = some_lines(size, 32, seed), columns = some_lines(size, 32, seed + 1);
  ErrorNorm norm;
  for (const std::size_t row : rows)
    for (const std::size_t column : columns) {
      double expected = 0;
      for (std::size_t k = 0; k < n; ++k)
        expected += static_cast<double>(a[row * n + k]) * static_cast<double>(b[k * n + column]);
      norm.add(static_cast<double>(out[row * n + column]), expected);
    }
  d.error = norm.value();
  d.bound = std::sqrt(static_cast<double>(n)) * 2 * 0x1p-23;
  return d;
}

const Ladder& sgemm_ladder() {
  static const std::array rungs{
      Rung{"naive", "naive", "One invocation an element, neighbours in a row: two loads for each multiply-add.",
           embedded_source("opengl/rungs/sgemm_naive.glsl"), "sgemm_naive", "gl_fma"},
      Rung{"shared", "shared tile",
           "16 x 16 tiles in shared memory: 1/16 of the loads from memory, still two from shared memory for each "
           "multiply-add.",
           embedded_source("opengl/rungs/sgemm_shared.glsl"), "sgemm_shared", "gl_fma"},
      Rung{"register", "4 x 4 each", "16 sums in registers: eight loads from shared memory feed 16 multiply-adds.",
           embedded_source("opengl/rungs/sgemm_register.glsl"), "sgemm_register", "gl_fma"},
  };
  static const Ladder ladder{
      .id = "gl-sgemm",
      .title = "OpenGL SGEMM",
      .device = Device::opengl,
      .measure = Measure::flops_per_s,
      .size_label = "Size N",
      .size_unit = "",
      .size_lo = 64,
      .size_default = 1024,
      .size_hi = 4096,
      .rungs = rungs,
      .cost = sgemm_cost,
  };
  return ladder;
}

}  // namespace

Operation sgemm_operation() {
  return {
      .ladder = &sgemm_ladder(),
      .granule = 64,
      .edge_size = 192,
      .check_size = 128,
      .inputs = 2,
      .lo = -1,
      .scale = 2,
      .input_floats = sgemm_floats,
      .output_floats = sgemm_floats,
      .launches = sgemm_launches,
      .compare = sgemm_compare,
  };
}

}  // namespace kernels::opengl
