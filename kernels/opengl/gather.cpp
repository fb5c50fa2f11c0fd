// The ladder of strided reads through OpenGL: every float is read once and written once, and what differs is how far
// apart neighbours read. Each version is a file of rungs/, gather_NAME.glsl.
//
// gl-gather:
//   apart_32  neighbours read 32 floats apart
//   apart_8   neighbours read 8 floats apart
//   apart_2   neighbours read every second float
//   apart_1   neighbours read neighbours
//
//   ridgeline kernels run gl-gather --size 64MiB
#include <array>

#include "kernels/opengl/operation.h"
#include "kernels/sources.h"

namespace kernels::opengl {
namespace {

std::int64_t gather_floats(std::int64_t bytes) { return bytes / 4; }

models::OpCost gather_cost(std::int64_t bytes) { return models::copy(static_cast<double>(bytes) / 4, 4); }

std::vector<Launch> gather_launches(std::string_view, std::int64_t bytes) {
  return {line_of_groups(bytes / 4, bytes / 4)};
}

std::size_t distance_of(std::string_view rung) {
  return rung == "apart_32" ? 32 : rung == "apart_8" ? 8 : rung == "apart_2" ? 2 : 1;
}

Deviation gather_compare(std::string_view rung, std::int64_t, Arrays inputs, std::span<const float> out,
                         std::uint32_t) {
  const std::vector<float>& in = inputs[0];
  const std::size_t apart = distance_of(rung), rows = in.size() / apart;
  return compare_exactly(out, [&](std::size_t i) { return in[i % rows * apart + i / rows]; });
}

const Ladder& gather_ladder() {
  static const std::array rungs{
      Rung{"apart_32", "32 floats apart",
           "Each neighbour reads a line of its own: a sector of 32 bytes comes for 4 that are used.",
           embedded_source("opengl/rungs/gather_apart_32.glsl"), "gather_apart_32", "gl_copy"},
      Rung{"apart_8", "8 floats apart",
           "Still a sector of 32 bytes for each neighbour: nearer, and no cheaper for the memory.",
           embedded_source("opengl/rungs/gather_apart_8.glsl"), "gather_apart_8", "gl_copy"},
      Rung{"apart_2", "every second float", "Four neighbours share a sector, and half of its bytes are used.",
           embedded_source("opengl/rungs/gather_apart_2.glsl"), "gather_apart_2", "gl_copy"},
      Rung{"apart_1", "neighbours", "All bytes of every sector are used: this is a copy.",
           embedded_source("opengl/rungs/gather_apart_1.glsl"), "gather_apart_1", "gl_copy"},
  };
  static const Ladder ladder = array_ladder("gl-gather", "OpenGL strided reads", rungs, gather_cost);
  return ladder;
}

}  // namespace

Operation gather_operation() {
  return {
      .ladder = &gather_ladder(),
      .granule = 128,
      .edge_size = 128ll * 1009,
      .check_size = 1 << 20,
      .input_floats = gather_floats,
      .output_floats = gather_floats,
      .launches = gather_launches,
      .compare = gather_compare,
  };
}

}  // namespace kernels::opengl
