#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

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

double percent_of_rms(double error, double rms) { return rms > 0 ? 100 * (error / rms) : 0; }

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs o;
  const BlockScheme* scheme = models::find_block_scheme(in.scheme);
  if (!scheme) {
    o.reason = "There is no scheme " + in.scheme + ".";
    return o;
  }
  std::vector<double> exact;
  if (const models::Status taken = take_numbers(in, exact, o.numbers); !taken) {
    o.reason = taken.error;
    return o;
  }
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
  o.exact = std::make_shared<const std::vector<double>>(std::move(exact));
  progress.fraction = 1;
  return o;
}

}  // namespace chapters::precision::block_formats
