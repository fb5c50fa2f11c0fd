#pragma once
#include "models/compression/quantizer.h"

/// GPTQ (Frantar et al. 2022, arXiv:2210.17323): columns are rounded one by one, and what each rounding costs the
/// layer's output is made up for by the columns not yet rounded.
namespace models {

struct GptqOptions {
  QuantSpec spec;
  double damping = 0.01;    ///< share of the mean of H's diagonal that is added to it
  bool act_order = false;   ///< columns with the largest inputs first
  std::size_t block = 128;  ///< columns whose effect on the later ones is added up and applied at once
  /// What of the update is applied: -1 is GPTQ, w -= error / U_jj U_j; 0 leaves the others alone (round to nearest); +1
  /// has the wrong sign.
  double compensation = -1;
};

struct GptqResult {
  Matrix weights;                  ///< rounded, as numbers again, in the matrix's own order of columns
  std::vector<std::size_t> order;  ///< columns in the order in which they were rounded
  /// Cost of each rounding, sum over rows of (w - q)^2 / (2 [H^-1]_jj) with the H^-1 of the columns left: with
  /// compensation -1 they sum to the damped objective, sum e (X^T X + damping) e^T.
  std::vector<double> cost;
  Matrix errors;  ///< [out, in] in the order of rounding: (w - q) / U_jj, by which row j of U was taken off the later
                  ///< columns
  Matrix root;    ///< U of `inverse_root`, in the order of rounding
  double bits_per_weight = 0;
};

/// w [out, in], gram_of_x = X^T X [in, in] of calibration inputs; H = 2 X^T X + damping. A column whose inputs are all
/// zero becomes 0. Scales: of a tensor or channel from the weights as given; of a group from the weights as they stand
/// when its first column comes, its members being neighbours in the order of rounding. Infeasible: shapes that do not
/// fit, an H that is not positive definite.
Result<GptqResult> gptq(const Matrix& w, const Matrix& gram_of_x, const GptqOptions& options);

}  // namespace models
