#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/compression/quantizer/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::quantizer {
namespace {

using models::QuantGrain;
using widgets::figure, widgets::Marker;

constexpr std::size_t most_columns = 192, most_levels = 32, curve_points = 512;

models::Matrix absolute_errors(const Run& run) {
  models::Matrix error = models::difference(run.original, run.quantized.weights);
  for (double& e : error.values) e = std::abs(e);
  return error;
}

/// The columns that are drawn: of the group, or of a row that is too long those about its largest weight.
struct ShownColumns {
  std::size_t first = 0, count = 0;
};
ShownColumns shown_columns(const Inputs& in, ShownGroup at, std::span<const double> row) {
  if (in.grain == QuantGrain::group) {
    const std::size_t length = models::Quantizer(quant_spec(in)).group_length(row.size());
    const std::size_t first = std::min(at.group * length, row.size() - 1);
    return {first, std::min({length, row.size() - first, most_columns})};
  }
  if (row.size() <= most_columns) return {0, row.size()};
  const auto largest = static_cast<std::size_t>(
      std::max_element(row.begin(), row.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      row.begin());
  const std::size_t before = std::min(largest, most_columns / 2);
  return {std::min(largest - before, row.size() - most_columns), most_columns};
}

/// The curves of a row of so many columns, without their values.
void name_row(std::size_t columns, Picture& p) {
  const bool crowded = columns > 80;
  using widgets::Curve, widgets::Tint;
  p.levels = {.label = "levels",
              .info = "what a weight can become",
              .tint = Tint::series(1),
              .alpha = 0.8f,
              .width = 1,
              .named = false};
  p.moves = {
      .label = "error", .info = "how far each weight is moved", .tint = Tint::bad(), .width = 1.2f, .named = false};
  p.rounded = {.kind = Curve::Kind::dots,
               .label = "becomes",
               .info = "the nearest level",
               .tint = Tint::series(1),
               .marker = Marker::square,
               .radius = crowded ? 2.0f : 3.0f};
  p.weight = {.kind = Curve::Kind::dots,
              .label = "weight",
              .info = "as it was",
              .tint = Tint::series(0),
              .radius = crowded ? 2.0f : 3.5f,
              .given = true};
}

/// Each weight, where it is drawn, and the level that it becomes.
void place_row(const Inputs& in, const Run& run, ShownGroup at, const std::vector<double>& levels, Picture& p) {
  static constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  const auto row = run.original.row(at.row), rounded = run.quantized.weights.row(at.row);
  const ShownColumns shown = shown_columns(in, at, row);
  name_row(shown.count, p);
  p.row = at.row;
  const auto add_stroke = [](widgets::Curve& curve, double x0, double y0, double x1, double y1) {
    curve.add(x0, y0);
    curve.add(x1, y1);
    curve.add(gap, gap);
  };
  for (std::size_t c = shown.first; c < shown.first + shown.count; ++c) {
    const auto x = static_cast<double>(c);
    p.weight.add(x, row[c]);
    p.rounded.add(x, rounded[c]);
    add_stroke(p.moves, x, row[c], x, rounded[c]);
  }
  if (levels.size() > most_levels) return;  // they would be one plane
  for (const double level : levels)
    add_stroke(p.levels, p.weight.x.front() - 0.5, level, p.weight.x.back() + 0.5, level);
}

/// SQNR over bits of every format, grain by grain. The names beside the finest grain's dots are enough.
void arrange_formats(const Outputs& out, Picture& p) {
  static constexpr std::array<std::string_view, quant_format_count> names{"INT8", "INT6", "INT5", "INT4", "INT3",
                                                                          "INT2", "FP8",  "NF4",  "FP4"};
  static constexpr std::array<std::string_view, quant_grain_count> grains{"whole tensor", "each row", "each group"};
  static constexpr std::array<Marker, quant_grain_count> shapes{Marker::triangle, Marker::square, Marker::circle};
  for (std::size_t g = 0; g < grains.size(); ++g)
    p.formats[g] = {.kind = widgets::Curve::Kind::dots,
                    .label = std::string(grains[g]),
                    .info = "same weights, range rule and bits of a scale",
                    .tint = widgets::Tint::series(g),
                    .marker = shapes[g],
                    .radius = 4.5f};
  for (std::size_t i = 0; i < out.formats.size(); ++i)
    p.formats[i / quant_format_count].add(out.formats[i].bits, out.formats[i].sqnr_db);
  p.formats.back().labels.assign(names.begin(), names.end());
}

/// The quantizer as a function, and what training sees of it: almost everywhere no slope at all, and 1 inside the range
/// by the straight-through estimator.
void trace_quantizer(const models::Quantizer& quantizer, const Outputs& out, Picture& p) {
  const double lowest = out.shown_lowest, highest = out.shown_highest;
  const double lo = std::min(lowest, -highest / 4), hi = std::max(highest, -lowest / 4), margin = 0.25 * (hi - lo);
  using widgets::Curve, widgets::Tint;
  p.steps = {Curve{.label = "no rounding", .width = 1.2f, .dashed = true, .named = false},
             Curve{.label = "rounded",
                   .info = "nearest level, the last one beyond the range",
                   .tint = Tint::series(1),
                   .named = false}};
  p.slopes = {Curve{.label = "true slope",
                    .info = "0 wherever the staircase has one",
                    .width = 1.5f,
                    .dashed = true,
                    .named = false},
              Curve{.label = "straight-through",
                    .info = "1 inside the range, 0 where weights are clipped",
                    .tint = Tint::series(2),
                    .named = false}};
  for (std::size_t i = 0; i < curve_points; ++i) {
    const double x = lo - margin + (hi - lo + 2 * margin) * static_cast<double>(i) / (curve_points - 1);
    p.steps[0].add(x, x);
    p.steps[1].add(x, quantizer.round(x, out.shown_grid));
    p.slopes[0].add(x, 0);
    p.slopes[1].add(x, x >= lowest && x <= highest ? 1 : 0);
  }
}

std::string answer_of(const Inputs& in, const Outputs& out, std::size_t rows) {
  const auto row = [](std::int64_t r) { return "row " + figure(std::to_string(r)); };
  const std::string format =
      figure(models::quant_format_label(in.format)) + " at " + figure(out.bits_per_weight, "", 4) + " bits ";
  if (!(out.relative_error > 0)) return format + "loses nothing: every weight is one of its levels.";
  const std::string lost = format + "is off by " + figure(out.relative_error, "%");
  if (rows < 2) return lost + ", all of it in the only row there is.";
  if (in.grain == QuantGrain::tensor && out.hurt_row == out.scale_row)
    return lost + ": " + row(out.scale_row) + " sets the one scale, and loses most of its own size, " +
           figure(out.hurt_row_error, "%") + ".";
  if (in.grain == QuantGrain::tensor)
    return lost + ": " + row(out.scale_row) + " sets the one scale, all others pay, and " + row(out.hurt_row) +
           " most: " + figure(out.hurt_row_error, "%") + " of its size.";
  return lost + "; " + row(out.largest_row) + ", one of " + figure(std::to_string(rows)) + ", holds " +
         figure(out.largest_row_share, "%") + " of the squared error.";
}

void write_headings(const Inputs& in, ShownGroup at, std::size_t levels, Picture& p) {
  p.row_tag = "row " + std::to_string(at.row);
  p.row_title = p.row_tag + (in.grain == QuantGrain::group ? ", group " + std::to_string(at.group) : "") + ": " +
                std::to_string(levels) + " levels";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.original.rows == 0) return p;
  const models::Quantizer quantizer(quant_spec(in));
  const ShownGroup at = shown_group(in, run.original, paying_row(in, out));
  const std::vector<double> levels = quantizer.levels(out.shown_grid);
  p.answer = answer_of(in, out, run.original.rows);
  write_headings(in, at, levels.size(), p);
  p.error = absolute_errors(run);
  place_row(in, run, at, levels, p);
  trace_quantizer(quantizer, out, p);
  arrange_formats(out, p);
  return p;
}

}  // namespace chapters::compression::quantizer
