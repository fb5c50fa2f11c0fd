#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "chapters/compression/quantizer/lab.h"
#include "chapters/compression/shared/hues.h"
#include "widgets/number/number.h"

namespace chapters::compression::quantizer {
namespace {

using models::QuantGrain;
using widgets::figure, widgets::format_text, widgets::Marker;

constexpr std::size_t max_columns = 192, curve_points = 512;
/// A weight lies far out from this many times the middle size on: of 128 normal ones the largest reaches about 4.
constexpr double outlying = 6;

/// The map's errors, in what its row pays: absolute, or with one scale for all rows over the row's own size.
void place_errors(const Inputs& in, const Run& run, Picture& p) {
  p.error = models::difference(run.original, run.quantized.weights);
  const bool own = in.grain == QuantGrain::tensor;
  p.error_title = own ? "error, of its row's size" : "error";
  for (std::size_t r = 0; r < p.error.rows; ++r) {
    const auto row = run.original.row(r);
    const double size = own ? std::sqrt(models::dot(row, row) / static_cast<double>(row.size())) : 1;
    for (double& e : p.error.row(r)) e = size > 0 ? std::abs(e) / size : 0;
  }
}

/// The columns that are drawn: of the group, or of a row that is too long those about its largest weight.
struct ShownColumns {
  std::size_t first = 0, count = 0;
};
ShownColumns shown_columns(const Inputs& in, ShownGroup at, std::span<const double> row) {
  if (in.grain == QuantGrain::group) {
    const std::size_t length = models::Quantizer(quant_spec(in)).group_length(row.size());
    const std::size_t first = std::min(at.group * length, row.size() - 1);
    return {first, std::min({length, row.size() - first, max_columns})};
  }
  if (row.size() <= max_columns) return {0, row.size()};
  const auto largest = static_cast<std::size_t>(
      std::max_element(row.begin(), row.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      row.begin());
  const std::size_t before = std::min(largest, max_columns / 2);
  return {std::min(largest - before, row.size() - max_columns), max_columns};
}

/// The levels, how many weights land on each, and the weights that are drawn.
void place_weights(const Inputs& in, const Run& run, ShownGroup at, const std::vector<double>& levels, Picture& p) {
  const auto row = run.original.row(at.row), rounded = run.quantized.weights.row(at.row);
  const models::Quantizer quantizer(quant_spec(in));
  const std::size_t length = in.grain == QuantGrain::group ? quantizer.group_length(row.size()) : row.size();
  const std::size_t first = at.group * length, last = std::min(first + length, row.size());
  p.row = at.row;
  for (const double level : levels) p.shelves.push_back({.at = level});
  const auto shelf_of = [&](double value) {
    const auto after = std::lower_bound(levels.begin(), levels.end(), value);
    if (after == levels.begin()) return std::size_t{0};
    const auto index = static_cast<std::size_t>(after - levels.begin());
    return index == levels.size() || value - levels[index - 1] < levels[index] - value ? index - 1 : index;
  };
  for (std::size_t c = first; c < last; ++c) {
    ++p.shelves[shelf_of(rounded[c])].weights;
    if (std::abs(row[c]) > std::abs(p.largest)) p.largest = row[c];
  }
  const ShownColumns shown = shown_columns(in, at, row);
  for (std::size_t c = shown.first; c < shown.first + shown.count; ++c)
    p.falls.push_back({.weight = row[c], .shelf = shelf_of(rounded[c]), .column = c});
  p.reach = std::max({std::abs(p.largest), std::abs(levels.front()), std::abs(levels.back()), 1e-12});
}

/// Does one weight lie so far out that it sets the levels apart, and is it one that the lab made up?
bool is_stretched(const Inputs& in, const Picture& p) {
  if (!in.file.path.empty() || !(in.outlier_share > 0) || p.falls.empty()) return false;
  std::vector<double> sizes;
  for (const Fall& f : p.falls) sizes.push_back(std::abs(f.weight));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return std::abs(p.largest) > outlying * *middle;
}

/// What each row pays: its part of the squared error, or with one scale for all rows the error over its own size.
void place_rows(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const bool one_scale = in.grain == QuantGrain::tensor;
  p.rows = one_scale ? run.own_errors : run.shares;
  p.rows_title = one_scale ? "error of each row, % of its own size" : "each row's part of the squared error, %";
  p.pays = paying_row(in, out);
  const std::string row = "row " + std::to_string(p.pays);
  p.pays_words = row + " pays most";
  if (!one_scale || out.scale_row == p.pays) return;
  p.sets = out.scale_row;
  p.sets_words = "row " + std::to_string(p.sets) + " sets the scale";
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
                    .tint = hue(g),
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
                    .tint = Tint::series(1),
                    .width = 1.5f,
                    .named = false},
              Curve{.label = "straight-through",
                    .info = "1 inside the range, 0 where weights are clipped",
                    .tint = Tint::series(4),
                    .named = false}};
  for (std::size_t i = 0; i < curve_points; ++i) {
    const double x = lo - margin + (hi - lo + 2 * margin) * static_cast<double>(i) / (curve_points - 1);
    p.steps[0].add(x, x);
    p.steps[1].add(x, quantizer.round(x, out.shown_grid));
    p.slopes[0].add(x, 0);
    p.slopes[1].add(x, x >= lowest && x <= highest ? 1 : 0);
  }
}

/// What one scale for all weights costs: the row that sets it, and the row that loses most of its own size.
std::string one_scale_answer(const Outputs& out, const std::string& format) {
  const auto row = [](std::int64_t r) { return "row " + figure(std::to_string(r)); };
  return "One " + format + " scale for all rows, set by " + row(out.scale_row) + ", is off by " +
         figure(out.relative_error, "%") + "; the worst, " + row(out.hurt_row) + ", by " +
         figure(out.hurt_row_error, "%") + " of its size.";
}

/// How many of the levels the shown row or group uses, and what stretches them.
std::string levels_line(const Inputs& in, const Outputs& out) {
  const std::string of = figure(format_text(static_cast<double>(out.levels_used), "")) + " of its ",
                    levels = figure(format_text(static_cast<double>(out.shown_levels), "")),
                    used = of + levels + " levels";
  if (in.grain == QuantGrain::group) return "The group that is drawn uses " + used + ".";
  const bool stretched = in.grain == QuantGrain::channel && in.range == models::QuantRange::min_max;
  const std::string row = "Row " + figure(std::to_string(out.shown_row)) + ", which is drawn, uses " + used;
  if (!stretched || out.shown_row != out.largest_row) return row + ".";
  return "Its largest weight, " + figure(out.shown_largest, "") + ", sets the step between its levels: it uses " + of +
         levels + ".";
}

std::string answer_of(const Inputs& in, const Outputs& out, std::size_t rows) {
  const std::string format(models::quant_format_label(in.format));
  const std::string at = format + " weights of " + figure(out.bits_per_weight, "", 4) + " bits each ";
  if (!(out.relative_error > 0)) return at + "lose nothing: every weight is one of its levels.";
  const std::string off = at + "are off by " + figure(out.relative_error, "%");
  if (rows < 2) return off + ", all of it in the only row there is.\n" + levels_line(in, out);
  if (in.grain == QuantGrain::tensor) return one_scale_answer(out, format) + "\n" + levels_line(in, out);
  return off + "; row " + figure(std::to_string(out.largest_row)) + " alone holds " +
         figure(out.largest_row_share, "%") + " of the squared error.\n" + levels_line(in, out);
}

void write_headings(const Inputs& in, const Outputs& out, ShownGroup at, Picture& p) {
  const auto count = [](std::int64_t n) { return format_text(static_cast<double>(n), ""); };
  p.row_tag = "row " + std::to_string(at.row);
  p.shelf_title = p.row_tag + (in.grain == QuantGrain::group ? ", group " + std::to_string(at.group) : "");
  p.shelf_words = "each weight falls to the nearest of " + count(out.shown_levels) + " levels";
  p.given_words = "weights of one " + std::string(in.grain == QuantGrain::group ? "group" : "row") + ", and " +
                  count(out.shown_levels) + " levels to share out";
  const std::int64_t empty = out.shown_levels - out.levels_used;
  p.empty_words = empty == 0   ? "every level is used"
                  : empty == 1 ? "1 level is empty and still costs bits"
                               : count(empty) + " levels are empty and still cost bits";
  p.error_words = format_text(out.shown_error, "%");
  p.largest_words = format_text(p.largest, "");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.original.rows == 0) return p;
  const models::Quantizer quantizer(quant_spec(in));
  const ShownGroup at = shown_group(in, run.original, paying_row(in, out));
  const std::vector<double> levels = quantizer.levels(out.shown_grid);
  p.answer = answer_of(in, out, run.original.rows);
  place_errors(in, run, p);
  place_weights(in, run, at, levels, p);
  p.stretched = is_stretched(in, p);
  place_rows(in, out, run, p);
  write_headings(in, out, at, p);
  trace_quantizer(quantizer, out, p);
  arrange_formats(out, p);
  return p;
}

}  // namespace chapters::compression::quantizer
