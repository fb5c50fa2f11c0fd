#pragma once
#include <array>
#include <functional>
#include <memory>

#include "models/compression/awq.h"
#include "models/compression/gptq.h"
#include "models/compression/mixed_int8.h"
#include "models/compression/quantization_sample.h"
#include "models/compression/smooth_quant.h"

/// Ways to quantize one layer, on the same weights and the same calibration tokens, judged on those and on others.
namespace models {

struct MethodOptions {
  QuantSpec weights;  ///< format for round to nearest, GPTQ and AWQ, which leave activations alone
  double damping = 0.01;
  bool act_order = false;
  double compensation = -1;                     ///< GptqOptions
  QuantFormat activations = QuantFormat::int8;  ///< format of both operands in the pair with rounded activations
  bool per_token = false;                       ///< a scale for each token; else one for all
  double smoothing = 0.5;                       ///< SmoothQuant's alpha
};

enum class Method : unsigned char { rtn, gptq, awq, both, smooth };  ///< both: weights and activations as they are
inline constexpr std::size_t method_count = 5;
std::string_view method_label(Method method);
/// Who published it, or what it does where nobody needs to be named.
std::string_view method_source_text(Method method);

struct MethodError {
  double calibration = 0, held_out = 0;  ///< ||Y - Y'||^2 / ||Y||^2 of the layer's outputs
  double weight_bits = 0, activation_bits = 16;
};

/// What GPTQ did, one column after the other. Relative errors as in MethodError, on the calibration tokens, of the
/// weights as they stood: columns not yet rounded in full precision.
struct MethodHistory {
  std::vector<std::size_t> order;
  std::vector<double> gptq_error, rtn_error;  ///< after each column
  std::vector<double> change;                 ///< [steps, out, in]: weights then minus weights at first
  std::size_t rows = 0, cols = 0;
};

/// What a study comes to.
struct MethodFigures {
  std::array<MethodError, method_count> errors;
  double awq_alpha = 0, smooth_best_alpha = 0;
  double largest_input = 0, median_input = 0;  ///< max |x_j| over the tokens: of the largest input j and the median one
  double largest_smoothed = 0, median_smoothed = 0;
  MixedInt8 mixed, mixed_held_out;  ///< LLM.int8() on the calibration tokens, and on others
};
struct MethodStudy : MethodFigures {
  MethodHistory history;
  std::vector<AwqPoint> awq_curve, smooth_curve;  ///< the errors that were tried; SmoothQuant's at alpha 0, 0.1 ... 1
};

/// Infeasible: damping so small that H cannot be inverted. `keep_going(fraction)` is asked now and then; false stops
/// with a sentence.
Result<MethodStudy> study_methods(const Layer& layer, const MethodOptions& options,
                                  const std::function<bool(double)>& keep_going = {});

}  // namespace models
