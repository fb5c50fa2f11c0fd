#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/numerics/float_format.h"

/// Sums and weight updates really carried out in a number format: every addition is rounded to it. Exact additions are
/// done in double, which holds the sum of two numbers of 24 bits or fewer to the last bit that rounding looks at (53 >=
/// 2 x 24 + 2: Figueroa 1995).
namespace models {

/// Rounds to a binary format of up to 24 bits of significand, on the bits of a double; falls back on encode where it is
/// not a normal number of the format. What is too large becomes the largest finite value, and is counted. Equal to
/// decode(encode(x)).
class FormatRounder {
 public:
  explicit FormatRounder(const FloatFormat& format);
  double nearest(double x);                           ///< to nearest, ties to even
  double stochastic(double x, std::uint64_t random);  ///< up with probability (x - lower) / (upper - lower)
  std::int64_t overflows() const { return overflows_; }
  const FloatFormat& format() const { return *format_; }

 private:
  double slow(double x, Rounding rounding, std::uint64_t random);
  const FloatFormat* format_;
  int dropped_;  ///< how many of double's 52 mantissa bits the format does not have
  std::uint64_t half_, kept_;
  double min_normal_, largest_;
  std::int64_t overflows_ = 0;
};

enum class SumMethod : std::uint8_t {
  naive,       ///< one accumulator in the format
  stochastic,  ///< the same, rounded up or down by chance
  kahan,       ///< a second number of the format carries what was lost (Kahan 1965)
  pairwise,    ///< neighbours first, then their sums: a binary tree, in the format
  blocked,  ///< runs of `block` terms in the format, their sums in FP32: what promotion does in 8-bit matrix products
  wide,     ///< one FP32 accumulator for terms of the format: what tensor cores offer
};
inline constexpr std::size_t sum_method_count = 6;

enum class SumTerms : std::uint8_t {
  ones,       ///< all equal
  uniform,    ///< from 0 to 1
  skewed,     ///< log-normal, three binades wide: a few large, many small
  normal,     ///< normal about 0: both signs
  cancelling  ///< each followed by its negative but for a thousandth
};

struct SumInputs {
  const FloatFormat* format = nullptr;
  SumTerms terms = SumTerms::ones;
  std::int64_t count = 16384;  ///< 1 to 1,048,576
  double size = 1;             ///< all terms are multiplied by it before they are rounded to the format
  std::int64_t block = 128;    ///< 1 to 65,536
  std::int64_t seed = 1;
};

/// What a sum comes to.
struct SumFigures {
  double final = 0, final_error = 0;  ///< the error over the sum of magnitudes, 0 where exact
  std::int64_t moved_last = 0;        ///< terms after which the accumulator changed for the last time
  std::int64_t overflows = 0;         ///< results that were too large and became the largest finite value
};
struct SumTrace : SumFigures {
  std::vector<double> sum, error;  ///< at each checkpoint
};

struct SumRun {
  std::vector<double> count;  ///< checkpoints: numbers of terms, four an octave, the last is all
  std::vector<double> exact;  ///< sum of the rounded terms, in compensated double
  std::vector<double>
      first_order;  ///< (n - 1) u: Higham's bound of the naive error over the sum of magnitudes; 1 at most
  std::array<SumTrace, sum_method_count> methods;
  double magnitudes = 0;  ///< sum of |terms|
  double term_mean = 0;   ///< mean of the magnitudes
};

/// All methods over the same terms. Infeasible: no format, one of more than 24 bits of significand or without sign and
/// exponent, counts out of range. Source of the bounds: Higham, Accuracy and Stability of Numerical Algorithms, 2nd
/// ed., section 4.2.
Result<SumRun> run_low_precision_sum(const SumInputs& inputs);

/// The terms of such a sum, rounded to the format, in their order; empty for inputs that are infeasible.
std::vector<double> low_precision_terms(const SumInputs& inputs);

/// Where adding ones stops in a format: 2^(mantissa bits + 1), the first sum whose spacing is 2.
double ones_stop_at(const FloatFormat& format);

enum class UpdateMethod : std::uint8_t {
  plain,       ///< the weight itself in the format, to nearest
  stochastic,  ///< the same with stochastic rounding: the mean over the replicas
  kahan,       ///< the weight and a compensation, both in the format
  master,      ///< an FP32 master; the format holds a copy, rounded after each step
};
inline constexpr std::size_t update_method_count = 4;

struct UpdateInputs {
  const FloatFormat* format = nullptr;
  double weight = 1;           ///< first rounded to the format
  double update = 0x1p-9;      ///< added in each step, learning rate in
  std::int64_t steps = 512;    ///< 1 to 8,192
  std::int64_t replicas = 64;  ///< weights that are rounded by their own luck, 1 to 256
  std::int64_t seed = 1;
};

/// What the updates of a weight come to.
struct UpdateFigures {
  std::array<std::int64_t, update_method_count>
      first_move{};  ///< step after which it first differs; 0: never (stochastic: of the first replica)
  double start = 0;  ///< the weight in the format
  double smallest_visible =
      0;  ///< updates up to half the gap to the next weight round away (at half itself when the weight is even)
  bool first_seen = false;                               ///< one update changes the plain weight
  double stochastic_mean = 0, stochastic_deviation = 0;  ///< over the replicas' last weights
  double exact_final = 0;
};
struct UpdateRun : UpdateFigures {
  std::vector<double> step, exact;                              ///< 0 to steps
  std::array<std::vector<double>, update_method_count> weight;  ///< as the format shows it
  std::vector<double> stochastic_one;                           ///< the first replica alone
};

/// The same updates, kept in four ways. Infeasible as above.
Result<UpdateRun> run_weight_updates(const UpdateInputs& inputs);

}  // namespace models
