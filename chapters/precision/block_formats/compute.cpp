#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/precision/block_formats/lab.h"
#include "models/numerics/outlier_tensor.h"

namespace chapters::precision::block_formats {
namespace {

using models::BlockScale;
using models::BlockScheme;

int size_of(const std::string& block) {
  int n = 0;
  return std::from_chars(block.data(), block.data() + block.size(), n).ec == std::errc() ? n : 0;
}

/// Every scheme on the same tensor, with its own block size.
std::vector<SchemeRow> compare_schemes(std::span<const double> exact, double rms, models::BlockOptions options) {
  options.block_size = 0;
  std::vector<SchemeRow> rows;
  for (const BlockScheme& s : models::block_schemes()) {
    const models::Blocks stored = models::to_blocks(s, exact, options);
    const auto error = models::error_of(exact, stored.values);
    rows.push_back({
        .id = std::string(s.id),
        .name = std::string(s.name),
        .bits = models::bits_per_element(s),
        .error = error,
        .relative = percent_of_rms(error.rms, rms),
        .saturated = static_cast<double>(stored.saturated),
        .lost = static_cast<double>(stored.lost),
    });
  }
  return rows;
}

/// The scheme with other block sizes.
std::vector<SizeRow> compare_sizes(const BlockScheme& scheme, std::span<const double> exact,
                                   models::BlockOptions options) {
  static constexpr std::array tried{8, 16, 32, 64, 128, 256};
  std::vector<SizeRow> rows;
  for (const int size : tried) {
    options.block_size = size;
    const auto error = models::error_of(exact, models::to_blocks(scheme, exact, options).values);
    rows.push_back({size, models::bits_per_element(scheme, size), error.rms});
  }
  return rows;
}

/// Signal to noise in dB with the scale of a rule.
double snr_db(const BlockScheme& scheme, std::span<const double> exact, models::BlockOptions options,
              models::ScaleRule rule) {
  options.rule = rule;
  return models::error_of(exact, models::to_blocks(scheme, exact, options).values).signal_to_noise_db;
}

/// RMS error of a block's elements but `without`, how many they are, how many of them became 0, and how many were 0.
struct Cost {
  double rms = 0;
  std::size_t count = 0, lost = 0, zeros = 0;
};
Cost cost_of(const models::Blocks& stored, std::span<const double> exact, std::size_t block, std::size_t without) {
  const auto size = static_cast<std::size_t>(stored.block_size);
  Cost c;
  double squares = 0;
  for (std::size_t i = block * size; i < std::min((block + 1) * size, exact.size()); ++i) {
    if (i == without) continue;
    const double e = stored.values[i] - exact[i];
    squares += e * e;
    c.lost += stored.values[i] == 0 && exact[i] != 0;
    c.zeros += exact[i] == 0;
    ++c.count;
  }
  c.rms = c.count > 0 ? std::sqrt(squares / static_cast<double>(c.count)) : 0;
  return c;
}

/// The block whose largest magnitude is the smallest of all.
std::size_t calmest_block(std::size_t size, std::span<const double> exact) {
  std::size_t calm = 0;
  double least = HUGE_VAL;
  for (std::size_t b = 0; b * size < exact.size(); ++b) {
    const std::size_t end = std::min((b + 1) * size, exact.size());
    const double largest = std::abs(exact[largest_of(exact, b * size, end)]);
    if (largest < least) {
      least = largest;
      calm = b;
    }
  }
  return calm;
}

/// What the largest number costs those that share its scale.
void judge_largest(std::span<const double> exact, Outputs& o) {
  const auto size = static_cast<std::size_t>(o.stored.block_size);
  const std::size_t largest = largest_of(exact, 0, exact.size()), block = largest / size;
  const Cost beside = cost_of(o.stored, exact, block, largest);
  o.largest = exact[largest];
  o.beside = static_cast<std::int64_t>(beside.count);
  o.beside_not_zero = static_cast<std::int64_t>(beside.count - beside.zeros);
  o.beside_lost = static_cast<std::int64_t>(beside.lost);
  o.beside_rms = beside.count > 0 ? beside.rms : std::nan("");
  const std::size_t calm = calmest_block(size, exact);
  const Cost quiet = cost_of(o.stored, exact, calm, exact.size());
  o.times_calm = calm != block && quiet.rms > 0 ? o.beside_rms / quiet.rms : std::nan("");
}

/// The numbers that are stored: of the learner's file, of the list, or the made-up tensor; `what` says which. A file's
/// are whole stretches of its rows, so that no block spans two rows before they end.
models::Status take_numbers(const Inputs& in, std::vector<double>& numbers, std::string& what) {
  if (!in.file.path.empty()) {
    constexpr std::int64_t longest_block = 256;
    const std::int64_t cols = std::min(in.elements, longest_block),
                       rows = std::max<std::int64_t>(1, in.elements / cols);
    WeightPart part;
    const models::Status read =
        read_weights(in.file, in.tensor, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols), part);
    if (!read) return read;
    numbers = std::move(part.weights.values);
    what = part.what;
    return models::Status::ok();
  }
  const std::string waits =
      in.tensor.empty() ? "" : "; the tensor '" + in.tensor.substr(0, 80) + "' is looked for once a file is chosen";
  if (!in.values.empty()) {
    numbers = in.values;
    what = "your list" + waits;
    return models::Status::ok();
  }
  numbers = models::outlier_tensor({
      .elements = in.elements,
      .outliers = in.outliers,
      .outlier_size = in.outlier_size,
      .seed = static_cast<std::uint64_t>(in.seed),
  });
  what = "made up from seed " + std::to_string(in.seed) + waits;
  return models::Status::ok();
}

}  // namespace

