#include "models/compression/quantizer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "models/numerics/float_format.h"

namespace models {
namespace {

// The range that loses least: 1, 0.9 ... 0.2 of the widest, then 0.02 apart around the best of them.
constexpr double smallest_shrink = 0.2, coarse = 0.1, fine = 0.02;

/// In ascending order, -0 left out.
std::vector<double> finite_values(const FloatFormat& format) {
  std::vector<double> out;
  for (std::uint64_t code = 0; code <= format.code_mask(); ++code) {
    const double v = decode(format, code);
    if (std::isfinite(v) && !(v == 0 && code == format.sign_mask() && code != 0)) out.push_back(v);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// To the nearest integer, ties to even, without a call: adding and taking off 1.5 x 2^52.
double to_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

double at_rank(std::vector<double>& v, double share) {
  const double n = static_cast<double>(v.size());
  const std::size_t i = static_cast<std::size_t>(std::clamp(std::ceil(share * n) - 1, 0.0, n - 1));
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(i), v.end());
  return v[i];
}

}  // namespace

std::string_view quant_format_label(QuantFormat format) {
  static constexpr std::string_view labels[] = {"INT8", "INT6",     "INT5", "INT4",    "INT3",
                                                "INT2", "FP8 E4M3", "NF4",  "FP4 E2M1"};
  static_assert(std::size(labels) == static_cast<std::size_t>(QuantFormat::fp4) + 1);
  return labels[static_cast<std::size_t>(format)];
}

int quant_bits(QuantFormat format) {
  static constexpr int bits[] = {8, 6, 5, 4, 3, 2, 8, 4, 4};
  static_assert(std::size(bits) == static_cast<std::size_t>(QuantFormat::fp4) + 1);
  return bits[static_cast<std::size_t>(format)];
}

bool is_integer(QuantFormat format) { return format <= QuantFormat::int2; }

Quantizer::Quantizer(const QuantSpec& spec) : spec_(spec) {
  spec_.symmetric = spec.symmetric || !is_integer(spec.format);
  if (is_integer(spec.format)) {
    const double codes = std::ldexp(1, quant_bits(spec.format));
    high_ = spec_.symmetric ? codes / 2 - 1 : codes - 1;
    low_ = spec_.symmetric ? -high_ : 0;
    return;
  }
  const FloatFormat& format = *find_float_format(spec.format == QuantFormat::fp8   ? "e4m3fn"
                                                 : spec.format == QuantFormat::fp4 ? "e2m1"
                                                                                   : "nf4");
  table_ = finite_values(format);
  if (format.family == FormatFamily::binary) {
    mantissa_bits_ = format.mantissa_bits;
    min_exponent_ = format.emin();
  } else {
    for (std::size_t i = 0; i + 1 < table_.size(); ++i) thresholds_.push_back((table_[i] + table_[i + 1]) / 2);
  }
  high_ = table_.back();
  low_ = table_.front();
}

QuantGrid Quantizer::grid_of(double lo, double hi) const {
  if (spec_.symmetric) {
    const double largest = std::max(std::abs(lo), std::abs(hi));
    return {largest / high_, 0};
  }
  const double step = (std::max(hi, 0.0) - std::min(lo, 0.0)) / high_;
  return {step, step > 0 ? std::round(-std::min(lo, 0.0) / step) : 0};
}

double Quantizer::squared_error(std::span<const double> weights, const QuantGrid& grid) const {
  double sum = 0;
  if (table_.empty() && grid.step > 0) {  // as `round`, with one division for all: the search asks it a dozen times
    const double inverse = 1 / grid.step, lo = low_ - grid.zero, hi = high_ - grid.zero;
    for (const double w : weights) {
      const double e = w - to_integer(std::clamp(w * inverse, lo, hi)) * grid.step;
      sum += e * e;
    }
    return sum;
  }
  for (const double w : weights) {
    const double e = w - round(w, grid);
    sum += e * e;
  }
  return sum;
}

QuantGrid Quantizer::fit(std::span<const double> weights) const {
  if (weights.empty()) return {};
  const auto ends = std::minmax_element(weights.begin(), weights.end());
  const double lo = *ends.first, hi = *ends.second;
  if (spec_.range == QuantRange::percentile) {
    std::vector<double> v(weights.begin(), weights.end());
    const double inside = spec_.percentile / 100;
    if (spec_.symmetric) {
      for (double& x : v) x = std::abs(x);
      const double largest = at_rank(v, inside);
      return grid_of(-largest, largest);
    }
    const double upper = at_rank(v, 1 - (1 - inside) / 2);
    return grid_of(at_rank(v, (1 - inside) / 2), upper);
  }
  const QuantGrid widest = grid_of(lo, hi);
  if (spec_.range == QuantRange::min_max || widest.step <= 0) return widest;
  QuantGrid best = widest;
  double least = squared_error(weights, widest), at = 1;
  const auto attempt = [&](double shrink) {
    const QuantGrid grid = grid_of(lo * shrink, hi * shrink);
    if (const double e = squared_error(weights, grid); e < least) least = e, best = grid, at = shrink;
  };
  for (double shrink = 0.9; shrink > smallest_shrink - coarse / 2; shrink -= coarse) attempt(shrink);
  const double middle = at;
  for (int k = -4; k <= 4; ++k)
    if (const double shrink = middle + k * fine; k != 0 && shrink < 1) attempt(shrink);
  return best;
}

double Quantizer::round(double weight, const QuantGrid& grid) const {
  if (!(grid.step > 0)) return 0;
  const double x = weight / grid.step;
  if (table_.empty()) return to_integer(std::clamp(x, low_ - grid.zero, high_ - grid.zero)) * grid.step;
  if (thresholds_.empty()) {
    // The spacing at |x| is 2^(exponent - mantissa bits); ties to an even multiple are ties to an even code.
    const double size = std::min(std::abs(x), high_);
    const int exponent =
        std::max(static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52) - 1023, min_exponent_) - mantissa_bits_;
    return std::copysign(to_integer(size * power_of_two(-exponent)) * power_of_two(exponent), x) * grid.step;
  }
  std::size_t below = 0;  // of 15 thresholds: counting all is quicker than searching
  for (const double t : thresholds_) below += x > t;
  return table_[below] * grid.step;
}

double Quantizer::lowest(const QuantGrid& grid) const { return (low_ - grid.zero) * grid.step; }
double Quantizer::highest(const QuantGrid& grid) const { return (high_ - grid.zero) * grid.step; }

std::vector<double> Quantizer::levels(const QuantGrid& grid) const {
  std::vector<double> out;
  if (!table_.empty())
    for (const double v : table_) out.push_back(v * grid.step);
  else
    for (double code = low_; code <= high_; ++code) out.push_back((code - grid.zero) * grid.step);
  return out;
}

std::size_t Quantizer::group_length(std::size_t cols) const {
  return spec_.grain == QuantGrain::group ? std::clamp<std::size_t>(spec_.group, 1, std::max<std::size_t>(cols, 1))
                                          : cols;
}

double Quantizer::bits_per_weight(std::size_t rows, std::size_t cols) const {
  const double bits = quant_bits(spec_.format), each = spec_.scale_bits + (spec_.symmetric ? 0 : bits);
  const std::size_t length = std::max<std::size_t>(group_length(cols), 1);
  const double weights = static_cast<double>(rows) * static_cast<double>(cols);
  if (!(weights > 0)) return bits;
  const double grids = spec_.grain == QuantGrain::tensor
                           ? 1
                           : static_cast<double>(rows) * static_cast<double>((cols + length - 1) / length);
  return bits + grids * each / weights;
}

QuantizedMatrix quantize(const Matrix& w, const QuantSpec& spec) {
  const Quantizer quantizer(spec);
  QuantizedMatrix out{Matrix(w.rows, w.cols), {}, 1, quantizer.bits_per_weight(w.rows, w.cols)};
  if (spec.grain == QuantGrain::tensor) {
    out.grids.push_back(quantizer.fit(w.values));
    for (std::size_t i = 0; i < w.values.size(); ++i)
      out.weights.values[i] = quantizer.round(w.values[i], out.grids[0]);
    return out;
  }
  const std::size_t length = std::max<std::size_t>(quantizer.group_length(w.cols), 1);
  out.grids_per_row = (w.cols + length - 1) / length;
  for (std::size_t r = 0; r < w.rows; ++r)
    for (std::size_t c = 0; c < w.cols; c += length) {
      const auto part = w.row(r).subspan(c, std::min(length, w.cols - c));
      const QuantGrid grid = quantizer.fit(part);
      out.grids.push_back(grid);
      for (std::size_t i = 0; i < part.size(); ++i) out.weights.at(r, c + i) = quantizer.round(part[i], grid);
    }
  return out;
}

QuantError quantization_error(const Matrix& w, const Matrix& rounded) {
  QuantError out;
  double lost = 0, kept = 0;
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    const double e = std::abs(w.values[i] - rounded.values[i]);
    out.mean_abs += e;
    out.largest = std::max(out.largest, e);
    lost += e * e;
    kept += w.values[i] * w.values[i];
  }
  const double n = std::max(1.0, static_cast<double>(w.values.size()));
  out.mean_abs /= n;
  out.rms = std::sqrt(lost / n);
  out.relative = kept > 0 ? std::sqrt(lost / kept) : 0;
  out.sqnr_db = lost > kept * 1e-30 ? 10 * std::log10(std::max(kept, std::numeric_limits<double>::min()) / lost) : 300;
  return out;
}

double share_outside(const Matrix& w, const QuantizedMatrix& q, const QuantSpec& spec) {
  const Quantizer quantizer(spec);
  const std::size_t length = std::max<std::size_t>(quantizer.group_length(w.cols), 1);
  std::size_t outside = 0;
  for (std::size_t r = 0; r < w.rows; ++r)
    for (std::size_t c = 0; c < w.cols; ++c) {
      const QuantGrid& grid = q.grids[spec.grain == QuantGrain::tensor ? 0 : r * q.grids_per_row + c / length];
      const double slack = 1e-12 * std::abs(w.at(r, c));
      outside += w.at(r, c) < quantizer.lowest(grid) - slack || w.at(r, c) > quantizer.highest(grid) + slack;
    }
  return w.values.empty() ? 0 : static_cast<double>(outside) / static_cast<double>(w.values.size());
}

double output_error(const Matrix& w, const Matrix& v, const Matrix& g) {
  const double whole = quadratic_form(w, g);
  return whole > 0 ? std::max(0.0, quadratic_form(difference(w, v), g)) / whole : 0;
}

}  // namespace models
