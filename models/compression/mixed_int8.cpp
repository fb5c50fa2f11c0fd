#include "models/compression/mixed_int8.h"

#include <vector>

#include "models/compression/awq.h"

namespace models {

MixedInt8 mixed_int8_product(const Matrix& x, const Matrix& w, double threshold, const Matrix& truth) {
  MixedInt8 out;
  std::vector<double> kept = largest_abs_columns(x), rest(kept.size());
  for (std::size_t j = 0; j < kept.size(); ++j) {
    kept[j] = kept[j] >= threshold ? 1 : 0;
    rest[j] = 1 - kept[j];
    out.kept_inputs += kept[j] > 0;
  }
  if (!kept.empty()) out.int8_share = 1 - static_cast<double>(out.kept_inputs) / static_cast<double>(kept.size());
  // Zeros neither set a scale nor add to a product.
  const QuantSpec each_row{.format = QuantFormat::int8, .grain = QuantGrain::channel};
  out.weight_bits = out.int8_share * Quantizer(each_row).bits_per_weight(w.rows, w.cols) + 16 * (1 - out.int8_share);
  Matrix product = times_transposed(quantize(scale_columns(x, rest), each_row).weights,
                                    quantize(scale_columns(w, rest), each_row).weights);
  const Matrix outliers = times_transposed(scale_columns(x, kept), w);
  for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] += outliers.values[i];
  const double whole = squared_norm(truth);
  out.error = whole > 0 ? squared_norm(difference(product, truth)) / whole : 0;
  return out;
}

}  // namespace models
