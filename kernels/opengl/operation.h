#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error_norm.h"
#include "kernels/kernel.h"

/// A rung is one .glsl file in rungs/, named LADDER_RUNG.glsl, and a row in the list of its ladder (copy.cpp,
/// sgemm.cpp, ...). The host puts the #version before it. Buffers: 0 and 1 are the inputs, 2 is the output; `uniform
/// uint n` is the count. A ladder is one such file more, in operation.cpp's list.
namespace kernels::opengl {

/// One dispatch of a rung's kernel.
struct Launch {
  unsigned groups_x = 1, groups_y = 1;
  unsigned local_x = 256, local_y = 1;  ///< invocations of a group, as the text declares them
  unsigned n = 0;
  /// The first input is the output array of an earlier dispatch, from this float on; -1: the operand itself.
  std::int64_t input_offset = -1;
  std::int64_t output_offset = 0;  ///< floats from the start of the output array
};

/// How far an output is from its reference.
struct Deviation {
  double error = 0;                ///< |out - reference| / |reference| over the elements compared
  double bound = 0;                ///< accepted when error <= bound
  std::int64_t never_written = 0;  ///< elements that still hold the poison, or another NaN
};

using Arrays = std::span<const std::vector<float>>;

/// What is the same for every rung of a ladder: sizes, operands, dispatches and the reference.
struct Operation {
  const Ladder* ladder = nullptr;
  std::int64_t granule = 1;     ///< sizes are rounded up to a multiple of this
  std::int64_t edge_size = 0;   ///< a small size that is no power of two: it is checked before the size asked for
  std::int64_t check_size = 0;  ///< the most that a software renderer is asked to compute
  int inputs = 1;               ///< arrays, uniform in [lo, lo + scale)
  float lo = 0, scale = 1;
  bool repeatable = true;  ///< two runs on one input must agree bit for bit: if they do not, invocations race
  std::int64_t (*input_floats)(std::int64_t size) = nullptr;
  std::int64_t (*output_floats)(std::int64_t size) = nullptr;
  std::vector<Launch> (*launches)(std::string_view rung, std::int64_t size) = nullptr;
  /// Compares `out` (output_floats of it) with float64 from the same inputs; `seed` chooses what is compared where not
  /// all is.
  Deviation (*compare)(std::string_view rung, std::int64_t size, Arrays inputs, std::span<const float> out,
                       std::uint32_t seed) = nullptr;

  std::int64_t rounded(std::int64_t size) const { return (size + granule - 1) / granule * granule; }
};

/// The operations in the order of ladders(), and one of them by its ladder's id (null when there is none).
std::span<const Operation> operations();
const Operation* find_operation(std::string_view ladder);

Operation copy_operation();
Operation gather_operation();
Operation reduction_operation();
Operation transpose_operation();
Operation sgemm_operation();
Operation fma_operation();

using Cost = models::OpCost (*)(std::int64_t size);
/// A ladder over one array of 1 to 128 MiB, which is what a driver has to let a shader see at once.
Ladder array_ladder(std::string_view id, std::string_view title, std::span<const Rung> rungs, Cost cost);

/// Groups of 256 for `count` invocations, as a grid of two: a dispatch has at most 65,535 groups in a dimension.
Launch line_of_groups(std::int64_t count, std::int64_t n);

inline constexpr std::uint32_t poison_word = 0x7fc0dead;  ///< a NaN that no kernel makes

/// Compares element for element with `expected(i)`: exact or wrong.
template <class Expected>
Deviation compare_exactly(std::span<const float> out, const Expected& expected) {
  Deviation d;
  ErrorNorm norm;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!(out[i] == out[i])) ++d.never_written;
    norm.add(static_cast<double>(out[i]), static_cast<double>(expected(i)));
  }
  d.error = norm.value();
  return d;
}

}  // namespace kernels::opengl
