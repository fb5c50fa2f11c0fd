#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/compression/quantizer/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::quantizer {
namespace {

using models::QuantGrain;
using widgets::format_text;

constexpr std::size_t histogram_bins = 48, curve_points = 512;

models::Matrix absolute_errors(const Outputs& out) {
  models::Matrix error = models::difference(*out.original, out.quantized->weights);
  for (double& e : error.values) e = std::abs(e);
  return error;
}

/// Bins that reach as far on either side as the row or its levels do.
void count_row(std::span<const double> row, const Outputs& out, Picture& p) {
  const auto [smallest, largest] = std::minmax_element(row.begin(), row.end());
  const double reach = std::max({std::abs(out.shown_lowest), std::abs(out.shown_highest), std::abs(*smallest),
                                 std::abs(*largest), 1e-300}) *
                       1.02;
  constexpr auto bins = static_cast<double>(histogram_bins);
  p.bin_centre.resize(histogram_bins);
  p.bin_count.assign(histogram_bins, 0);
  for (std::size_t i = 0; i < histogram_bins; ++i)
    p.bin_centre[i] = reach * (2 * (static_cast<double>(i) + 0.5) / bins - 1);
  for (const double w : row)
    ++p.bin_count[std::min(histogram_bins - 1, static_cast<std::size_t>((w / reach + 1) / 2 * bins))];
  p.tallest_bin = *std::max_element(p.bin_count.begin(), p.bin_count.end());
}

void stroke_levels(const std::vector<double>& levels, Picture& p) {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  for (const double level : levels) {
    p.level_x.insert(p.level_x.end(), {level, level, gap});
    p.level_y.insert(p.level_y.end(), {0, -0.14 * p.tallest_bin, gap});
  }
}

/// The quantizer as a function, and what training sees of it: almost everywhere no slope at all, and 1 inside the range
/// by the straight-through estimator.
void trace_quantizer(const models::Quantizer& quantizer, const Outputs& out, Picture& p) {
  const double lowest = out.shown_lowest, highest = out.shown_highest;
  const double lo = std::min(lowest, -highest / 4), hi = std::max(highest, -lowest / 4), margin = 0.25 * (hi - lo);
  for (std::size_t i = 0; i < curve_points; ++i) {
    const double x = lo - margin + (hi - lo + 2 * margin) * static_cast<double>(i) / (curve_points - 1);
    p.in.push_back(x);
    p.out.push_back(quantizer.round(x, out.shown_grid));
    p.identity.push_back(x);
    p.gradient.push_back(x >= lowest && x <= highest ? 1 : 0);
    p.true_gradient.push_back(0);
  }
}

std::string grain_phrase(const Inputs& in) {
  if (in.grain == QuantGrain::tensor) return "one scale for all";
  if (in.grain == QuantGrain::channel) return "a scale for each row";
  return "a scale for every " + std::to_string(in.group) + " weights";
}

void write_headings(const Inputs& in, const Outputs& out, ShownGroup at, std::size_t levels, Picture& p) {
  p.verdict = std::string(models::quant_format_label(in.format)) + ", " + grain_phrase(in) + ": " +
              format_text(out.error.sqnr_db, "") + " dB at " + format_text(out.bits_per_weight, "", 4) +
              " bits a weight";
  p.story = "The layer's output is off by " + format_text(out.product_error, "%") + ", " +
            format_text(out.clipped, "%") + " of the weights are clipped; weights " + out.weights + "." +
            (out.note.empty() ? "" : " " + out.note);
  p.shown = "Row " + std::to_string(at.row) +
            (in.grain == QuantGrain::group ? ", group " + std::to_string(at.group) : "") + ": " +
            std::to_string(levels) + " levels from " + format_text(out.shown_lowest, "") + " to " +
            format_text(out.shown_highest, "") + "; click the map for another";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || !out.original) return p;
  const models::Quantizer quantizer(quant_spec(in));
  const ShownGroup at = shown_group(in, *out.original);
  const std::vector<double> levels = quantizer.levels(out.shown_grid);
  write_headings(in, out, at, levels.size(), p);
  p.error = absolute_errors(out);
  count_row(out.original->row(at.row), out, p);
  stroke_levels(levels, p);
  trace_quantizer(quantizer, out, p);
  for (std::size_t i = 0; i < out.formats.size(); ++i) {
    GrainPoints& points = p.formats[i / quant_format_count];
    points.bits.push_back(out.formats[i].bits);
    points.sqnr_db.push_back(out.formats[i].sqnr_db);
  }
  return p;
}

}  // namespace chapters::compression::quantizer
