// The ladder of sums through OpenGL: an array of floats becomes one. Each version is a file of rungs/,
// reduction_NAME.glsl.
//
// gl-reduction:
//   tree         each group adds 256 values in a tree with a barrier a step
//   first_add    each invocation adds two values as it loads them
//   grid_stride  1,024 groups walk the array, and each has one tree
//
//   ridgeline kernels run gl-reduction --size 64MiB
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/opengl/operation.h"
#include "kernels/sources.h"

namespace kernels::opengl {
namespace {

/// Ranges of buffers that are bound begin at a multiple of 256 bytes, the most that a driver may ask for.
constexpr std::int64_t range_floats = 64;

std::int64_t on_a_range(std::int64_t floats) { return (floats + range_floats - 1) / range_floats * range_floats; }

std::int64_t reduction_floats(std::int64_t bytes) { return bytes / 4; }

/// Room for the partial sums of every pass (n/256 at most, then n/65536, ...), and the result on a range of its own.
std::int64_t sums_floats(std::int64_t bytes) {
  std::int64_t total = 0;
  for (std::int64_t n = bytes / 4; n > 256;) {
    n = (n + 255) / 256;
    total += on_a_range(n);
  }
  return total + range_floats;
}
std::int64_t result_at(std::int64_t bytes) { return sums_floats(bytes) - range_floats; }

/// n - 1 additions; the array is read once and one float is written.
models::OpCost reduction_cost(std::int64_t bytes) {
  return {static_cast<double>(bytes) / 4 - 1, static_cast<double>(bytes), 4};
}

/// How many groups a pass over n floats has. The last rung reads in fours: its partial sums are a multiple of that.
std::int64_t groups_of(std::string_view rung, std::int64_t n) {
  if (rung == "grid_stride") return n < 16384 ? 1 : std::min<std::int64_t>(n / 16384 * 4, 1024);
  const std::int64_t of_a_group = rung == "first_add" ? 512 : 256;
  return (n + of_a_group - 1) / of_a_group;
}

std::vector<Launch> reduction_launches(std::string_view rung, std::int64_t bytes) {
  std::vector<Launch> passes;
  std::int64_t n = bytes / 4, input = -1, output = 0;
  for (bool last = false; !last;) {
    const std::int64_t groups = groups_of(rung, n);
    last = groups == 1;
    Launch pass = line_of_groups(256 * groups, n);
    pass.input_offset = input;
    pass.output_offset = last ? result_at(bytes) : output;
    passes.push_back(pass);
    input = pass.output_offset;
    output += on_a_range(groups);
    n = groups;
  }
  return passes;
}

/// All values are positive, so that a number left out shows. The bound is that of 16,384 additions one after the other.
Deviation reduction_compare(std::string_view, std::int64_t bytes, Arrays inputs, std::span<const float> out,
                            std::uint32_t) {
  double sum = 0;
  for (const float v : inputs[0]) sum += static_cast<double>(v);
  Deviation d;
  const double difference = static_cast<double>(out[static_cast<std::size_t>(result_at(bytes))]) - sum;
  d.never_written = difference == difference ? 0 : 1;
  d.error = std::abs(difference) / sum;
  d.bound = std::sqrt(16384.0) * 2 * 0x1p-23;
  return d;
}

const Ladder& reduction_ladder() {
  static const std::array rungs{
      Rung{"tree", "a tree a group", "256 values a group, added in eight steps with a barrier after each.",
           embedded_source("opengl/rungs/reduction_tree.glsl"), "reduction_tree", "gl_read"},
      Rung{"first_add", "first add during load",
           "Each invocation adds two values as it loads them: half the groups, two loads in flight.",
           embedded_source("opengl/rungs/reduction_first_add.glsl"), "reduction_first_add", "gl_read"},
      Rung{"grid_stride", "vec4, grid stride",
           "At most 1,024 groups walk the array with a vec4 each; one tree a group, however long the array.",
           embedded_source("opengl/rungs/reduction_grid_stride.glsl"), "reduction_grid_stride", "gl_read"},
  };
  static const Ladder ladder = array_ladder("gl-reduction", "OpenGL sum", rungs, reduction_cost);
  return ladder;
}

}  // namespace

Operation reduction_operation() {
  return {
      .ladder = &reduction_ladder(),
      .granule = 16,
      .edge_size = 16ll * 10007,
      .check_size = 1 << 20,
      .repeatable = true,
      .input_floats = reduction_floats,
      .output_floats = sums_floats,
      .launches = reduction_launches,
      .compare = reduction_compare,
  };
}

}  // namespace kernels::opengl
