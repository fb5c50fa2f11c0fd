#pragma once
#include "models/machine/roofline.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Zeros in a weight matrix: which ones, what they cost in error, and what hardware makes of them.
namespace models {

enum class SparsePattern : std::uint8_t {
  unstructured,  ///< the smallest weights anywhere
  two_four,      ///< two of every four neighbours along the inputs; of 4-bit weights two of four pairs, see in_pairs
  structured     ///< whole output rows
};

/// 4-bit weights lose zeros in pairs: of eight neighbours two of four pairs stay (4:8), since the matrix units pick
/// pairs. Source: PTX ISA, mma.sp, "pair-wise structured sparse at a granularity of 4:8"; cuSPARSELt, "paired 4:8".
bool in_pairs(Format format);

/// A matrix to prune, rows (outputs) x cols (inputs), row by row. `heavy`: Laplace weights instead of normal ones.
/// `row_spread`: standard deviation of the logarithm of each row's own scale; 0 makes all rows alike.
std::vector<double> sparse_example(std::uint64_t seed, std::size_t rows, std::size_t cols, bool heavy,
                                   double row_spread);

/// 1 keeps, 0 drops. `share` (0 to 1) of the weights or rows goes, rounded down; two_four always drops half (cols in
/// groups of four; a last, shorter group stays), with `pairs` the two of four pairs that hold least.
std::vector<std::uint8_t> sparse_mask(std::span<const double> weights, std::size_t rows, std::size_t cols,
                                      SparsePattern pattern, double share, bool pairs = false);

/// sqrt(energy dropped / energy of all). Inputs that are independent and alike make this the expected relative error of
/// the layer's output.
double mask_error(std::span<const double> weights, std::span<const std::uint8_t> mask);

/// mask_error of sparse_mask at every share, sorting once. For two_four all are the error at one half.
std::vector<double> error_curve(std::span<const double> weights, std::size_t rows, std::size_t cols,
                                SparsePattern pattern, std::span<const double> shares);

/// Bytes of `count` weights of `bits` each: what is kept, and indices. `packed` unstructured: a bit a weight says
/// where; not packed: zeros are stored. two_four packed: 2 bits a kept weight or pair, 9/16 of a 16-bit matrix, 5/8
/// of an 8-bit one, and in pairs 5/8 of a 4-bit one. structured: what is left, dense.
double sparse_bytes(double count, double bits, SparsePattern pattern, double share, bool packed, bool pairs = false);

/// By how much the chip's matrix units speed up on 2:4 weights: 2 for NVIDIA from Ampere (sm_80) and AMD from CDNA 3
/// (16 and 8 bits). FP4: 2 on Blackwell, 4/3 on Blackwell Ultra (sm_103: 20 PFLOP/s sparse, 15 dense on the GB300),
/// whose dense units are faster. Else 1.
double two_four_rate(const Chip& chip, Format format);

struct SparseLayer {
  double tokens = 1, inputs = 4096, outputs = 14336;  ///< y[tokens, outputs] = x[tokens, inputs] W
  Format format = Format::bf16;
  SparsePattern pattern = SparsePattern::unstructured;
  double share = 0.5;
  bool packed = false;  ///< unstructured only: stored with a bitmap, unpacked on chip into dense tiles
};
struct SparseTime {
  double weight_bytes = 0, dense_weight_bytes = 0;
  double flops_done = 0;  ///< multiplied, zeros included
  Placement placement;    ///< time and bound of the sparse layer
  Placement dense;
  double speedup = 1;
};
/// Roofline time of the layer dense and sparse; unpacking and imperfect kernels are not counted, so the speed-up is the
/// most there can be. Infeasible: the chip states no peak for the format.
Result<SparseTime> sparse_time(const Chip& chip, const SparseLayer& layer);

}  // namespace models
