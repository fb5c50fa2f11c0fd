#include <algorithm>
#include <cmath>
#include <span>

#include "widgets/number/number_units.h"
#include "widgets/plot/axis.h"

namespace widgets {
namespace {

struct Ticker {
  const AxisSpec& spec;
  Range range;
  const AxisMap& map;
  const LabelMeasure& measure;
  AxisTicks& out;
  UnitScale scale;         ///< the one multiple of all labels
  bool own_units = false;  ///< every label names its own multiple instead
  int significant = 3;
  bool powers = false;  ///< powers of two are written 2^k

  Prefix prefix() const {
    const bool binary = spec.binary || spec.kind == AxisKind::linear_bytes || spec.kind == AxisKind::log2;
    return binary ? Prefix::binary : Prefix::si;
  }

  NumberText label(double value) const {
    if (powers)
      if (const auto exponent = exponent_of_two(value)) return power_of_two(*exponent);
    return own_units ? format(value, spec.unit, significant, prefix()) : format_in(scale, value, significant);
  }
  void add(double value) {
    if (out.major_count == out.major_room.size()) return;
    out.major_room[out.major_count++] = {value, map.pixel(value), label(value)};
  }
  void add_minor(double value) {
    if (out.minor_count < out.minor_room.size() && value >= range.lo && value <= range.hi)
      out.minor_room[out.minor_count++] = map.pixel(value);
  }
  bool clear() const {
    for (std::size_t i = 1; i < out.major_count; ++i) {
      const Tick &a = out.major_room[i - 1], &b = out.major_room[i];
      const double half = static_cast<double>((measure.extent(a.label) + measure.extent(b.label)) / 2 + measure.gap());
      if (!(std::abs(b.pixel - a.pixel) >= half)) return false;
    }
    return true;
  }
  double length() const { return std::abs(map.end() - map.start()); }
};

/// 1, 2, 5, 10, ... times a power of `base` (10, or 2 for binary multiples, where each power is a step).
double next_step(AxisKind kind, double step) {
  if (kind == AxisKind::linear_bytes) return step * 2;
  const double power = std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  const double lead = step / power;
  return lead < 1.5 ? 2 * power : lead < 4 ? 5 * power : 10 * power;
}

constexpr double clock_steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                  600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};

double first_step(AxisKind kind, double about) {
  if (kind == AxisKind::linear_bytes) return std::exp2(std::floor(std::log2(about)));
  if (kind == AxisKind::time && about > 0.5 && about < 86400)
    return *std::lower_bound(std::begin(clock_steps), std::end(clock_steps) - 1, about);
  if (kind == AxisKind::time && about >= 86400) return 86400 * std::pow(10.0, std::floor(std::log10(about / 86400)));
  return std::pow(10.0, std::floor(std::log10(about)));
}

double after(AxisKind kind, double step) {
  if (kind != AxisKind::time || step < 0.9) return next_step(kind, step);
  const auto* found = std::upper_bound(std::begin(clock_steps), std::end(clock_steps), step * 1.001);
  return found != std::end(clock_steps) ? *found : 86400 * next_step(AxisKind::linear, step / 86400);
}

UnitScale clock_scale(double step, double magnitude) {
  if (step >= 21600 && magnitude >= 86400) return unit_scale(86400 * 2, "s");
  if (step >= 900) return unit_scale(7200, "s");
  if (step >= 30 && magnitude > 120) return unit_scale(180, "s");
  return unit_scale(std::min(magnitude, 1.0), "s");
}

/// 1, 2 and 5 times the powers of ten, or fewer of them, where even steps leave less than two names on a log axis.
void lead_ticks(Ticker& t) {
  const std::size_t before = t.out.major_count;
  const double only = before > 0 ? t.out.major_room[0].value : 0;
  const int significant = t.significant;
  t.significant = 2;
  const double lowest = std::floor(std::log10(t.range.lo) + 1e-9), highest = std::floor(std::log10(t.range.hi) + 1e-9);
  constexpr double choices[][3] = {{1, 2, 5}, {1, 5, 0}, {1, 3, 0}, {1, 0, 0}, {2, 0, 0}, {5, 0, 0}, {3, 0, 0}};
  for (const auto& leads : choices) {
    t.out.major_count = 0;
    for (double e = lowest; e <= highest; ++e)
      for (const double lead : leads) {
        const double value = lead * std::pow(10.0, e);
        if (lead > 0 && value >= t.range.lo && value <= t.range.hi) t.add(value);
      }
    if (t.out.major_count >= 2 && t.clear()) return;
  }
  t.out.major_count = 0;
  t.significant = significant;
  if (before > 0) t.add(only);
}

/// Names the multiples of a step that are in view.
void name_steps(Ticker& t, AxisKind kind, double step, double magnitude) {
  t.out.major_count = 0;
  t.scale = t.spec.unit == "s" ? clock_scale(step, magnitude) : unit_scale(magnitude, t.spec.unit, t.prefix());
  t.significant = std::clamp(
      static_cast<int>(std::floor(std::log10(magnitude))) - static_cast<int>(std::floor(std::log10(step) + 1e-9)) + 1,
      1, 15);
  // Steps of 30 s in minutes or of binary multiples need their own digits: 0.5, 1.75, 0.125.
  if (kind == AxisKind::linear_bytes || kind == AxisKind::time) t.significant = std::min(t.significant + 3, 15);
  const double first = std::ceil(t.range.lo / step - 1e-9), last = std::floor(t.range.hi / step + 1e-9);
  for (double k = first; k <= last; ++k) t.add(k * step == 0 ? 0.0 : k * step);
}

/// Even steps; also serves a log axis that shows less than a decade.
void even_ticks(Ticker& t) {
  // Steps of 1, 2, 5 seconds are odd in minutes, so seconds always go by the clock.
  const double span = t.range.hi - t.range.lo;
  const double magnitude = std::max(std::abs(t.range.lo), std::abs(t.range.hi));
  // Steps of a power of ten are odd in Gi, so binary multiples have steps of a power of two.
  const bool binary = t.prefix() == Prefix::binary && unit_scale(magnitude, t.spec.unit, t.prefix()).factor > 1;
  const AxisKind kind = t.spec.unit == "s"                                              ? AxisKind::time
                        : binary                                                        ? AxisKind::linear_bytes
                        : t.spec.kind == AxisKind::linear_bytes || !is_log(t.spec.kind) ? t.spec.kind
                                                                                        : AxisKind::linear;
  const double least_px = static_cast<double>(t.measure.vertical ? t.measure.line_px * 2.4f : t.measure.line_px * 3.0f);
  // On a log axis the low end has more room than the even share; the check of labels decides.
  const double about = span * std::min(1.0, least_px / std::max(t.length(), 1.0));
  // Elsewhere the search begins lower than it can end, so that it knows the step before its first.
  double step = first_step(kind, is_log(t.spec.kind) ? about : about / 2.5);
  double crowded = 0;  // the longest step whose names would stand closer than is good to read
  t.own_units = false;
  for (int tries = 0; tries < 80; ++tries, step = after(kind, step)) {
    const double count = span / step;
    t.out.major_count = 0;
    if (count > 60) continue;
    if (count < 1e-3) break;
    if (t.length() / count < least_px && !is_log(t.spec.kind) && count > 1) {
      crowded = step;
      continue;
    }
    name_steps(t, kind, step, magnitude);
    if (t.clear()) break;
    // The next step may skip the whole range: one name is better than none.
    if (t.out.major_count == 2) {
      t.out.major_count = 1;
      break;
    }
  }
  if (is_log(t.spec.kind) && t.out.major_count < 2) lead_ticks(t);
  // Nobody reads a scale off one name: two that stand near each other tell more.
  if (crowded > 0 && t.out.major_count < 2) {
    const Tick only = t.out.major_room[0];
    const std::size_t before = t.out.major_count;
    const UnitScale scale = t.scale;
    name_steps(t, kind, crowded, magnitude);
    if (t.out.major_count >= 2 && t.clear()) return;
    t.scale = scale;
    t.out.major_room[0] = only;
    t.out.major_count = before;
  }
}

/// Every 7th or 11th power is no round choice.
bool round_stride(double stride) {
  if (stride > 20) return std::fmod(stride, 10) == 0;
  for (const double odd : {7.0, 9.0, 11.0, 13.0, 14.0, 17.0, 18.0, 19.0})
    if (stride == odd) return false;
  return true;
}

/// Powers of ten or two, each `stride`-th; when few are in view, those between as well.
bool power_ticks(Ticker& t) {
  const bool binary = t.spec.kind == AxisKind::log2;
  const double lo = axis_forward(t.spec.kind, t.range.lo), hi = axis_forward(t.spec.kind, t.range.hi);
  const double first = std::ceil(lo - 1e-9), last = std::floor(hi + 1e-9);
  const double px_per_power = t.length() / (hi - lo);
  const double powers = last - first + 1;
  if (powers < 2) return false;
  double stride = 1;
  for (; stride < 700; ++stride) {
    t.out.major_count = 0;
    if (powers / stride > 60 || !round_stride(stride)) continue;
    for (double e = std::ceil(first / stride) * stride; e <= last; e += stride) t.add(axis_inverse(t.spec.kind, e));
    if (t.clear()) break;
  }
  if (stride == 1 && !binary && powers < 4) {
    // Two or three decades: name 2 and 5 as well where there is room.
    AxisTicks& out = t.out;
    const std::size_t decades = out.major_count;
    out.major_count = 0;
    for (double e = first - 1; e <= last; ++e)
      for (const double lead : {1.0, 2.0, 5.0}) {
        const double v = lead * std::pow(10.0, e);
        if (v >= t.range.lo * (1 - 1e-9) && v <= t.range.hi * (1 + 1e-9)) t.add(v);
      }
    if (!t.clear()) {
      out.major_count = 0;
      for (double e = first; e <= last && out.major_count < decades; ++e) t.add(std::pow(10.0, e));
    }
  }
  if (binary || stride > 1) {
    if (px_per_power >= 4)
      for (double e = first; e <= last; ++e)
        if (std::fmod(e, stride) != 0) t.add_minor(axis_inverse(t.spec.kind, e));
    return true;
  }
  if (px_per_power >= 24)
    for (double e = first - 1; e <= last; ++e)
      for (int lead = 2; lead <= 9; ++lead) t.add_minor(lead * std::pow(10.0, e));
  return true;
}

/// What a log axis of seconds names: decades below a second, marks of a clock, then decades of days.
struct ClockMarks {
  std::span<const double> leads, clock;
  int least_day = 0;  ///< the first power of ten of days
  double stride = 1;  ///< The step between powers of ten of seconds and of days.
};

/// Round marks of a clock on a log axis of seconds that reaches beyond two minutes, where a power of ten would be named
/// 16.7 min. False where no choice of them has room, or fewer than two are in view.
bool clock_log_ticks(Ticker& t) {
  static constexpr double one[] = {1}, leads[] = {1, 2, 5},
                          fine[] = {1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18000, 36000, 86400},
                          medium[] = {1, 10, 60, 600, 3600, 36000}, coarse[] = {1, 60, 3600, 86400},
                          hours[] = {1, 3600};
  const bool few = std::log10(t.range.hi / t.range.lo) <= 3;
  for (const ClockMarks& marks : {ClockMarks{leads, fine, 0}, ClockMarks{one, medium, 1}, ClockMarks{one, coarse, 2, 3},
                                  ClockMarks{one, hours, 2, 3}}) {
    if (marks.least_day == 0 && !few) continue;
    t.out.major_count = 0;
    double last = 0;
    const auto name = [&](double value) {
      if (value > last && value >= t.range.lo * (1 - 1e-9) && value <= t.range.hi * (1 + 1e-9)) t.add(value);
      last = std::max(last, value);
    };
    for (double e = std::floor(std::log10(t.range.lo) / marks.stride) * marks.stride; e < 0; e += marks.stride)
      for (const double lead : marks.leads) name(lead * std::pow(10.0, e));
    for (const double value : marks.clock) name(value);
    for (double e = marks.least_day; 86400 * std::pow(10.0, e) <= t.range.hi * (1 + 1e-9); e += marks.stride)
      for (const double lead : marks.leads) name(86400 * lead * std::pow(10.0, e));
    if (t.out.major_count >= 2 && t.clear()) return true;
  }
  t.out.major_count = 0;
  return false;
}

/// Whole positions without words, for a category axis that was given none.
void whole_ticks(Ticker& t) {
  const double first = std::ceil(t.range.lo), last = std::floor(t.range.hi);
  for (double stride = 1; stride <= std::max(last - first, 1.0); stride = next_step(AxisKind::linear, stride)) {
    t.out.major_count = 0;
    if ((last - first) / stride > 60) continue;
    t.significant = 15;
    for (double v = std::ceil(first / stride) * stride; v <= last; v += stride) t.add(v);
    if (t.clear()) return;
  }
}

void category_ticks(Ticker& t) {
  const auto names = t.spec.categories;
  if (names.empty()) return whole_ticks(t);
  for (std::size_t stride = 1; stride <= names.size(); ++stride) {
    t.out.major_count = 0;
    for (std::size_t i = 0; i < names.size() && t.out.major_count < t.out.major_room.size(); i += stride) {
      const auto v = static_cast<double>(i);
      if (v < t.range.lo || v > t.range.hi) continue;
      Tick& tick = t.out.major_room[t.out.major_count++];
      tick = {v, t.map.pixel(v), {}};
      tick.label.length = std::min(names[i].size(), sizeof tick.label.chars - 1);
      std::copy_n(names[i].begin(), tick.label.length, tick.label.chars);
    }
    if (t.clear()) return;
  }
}

void scale_ticks(Ticker& t) {
  const AxisSpec& spec = t.spec;
  AxisTicks& out = t.out;
  if (is_category(spec)) return category_ticks(t);
  if (is_log(spec.kind)) {
    // Plain figures in one multiple while they stay short (0.1 to 10,000 TFLOP/s); beyond that every tick says its own.
    const double decades = std::log10(t.range.hi / t.range.lo);
    const bool binary_bytes = spec.kind == AxisKind::log2 && unit_family(spec.unit) == UnitFamily::bytes;
    t.powers = spec.kind == AxisKind::log2 && !binary_bytes && !(t.range.lo >= 0.9 && t.range.hi <= 1100);
    t.own_units = !t.powers && (spec.unit == "s" || binary_bytes || decades > 6.5);
    t.scale = spec.kind == AxisKind::log2
                  ? unit_scale(1, spec.unit)
                  : unit_scale(axis_inverse(AxisKind::log10, (std::log10(t.range.lo) + std::log10(t.range.hi)) / 2),
                               spec.unit, t.prefix());
    t.significant = spec.kind == AxisKind::log2 ? 4 : 3;
    const bool clock = spec.kind == AxisKind::log10 && spec.unit == "s" && t.range.hi > 120;
    if ((clock && clock_log_ticks(t)) || power_ticks(t)) {
      if (!t.own_units) out.unit = t.scale.unit;
      return;
    }
    out.minor_count = 0;
  }
  even_ticks(t);
  out.unit = t.scale.unit;
}

/// The word under the band for zeros; a number that it would touch gives way.
void zero_tick(Ticker& t) {
  if (!t.map.has_zero() || t.out.major_count == t.out.major_room.size()) return;
  Tick zero{0, t.map.zero_pixel(), axis_value(t.spec, 0)};
  auto* const first = t.out.major_room.data();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < t.out.major_count; ++i) {
    const double half = static_cast<double>((t.measure.extent(first[i].label) + t.measure.extent(zero.label)) / 2 +
                                            t.measure.gap() / 2);
    if (std::abs(first[i].pixel - zero.pixel) >= half) first[kept++] = first[i];
  }
  std::copy_backward(first, first + kept, first + kept + 1);
  first[0] = zero;
  t.out.major_count = kept + 1;
}

}  // namespace

void layout_ticks(const AxisSpec& spec, Range range, const AxisMap& map, const LabelMeasure& measure, AxisTicks& out) {
  out.major_count = out.minor_count = 0;
  out.unit = {};
  range = sane_range(spec.kind, range);
  Ticker t{spec, range, map, measure, out, {}, false, 3};
  if (!(t.length() >= 1)) return;
  scale_ticks(t);
  zero_tick(t);
}

}  // namespace widgets
