#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/precision/number_line/lab.h"
#include "models/numerics/rounding.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {
namespace {

constexpr std::size_t max_ticks = 400, max_labels = 64;

/// Brightness of a column by how many values share it: one octave of FP32 holds eight million.
int level_of(double count) { return count < 0.5 ? 0 : static_cast<int>(std::min(10.0, 1 + std::log2(count) / 2)); }

Fate fate_of_magnitude(const models::FormatLimits& limits, double magnitude) {
  return magnitude <= limits.underflow_threshold ? Fate::zero
         : magnitude > limits.overflow_threshold ? Fate::overflow
         : magnitude < limits.min_normal         ? Fate::subnormal
                                                 : Fate::normal;
}

/// Shares of the numbers in equal columns of the stretch, and what the format makes of those in the middle of each.
void sample_curve(const models::FormatLimits& limits, const models::FloatFormat& format, const models::Tensor& numbers,
                  const Frame& frame, View& view) {
  const std::size_t columns = view.curve.size();
  const auto value_in = [&](double column) {
    const double span = frame.stretch.hi - frame.stretch.lo;
    return models::value_at(format, frame.axis, frame.stretch.lo + span * column / static_cast<double>(columns));
  };
  const auto share_below = [&](std::size_t column) {
    const double v = value_in(static_cast<double>(column));
    return frame.axis == models::LineAxis::log2 ? models::share_of_magnitudes_below(numbers, v)
                                                : models::share_below(numbers, v);
  };
  double before = share_below(0);
  for (std::size_t i = 0; i < columns; ++i) {
    const double here = share_below(i + 1);
    view.curve[i] = std::max(0.0, here - before);
    before = here;
    view.curve_fate[i] = fate_of_magnitude(limits, std::abs(value_in(static_cast<double>(i) + 0.5)));
  }
  const double all = std::accumulate(view.curve.begin(), view.curve.end(), 0.0);
  // Where hardly a number is in view the shape would be that of rounding errors.
  view.curve_highest = all > 1e-7 ? *std::max_element(view.curve.begin(), view.curve.end()) : 0;
}

}  // namespace

void refresh_row(RowCache& c, const models::FloatFormat& f, const Frame& frame) {
  if (c.laid_out == frame.laid_out() && c.format == &f && !c.counts.empty()) return;
  c.laid_out = frame.laid_out();
  c.format = &f;
  c.counts.resize(static_cast<std::size_t>(std::max(1.0f, frame.right - frame.left)));
  c.total = models::count_columns(f, frame.axis, frame.stretch, c.counts);
  c.levels.resize(c.counts.size());
  const double normal = models::limits(f).min_normal;
  for (std::size_t i = 0; i < c.counts.size(); ++i) {
    const auto magnitude = [&](std::size_t edge) {
      return std::abs(models::value_at(f, frame.axis, frame.coordinate(frame.left + static_cast<float>(edge))));
    };
    const bool subnormal = c.counts[i] > 0.5 && std::max(magnitude(i), magnitude(i + 1)) <= normal;
    c.levels[i] = static_cast<std::uint8_t>(level_of(c.counts[i]) + (subnormal ? subnormal_level : 0));
  }
  c.values = models::values_in(f, frame.axis, frame.stretch, std::min(max_ticks, c.counts.size() / 3));
  c.count_text = widgets::format_text(c.total, "", c.total < 1e12 ? 12 : 3, widgets::Prefix::none) + " values in view";
  c.subnormal.clear();
  for (const models::LineValue& v : c.values) c.subnormal.push_back(v.value != 0 && std::abs(v.value) < normal);
  c.labels.clear();
  c.short_labels.clear();
  c.codes.clear();
  if (c.values.size() > max_labels) return;
  for (const models::LineValue& v : c.values) {
    c.labels.push_back(models::exact_decimal(v.value, 24));
    c.short_labels.push_back(models::exact_decimal(v.value, 11));
    c.codes.push_back(code_text(f, models::code_at(f, v.ordinal)));
  }
}

void refresh_curve(const Outputs& out, const Picture& picture, View& view, const Frame& frame) {
  if (picture.run->tensor.spread == models::ValueSpread::none) {
    view.curve_highest = 0;
    return;
  }
  if (view.curve_version == picture.version && view.curve_laid_out == frame.laid_out()) return;
  view.curve_version = picture.version;
  view.curve_laid_out = frame.laid_out();
  const auto columns = static_cast<std::size_t>(std::max(1.0f, frame.right - frame.left));
  view.curve.assign(columns, 0);
  view.curve_fate.assign(columns, Fate::normal);
  sample_curve(out.limits, *picture.format, picture.run->tensor, frame, view);
}

models::LineStretch at_least_min_span(models::LineAxis axis, models::LineStretch s) {
  const double center = (s.lo + s.hi) / 2, least = models::min_span(axis, center);
  return s.hi - s.lo >= least ? s : models::LineStretch{center - least / 2, center + least / 2};
}

models::LineStretch single_values_at(const models::FloatFormat& f, models::LineAxis axis, double x) {
  return models::around(f, axis, x, 2);
}

ValueWords words_at(const models::FloatFormat& f, models::LineAxis axis, double coordinate) {
  const models::NearestValue nearest = models::nearest_value(f, models::value_at(f, axis, coordinate));
  return {
      .code = std::string(f.name) + " " + code_text(f, nearest.code),
      .value = models::exact_decimal(nearest.value, 30),
      .step = "step " + widgets::format_text(nearest.step, "") + ", " + std::string(models::kind_text(nearest.kind)),
  };
}

}  // namespace chapters::precision::number_line
