#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "chapters/compression/quantizer/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::quantizer {
namespace {

using models::Matrix, models::QuantFormat, models::QuantGrain, models::QuantSpec;

constexpr std::size_t max_weights = 32768, product_tokens = 16, max_tensors_listed = 256;

Matrix made_up_weights(const Inputs& in) {
  return models::sample_weights({
      .rows = static_cast<std::size_t>(in.rows),
      .cols = static_cast<std::size_t>(in.columns),
      .seed = in.seed,
      .outlier_share = in.outlier_share / 100,
      .outlier_size = in.outlier_size,
      .row_spread = in.row_spread,
  });
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

/// The row that holds most of the squared error, the one that loses most of itself, and the one of the largest weight.
void find_rows_that_pay(const Matrix& w, const Matrix& q, Run& run, Outputs& out) {
  const Matrix error = models::difference(w, q);
  double largest = -1, all = 0, worst = -1, highest = -1;
  for (std::size_t r = 0; r < w.rows; ++r) {
    const double lost = models::dot(error.row(r), error.row(r)), whole = models::dot(w.row(r), w.row(r));
    all += lost;
    run.shares.push_back(lost);
    run.own_errors.push_back(whole > 0 ? 100 * std::sqrt(lost / whole) : 0);
    if (const double part = whole > 0 ? lost / whole : 0; part > worst) {
      worst = part;
      out.hurt_row = static_cast<std::int64_t>(r);
    }
    for (const double v : w.row(r))
      if (std::abs(v) > highest) {
        highest = std::abs(v);
        out.scale_row = static_cast<std::int64_t>(r);
      }
    if (lost <= largest) continue;
    largest = lost;
    out.largest_row = static_cast<std::int64_t>(r);
  }
  for (double& share : run.shares) share = all > 0 ? 100 * share / all : 0;
  out.largest_row_share = all > 0 ? 100 * largest / all : 0;
  out.hurt_row_error = 100 * std::sqrt(std::max(worst, 0.0));
}

/// The levels that the weights of the shown row or group can become.
void take_shown_grid(const Inputs& in, const models::Quantizer& quantizer, const Run& run, Outputs& out) {
  const ShownGroup at = shown_group(in, run.original, paying_row(in, out));
  const auto& q = run.quantized;
  out.shown_row = static_cast<std::int64_t>(at.row);
  out.shown_grid = q.grids[in.grain == QuantGrain::tensor ? 0 : at.row * q.grids_per_row + at.group];
  out.shown_lowest = quantizer.lowest(out.shown_grid);
  out.shown_highest = quantizer.highest(out.shown_grid);
  out.shown_error = run.own_errors[at.row];
  out.shown_levels = static_cast<std::int64_t>(quantizer.levels(out.shown_grid).size());
  const std::size_t length =
      in.grain == QuantGrain::group ? quantizer.group_length(run.original.cols) : run.original.cols;
  const std::size_t first = at.group * length, count = std::min(length, run.original.cols - first);
  const auto weights = run.original.row(at.row).subspan(first, count),
             become = q.weights.row(at.row).subspan(first, count);
  for (const double w : weights) out.shown_largest = std::max(out.shown_largest, std::abs(w));
  out.levels_used = static_cast<std::int64_t>(std::set<double>(become.begin(), become.end()).size());
}

/// Every format at every grain on the same weights; fewer when the learner cancels.
void compare_formats(const Inputs& in, const Matrix& w, Progress& progress, Outputs& out) {
  constexpr double combinations = quant_grain_count * quant_format_count;
  for (std::size_t grain = 0; grain < quant_grain_count; ++grain)
    for (std::size_t format = 0; format < quant_format_count; ++format) {
      QuantSpec spec = quant_spec(in);
      spec.grain = static_cast<QuantGrain>(grain);
      spec.format = static_cast<QuantFormat>(format);
      const auto q = models::quantize(w, spec);
      out.formats.push_back({std::string(models::quant_format_label(spec.format)), quant_grain_choices()[grain].label,
                             q.bits_per_weight, models::quantization_error(w, q.weights).sqnr_db});
      progress.fraction = 0.2 + 0.8 * static_cast<double>(out.formats.size()) / combinations;
      if (progress.cancelled) return;
    }
}

void list_tensors(const models::TensorFile& file, Outputs& out) {
  for (const auto& t : file.tensors) {
    if (out.tensors.size() == max_tensors_listed) break;
    std::string shape;
    for (const std::int64_t n : t.shape) shape += (shape.empty() ? "" : " × ") + std::to_string(n);
    out.tensors.push_back(
        {t.name, std::string(models::tensor_type_name(t.type)), shape.empty() ? "one number" : shape});
  }
}

}  // namespace

QuantSpec quant_spec(const Inputs& in) {
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

std::int64_t paying_row(const Inputs& in, const Outputs& out) {
  return in.grain == QuantGrain::tensor ? out.hurt_row : out.largest_row;
}

ShownGroup shown_group(const Inputs& in, const Matrix& w, std::int64_t worst) {
  const std::size_t column = std::min(static_cast<std::size_t>(in.column), w.cols - 1);
  const models::Quantizer quantizer(quant_spec(in));
  return {
      .row = std::min(static_cast<std::size_t>(in.row < 0 ? worst : in.row), w.rows - 1),
      .group = in.grain == QuantGrain::group ? column / quantizer.group_length(w.cols) : 0,
  };
}

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  if (static_cast<std::size_t>(in.rows) * static_cast<std::size_t>(in.columns) > max_weights)
    return {.facts = {.reason = "A matrix of " +
                                widgets::format_text(static_cast<double>(in.rows * in.columns), "", 9) +
                                " weights is asked for and up to " + widgets::format_text(max_weights, "", 9) +
                                " are quantized while you watch: take fewer rows or columns."}};
  Outputs out;
  Matrix w;
  if (in.file.path.empty()) {
    w = made_up_weights(in);
    out.weights = "made up from seed " + std::to_string(in.seed);
    if (!in.tensor.empty())
      out.note = "The tensor '" + in.tensor.substr(0, 80) + "' is looked for once a file is chosen.";
  } else {
    WeightPart part;
    const models::Status read =
        read_weights(in.file, in.tensor, static_cast<std::size_t>(in.rows), static_cast<std::size_t>(in.columns), part);
    if (!read) return {.facts = {.reason = read.error}};
    w = std::move(part.weights);
    out.weights = part.what;
    list_tensors(*part.file, out);
  }
  const QuantSpec spec = quant_spec(in);
  auto q = models::quantize(w, spec);
  out.error = models::quantization_error(w, q.weights);
  out.relative_error = 100 * out.error.relative;
  out.product_error = product_error(w, q.weights);
  out.bits_per_weight = q.bits_per_weight;
  out.overhead_bits = q.bits_per_weight - models::quant_bits(in.format);
  out.weight_count = static_cast<std::int64_t>(w.values.size());
  out.size_bytes = static_cast<double>(out.weight_count) * q.bits_per_weight / 8;
  out.smaller = 16 / q.bits_per_weight;
  out.clipped = 100 * models::share_outside(w, q, spec);
  out.gradient_passed = 100 - out.clipped;
  out.scales = static_cast<std::int64_t>(q.grids.size());
  auto run = std::make_shared<Run>();
  find_rows_that_pay(w, q.weights, *run, out);
  if (!in.symmetric && !models::is_integer(in.format))
    out.note = std::string(models::quant_format_label(in.format)) +
               " has fixed levels on both sides of zero: it stays symmetric.";
  if (in.grain == QuantGrain::group && static_cast<std::size_t>(in.group) > w.cols)
    out.note = "A group of " + std::to_string(in.group) + " is the whole row of " + std::to_string(w.cols) +
               " weights: one scale per row.";
  progress.fraction = 0.2;

  run->original = std::move(w);
  run->quantized = std::move(q);
  take_shown_grid(in, models::Quantizer(spec), *run, out);
  compare_formats(in, run->original, progress, out);
  progress.fraction = 1;
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::compression::quantizer
