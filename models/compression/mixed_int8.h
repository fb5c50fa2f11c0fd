#pragma once
#include "models/compression/quantizer.h"

/// LLM.int8() (Dettmers et al. 2022, arXiv:2208.07339): both operands in 8 bits, but for the inputs in which outliers
/// stand; those are multiplied in 16 bits.
namespace models {

/// |x| from which on an input is kept in 16 bits; the paper's.
inline constexpr double mixed_int8_threshold = 6;

struct MixedInt8 {
  double error = 0;             ///< ||Y' - truth||^2 / ||truth||^2; the 16-bit part is taken as exact
  std::size_t kept_inputs = 0;  ///< in 16 bits
  double int8_share = 1;        ///< part of the multiply-adds whose operands are both INT8
  double weight_bits = 8;       ///< for each weight, scales and those in 16 bits counted
};

/// x [tokens, in] and w [out, in]: an input is kept where any token reaches the threshold, as it is found anew for each
/// batch. The rest has a scale for each token and one for each output. `truth` = X W^T.
MixedInt8 mixed_int8_product(const Matrix& x, const Matrix& w, double threshold, const Matrix& truth);

}  // namespace models
