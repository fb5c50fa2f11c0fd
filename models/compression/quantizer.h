#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/linear_algebra.h"

/// Quantization of a weight matrix to few levels and back: the grid of a format, how its range is chosen, what it costs
/// and loses.
namespace models {

enum class QuantFormat : std::uint8_t { int8, int6, int5, int4, int3, int2, fp8, nf4, fp4 };  ///< fp8: E4M3; fp4: E2M1
enum class QuantGrain : std::uint8_t {
  tensor,
  channel,
  group
};  ///< what shares one scale; a channel is a row (an output)
enum class QuantRange : std::uint8_t { min_max, percentile, mse };

std::string_view quant_format_label(QuantFormat format);
int quant_bits(QuantFormat format);
bool is_integer(QuantFormat format);

struct QuantSpec {
  QuantFormat format = QuantFormat::int4;
  bool symmetric =
      true;  ///< integers only: without a zero point, levels -(2^(b-1)-1) to 2^(b-1)-1; the others always are
  QuantGrain grain = QuantGrain::channel;
  std::size_t group = 128;  ///< weights of a row that share a scale; the last group of a row may be shorter
  QuantRange range = QuantRange::min_max;
  double percentile = 99.9;  ///< percentage of |w|, or of the central part when affine, that stays inside the range
  double scale_bits = 16;    ///< stored for each scale
  bool operator==(const QuantSpec&) const = default;
};

/// Where the levels of one group lie. A step of 0: the group is all zeros.
struct QuantGrid {
  double step = 0;  ///< integers: distance of two levels; other formats: what a level of the format is multiplied by
  double zero = 0;  ///< integers: the code that means 0
};

/// The format of a spec made ready: levels and thresholds.
class Quantizer {
 public:
  explicit Quantizer(const QuantSpec& spec);
  const QuantSpec& spec() const { return spec_; }

  /// The grid for these weights, by the spec's rule. Affine ranges include 0, so that its code exists.
  QuantGrid fit(std::span<const double> weights) const;
  /// The nearest level, as a weight again; beyond the ends, the last level. Ties to even, of NF4 down.
  double round(double weight, const QuantGrid& grid) const;
  double lowest(const QuantGrid& grid) const;
  double highest(const QuantGrid& grid) const;
  /// All levels of a grid in order.
  std::vector<double> levels(const QuantGrid& grid) const;
  /// Format, scales and zero points (of as many bits as a weight has), over the weights of a [rows, cols] matrix.
  double bits_per_weight(std::size_t rows, std::size_t cols) const;
  std::size_t group_length(std::size_t cols) const;  ///< weights of a row under one scale

 private:
  QuantGrid grid_of(double lo, double hi) const;
  double squared_error(std::span<const double> weights, const QuantGrid& grid) const;
  QuantSpec spec_;
  double low_ = 0, high_ = 0;                 ///< integer codes
  std::vector<double> table_;                 ///< other formats: levels, ascending
  std::vector<double> thresholds_;            ///< NF4: between them; a tie goes down
  int mantissa_bits_ = 0, min_exponent_ = 0;  ///< FP8 and FP4
};

struct QuantizedMatrix {
  Matrix weights;                ///< rounded, as numbers again
  std::vector<QuantGrid> grids;  ///< row by row; one for all with QuantGrain::tensor
  std::size_t grids_per_row = 1;
  double bits_per_weight = 0;
};
/// Round to nearest, each weight for itself.
QuantizedMatrix quantize(const Matrix& weights, const QuantSpec& spec);

struct QuantError {
  double sqnr_db = 0;  ///< 10 log10(sum w^2 / sum e^2); 300 where nothing is lost
  double mean_abs = 0, rms = 0, largest = 0;
  double relative = 0;  ///< root of sum e^2 / sum w^2
};
QuantError quantization_error(const Matrix& weights, const Matrix& rounded);
/// Share of weights outside their grid's first and last level: those for which the straight-through estimator passes no
/// gradient.
double share_outside(const Matrix& weights, const QuantizedMatrix& quantized, const QuantSpec& spec);

/// ||X (W - V)^T||^2 / ||X W^T||^2 of w, v [out, in], with X^T X [in, in] of inputs X: what the layer's output loses.
double output_error(const Matrix& w, const Matrix& v, const Matrix& gram_of_x);

}  // namespace models
