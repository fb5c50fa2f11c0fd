#include <algorithm>
#include <cmath>

#include "chapters/compression/methods/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::methods {
namespace {

using models::Method;
using models::QuantFormat;
using widgets::format_text;

models::MethodOptions options_of(const Inputs& in) {
  constexpr double compensation[] = {-1, 0, 1};
  constexpr QuantFormat formats[] = {QuantFormat::int8, QuantFormat::int4, QuantFormat::fp8};
  return {
      .weights =
          {
              .format = in.format,
              .symmetric = in.symmetric,
              .grain = in.grain,
              .group = static_cast<std::size_t>(in.group),
              .range = in.search_range ? models::QuantRange::mse : models::QuantRange::min_max,
          },
      .damping = in.damping,
      .act_order = in.act_order,
      .compensation = compensation[static_cast<std::size_t>(in.sign)],
      .activations = formats[static_cast<std::size_t>(in.activations)],
      .per_token = in.per_token,
      .smoothing = in.smoothing,
  };
}

void fill_rows(const models::MethodStudy& s, Outputs& out) {
  double* errors[] = {&out.rtn_error, &out.gptq_error, &out.awq_error, &out.both_error, &out.smooth_error};
  double* held_out[] = {&out.rtn_held_out, &out.gptq_held_out, &out.awq_held_out, &out.both_held_out,
                        &out.smooth_held_out};
  for (std::size_t m = 0; m < models::method_count; ++m) {
    const auto& e = s.errors[m];
    *errors[m] = 100 * e.calibration;
    *held_out[m] = 100 * e.held_out;
    const double plain = s.errors[m < 3 ? 0 : 3].held_out;
    out.rows.push_back({std::string(models::method_label(static_cast<Method>(m))), e.weight_bits, e.activation_bits,
                        100 * e.calibration, 100 * e.held_out, plain > 0 ? e.held_out / plain : 1});
    out.bars_x.push_back(static_cast<double>(m));
    out.bars_calibration.push_back(100 * e.calibration);
    out.bars_held_out.push_back(100 * e.held_out);
  }
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 1; };
  out.gptq_ratio = ratio(out.gptq_error, out.rtn_error);
  out.gptq_ratio_held_out = ratio(out.gptq_held_out, out.rtn_held_out);
  out.awq_ratio = ratio(out.awq_error, out.rtn_error);
  out.smooth_ratio = ratio(out.smooth_error, out.both_error);
  out.weight_bits = s.errors[0].weight_bits;
  out.pair_bits = s.errors[3].weight_bits;
  std::size_t best = 0;
  for (std::size_t m = 1; m < 3; ++m)
    if (s.errors[m].held_out < s.errors[best].held_out) best = m;
  out.best = out.rows[best].method;
}

void fill_curves(const models::MethodStudy& s, Outputs& out) {
  const auto& h = s.history;
  for (std::size_t i = 0; i <= h.gptq_error.size(); ++i) {
    out.columns.push_back(static_cast<double>(i));
    out.gptq_curve.push_back(i == 0 ? 0 : 100 * h.gptq_error[i - 1]);
    out.rtn_curve.push_back(i == 0 ? 0 : 100 * h.rtn_error[i - 1]);
  }
  for (const auto& p : s.awq_curve) out.awq_x.push_back(p.alpha), out.awq_y.push_back(100 * p.output_error);
  for (const auto& p : s.smooth_curve) out.smooth_x.push_back(p.alpha), out.smooth_y.push_back(100 * p.output_error);
  out.change.assign(h.change.size() + h.rows * h.cols, 0);  // before the first column nothing has moved
  for (std::size_t i = 0; i < h.change.size(); ++i) {
    out.change[h.rows * h.cols + i] = std::abs(h.change[i]);
    out.change_reach = std::max(out.change_reach, std::abs(h.change[i]));
  }
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out;
  models::LayerSample sample{
      .inputs = static_cast<std::size_t>(in.inputs),
      .outputs = static_cast<std::size_t>(in.outputs),
      .tokens = static_cast<std::size_t>(in.tokens),
      .seed = in.seed,
      .correlation = in.correlation,
      .outlier_inputs = static_cast<std::size_t>(in.outlier_inputs),
      .outlier_size = in.outlier_size,
  };
  out.weights = "made up from seed " + std::to_string(in.seed);
  WeightPart part;
  if (!in.file.path.empty()) {
    if (out.reason = read_weights(in.file, in.tensor, sample.outputs, sample.inputs, part); !out.reason.empty())
      return out;
    sample.inputs = part.weights.cols;
    sample.outputs = part.weights.rows;
    out.weights = part.what;
  } else if (!in.tensor.empty()) {
    out.note = "The tensor '" + in.tensor.substr(0, 80) + "' is looked for once a file is chosen.";
  }
  models::Layer layer = models::sample_layer(sample);
  if (!in.file.path.empty()) layer.weights = std::move(part.weights);
  auto study = models::study_methods(layer, options_of(in), [&](double fraction) {
    progress.fraction = fraction;
    return !progress.cancelled.load();
  });
  if (!study) {
    out.reason = study.error;
    return out;
  }
  fill_rows(*study, out);
  fill_curves(*study, out);
  out.awq_alpha = study->awq_alpha;
  out.smooth_best_alpha = study->smooth_best_alpha;
  const auto spread = [](double largest, double median) { return median > 0 ? largest / median : 1; };
  out.input_spread = spread(study->largest_input, study->median_input);
  out.smoothed_spread = spread(study->largest_smoothed, study->median_smoothed);
  out.first_column = static_cast<std::int64_t>(study->history.order.front());

  out.verdict = out.best + " loses least at " + format_text(out.weight_bits, "", 4) + " bits a weight: GPTQ " +
                format_text(out.gptq_ratio_held_out, "") + " and AWQ " +
                format_text(out.rtn_held_out > 0 ? out.awq_held_out / out.rtn_held_out : 1, "") +
                " of rounding's error on new tokens";
  out.story = "Squared error of the layer's output; weights " + out.weights + "." +
              (in.sign == Sign::plus ? " The update has the wrong sign, on purpose." : "") +
              (out.note.empty() ? "" : " " + out.note);
  out.awq_story = "best at " + format_text(out.awq_alpha, "") + "; 0 is plain rounding";
  out.smooth_story = "best at " + format_text(out.smooth_best_alpha, "") + "; largest over median input " +
                     format_text(out.input_spread, "") + ", smoothed " + format_text(out.smoothed_spread, "");
  widgets::Fingerprint mark;
  for (const auto& r : out.rows) mark.add(r.error), mark.add(r.held_out);
  for (const double v : out.gptq_curve) mark.add(v);
  out.version = mark.value | 1;
  (*study).history.change = {};  // held in `change` now
  out.study = std::make_shared<models::MethodStudy>(std::move(*study));
  progress.fraction = 1;
  return out;
}

}  // namespace chapters::compression::methods
