#include "models/compression/method_study.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

/// The history of a GPTQ run. E = W - W0 changes by a multiple of one row v of U a column, so ||E X^T||^2 is carried
/// along in O(out x in) instead of being computed anew: with P = E G it grows by 2 s P v + s^2 v G v for a row whose
/// multiple is s.
void follow(const Matrix& w0, const Matrix& g, const GptqResult& run, double compensation, double whole,
            MethodHistory& out) {
  const std::size_t rows = w0.rows, n = w0.cols;
  out.rows = rows;
  out.cols = n;
  out.order = run.order;
  out.change.assign(n * rows * n, 0);
  Matrix e(rows, n), p(rows, n);
  std::vector<double> v(n), vg(n);
  double error = 0;
  for (std::size_t j = 0; j < n; ++j) {
    std::fill(v.begin(), v.end(), 0.0);
    v[run.order[j]] = -run.root.at(j, j);
    for (std::size_t k = j + 1; k < n; ++k) v[run.order[k]] = compensation * run.root.at(j, k);
    std::fill(vg.begin(), vg.end(), 0.0);
    for (std::size_t k = 0; k < n; ++k)
      if (v[k] != 0) add_scaled(v[k], g.row(k), vg);
    const double vgv = dot(v, vg);
    for (std::size_t r = 0; r < rows; ++r) {
      const double s = run.errors.at(r, j);
      error += 2 * s * dot(p.row(r), v) + s * s * vgv;
      add_scaled(s, v, e.row(r));
      add_scaled(s, vg, p.row(r));
    }
    out.gptq_error.push_back(std::max(0.0, error) / whole);
    std::copy(e.values.begin(), e.values.end(), out.change.begin() + static_cast<std::ptrdiff_t>(j * rows * n));
  }
}

/// Round to nearest in the same order: each column on its own.
void follow_plain(const Matrix& difference, const Matrix& g, double whole, MethodHistory& out) {
  Matrix p(difference.rows, difference.cols);
  double error = 0;
  for (const std::size_t c : out.order) {
    for (std::size_t r = 0; r < difference.rows; ++r) {
      const double e = difference.at(r, c);
      error += 2 * e * p.at(r, c) + e * e * g.at(c, c);
      add_scaled(e, g.row(c), p.row(r));
    }
    out.rtn_error.push_back(std::max(0.0, error) / whole);
  }
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace

std::string_view method_label(Method method) {
  static constexpr std::string_view labels[] = {"Round to nearest", "GPTQ", "AWQ", "Both rounded", "SmoothQuant"};
  static_assert(std::size(labels) == static_cast<std::size_t>(Method::smooth) + 1);
  return labels[static_cast<std::size_t>(method)];
}

std::string_view method_source_text(Method method) {
  static constexpr std::string_view texts[] = {
      "each weight to its nearest level", "Frantar et al. 2022, arXiv:2210.17323", "Lin et al. 2023, arXiv:2306.00978",
      "weights and activations to their nearest levels", "Xiao et al. 2022, arXiv:2211.10438"};
  static_assert(std::size(texts) == method_count);
  return texts[static_cast<std::size_t>(method)];
}

namespace {

/// Both operands of the product rounded: as they are, smoothed, and smoothed with strengths from 0 to 1.
void study_rounded_pair(const Layer& layer, const MethodOptions& options, MethodStudy& out) {
  const Matrix& w = layer.weights;
  // Weights of the pair: a symmetric scale for each output, as W8A8 kernels expect.
  const QuantSpec for_w{.format = options.activations, .grain = QuantGrain::channel};
  const QuantSpec for_x{.format = options.activations,
                        .grain = options.per_token ? QuantGrain::channel : QuantGrain::tensor};
  const Matrix truth = times_transposed(layer.calibration, w), fresh_truth = times_transposed(layer.held_out, w);
  const double bits = Quantizer(for_w).bits_per_weight(w.rows, w.cols),
               activation_bits = quant_bits(options.activations);
  out.errors[static_cast<std::size_t>(Method::both)] = {
      rounded_product_error(layer.calibration, w, for_x, for_w, truth),
      rounded_product_error(layer.held_out, w, for_x, for_w, fresh_truth), bits, activation_bits};
  out.mixed = mixed_int8_product(layer.calibration, w, mixed_int8_threshold, truth);
  out.mixed_held_out = mixed_int8_product(layer.held_out, w, mixed_int8_threshold, fresh_truth);
  const auto largest_x = largest_abs_columns(layer.calibration), largest_w = largest_abs_columns(w);
  const auto smoothed_error = [&](double alpha, const Matrix& x, const Matrix& expected) {
    const SmoothedLayer s = smooth(x, w, smoothing_scales(largest_x, largest_w, alpha));
    return rounded_product_error(s.x, s.w, for_x, for_w, expected);
  };
  out.errors[static_cast<std::size_t>(Method::smooth)] = {
      smoothed_error(options.smoothing, layer.calibration, truth),
      smoothed_error(options.smoothing, layer.held_out, fresh_truth), bits, activation_bits};
  double least = HUGE_VAL;
  for (int k = 0; k <= 10; ++k) {
    const double alpha = k / 10.0, error = smoothed_error(alpha, layer.calibration, truth);
    out.smooth_curve.push_back({alpha, error});
    if (error < least) {
      least = error;
      out.smooth_best_alpha = alpha;
    }
  }
  const auto after =
      largest_abs_columns(smooth(layer.calibration, w, smoothing_scales(largest_x, largest_w, options.smoothing)).x);
  out.largest_input = *std::max_element(largest_x.begin(), largest_x.end());
  out.median_input = median(largest_x);
  out.largest_smoothed = *std::max_element(after.begin(), after.end());
  out.median_smoothed = median(after);
}

}  // namespace

Result<MethodStudy> study_methods(const Layer& layer, const MethodOptions& options,
                                  const std::function<bool(double)>& keep_going) {
  using Outcome = Result<MethodStudy>;
  const auto go = [&](double fraction) { return !keep_going || keep_going(fraction); };
  const std::string stopped = "The study was stopped before its end.";
  const Matrix& w = layer.weights;
  const Matrix g = gram(layer.calibration), fresh = gram(layer.held_out);
  const double whole = quadratic_form(w, g);
  if (!(whole > 0)) return Outcome::fail("The layer's outputs are all zero on these tokens.");
  MethodStudy out;
  const auto weight_only = [&](Method m, const Matrix& v, double bits) {
    out.errors[static_cast<std::size_t>(m)] = {output_error(w, v, g), output_error(w, v, fresh), bits, 16};
  };
  const QuantizedMatrix nearest = quantize(w, options.weights);
  weight_only(Method::rtn, nearest.weights, nearest.bits_per_weight);

  const auto run = gptq(w, g, {options.weights, options.damping, options.act_order, 128, options.compensation});
  if (!run) return Outcome::fail(run.error);
  weight_only(Method::gptq, run->weights, run->bits_per_weight);
  follow(w, g, *run, options.compensation, whole, out.history);
  follow_plain(difference(nearest.weights, w), g, whole, out.history);
  if (!go(0.3)) return Outcome::fail(stopped);

  const AwqResult scaled = awq(w, mean_abs_columns(layer.calibration), g, options.weights);
  weight_only(Method::awq, scaled.weights, scaled.bits_per_weight);
  out.awq_curve = scaled.tried;
  out.awq_alpha = scaled.alpha;
  if (!go(0.7)) return Outcome::fail(stopped);

  study_rounded_pair(layer, options, out);
  return Outcome::ok(std::move(out));
}

}  // namespace models
