// The ladder of transposes through OpenGL: out = in turned, n x n floats. Each version is a file of rungs/,
// transpose_NAME.glsl.
//
// gl-transpose:
//   naive   reads along rows, writes down columns
//   tile    a tile is turned in shared memory
//   padded  one unused word a row of the tile
//
//   ridgeline kernels run gl-transpose --size 4096
#include <array>

#include "kernels/opengl/operation.h"
#include "kernels/sources.h"

namespace kernels::opengl {
namespace {

std::int64_t transpose_floats(std::int64_t n) { return n * n; }

models::OpCost transpose_cost(std::int64_t n) {
  return models::copy(static_cast<double>(n) * static_cast<double>(n), 4);
}

std::vector<Launch> transpose_launches(std::string_view, std::int64_t n) {
  const auto tiles = static_cast<unsigned>(n / 32);
  return {{
      .groups_x = tiles,
      .groups_y = tiles,
      .local_x = 32,
      .local_y = 8,
      .n = static_cast<unsigned>(n),
  }};
}

Deviation transpose_compare(std::string_view, std::int64_t size, Arrays inputs, std::span<const float> out,
                            std::uint32_t) {
  const auto n = static_cast<std::size_t>(size);
  return compare_exactly(out, [&](std::size_t i) { return inputs[0][i % n * n + i / n]; });
}

const Ladder& transpose_ladder() {
  static const std::array rungs{
      Rung{"naive", "naive", "Reads along rows, writes down columns: neighbours store n floats apart.",
           embedded_source("opengl/rungs/transpose_naive.glsl"), "transpose_naive", "gl_copy"},
      Rung{"tile", "shared tile",
           "A tile is turned in shared memory, so both sides go along rows; its columns lie in one bank.",
           embedded_source("opengl/rungs/transpose_tile.glsl"), "transpose_tile", "gl_copy"},
      Rung{"padded", "padded tile", "One unused word a row: a column now lies in 32 different banks.",
           embedded_source("opengl/rungs/transpose_padded.glsl"), "transpose_padded", "gl_copy"},
  };
  static const Ladder ladder{
      .id = "gl-transpose",
      .title = "OpenGL transpose",
      .device = Device::opengl,
      .measure = Measure::bytes_per_s,
      .size_label = "Size N",
      .size_unit = "",
      .size_lo = 64,
      .size_default = 4096,
      .size_hi = 5760,
      .rungs = rungs,
      .cost = transpose_cost,
  };
  return ladder;
}

}  // namespace

Operation transpose_operation() {
  return {
      .ladder = &transpose_ladder(),
      .granule = 64,
      .edge_size = 192,
      .check_size = 448,
      .input_floats = transpose_floats,
      .output_floats = transpose_floats,
      .launches = transpose_launches,
      .compare = transpose_compare,
  };
}

}  // namespace kernels::opengl
