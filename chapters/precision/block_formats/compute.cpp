#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "chapters/precision/block_formats/lab.h"
#include "models/numerics/outlier_tensor.h"
#include "models/numerics/rounding.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::block_formats {
namespace {

using models::BlockScale;
using models::BlockScheme;

int size_of(const std::string& block) {
  int n = 0;
  return std::from_chars(block.data(), block.data() + block.size(), n).ec == std::errc() ? n : 0;
}

/// What a scale reads as over its block: "2^-3" for a power of two.
std::string scale_text(const BlockScheme& s, double scale) {
  if (s.scale == BlockScale::e8m0) return "2^" + std::to_string(std::ilogb(scale));
  return widgets::format_text(scale, "", 3);
}

/// Every value that the codes of one block can have, in order; empty where there are too many to draw apart.
std::vector<double> levels_of(const BlockScheme& s, const models::Blocks& b, std::size_t block) {
  const models::FloatFormat& e = models::element_of(s);
  if (e.bits > 4) return {};
  std::set<double> out;
  const double scale = b.scales[block] * b.tensor_scale;
  for (std::uint64_t c = 0; c <= e.code_mask(); ++c) {
    if (s.scale == BlockScale::fp16_zero)
      out.insert((static_cast<double>(c) - b.zero_points[block]) * scale);
    else if (e.family != models::FormatFamily::integer || c != e.sign_mask())
      out.insert(models::decode(e, c) * scale + 0.0);
  }
  return {out.begin(), out.end()};
}

double rms_of(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return x.empty() ? 0 : std::sqrt(sum / static_cast<double>(x.size()));
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs o;
  const BlockScheme* scheme = models::find_block_scheme(in.scheme);
  if (!scheme) {
    o.reason = "There is no scheme " + in.scheme + ".";
    return o;
  }
  o.exact = !in.values.empty() ? in.values
                               : models::outlier_tensor({
                                     .elements = in.elements,
                                     .outliers = in.outliers,
                                     .outlier_size = in.outlier_size,
                                     .seed = static_cast<std::uint64_t>(in.seed),
                                 });
  const models::BlockOptions options{
      .block_size = size_of(in.block),
      .rule = in.rule,
      .rounding = in.rounding,
      .seed = static_cast<std::uint64_t>(in.seed),
  };
  const models::Blocks b = models::to_blocks(*scheme, o.exact, options);
  const auto error = models::error_of(o.exact, b.values);
  const double n = static_cast<double>(o.exact.size()), rms = rms_of(o.exact);
  o.scales = b.scales;
  o.codes.assign(b.codes.begin(), b.codes.end());
  o.values = b.values;
  o.block_size = b.block_size;
  o.blocks = static_cast<double>(b.scales.size());
  o.bits_per_element = models::bits_per_element(*scheme, options.block_size);
  o.bits_with_tensor_scale = o.bits_per_element + (scheme->scale == BlockScale::e4m3 ? 32 / n : 0);
  o.compression = 16 / o.bits_per_element;
  o.tensor_scale = b.tensor_scale;
  o.rms_error = error.rms;
  o.mean_error = error.mean_abs;
  o.largest_error = error.max_abs;
  o.relative_error = rms > 0 ? 100 * (error.rms / rms) : 0;
  o.snr_db = error.signal_to_noise_db;
  o.saturated = static_cast<double>(b.saturated);
  o.lost = static_cast<double>(b.lost);
  o.lost_share = 100 * o.lost / n;

  for (const BlockScheme& s : models::block_schemes()) {
    const models::Blocks other =
        models::to_blocks(s, o.exact, {.rule = in.rule, .rounding = in.rounding, .seed = options.seed});
    const auto e = models::error_of(o.exact, other.values);
    if (&s == scheme) o.chosen = o.schemes.size();
    o.schemes.push_back({std::string(s.id), std::string(s.name), models::bits_per_element(s), e.rms,
                         rms > 0 ? 100 * (e.rms / rms) : 0, e.max_abs, static_cast<double>(other.saturated),
                         static_cast<double>(other.lost)});
    o.scheme_bits.push_back(o.schemes.back().bits);
    o.scheme_rms.push_back(o.schemes.back().relative);
  }
  static constexpr std::array<std::int64_t, 6> tried{8, 16, 32, 64, 128, 256};
  o.sizes_note = "this scheme with blocks of " + std::to_string(tried.front()) + " to " + std::to_string(tried.back()) +
                 ", and the others";
  for (const std::int64_t size : tried) {
    o.sizes_text += (o.sizes_text.empty() ? "" : ", ") + std::to_string(size);
    models::BlockOptions sized = options;
    sized.block_size = static_cast<int>(size);
    const auto e = models::error_of(o.exact, models::to_blocks(*scheme, o.exact, sized).values);
    o.sizes.push_back({size, models::bits_per_element(*scheme, sized.block_size), e.rms});
    o.size_bits.push_back(o.sizes.back().bits);
    o.size_rms.push_back(rms > 0 ? 100 * (e.rms / rms) : 0);
  }
  for (std::size_t i = 0; i < b.scales.size(); ++i) {
    o.scale_texts.push_back(scale_text(*scheme, b.scales[i]));
    o.levels.push_back(levels_of(*scheme, b, i));
  }
  o.note = std::string(scheme->source) + ": " + std::string(models::element_of(*scheme).name) + " elements, " +
           std::to_string(b.block_size) + " to a scale" +
           (scheme->scale == BlockScale::e4m3 ? ", one more for the tensor" : "");
  widgets::Fingerprint print;
  for (const double v : o.values) print.add(v);
  print.add(in.scheme);
  o.version = print.value;
  return o;
}

}  // namespace chapters::precision::block_formats