double rms_of(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return x.empty() ? 0 : std::sqrt(sum / static_cast<double>(x.size()));
}

std::size_t largest_of(std::span<const double> values, std::size_t first, std::size_t end) {
  std::size_t at = first;
  for (std::size_t i = first; i < end; ++i)
    if (std::abs(values[i]) > std::abs(values[at])) at = i;
  return at;
}

double percent_of_rms(double error, double rms) { return rms > 0 ? 100 * (error / rms) : 0; }

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs o;
  const BlockScheme* scheme = models::find_block_scheme(in.scheme);
  if (!scheme) return {.facts = {.reason = "There is no scheme " + in.scheme + "."}};
  std::vector<double> exact;
  if (const models::Status taken = take_numbers(in, exact, o.numbers); !taken)
    return {.facts = {.reason = taken.error}};
  const models::BlockOptions options{
      .block_size = size_of(in.block),
      .rule = in.rule,
      .rounding = in.rounding,
      .seed = static_cast<std::uint64_t>(in.seed),
  };
  o.stored = models::to_blocks(*scheme, exact, options);
  o.error = models::error_of(exact, o.stored.values);
  const double n = static_cast<double>(exact.size()), rms = rms_of(exact);
  o.codes.assign(o.stored.codes.begin(), o.stored.codes.end());
  o.block_size = o.stored.block_size;
  o.blocks = static_cast<double>(o.stored.scales.size());
  for (const double scale : o.stored.scales) o.largest_scale = std::max(o.largest_scale, scale * o.stored.tensor_scale);
  o.bits_per_element = models::bits_per_element(*scheme, options.block_size);
  o.bits_with_tensor_scale = o.bits_per_element + (scheme->scale == BlockScale::e4m3 ? 32 / n : 0);
  o.compression = 16 / o.bits_per_element;
  o.relative_error = percent_of_rms(o.error.rms, rms);
  o.saturated = static_cast<double>(o.stored.saturated);
  o.lost = static_cast<double>(o.stored.lost);
  o.lost_share = 100 * o.lost / n;
  o.scale_gain_db = snr_db(*scheme, exact, options, models::ScaleRule::least_error) -
                    snr_db(*scheme, exact, options, models::ScaleRule::floor);
  o.schemes = compare_schemes(exact, rms, options);
  o.sizes = compare_sizes(*scheme, exact, options);
  judge_largest(exact, o);
  progress.fraction = 1;
  return {std::move(o), std::make_shared<const Run>(Run{std::move(exact)})};
}

}  // namespace chapters::precision::block_formats
