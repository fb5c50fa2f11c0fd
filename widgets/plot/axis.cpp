#include "widgets/plot/axis.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

constexpr double largest = 1e300, smallest_positive = 1e-300;
/// Below this width relative to its values, neighbouring ticks are no longer different doubles.
constexpr double finest = 1e-12;

}  // namespace

bool is_log(AxisKind kind) { return kind == AxisKind::log10 || kind == AxisKind::log2; }

double axis_forward(AxisKind kind, double value) {
  if (kind == AxisKind::log10) return value > 0 ? std::log10(value) : std::isnan(value) ? value : -HUGE_VAL;
  if (kind == AxisKind::log2) return value > 0 ? std::log2(value) : std::isnan(value) ? value : -HUGE_VAL;
  return value;
}

double axis_inverse(AxisKind kind, double position) {
  if (kind == AxisKind::log10) return std::pow(10.0, position);
  if (kind == AxisKind::log2) return std::exp2(position);
  return position;
}

Range sane_range(AxisKind kind, Range r) {
  if (!(r.lo <= r.hi)) std::swap(r.lo, r.hi);
  if (!std::isfinite(r.lo) && !std::isfinite(r.hi)) return is_log(kind) ? Range{1, 10} : Range{0, 1};
  if (is_log(kind)) {
    if (!(r.hi > 0)) return {1, 10};
    r.hi = std::clamp(std::isfinite(r.hi) ? r.hi : r.lo * 10, smallest_positive * 10, largest);
    r.lo = r.lo > 0 && std::isfinite(r.lo) ? std::clamp(r.lo, smallest_positive, largest / 10) : r.hi / 1e3;
    r.lo = std::max(r.lo, smallest_positive);
    if (!(r.hi / r.lo > 1 + 1e-9)) return {r.lo / 2, r.hi * 2};
    return r;
  }
  if (!std::isfinite(r.lo)) r.lo = r.hi - std::max(1.0, std::abs(r.hi));
  if (!std::isfinite(r.hi)) r.hi = r.lo + std::max(1.0, std::abs(r.lo));
  r = {std::clamp(r.lo, -largest, largest), std::clamp(r.hi, -largest, largest)};
  const double size = std::max(std::abs(r.lo), std::abs(r.hi));
  if (!(size > smallest_positive)) return {0, 1};
  if (r.hi - r.lo > size * finest) return r;
  if (r.lo == r.hi) return {r.lo - size / 2, r.hi + size / 2};
  const double middle = r.lo / 2 + r.hi / 2, half = size * finest;
  return {middle - half, middle + half};
}

Range zoom_range(AxisKind kind, Range range, double about, double factor) {
  range = sane_range(kind, range);
  const double lo = axis_forward(kind, range.lo), hi = axis_forward(kind, range.hi);
  const double fixed = axis_forward(kind, about);
  if (!std::isfinite(fixed) || !(factor > 0) || !std::isfinite(factor)) return range;
  const double new_lo = fixed - (fixed - lo) * factor, new_hi = fixed + (hi - fixed) * factor;
  // Stop where doubles stop, in axis space, instead of jumping.
  const double size = std::max({std::abs(new_lo), std::abs(new_hi), is_log(kind) ? 1.0 : 0.0});
  if (!(new_hi - new_lo > size * 4 * (is_log(kind) ? 1e-9 : finest))) return range;
  if (is_log(kind) && !(new_hi - new_lo < 600)) return range;
  return sane_range(kind, {axis_inverse(kind, new_lo), axis_inverse(kind, new_hi)});
}

Range pan_range(AxisKind kind, Range range, double fraction) {
  range = sane_range(kind, range);
  if (!std::isfinite(fraction)) return range;
  const double lo = axis_forward(kind, range.lo), hi = axis_forward(kind, range.hi);
  const double shift = (hi - lo) * fraction;
  const double limit = axis_forward(kind, is_log(kind) ? largest / 10 : largest);
  if (!(std::abs(lo + shift) < limit) || !(std::abs(hi + shift) < limit)) return range;
  const Range moved{axis_inverse(kind, lo + shift), axis_inverse(kind, hi + shift)};
  const Range sane = sane_range(kind, moved);
  return sane.lo == moved.lo && sane.hi == moved.hi ? sane : range;
}

Range fit_range(AxisKind kind, Range data, double padding) {
  const Range r = sane_range(kind, data);
  const double lo = axis_forward(kind, r.lo), hi = axis_forward(kind, r.hi);
  const double pad = (hi - lo) * padding;
  return sane_range(kind, {axis_inverse(kind, lo - pad), axis_inverse(kind, hi + pad)});
}

AxisMap::AxisMap(AxisKind kind, Range range, double start_px, double end_px)
    : kind_(kind), start_(start_px), end_(end_px) {
  range = sane_range(kind, range);
  from_ = axis_forward(kind, range.lo);
  px_per_unit_ = (end_px - start_px) / (axis_forward(kind, range.hi) - from_);
  if (!(std::abs(px_per_unit_) > 0)) px_per_unit_ = 1;  // no room at all: keep value() finite
}

AxisMap::AxisMap(AxisKind kind, Range range, double start_px, double end_px, double band_px)
    : AxisMap(kind, range, end_px > start_px ? start_px + band_px : start_px - band_px, end_px) {
  has_zero_ = band_px > 0;
  zero_px_ = (start_px + start_) / 2;
}

AxisMap axis_map(const AxisSpec& spec, Range range, double start_px, double end_px, double line_px) {
  const double band = line_px * 1.8;
  // A band that leaves hardly any scale is dropped.
  if (spec.zero_word.empty() || !is_log(spec.kind) || !(std::abs(end_px - start_px) >= band * 3))
    return {spec.kind, range, start_px, end_px};
  return {spec.kind, range, start_px, end_px, band};
}

NumberText axis_title(const AxisSpec& spec, const AxisTicks& ticks) {
  NumberText out;
  const auto add = [&](std::string_view s) {
    const std::size_t n = std::min(s.size(), sizeof out.chars - 1 - out.length);
    std::copy_n(s.begin(), n, out.chars + out.length);
    out.length += n;
  };
  add(spec.label.substr(0, 40));
  if (ticks.unit.length == 0) return out;
  if (out.length > 0) add(" ");
  add("(");
  add(ticks.unit.view());
  add(")");
  return out;
}

NumberText axis_value(const AxisSpec& spec, double value, int significant) {
  if (value == 0 && is_log(spec.kind) && !spec.zero_word.empty()) {
    NumberText out;
    out.length = std::min(spec.zero_word.size(), sizeof out.chars - 1);
    std::copy_n(spec.zero_word.begin(), out.length, out.chars);
    return out;
  }
  if (!spec.categories.empty()) {
    const double i = std::round(value);
    if (i >= 0 && i < static_cast<double>(spec.categories.size())) {
      NumberText out;
      const std::string_view name = spec.categories[static_cast<std::size_t>(i)];
      out.length = std::min(name.size(), sizeof out.chars - 1);
      std::copy_n(name.begin(), out.length, out.chars);
      return out;
    }
  }
  const bool binary = spec.binary || spec.kind == AxisKind::linear_bytes;
  return format(value, spec.unit, significant, binary ? Prefix::binary : Prefix::si);
}

}  // namespace widgets
