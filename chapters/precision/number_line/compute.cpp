#include <cmath>
#include <memory>
#include <utility>

#include "chapters/precision/number_line/lab.h"
#include "models/base/printable.h"

namespace chapters::precision::number_line {
namespace {

using models::FloatFormat;

double per_octave(const FloatFormat& f) {
  return f.family == models::FormatFamily::binary ? std::ldexp(1.0, f.mantissa_bits)
                                                  : static_cast<double>(models::values_between(f, 0.5, 1)) - 1;
}

Row row_of(const FloatFormat& f, const models::Tensor& tensor) {
  models::Fate fate = models::fate_of(f, tensor);
  if (tensor.spread == models::ValueSpread::none) {  // No number becomes anything.
    const double none = std::nan("");
    fate = {none, none, none, none};
  }
  const models::FormatLimits limits = models::limits(f);
  // A tail with less than one number in ten thousand million is no number of any tensor.
  const auto percent = [](double share) { return share < 1e-10 ? 0 : 100 * share; };
  return {
      .name = std::string(f.name),
      .limits = limits,
      .values = static_cast<double>(limits.distinct_finite),
      .per_octave = per_octave(f),
      .underflow = percent(fate.underflow),
      .subnormal = percent(fate.subnormal),
      .normal = 100 * fate.normal,
      .overflow = percent(fate.overflow),
  };
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  const FloatFormat* format = models::find_float_format(in.format);
  if (!format) return {.facts = {.reason = "There is no format " + in.format + "."}};
  if (!in.file.bytes && !in.tensor.empty())
    return {
        .facts = {.reason = "The tensor " + models::printable(in.tensor, 80) +
                            " is named but no file is chosen: drop a safetensors file on the lab, or clear the name."}};
  Outputs o;
  auto run = std::make_shared<Run>();
  run->tensor = {
      .spread = in.spread,
      .size = in.size,
      .octaves = in.octaves,
      .scale = in.scale,
  };
  if (in.file.bytes) {
    auto sample = load_sample(in, progress);
    if (!sample) return {.facts = {.reason = sample.error}};
    run->sample = std::move(*sample);
    run->tensor.spread = models::ValueSpread::tensor;
    run->tensor.sorted = run->sample->sorted;
  }
  const Row chosen = row_of(*format, run->tensor);
  o.limits = chosen.limits;
  o.values = chosen.values;
  o.per_octave = chosen.per_octave;
  o.underflow = chosen.underflow;
  o.subnormal = chosen.subnormal;
  o.normal = chosen.normal;
  o.overflow = chosen.overflow;
  models::Tensor unscaled = run->tensor;
  unscaled.scale = 1;
  o.underflow_unscaled = in.scale > 1 ? row_of(*format, unscaled).underflow : chosen.underflow;
  o.octaves_covered = std::log2(o.limits.max_finite) - std::log2(o.limits.min_positive);
  o.subnormals = static_cast<double>(o.limits.subnormal_codes);
  const double positive =
      static_cast<double>(models::values_between(*format, o.limits.min_positive, o.limits.max_finite));
  o.below_one = 100 * static_cast<double>(models::values_between(*format, o.limits.min_positive, 1)) / positive;
  for (const std::string& id : in.formats)
    if (const FloatFormat* f = models::find_float_format(id)) o.rows.push_back(row_of(*f, run->tensor));
  return {std::move(o), std::move(run)};
}

}  // namespace chapters::precision::number_line
