#include "models/numerics/block_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "models/numerics/float_cast.h"

namespace models {
namespace {

constexpr BlockScheme schemes[] = {
    {"mxfp8_e4m3", "MXFP8 E4M3", "e4m3fn", 32, BlockScale::e8m0, "OCP MX v1.0"},
    {"mxfp8_e5m2", "MXFP8 E5M2", "e5m2", 32, BlockScale::e8m0, "OCP MX v1.0"},
    {"mxfp6_e3m2", "MXFP6 E3M2", "e3m2", 32, BlockScale::e8m0, "OCP MX v1.0"},
    {"mxfp6_e2m3", "MXFP6 E2M3", "e2m3", 32, BlockScale::e8m0, "OCP MX v1.0"},
    {"mxfp4", "MXFP4", "e2m1", 32, BlockScale::e8m0, "OCP MX v1.0"},
    {"nvfp4", "NVFP4", "e2m1", 16, BlockScale::e4m3, "NVIDIA Blackwell; E4M3 a block, FP32 a tensor"},
    {"int8_group", "INT8, groups", "int8", 64, BlockScale::fp16, "symmetric, FP16 scale"},
    {"int4_group", "INT4, groups", "int4", 64, BlockScale::fp16, "symmetric, FP16 scale"},
    {"int4_zero", "INT4 with zero point", "int4", 64, BlockScale::fp16_zero,
     "as GPTQ and AWQ checkpoints store weights"},
    {"nf4", "NF4, groups", "nf4", 64, BlockScale::fp32, "QLoRA, FP32 absmax"},
};

const FloatFormat& format(std::string_view id) { return *find_float_format(id); }

double amax_of(std::span<const double> x) {
  double most = 0;
  for (const double v : x) most = std::abs(v) > most || std::isnan(v) ? std::abs(v) : most;
  return most;
}

/// One block being filled: its part of the input, where its outputs go, and what scale the codes count in.
struct Block {
  const BlockScheme& scheme;
  const FloatFormat& element;
  const BlockOptions& options;
  std::span<const double> in;
  std::size_t first;
  Blocks& out;
};

/// Elements as floats or symmetric integers in units of `scale`.
void fill(const Block& b, double scale, double least, double most) {
  for (std::size_t i = 0; i < b.in.size(); ++i) {
    const double scaled = scale > 0 ? b.in[i] / scale : 0;
    const double clipped = std::clamp(scaled, least, most);
    const auto code =
        encode(b.element, clipped, b.options.rounding, Overflow::saturate, random_bits_at(b.options.seed, b.first + i));
    const double worth = decode(b.element, code);
    b.out.codes.push_back(static_cast<std::uint32_t>(code));
    b.out.values.push_back(worth == 0 ? std::copysign(0.0, worth) : worth * scale);
    // A hair beyond is the scale's own rounding, not clipping
    b.out.saturated += scaled > most * 1.001 || scaled < least * 1.001;
    b.out.lost += worth == 0 && b.in[i] != 0;
  }
}

/// 1, 0.95 ... 0.5: the parts of the range that the search for the least error tries.
constexpr int shrinks_tried = 11;
double shrink_at(int k) { return 1 - 0.05 * k; }

/// Squared error of the block's elements, rounded to nearest in units of `scale`.
double squared_error(const Block& b, double scale, double least, double most) {
  double sum = 0;
  for (const double x : b.in) {
    const double scaled = scale > 0 ? std::clamp(x / scale, least, most) : 0;
    const double e =
        x - decode(b.element, encode(b.element, scaled, Rounding::nearest_even, Overflow::saturate)) * scale;
    sum += e * e;
  }
  return sum;
}

/// The one of `tried` choices with the least error; the first of equals. `error_at` gives the error of choice k.
template <class ErrorAt>
int least_of(int tried, ErrorAt error_at) {
  int best = 0;
  double least = error_at(0);
  for (int k = 1; k < tried; ++k) {
    const double error = error_at(k);
    if (!(error < least)) continue;
    least = error;
    best = k;
  }
  return best;
}

/// The part of the range with the least error, where that is asked for; all of it otherwise. `error_of` is the error
/// with a part of the range.
template <class ErrorOf>
double shrink_of(const Block& b, ErrorOf error_of) {
  if (b.options.rule != ScaleRule::least_error) return 1;
  return shrink_at(least_of(shrinks_tried, [&](int k) { return error_of(shrink_at(k)); }));
}

int mx_exponent(const Block& b, double amax, double most) {
  if (!(amax > 0)) return -127;
  if (b.options.rule == ScaleRule::ceil) {
    const double ratio = amax / most;
    return std::ilogb(ratio) + (ratio > std::ldexp(1.0, std::ilogb(ratio)) ? 1 : 0);
  }
  const int exponent = std::ilogb(amax) - std::ilogb(most);
  if (b.options.rule != ScaleRule::least_error) return exponent;
  static constexpr std::array offsets{0, 1, -1, -2};
  return exponent + offsets[static_cast<std::size_t>(least_of(static_cast<int>(offsets.size()), [&](int k) {
           const int at = std::clamp(exponent + offsets[static_cast<std::size_t>(k)], -127, 127);
           return squared_error(b, std::ldexp(1.0, at), -most, most);
         }))];
}

void mx_block(const Block& b) {
  const FloatFormat &e = b.element, &e8m0 = format("e8m0");
  const double amax = amax_of(b.in), most = limits(e).max_finite;
  if (!std::isfinite(amax)) {
    b.out.scales.push_back(std::numeric_limits<double>::quiet_NaN());
    b.out.scale_codes.push_back(0xFF);
    b.out.codes.insert(b.out.codes.end(), b.in.size(), 0);
    b.out.values.insert(b.out.values.end(), b.in.size(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const int exponent = std::clamp(mx_exponent(b, amax, most), -127, 127);
  const double scale = std::ldexp(1.0, exponent);
  b.out.scales.push_back(scale);
  b.out.scale_codes.push_back(static_cast<std::uint32_t>(encode(e8m0, scale)));
  fill(b, scale, -most, most);
}

void nvfp4_block(const Block& b) {
  const FloatFormat& e4m3 = format("e4m3fn");
  const double most = limits(b.element).max_finite;
  auto code = static_cast<int>(
      encode(e4m3, amax_of(b.in) / most / b.out.tensor_scale, Rounding::nearest_even, Overflow::saturate));
  if (b.options.rule == ScaleRule::least_error && code > 0) {
    const int widest = code, last = static_cast<int>(last_ordinal(e4m3));
    const auto tried = [&](int k) { return std::clamp(k == 9 ? widest + 1 : widest - k, 1, last); };
    code = tried(least_of(10, [&](int k) {
      const double scale = decode(e4m3, static_cast<std::uint64_t>(tried(k))) * b.out.tensor_scale;
      return squared_error(b, scale, -most, most);
    }));
  }
  b.out.scale_codes.push_back(static_cast<std::uint32_t>(code));
  b.out.scales.push_back(decode(e4m3, static_cast<std::uint64_t>(code)));
  fill(b, b.out.scales.back() * b.out.tensor_scale, -most, most);
}

std::uint64_t fp16_code(double scale) {
  return encode(format("fp16"), scale, Rounding::nearest_even, Overflow::saturate);
}

/// The scale as FP16 stores it.
double push_fp16(Blocks& out, double scale) {
  const FloatFormat& fp16 = format("fp16");
  const auto code = fp16_code(scale);
  out.scale_codes.push_back(static_cast<std::uint32_t>(code));
  out.scales.push_back(decode(fp16, code));
  return out.scales.back();
}

void zero_point_block(const Block& b) {
  const int steps = (1 << b.element.bits) - 1;
  double lo = 0, hi = 0;  // zero must have a code
  for (const double v : b.in) {
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  const auto zero_of = [&](double lowest, double scale) {
    return scale > 0 ? std::clamp(std::nearbyint(-lowest / scale), 0.0, static_cast<double>(steps)) : 0;
  };
  const double shrink = shrink_of(b, [&](double part) {
    const double scale = decode(format("fp16"), fp16_code((hi / steps - lo / steps) * part));
    const double at = zero_of(lo * part, scale);
    double sum = 0;
    for (const double x : b.in) {
      const double code = scale > 0 ? std::clamp(std::nearbyint(x / scale + at), 0.0, static_cast<double>(steps)) : at;
      const double e = x - (code - at) * scale;
      sum += e * e;
    }
    return sum;
  });
  lo *= shrink;
  hi *= shrink;
  const double scale = push_fp16(b.out, hi / steps - lo / steps);
  const int zero = static_cast<int>(zero_of(lo, scale));
  b.out.zero_points.push_back(zero);
  for (std::size_t i = 0; i < b.in.size(); ++i) {
    const double scaled = scale > 0 ? b.in[i] / scale + zero : 0;
    double whole = std::nearbyint(scaled);
    if (b.options.rounding == Rounding::toward_zero) whole = std::trunc(scaled - zero) + zero;
    if (b.options.rounding == Rounding::stochastic)
      whole = std::floor(scaled + static_cast<double>(random_bits_at(b.options.seed, b.first + i) >> 11) * 0x1p-53);
    const double code = std::clamp(whole, 0.0, static_cast<double>(steps));
    b.out.codes.push_back(static_cast<std::uint32_t>(code));
    b.out.values.push_back((code - zero) * scale);
    b.out.saturated += whole != code;
    b.out.lost += code == zero && b.in[i] != 0;
  }
}

void one_block(const Block& b) {
  switch (b.scheme.scale) {
    case BlockScale::e8m0:
      return mx_block(b);
    case BlockScale::e4m3:
      return nvfp4_block(b);
    case BlockScale::fp16_zero:
      return zero_point_block(b);
    case BlockScale::fp16: {
      // Symmetric: -2^(b-1) is left unused, so that -x has a code when x has one
      const auto most = static_cast<double>(last_ordinal(b.element));
      const double widest = amax_of(b.in) / most;
      const double shrink = shrink_of(b, [&](double part) {
        return squared_error(b, decode(format("fp16"), fp16_code(widest * part)), -most, most);
      });
      return fill(b, push_fp16(b.out, widest * shrink), -most, most);
    }
    case BlockScale::fp32: {
      const double widest = std::min(amax_of(b.in), static_cast<double>(std::numeric_limits<float>::max()));
      const auto amax = static_cast<float>(
          widest * shrink_of(b, [&](double part) { return squared_error(b, widest * part, -1, 1); }));
      b.out.scale_codes.push_back(std::bit_cast<std::uint32_t>(amax));
      b.out.scales.push_back(static_cast<double>(amax));
      return fill(b, static_cast<double>(amax), -1, 1);
    }
  }
}

}  // namespace

std::span<const BlockScheme> block_schemes() { return schemes; }

const BlockScheme* find_block_scheme(std::string_view id) {
  const auto* at =
      std::find_if(std::begin(schemes), std::end(schemes), [&](const BlockScheme& s) { return s.id == id; });
  return at == std::end(schemes) ? nullptr : at;
}

const FloatFormat& element_of(const BlockScheme& scheme) { return format(scheme.element); }

Blocks to_blocks(const BlockScheme& scheme, std::span<const double> values, const BlockOptions& options) {
  Blocks out;
  out.block_size = options.block_size > 0 ? options.block_size : scheme.block_size;
  const auto size = static_cast<std::size_t>(out.block_size);
  const FloatFormat& element = element_of(scheme);
  std::vector<double> finite;
  if (scheme.scale != BlockScale::e8m0 &&
      !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    // Only MX can say NaN of a block; elsewhere infinities count as the largest number and NaN as 0
    finite.assign(values.begin(), values.end());
    for (double& v : finite)
      v = std::isnan(v) ? 0 : std::clamp(v, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
    values = finite;
  }
  out.codes.reserve(values.size());
  out.values.reserve(values.size());
  if (scheme.scale == BlockScale::e4m3) {
    const double amax = amax_of(values), top = limits(element).max_finite * limits(format("e4m3fn")).max_finite;
    // Below FP32's range the scale would be 0: everything is then lost, as it is in the format
    const double most = static_cast<double>(std::numeric_limits<float>::max());
    out.tensor_scale = amax / top > 0x1p-149 ? std::min(amax / top, most) : 1;
  }
  for (std::size_t first = 0; first < values.size(); first += size)
    one_block({scheme, element, options, values.subspan(first, std::min(size, values.size() - first)), first, out});
  return out;
}

double bits_per_element(const BlockScheme& scheme, int block_size) {
  const double size = block_size > 0 ? block_size : scheme.block_size;
  const int bits = element_of(scheme).bits;
  switch (scheme.scale) {
    case BlockScale::e8m0:
    case BlockScale::e4m3:
      return bits + 8 / size;
    case BlockScale::fp16:
      return bits + 16 / size;
    case BlockScale::fp16_zero:
      return bits + (16 + bits) / size;
    case BlockScale::fp32:
      return bits + 32 / size;
  }
  return bits;
}

QuantizationError error_of(std::span<const double> exact, std::span<const double> quantized) {
  QuantizationError e;
  const std::size_t n = std::min(exact.size(), quantized.size());
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = quantized[i] - exact[i];
    signal += exact[i] * exact[i];
    noise += d * d;
    e.mean_abs += std::abs(d);
    e.max_abs = std::max(e.max_abs, std::abs(d));
  }
  if (n > 0) {
    e.rms = std::sqrt(noise / static_cast<double>(n));
    e.mean_abs /= static_cast<double>(n);
  }
  e.signal_to_noise_db = !(signal > 0) ? 0
                         : noise > 0   ? std::clamp(10 * std::log10(signal / noise), -400.0, 400.0)
                                       : 400;
  return e;
}

}  // namespace models
