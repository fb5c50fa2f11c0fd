#include "chapters/compression/methods/lab.h"

#include <memory>
#include <utility>

namespace chapters::compression::methods {
namespace {

using models::Method;
using models::QuantFormat;

/// What GPTQ adds to the columns left, as a factor on the error.
double compensation_of(Sign sign) {
  switch (sign) {
    case Sign::minus:
      return -1;
    case Sign::none:
      return 0;
    case Sign::plus:
      break;
  }
  return 1;
}

QuantFormat format_of(Activations activations) {
  switch (activations) {
    case Activations::int8:
      return QuantFormat::int8;
    case Activations::int4:
      return QuantFormat::int4;
    case Activations::fp8:
      break;
  }
  return QuantFormat::fp8;
}

models::LayerSample sample_of(const Inputs& in) {
  return {
      .inputs = static_cast<std::size_t>(in.inputs),
      .outputs = static_cast<std::size_t>(in.outputs),
      .tokens = static_cast<std::size_t>(in.tokens),
      .seed = in.seed,
      .correlation = in.correlation,
      .outlier_inputs = static_cast<std::size_t>(in.outlier_inputs),
      .outlier_size = in.outlier_size,
  };
}

models::MethodOptions options_of(const Inputs& in) {
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
      .compensation = compensation_of(in.sign),
      .activations = format_of(in.activations),
      .per_token = in.per_token,
      .smoothing = in.smoothing,
  };
}

double ratio_of(double a, double b) { return b > 0 ? a / b : 1; }

/// LLM.int8(), which keeps some inputs in 16 bits, in the same terms.
void add_mixed(Outputs& out) {
  const models::MixedInt8 &mixed = out.figures.mixed, &fresh = out.figures.mixed_held_out;
  out.mixed_error = 100 * mixed.error;
  out.mixed_held_out = 100 * fresh.error;
  out.mixed_inputs = static_cast<std::int64_t>(fresh.kept_inputs);
  out.mixed_int8_share = 100 * fresh.int8_share;
  out.rows.push_back({
      .method = "LLM.int8()",
      .source = "Dettmers et al. 2022, arXiv:2208.07339; INT8 whatever is chosen, inputs with outliers in 16 bits",
      .weight_bits = fresh.weight_bits,
      .activation_bits = 8 * fresh.int8_share + 16 * (1 - fresh.int8_share),
      .error = out.mixed_error,
      .held_out = out.mixed_held_out,
      .against_rounding = ratio_of(out.mixed_held_out, out.error_of(Method::both).held_out),
  });
}

/// The errors of every method in percent, and what each is of rounding's or, for SmoothQuant, of both rounded.
void compare_methods(Outputs& out) {
  const auto& errors = out.figures.errors;
  for (std::size_t m = 0; m < models::method_count; ++m) {
    const models::MethodError& e = errors[m];
    out.errors[m] = {100 * e.calibration, 100 * e.held_out};
    const models::MethodError& plain = errors[m < static_cast<std::size_t>(Method::both) ? 0 : 3];
    out.rows.push_back({
        .method = std::string(models::method_label(static_cast<Method>(m))),
        .source = std::string(models::method_source_text(static_cast<Method>(m))),
        .weight_bits = e.weight_bits,
        .activation_bits = e.activation_bits,
        .error = out.errors[m].calibration,
        .held_out = out.errors[m].held_out,
        .against_rounding = ratio_of(e.held_out, plain.held_out),
    });
  }
  const ErrorPercent &rtn = out.error_of(Method::rtn), &gptq = out.error_of(Method::gptq);
  out.gptq_ratio = ratio_of(gptq.calibration, rtn.calibration);
  out.gptq_ratio_held_out = ratio_of(gptq.held_out, rtn.held_out);
  out.awq_ratio = ratio_of(out.error_of(Method::awq).calibration, rtn.calibration);
  out.awq_ratio_held_out = ratio_of(out.error_of(Method::awq).held_out, rtn.held_out);
  out.smooth_ratio_held_out = ratio_of(out.error_of(Method::smooth).held_out, out.error_of(Method::both).held_out);
  out.smooth_ratio = ratio_of(out.error_of(Method::smooth).calibration, out.error_of(Method::both).calibration);
  out.gptq_taken = 100 * (1 - out.gptq_ratio_held_out);
  out.awq_taken = 100 * (1 - out.awq_ratio_held_out);
  out.smooth_taken = 100 * (1 - out.smooth_ratio_held_out);
  std::size_t best = 0;  // among the three that leave activations alone
  for (const Method m : {Method::gptq, Method::awq})
    if (errors[static_cast<std::size_t>(m)].held_out < errors[best].held_out) best = static_cast<std::size_t>(m);
  out.best = out.rows[best].method;
  add_mixed(out);
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs out;
  models::LayerSample sample = sample_of(in);
  out.weights = "made up from seed " + std::to_string(in.seed);
  WeightPart part;
  if (!in.file.path.empty()) {
    const models::Status read = read_weights(in.file, in.tensor, sample.outputs, sample.inputs, part);
    if (!read) return {.facts = {.reason = read.error}};
    sample.inputs = part.weights.cols;
    sample.outputs = part.weights.rows;
    out.weights = part.what;
  } else if (!in.tensor.empty()) {
    out.note = "The tensor '" + in.tensor.substr(0, 80) + "' is looked for once a file is chosen.";
  }
  if (in.grain == models::QuantGrain::group && static_cast<std::size_t>(in.group) > sample.inputs)
    out.note = "A group of " + std::to_string(in.group) + " is the whole row of " + std::to_string(sample.inputs) +
               " inputs: one scale per row.";
  models::Layer layer = models::sample_layer(sample);
  if (!in.file.path.empty()) layer.weights = std::move(part.weights);
  auto study = models::study_methods(layer, options_of(in), [&](double fraction) {
    progress.fraction = fraction;
    return !progress.cancelled.load();
  });
  if (!study) return {.facts = {.reason = study.error}};
  out.figures = *study;
  compare_methods(out);
  out.input_spread = ratio_of(out.figures.largest_input, out.figures.median_input);
  out.smoothed_spread = ratio_of(out.figures.largest_smoothed, out.figures.median_smoothed);
  out.first_column = static_cast<std::int64_t>(study->history.order.front());
  progress.fraction = 1;
  return {std::move(out), std::make_shared<const Run>(Run{std::move(*study)})};
}

}  // namespace chapters::compression::methods
