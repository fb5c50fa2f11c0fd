// The ladder of copies through OpenGL: out = in, an array of floats. Each version is a file of rungs/, copy_NAME.glsl.
//
// gl-copy:
//   scalar       each invocation moves one float
//   vec4         16 bytes a load
//   grid_stride  1,024 groups walk the whole array
//
//   ridgeline kernels run gl-copy --size 64MiB
//   ridgeline kernels run gl-copy --rung vec4 --source mine.glsl
#include <array>

#include "kernels/opengl/operation.h"
#include "kernels/sources.h"

namespace kernels::opengl {
namespace {

std::int64_t copy_floats(std::int64_t bytes) { return bytes / 4; }

models::OpCost copy_cost(std::int64_t bytes) { return models::copy(static_cast<double>(bytes) / 4, 4); }

std::vector<Launch> copy_launches(std::string_view rung, std::int64_t bytes) {
  const std::int64_t n = bytes / 4;
  if (rung == "grid_stride") return {{.groups_x = 1024, .n = static_cast<unsigned>(n)}};
  return {line_of_groups(rung == "vec4" ? n / 4 : n, n)};
}

Deviation copy_compare(std::string_view, std::int64_t, Arrays inputs, std::span<const float> out, std::uint32_t) {
  return compare_exactly(out, [&](std::size_t i) { return inputs[0][i]; });
}

const Ladder& copy_ladder() {
  static const std::array rungs{
      Rung{"scalar", "one float each", "The plain copy: each invocation loads and stores 4 bytes.",
           embedded_source("opengl/rungs/copy_scalar.glsl"), "copy_scalar", "gl_copy"},
      Rung{"vec4", "vec4", "16 bytes a load: a quarter of the instructions, four times the bytes in flight.",
           embedded_source("opengl/rungs/copy_vec4.glsl"), "copy_vec4", "gl_copy"},
      Rung{"grid_stride", "grid stride", "1,024 groups walk the whole array: each starts once and moves many vectors.",
           embedded_source("opengl/rungs/copy_grid_stride.glsl"), "copy_grid_stride", "gl_copy"},
  };
  static const Ladder ladder = array_ladder("gl-copy", "OpenGL copy", rungs, copy_cost);
  return ladder;
}

}  // namespace

Operation copy_operation() {
  return {
      .ladder = &copy_ladder(),
      .granule = 16,
      .edge_size = 16ll * 10007,
      .check_size = 1 << 20,
      .input_floats = copy_floats,
      .output_floats = copy_floats,
      .launches = copy_launches,
      .compare = copy_compare,
  };
}

}  // namespace kernels::opengl
