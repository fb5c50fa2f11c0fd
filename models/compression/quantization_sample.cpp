#include "models/compression/quantization_sample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/counter_random.h"

namespace models {

double SampleRandom::uniform() { return (static_cast<double>(counter_hash(seed_, drawn_++) >> 11) + 0.5) * 0x1p-53; }

double SampleRandom::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Matrix sample_weights(const WeightSample& s) {
  SampleRandom random(static_cast<std::uint64_t>(s.seed));
  Matrix w(s.rows, s.cols);
  for (std::size_t r = 0; r < s.rows; ++r) {
    const double size = std::exp(s.row_spread * random.normal());
    for (double& v : w.row(r)) {
      v = size * random.normal();
      if (random.uniform() < s.outlier_share) v *= s.outlier_size;
    }
  }
  return w;
}

Layer sample_layer(const LayerSample& s) {
  SampleRandom random(static_cast<std::uint64_t>(s.seed));
  const std::size_t d = s.inputs, factors = std::max<std::size_t>(1, d / 8);
  Layer layer{Matrix(s.outputs, d), Matrix(s.tokens, d), Matrix(s.tokens, d)};
  Matrix mix(d, factors);
  for (double& v : mix.values) v = random.normal() / std::sqrt(static_cast<double>(factors));
  for (double& v : layer.weights.values) v = random.normal() / std::sqrt(static_cast<double>(d));
  std::vector<double> size(d, 1.0), common(factors);
  const std::size_t outliers = std::min(s.outlier_inputs, d);
  for (std::size_t k = 0; k < outliers; ++k) size[(2 * k + 1) * d / (2 * outliers)] = s.outlier_size;
  const double own = std::sqrt(1 - s.correlation), shared = std::sqrt(s.correlation);
  for (Matrix* x : {&layer.calibration, &layer.held_out})
    for (std::size_t t = 0; t < s.tokens; ++t) {
      for (double& z : common) z = random.normal();
      for (std::size_t j = 0; j < d; ++j)
        x->at(t, j) = size[j] * (shared * dot(mix.row(j), common) + own * random.normal());
    }
  return layer;
}

}  // namespace models
