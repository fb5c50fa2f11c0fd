// The ladder of multiply-adds through OpenGL, with nothing from memory: each of 262,144 invocations walks 16 chains of
// x = x * factor + term, all rungs the same ones. Each version is a file of rungs/, fma_NAME.glsl.
//
// gl-fma:
//   separate  a multiply, then an add
//   fused     one instruction for both, one chain after the other
//   four      four chains at a time
//   vectors   four chains of vec4 at a time: the peak
//
//   ridgeline kernels run gl-fma --size 1024
#include <array>
#include <cmath>

#include "kernels/opengl/operation.h"
#include "kernels/sources.h"

namespace kernels::opengl {
namespace {

constexpr std::int64_t invocations = 1 << 18;
constexpr int chains = 16;

std::int64_t starts_floats(std::int64_t) { return invocations; }

models::OpCost fma_cost(std::int64_t steps) {
  const double each = static_cast<double>(invocations);
  return {2.0 * chains * static_cast<double>(steps) * each, 4 * each, 4 * each};
}

std::vector<Launch> fma_launches(std::string_view, std::int64_t steps) {
  return {{.groups_x = static_cast<unsigned>(invocations / 256), .n = static_cast<unsigned>(steps)}};
}

/// The chain in closed form: with factor 1 - 2^-10 and term 2^-10, x - 1 shrinks by the factor at every step. Bound:
/// rounding errors of the steps that are independent, two roundings a step.
Deviation fma_compare(std::string_view, std::int64_t steps, Arrays inputs, std::span<const float> out, std::uint32_t) {
  Deviation d;
  ErrorNorm norm;
  const double left = std::pow(1 - 0x1p-10, static_cast<double>(steps));
  for (std::size_t i = 0; i < out.size(); ++i) {
    double expected = 0;
    for (int chain = 0; chain < chains; ++chain) expected += 1 + left * (static_cast<double>(inputs[0][i]) + chain - 1);
    if (!(out[i] == out[i])) ++d.never_written;
    norm.add(static_cast<double>(out[i]), expected);
  }
  d.error = norm.value();
  d.bound = std::sqrt(2.0 * static_cast<double>(steps)) * 2 * 0x1p-23;
  return d;
}

const Ladder& fma_ladder() {
  static const std::array rungs{
      Rung{"separate", "multiply, then add", "Two instructions for what one does: half of the peak at most.",
           embedded_source("opengl/rungs/fma_separate.glsl"), "fma_separate", "gl_fma"},
      Rung{"fused", "fused, one chain",
           "fma() is one instruction. Each waits for the one before, and other invocations fill the wait.",
           embedded_source("opengl/rungs/fma_fused.glsl"), "fma_fused", "gl_fma"},
      Rung{"four", "four chains", "Four sums at a time: fewer invocations would do to fill the units.",
           embedded_source("opengl/rungs/fma_four.glsl"), "fma_four", "gl_fma"},
      Rung{"vectors", "four of vec4",
           "16 sums at a time; a GPU has no wider units for a vec4, so it is four chains more.",
           embedded_source("opengl/rungs/fma_vectors.glsl"), "fma_vectors", "gl_fma"},
  };
  static const Ladder ladder{
      .id = "gl-fma",
      .title = "OpenGL multiply-adds",
      .device = Device::opengl,
      .measure = Measure::flops_per_s,
      .size_label = "Steps of a chain",
      .size_unit = "",
      .size_lo = 16,
      .size_default = 1024,
      .size_hi = 4096,
      .rungs = rungs,
      .cost = fma_cost,
  };
  return ladder;
}

}  // namespace

Operation fma_operation() {
  return {
      .ladder = &fma_ladder(),
      .edge_size = 19,
      .check_size = 16,
      .input_floats = starts_floats,
      .output_floats = starts_floats,
      .launches = fma_launches,
      .compare = fma_compare,
  };
}

}  // namespace kernels::opengl
