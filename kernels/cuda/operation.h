#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

/// A rung is one .cu file with one extern "C" entry named after the file, and a row in the list of its ladder
/// (copy.cpp, sgemm.cpp, ...); a geometry of its own is a case in that file's launches(). A ladder is one such file
/// more, in operation.cpp's two lists.
namespace kernels::cuda {

/// One launch of a rung's kernel. Kernels take their input arrays, the output array and a count: (in, out, n) or (a, b,
/// c, n).
struct Launch {
  unsigned grid_x = 1, grid_y = 1, block_x = 1, block_y = 1;
  unsigned n = 0;
  /// The first input is the output array of an earlier launch, from this float on; -1: the operand itself.
  std::int64_t input_offset = -1;
  std::int64_t output_offset = 0;  ///< floats from the start of the output array
};

/// How far an output is from its reference.
struct Deviation {
  double error = 0;                ///< |out - reference| / |reference| over the elements compared
  double bound = 0;                ///< accepted when error <= bound
  std::int64_t never_written = 0;  ///< elements that still hold the poison, or another NaN
};

/// What is the same for every rung of a ladder: sizes, operands, launches and the reference.
struct Operation {
  const Ladder* ladder = nullptr;
  std::int64_t granule = 1;  ///< sizes are rounded up to a multiple of this
  std::int64_t edge_size =
      0;           ///< a small size that is no power of two: it is checked in full before the size asked for
  int inputs = 1;  ///< arrays of input_floats each, uniform in [lo, lo + scale)
  float lo = 0, scale = 1;
  bool repeatable = true;  ///< two runs on one input must agree bit for bit: if they do not, threads race
  std::int64_t (*input_floats)(std::int64_t size) = nullptr;
  std::int64_t (*output_floats)(std::int64_t size) = nullptr;
  std::vector<Launch> (*launches)(std::string_view rung, std::int64_t size, int multiprocessors) = nullptr;
  /// Compares `out` (output_floats of it) with float64; the inputs' values come from `seed`, as fill_uniform made them.
  Deviation (*compare)(const Operation&, std::int64_t size, std::span<const float> out, std::uint32_t seed) = nullptr;

  std::int64_t rounded(std::int64_t size) const { return (size + granule - 1) / granule * granule; }
};

using Cost = models::OpCost (*)(std::int64_t size);
/// A ladder over one array of 1 MiB to 1 GiB, compared by bandwidth.
Ladder array_ladder(std::string_view id, std::string_view title, std::span<const Rung> rungs, Cost cost);
/// A ladder over N x N matrices.
struct MatrixSizes {
  std::int64_t lo = 0, usual = 0, hi = 0;  ///< The range of N and its usual value.
};
Ladder matrix_ladder(std::string_view id, std::string_view title, Measure measure, MatrixSizes sizes,
                     std::span<const Rung> rungs, Cost cost);

/// The operations in the order of ladders(), and one of them by its ladder's id (null when there is none).
std::span<const Operation> operations();
const Operation* find_operation(std::string_view ladder);

const Operation& copy_operation();
const Operation& transpose_operation();
const Operation& reduction_operation();
const Operation& sgemm_operation();

/// The value that fill_uniform in instruments.cu gives element `index` of input `input` (0, 1): exactly, as both use 24
/// bits.
float uniform_value(const Operation& operation, std::uint32_t seed, int input, std::int64_t index);
std::uint32_t input_seed(std::uint32_t seed, int input);

/// What output memory holds before a run: a NaN that no kernel makes.
inline constexpr std::uint32_t poison_word = 0x7fc0dead;

}  // namespace kernels::cuda
