#include "models/numerics/number_line.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

double last_of(const FloatFormat& f) { return static_cast<double>(last_ordinal(f)); }

/// Ordinal of the last value at or below a place of the axis, within one of the ends.
std::int64_t rank(const FloatFormat& f, LineAxis axis, double coordinate) {
  if (axis == LineAxis::ordinal) {
    const double at = std::floor(coordinate * last_of(f));
    if (at >= last_of(f)) return last_ordinal(f);
    return at < static_cast<double>(first_ordinal(f)) ? first_ordinal(f) - 1 : static_cast<std::int64_t>(at);
  }
  return ordinal_at_or_below(f, axis == LineAxis::log2 ? std::exp2(coordinate) : coordinate);
}

/// Ordinal that stands for zero, below which no magnitude lies.
std::int64_t zero_rank(const FloatFormat& f) { return f.specials == Specials::scale ? -1 : ordinal_at_or_below(f, 0); }

}  // namespace

double value_at(const FloatFormat& f, LineAxis axis, double coordinate) {
  if (axis == LineAxis::linear) return coordinate;
  if (axis == LineAxis::log2) return std::exp2(coordinate);
  return decode(f, code_at(f, std::clamp(rank(f, axis, coordinate), first_ordinal(f), last_ordinal(f))));
}

double coordinate_of(const FloatFormat& f, LineAxis axis, double value) {
  if (axis == LineAxis::linear) return value;
  if (axis == LineAxis::log2) return std::log2(std::abs(value));
  return static_cast<double>(std::clamp(ordinal_at_or_below(f, value), first_ordinal(f), last_ordinal(f))) / last_of(f);
}

LineStretch whole_line(std::span<const FloatFormat* const> formats, LineAxis axis) {
  if (axis == LineAxis::ordinal) return {-0.02, 1.02};
  LineStretch s{HUGE_VAL, -HUGE_VAL};
  double narrowest = HUGE_VAL;
  for (const FloatFormat* f : formats) {
    const FormatLimits l = limits(*f);
    s.lo = std::min(s.lo, std::log2(l.min_positive));
    s.hi = std::max(s.hi, std::log2(l.max_finite));
    narrowest = std::min(narrowest, l.max_finite);
  }
  if (formats.empty()) return {-8, 8};
  if (axis ==
      LineAxis::linear) {  // the widest would leave nothing to see of the others; and the span itself must be a double
    narrowest = std::min(narrowest * 1.25, 8e307);
    return {-narrowest, narrowest};
  }
  return {std::max(s.lo, -46.0) - 1, std::min(s.hi, 22.0) + 1};
}

LineStretch around(const FloatFormat& f, LineAxis axis, double x, int count) {
  const std::int64_t at = std::clamp(ordinal_at_or_below(f, x), first_ordinal(f), last_ordinal(f));
  const std::int64_t least = axis == LineAxis::log2 ? zero_rank(f) + 1 : first_ordinal(f);
  const auto place = [&](std::int64_t ordinal) {
    return axis == LineAxis::ordinal ? static_cast<double>(ordinal) / last_of(f)
                                     : coordinate_of(f, axis, decode(f, code_at(f, ordinal)));
  };
  const std::int64_t from = at < least + count ? least : at - count,
                     to = at > last_ordinal(f) - count ? last_ordinal(f) : at + count;
  const double lo = place(from), hi = place(to), room = std::max((hi - lo) * 0.04, min_span(axis, hi));
  return {lo - room, hi + room};
}

double min_span(LineAxis axis, double center) {
  const double fine = axis == LineAxis::linear ? std::max(std::abs(center) * 0x1p-49, 0x1p-1060)
                                               : std::max(std::abs(center), 1.0) * 0x1p-44;
  return fine;
}

double count_columns(const FloatFormat& f, LineAxis axis, LineStretch s, std::span<double> counts) {
  if (counts.empty()) return 0;
  const std::int64_t floor_rank = axis == LineAxis::log2 ? zero_rank(f) : first_ordinal(f) - 1;
  const double n = static_cast<double>(counts.size());
  std::int64_t before = std::max(rank(f, axis, s.lo), floor_rank);
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double edge = s.lo + (s.hi - s.lo) * (static_cast<double>(i + 1) / n);
    const std::int64_t here = std::max(rank(f, axis, edge), before);
    counts[i] = static_cast<double>(static_cast<std::uint64_t>(here) - static_cast<std::uint64_t>(before));
    sum += counts[i];
    before = here;
  }
  return sum;
}

