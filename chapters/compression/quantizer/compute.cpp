#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/compression/quantizer/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::quantizer {
namespace {

using models::Matrix;
using models::QuantFormat;
using models::QuantGrain;
using models::QuantSpec;
using widgets::format_text;

constexpr std::size_t most_weights = 32768, product_tokens = 16, bins = 48, curve_points = 512;

QuantSpec spec_of(const Inputs& in) {
  return {
      .format = in.format,
      .symmetric = in.symmetric,
      .grain = in.grain,
      .group = static_cast<std::size_t>(in.group),
      .range = in.range,
      .percentile = in.percentile,
      .scale_bits = static_cast<double>(in.scale_bits),
  };
}

std::string made_up(const Inputs& in, Matrix& w) {
  w = models::sample_weights({
      .rows = static_cast<std::size_t>(in.rows),
      .cols = static_cast<std::size_t>(in.columns),
      .seed = in.seed,
      .outlier_share = in.outlier_share / 100,
      .outlier_size = in.outlier_size,
      .row_spread = in.row_spread,
  });
  return "made up from seed " + std::to_string(in.seed);
}

/// The relative error of X W^T on standard normal inputs, in percent.
double product_error(const Matrix& w, const Matrix& q) {
  models::SampleRandom random(7);
  Matrix x(product_tokens, w.cols);
  for (double& v : x.values) v = random.normal();
  const double whole = models::squared_norm(models::times_transposed(x, w));
  return whole > 0
             ? 100 * std::sqrt(models::squared_norm(models::times_transposed(x, models::difference(w, q))) / whole)
             : 0;
}

void histogram(std::span<const double> row, Picture& p) {
  const double reach =
      std::max({std::abs(p.lowest), std::abs(p.highest), std::abs(*std::min_element(row.begin(), row.end())),
                std::abs(*std::max_element(row.begin(), row.end())), 1e-300}) *
      1.02;
  p.bin_centre.resize(bins);
  p.bin_count.assign(bins, 0);
  for (std::size_t i = 0; i < bins; ++i)
    p.bin_centre[i] = reach * (2 * (static_cast<double>(i) + 0.5) / static_cast<double>(bins) - 1);
  for (const double w : row)
    ++p.bin_count[std::min(bins - 1, static_cast<std::size_t>((w / reach + 1) / 2 * static_cast<double>(bins)))];
  p.top = *std::max_element(p.bin_count.begin(), p.bin_count.end());
}

/// Levels as strokes, the quantizer as a function, and what training sees of it: almost everywhere no slope at all, and
/// 1 inside the range by the straight-through estimator.
void curves(const models::Quantizer& quantizer, const models::QuantGrid& grid, Picture& p) {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  for (const double level : quantizer.levels(grid)) {
    p.level_x.insert(p.level_x.end(), {level, level, gap});
    p.level_y.insert(p.level_y.end(), {0, -0.14 * p.top, gap});
  }
  const double lo = std::min(p.lowest, -p.highest / 4), hi = std::max(p.highest, -p.lowest / 4),
               margin = 0.25 * (hi - lo);
  for (std::size_t i = 0; i < curve_points; ++i) {
    const double x = lo - margin + (hi - lo + 2 * margin) * static_cast<double>(i) / (curve_points - 1);
    p.in.push_back(x);
    p.out.push_back(quantizer.round(x, grid));
    p.identity.push_back(x);
    p.gradient.push_back(x >= p.lowest && x <= p.highest ? 1 : 0);
    p.true_gradient.push_back(0);
  }
}

/// The error of each weight, and the row that holds most of it.
void take_errors(const Matrix& w, const models::QuantizedMatrix& q, Outputs& out, Picture& p) {
  p.error = models::difference(w, q.weights);
  double most = -1;
  for (std::size_t r = 0; r < w.rows; ++r) {
    if (const double lost = models::dot(p.error.row(r), p.error.row(r)); lost > most)
      most = lost, out.largest_row = static_cast<std::int64_t>(r);
    for (double& e : p.error.row(r)) e = std::abs(e);
  }
}

/// The row and group asked for, with the levels that its weights can become; returns the row.
std::size_t take_row(const Inputs& in, const Matrix& w, const models::QuantizedMatrix& q,
                     const models::Quantizer& quantizer, Outputs& out, Picture& p) {
  const std::size_t row = std::min(static_cast<std::size_t>(in.row), w.rows - 1),
                    column = std::min(static_cast<std::size_t>(in.column), w.cols - 1);
  const std::size_t group = in.grain == QuantGrain::group ? column / quantizer.group_length(w.cols) : 0;
  const models::QuantGrid grid = q.grids[in.grain == QuantGrain::tensor ? 0 : row * q.grids_per_row + group];
  out.shown_step = grid.step;
  out.shown_lowest = p.lowest = quantizer.lowest(grid);
  out.shown_highest = p.highest = quantizer.highest(grid);
  histogram(w.row(row), p);
  curves(quantizer, grid, p);
  out.shown = "Row " + std::to_string(row) + (in.grain == QuantGrain::group ? ", group " + std::to_string(group) : "") +
              ": " + std::to_string(quantizer.levels(grid).size()) + " levels from " + format_text(p.lowest, "") +
              " to " + format_text(p.highest, "") + "; click the map for another";
  return row;
}

void compare_formats(const Inputs& in, const Matrix& w, Progress& progress, Outputs& out, Picture& p) {
  for (int grain = 0; grain < 3; ++grain)
    for (int format = 0; format < 7; ++format) {
      QuantSpec spec = spec_of(in);
      spec.grain = static_cast<QuantGrain>(grain);
      spec.format = static_cast<QuantFormat>(format);
      const auto q = models::quantize(w, spec);
      const double sqnr = models::quantization_error(w, q.weights).sqnr_db;
      const auto g = static_cast<std::size_t>(grain);
      out.formats.push_back({std::string(models::quant_format_label(spec.format)), quant_grain_choices()[g].label,
                             q.bits_per_weight, sqnr});
      p.bits[g].push_back(q.bits_per_weight);
      p.sqnr[g].push_back(sqnr);
      progress.fraction = 0.2 + 0.8 * (grain * 7 + format + 1) / 21;
      if (progress.cancelled) return;
    }
}

void list_tensors(const models::TensorFile& file, Outputs& out) {
  for (const auto& t : file.tensors) {
    if (out.tensors.size() == 256) break;
    std::string shape;
    for (const std::int64_t n : t.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    out.tensors.push_back(
        {t.name, std::string(models::tensor_type_name(t.type)), shape.empty() ? "one number" : shape});
  }
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out;
  Matrix w;
  if (static_cast<std::size_t>(in.rows) * static_cast<std::size_t>(in.columns) > most_weights) {
    out.reason = "A matrix of " + format_text(static_cast<double>(in.rows * in.columns), "", 9) +
                 " weights is asked for and up to " + format_text(most_weights, "", 9) +
                 " are quantized while you watch: take fewer rows or columns.";
    return out;
  }
  if (in.file.path.empty()) {
    out.weights = made_up(in, w);
    if (!in.tensor.empty())
      out.note = "The tensor '" + in.tensor.substr(0, 80) + "' is looked for once a file is chosen.";
  } else {
    WeightPart part;
    if (out.reason = read_weights(in.file, in.tensor, static_cast<std::size_t>(in.rows),
                                  static_cast<std::size_t>(in.columns), part);
        !out.reason.empty())
      return out;
    w = std::move(part.weights);
    out.weights = part.what;
    list_tensors(*part.file, out);
  }
  const QuantSpec spec = spec_of(in);
  const models::Quantizer quantizer(spec);
  const auto q = models::quantize(w, spec);
  const auto error = models::quantization_error(w, q.weights);
  out.sqnr_db = error.sqnr_db;
  out.mean_error = error.mean_abs;
  out.rms_error = error.rms;
  out.largest_error = error.largest;
  out.relative_error = 100 * error.relative;
  out.product_error = product_error(w, q.weights);
  out.bits_per_weight = q.bits_per_weight;
  out.overhead_bits = q.bits_per_weight - models::quant_bits(in.format);
  out.weight_count = static_cast<std::int64_t>(w.values.size());
  out.size_bytes = static_cast<double>(out.weight_count) * q.bits_per_weight / 8;
  out.smaller = 16 / q.bits_per_weight;
  out.clipped = 100 * models::share_outside(w, q, spec);
  out.gradient_passed = 100 - out.clipped;
  out.scales = static_cast<std::int64_t>(q.grids.size());
  if (!in.symmetric && !models::is_integer(in.format))
    out.note = std::string(models::quant_format_label(in.format)) +
               " has fixed levels on both sides of zero: it stays symmetric.";
  progress.fraction = 0.2;

  auto p = std::make_shared<Picture>();
  take_errors(w, q, out, *p);
  const std::size_t row = take_row(in, w, q, quantizer, out, *p);
  compare_formats(in, w, progress, out, *p);

  const std::string grain = in.grain == QuantGrain::tensor ? "one scale for all"
                            : in.grain == QuantGrain::channel
                                ? "a scale for each row"
                                : "a scale for every " + std::to_string(in.group) + " weights";
  out.verdict = std::string(models::quant_format_label(in.format)) + ", " + grain + ": " +
                format_text(out.sqnr_db, "") + " dB at " + format_text(out.bits_per_weight, "", 4) + " bits a weight";
  out.story = "The layer's output is off by " + format_text(out.product_error, "%") + ", " +
              format_text(out.clipped, "%") + " of the weights are clipped; weights " + out.weights + "." +
              (out.note.empty() ? "" : " " + out.note);
  widgets::Fingerprint mark;
  mark.add(out.sqnr_db), mark.add(out.shown_step), mark.add(out.bits_per_weight), mark.add(out.shown_highest),
      mark.add(std::uint64_t{row}), mark.add(static_cast<std::uint64_t>(in.column));
  for (const auto& f : out.formats) mark.add(f.sqnr_db);
  out.version = mark.value | 1;
  out.picture = std::move(p);
  progress.fraction = 1;
  return out;
}

}  // namespace chapters::compression::quantizer