std::vector<LineValue> values_in(const FloatFormat& f, LineAxis axis, LineStretch s, std::size_t most) {
  std::vector<LineValue> out;
  const std::int64_t floor_rank = axis == LineAxis::log2 ? zero_rank(f) : first_ordinal(f) - 1;
  const std::int64_t from = std::max(rank(f, axis, s.lo), floor_rank), to = rank(f, axis, s.hi);
  if (to <= from || static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) > most) return out;
  for (std::int64_t o = from + 1; o <= to; ++o) {
    const double v = decode(f, code_at(f, o));
    out.push_back({o, v, axis == LineAxis::ordinal ? static_cast<double>(o) / last_of(f) : coordinate_of(f, axis, v)});
  }
  return out;
}

NearestValue nearest_value(const FloatFormat& format, double x) {
  const std::uint64_t code = encode(format, x, Rounding::nearest_even, Overflow::saturate);
  return {code, decode(format, code), ulp(format, code), classify(format, code)};
}

double share_of_magnitudes_below(const Tensor& t, double m) {
  if (!(m >= 0)) return 0;
  if (std::isinf(m)) return 1;
  const double x = m / (t.size * t.scale);
  switch (t.spread) {
    case ValueSpread::none:
      return 0;
    case ValueSpread::normal:
      return std::erf(x / std::sqrt(2.0));
    case ValueSpread::heavy: {  // Student's t, 3 degrees of freedom: closed form
      const double r = x / std::sqrt(3.0);
      return std::min(1.0, 2 / std::acos(-1.0) * (r / (1 + r * r) + std::atan(r)));
    }
    case ValueSpread::gradients:
      return x > 0 ? 0.5 * std::erfc(-std::log2(x) / t.octaves / std::sqrt(2.0)) : 0;
    case ValueSpread::tensor:
      return share_below(t, m) - share_below(t, std::nextafter(-m, -HUGE_VAL));
  }
  return 0;
}

double share_below(const Tensor& t, double x) {
  if (t.spread == ValueSpread::none) return 0;
  if (t.spread == ValueSpread::tensor) {
    if (t.sorted.empty()) return 0;
    const auto above = std::upper_bound(t.sorted.begin(), t.sorted.end(), x / t.scale,
                                        [](double v, float s) { return v < static_cast<double>(s); });
    return static_cast<double>(above - t.sorted.begin()) / static_cast<double>(t.sorted.size());
  }
  const double half = share_of_magnitudes_below(t, std::abs(x)) / 2;
  return x < 0 ? 0.5 - half : 0.5 + half;
}

Fate fate_of(const FloatFormat& f, const Tensor& t) {
  Fate out;
  if (t.spread == ValueSpread::none || (t.spread == ValueSpread::tensor && t.sorted.empty())) return out;
  const FormatLimits l = limits(f);
  const bool has_zero = l.zero_codes > 0;
  const double zeros = share_of_magnitudes_below(t, 0);
  const double lost = has_zero ? share_of_magnitudes_below(t, l.underflow_threshold) : 0;
  // What rounds up to the smallest normal is one
  const double small = l.subnormal_codes ? share_of_magnitudes_below(t, l.min_normal - l.min_positive / 2) : lost;
  const double edge = l.overflow_at_tie ? std::nextafter(l.overflow_threshold, 0.0) : l.overflow_threshold;
  const double fits = share_of_magnitudes_below(t, edge);
  // What is below a double's own spacing at 1 is nothing
  const auto share = [](double s) { return s > 1e-16 ? s : 0; };
  out.underflow = share(lost - zeros);
  out.subnormal = share(small - lost);
  out.overflow = share(1 - fits);
  out.normal = std::max(0.0, fits - small) + (has_zero ? zeros : 0);
  return out;
}

}  // namespace models
