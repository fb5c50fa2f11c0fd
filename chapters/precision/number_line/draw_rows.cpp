#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "chapters/precision/number_line/lab.h"
#include "models/numerics/rounding.h"
#include "widgets/number/number.h"

namespace chapters::precision::number_line {
namespace {

using models::LineAxis;
using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::Type;

constexpr std::size_t most_ticks = 400, most_labels = 64;
constexpr int subnormal_level = 16;

ImU32 value_colour(bool subnormal) { return colour_of(subnormal ? BitPart::exponent : BitPart::mantissa); }

/// Brightness of a column by how many values share it: one octave of FP32 holds eight million.
int level_of(double count) { return count < 0.5 ? 0 : static_cast<int>(std::min(10.0, 1 + std::log2(count) / 2)); }

/// The part of [from, to] that is on screen, as a rectangle; nothing when it is empty.
bool on_screen(const Frame& frame, double from, double to, float& x0, float& x1) {
  const auto clamped = [&](double c) {
    return std::isnan(c) ? frame.left : frame.x(std::clamp(c, frame.stretch.lo, frame.stretch.hi));
  };
  x0 = clamped(from);
  x1 = clamped(to);
  return x1 > x0 + 0.5f;
}

void zone(const Painter& p, const Frame& frame, double from, double to, float top, float bottom, ImU32 colour,
          std::string_view label, bool at_right) {
  const auto& t = widgets::theme();
  float x0 = 0, x1 = 0;
  if (!on_screen(frame, from, to, x0, x1)) return;
  p.rect({x0, top}, {x1, bottom}, widgets::with_alpha(colour, 0.26f), t.px(2));
  if (widgets::text_size(label, Type::small).x + t.px(14) < x1 - x0)
    p.text({at_right ? x1 - t.px(7) : x0 + t.px(7), (top + bottom - t.type(Type::small)) / 2 - t.px(1)}, label, t.text,
           Type::small, Font::sans, at_right ? Align::right : Align::left);
}

void paint_zones(const Painter& p, const Row& r, const Frame& frame, float top, float bottom) {
  const auto& t = widgets::theme();
  const ImU32 lost = t.of(widgets::Meaning::data_loading), over = t.of(widgets::Meaning::optimizer);
  const double edge = r.limits.overflow_threshold, small = r.limits.underflow_threshold;
  if (frame.axis == LineAxis::log2) {
    if (small > 0) zone(p, frame, -HUGE_VAL, std::log2(small), top, bottom, lost, r.underflow_text, false);
    zone(p, frame, std::log2(edge), HUGE_VAL, top, bottom, over, r.overflow_text, true);
  } else if (frame.axis == LineAxis::linear) {
    zone(p, frame, -small, small, top, bottom, lost, {}, false);
    zone(p, frame, edge, HUGE_VAL, top, bottom, over, r.overflow_text, true);
    zone(p, frame, -HUGE_VAL, r.limits.lowest < 0 ? -edge : 0, top, bottom, over, {}, false);
  }
}

/// How many values share this stretch, where nothing else is written.
void caption(const Painter& p, const RowCache& c, const Frame& frame, float top, float bottom) {
  const auto& t = widgets::theme();
  const float width = widgets::text_size(c.count_text, Type::small).x;
  std::size_t first = 0, last = c.counts.size();
  while (first < last && c.counts[first] < 0.5) ++first;
  while (last > first && c.counts[last - 1] < 0.5) --last;
  if (static_cast<float>(last - first) < width + t.px(60)) return;
  const float centre = frame.left + static_cast<float>(first + last) / 2,
              y = (top + bottom - t.type(Type::small)) / 2 - t.px(1);
  p.rect({centre - width / 2 - t.px(8), y - t.px(2)}, {centre + width / 2 + t.px(8), y + t.type(Type::small) + t.px(5)},
         widgets::with_alpha(t.background, 0.82f), t.px(8));
  p.text({centre, y}, c.count_text, t.text, Type::small, Font::sans, Align::center);
}

}  // namespace

void refresh_row(RowCache& c, const models::FloatFormat& f, const Frame& frame) {
  widgets::Fingerprint print;
  print.add(f.id);
  print.add(frame.stretch.lo);
  print.add(frame.stretch.hi);
  print.add(static_cast<std::uint64_t>(frame.axis));
  print.add(static_cast<double>(frame.right - frame.left));
  if (c.key == print.value && !c.counts.empty()) return;
  c.key = print.value;
  c.counts.resize(static_cast<std::size_t>(std::max(1.0f, frame.right - frame.left)));
  c.total = models::count_columns(f, frame.axis, frame.stretch, c.counts);
  c.levels.resize(c.counts.size());
  const double normal = models::limits(f).min_normal;
  for (std::size_t i = 0; i < c.counts.size(); ++i) {
    const auto magnitude = [&](std::size_t edge) {
      return std::abs(models::value_at(f, frame.axis, frame.coordinate(frame.left + static_cast<float>(edge))));
    };
    const bool subnormal = c.counts[i] > 0.5 && std::max(magnitude(i), magnitude(i + 1)) <= normal;
    c.levels[i] = static_cast<std::uint8_t>(level_of(c.counts[i]) + (subnormal ? subnormal_level : 0));
  }
  c.values = models::values_in(f, frame.axis, frame.stretch, std::min(most_ticks, c.counts.size() / 3));
  c.count_text = widgets::format_text(c.total, "", c.total < 1e12 ? 12 : 3, widgets::Prefix::none) + " values in view";
  c.labels.clear();
  c.short_labels.clear();
  c.codes.clear();
  if (c.values.size() > most_labels) return;
  for (const models::LineValue& v : c.values) {
    c.labels.push_back(models::exact_decimal(v.value, 24));
    c.short_labels.push_back(models::exact_decimal(v.value, 11));
    c.codes.push_back(code_text(f, models::code_at(f, v.ordinal)));
  }
}

void paint_row(const Painter& p, const Row& r, const RowCache& c, const Frame& frame, float top, float height) {
  const auto& t = widgets::theme();
  const float bottom = top + height;
  p.rect({frame.left, top}, {frame.right, bottom}, t.card, t.px(2));
  paint_zones(p, r, frame, top, bottom);
  if (c.values.empty() && c.total > 0) {  // so many that they share columns: brightness by how many
    const std::size_t n = c.counts.size();
    for (std::size_t i = 0; i < n;) {
      std::size_t end = i + 1;
      while (end < n && c.levels[end] == c.levels[i]) ++end;
      const int level = c.levels[i] % subnormal_level;
      if (level > 0)
        p.rect({frame.left + static_cast<float>(i), top}, {frame.left + static_cast<float>(end), bottom},
               widgets::with_alpha(value_colour(c.levels[i] >= subnormal_level),
                                   0.35f + 0.065f * static_cast<float>(level)));
      i = end;
    }
    caption(p, c, frame, top, bottom);
    return;
  }
  // Few enough to stand alone: a line each, and its value where the last label has ended
  float clear_from = frame.left + t.px(2);
  // Only where they have room on the whole: a single label between crowded neighbours confuses
  const float extent = c.values.size() < 2 ? frame.right - frame.left
                                           : frame.x(c.values.back().coordinate) - frame.x(c.values.front().coordinate);
  const bool labelled = !c.labels.empty() && extent >= t.px(40) * static_cast<float>(c.values.size() - 1);
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const models::LineValue& v = c.values[i];
    const float x = frame.x(v.coordinate);
    const bool subnormal = v.value != 0 && std::abs(v.value) < r.limits.min_normal;
    p.line({x, top}, {x, bottom}, value_colour(subnormal), t.px(c.values.size() > 120 ? 1.0f : 1.6f));
    if (!labelled || x < clear_from) continue;
    const float next =
                    std::min(i + 1 < c.values.size() ? frame.x(c.values[i + 1].coordinate) : frame.right, frame.right),
                room = next - x - t.px(7);
    const auto fits = [&](const std::string& s) { return widgets::text_size(s, Type::small, Font::mono).x <= room; };
    const std::string& label = fits(c.labels[i]) ? c.labels[i] : c.short_labels[i];
    if (!fits(label) || !fits(c.codes[i])) continue;
    const float wide = std::max(widgets::text_size(label, Type::small, Font::mono).x,
                                widgets::text_size(c.codes[i], Type::small, Font::mono).x);
    p.text({x + t.px(4), top + t.px(1)}, label, t.text, Type::small, Font::mono);
    if (height >= t.px(32)) p.text({x + t.px(4), top + t.px(16)}, c.codes[i], t.muted, Type::small, Font::mono);
    clear_from = x + t.px(8) + wide;
  }
}

void paint_curve(const Painter& p, const Outputs& out, View& view, const Frame& frame, float top, float height) {
  if (out.tensor.spread == models::ValueSpread::none) return;
  const auto& t = widgets::theme();
  const std::size_t columns = static_cast<std::size_t>(std::max(1.0f, (frame.right - frame.left) / 2));
  widgets::Fingerprint print;
  for (const double v : {frame.stretch.lo, frame.stretch.hi, out.tensor.size, out.tensor.octaves, out.tensor.scale})
    print.add(v);
  print.add(static_cast<std::uint64_t>(frame.axis) * 16 + static_cast<std::uint64_t>(out.tensor.spread));
  print.add(out.format->id);
  print.add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(out.tensor.sorted.data())));
  print.add(static_cast<std::uint64_t>(columns));
  if (view.curve_key != print.value) {
    view.curve_key = print.value;
    view.curve.assign(columns, 0);
    const auto share = [&](std::size_t i) {
      const double at = frame.stretch.lo +
                        (frame.stretch.hi - frame.stretch.lo) * static_cast<double>(i) / static_cast<double>(columns);
      const double v = models::value_at(*out.format, frame.axis, at);
      return frame.axis == LineAxis::log2 ? models::share_of_magnitudes_below(out.tensor, v)
                                          : models::share_below(out.tensor, v);
    };
    double before = share(0);
    for (std::size_t i = 0; i < columns; ++i) {
      const double here = share(i + 1);
      view.curve[i] = std::max(0.0, here - before);
      before = here;
    }
  }
  const double most = *std::max_element(view.curve.begin(), view.curve.end()),
               all = std::accumulate(view.curve.begin(), view.curve.end(), 0.0);
  if (!(all > 1e-7)) return;  // hardly a number is in view, and its shape would be that of rounding errors
  const double edge = out.limits.overflow_threshold, small = out.limits.underflow_threshold;
  const float step = (frame.right - frame.left) / static_cast<float>(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const float x = frame.left + step * static_cast<float>(i), h = height * static_cast<float>(view.curve[i] / most);
    if (h < 0.4f) continue;
    const double magnitude = frame.axis == LineAxis::ordinal
                                 ? 1
                                 : std::abs(models::value_at(*out.format, frame.axis, frame.coordinate(x + step / 2)));
    const bool inside = frame.axis == LineAxis::ordinal || (magnitude > small && magnitude <= edge);
    const ImU32 colour = inside               ? t.of(widgets::Meaning::forward)
                         : magnitude <= small ? t.of(widgets::Meaning::data_loading)
                                              : t.of(widgets::Meaning::optimizer);
    p.rect({x, top + height - h}, {x + step, top + height}, widgets::with_alpha(colour, 0.45f));
  }
}

void paint_fate(const Painter& p, const Row& r, float left, float right, float top) {
  const auto& t = widgets::theme();
  const double shares[] = {r.underflow, r.subnormal, r.normal, r.overflow};
  const ImU32 colours[] = {t.of(widgets::Meaning::data_loading), colour_of(BitPart::exponent),
                           colour_of(BitPart::mantissa), t.of(widgets::Meaning::optimizer)};
  float x = left;
  for (std::size_t i = 0; i < 4; ++i) {
    const float wide = (right - left) * static_cast<float>(shares[i] / 100);
    if (wide > 0.3f) p.rect({x, top + t.px(3)}, {x + wide, top + t.px(15)}, colours[i]);
    x += wide;
  }
  widgets::fit_text(p, {left, top + t.px(19)}, r.fate_text, right - left, t.muted, Type::small);
}

void paint_ticks(const Painter& p, const Frame& frame, float top, float bottom) {
  const auto& t = widgets::theme();
  const double span = frame.stretch.hi - frame.stretch.lo;
  const double room =
      static_cast<double>((frame.right - frame.left) / t.px(frame.axis == LineAxis::log2 && span > 6 ? 64 : 150));
  float clear_from = frame.left - t.px(30);
  const auto tick = [&](double coordinate, std::string_view text, std::string_view raised) {
    const float x = frame.x(coordinate);
    if (x < frame.left - 0.5f || x > frame.right + 0.5f) return;
    p.line({x, top}, {x, bottom}, t.grid);
    const float base = widgets::text_size(text, Type::small, Font::mono).x,
                wide = base + widgets::text_size(raised, Type::small, Font::mono).x;
    const float from = std::clamp(x - wide / 2, frame.left - t.px(20), frame.right - wide);
    if (from < clear_from) return;
    p.text({from, bottom + t.px(6)}, text, t.muted, Type::small, Font::mono);
    if (!raised.empty()) p.text({from + base, bottom + t.px(1)}, raised, t.muted, Type::small, Font::mono);
    clear_from = from + wide + t.px(10);
  };
  const double raw = span / std::max(room, 1.0);
  if (frame.axis == LineAxis::log2 && span > 6) {
    const auto every = static_cast<std::int64_t>(std::max(1.0, std::ceil(raw)));
    for (auto k = static_cast<std::int64_t>(std::floor(frame.stretch.lo / static_cast<double>(every))) * every;
         static_cast<double>(k) <= frame.stretch.hi; k += every) {
      widgets::Line power;
      power.add_integer(k);
      tick(static_cast<double>(k), "2", power.view());
    }
    return;
  }
  // Round decimals of the value (by share on the ordinal axis), as many digits as tell neighbours apart
  const bool log = frame.axis == LineAxis::log2;
  const double lo = log ? std::exp2(frame.stretch.lo) : frame.stretch.lo,
               hi = log ? std::exp2(frame.stretch.hi) : frame.stretch.hi;
  const double least = (hi - lo) / std::max(room, 1.0), decade = std::pow(10, std::floor(std::log10(least)));
  const double step = least / decade <= 1   ? decade
                      : least / decade <= 2 ? 2 * decade
                      : least / decade <= 5 ? 5 * decade
                                            : 10 * decade;
  if (!(step > 0) || !std::isfinite(step)) return;
  const double largest = std::max(std::abs(lo), std::abs(hi));
  const int digits = static_cast<int>(std::clamp(std::ceil(std::log10(largest / step)) + 1, 1.0, 17.0));
  for (int i = 0; i < 64; ++i) {
    const double v = (std::ceil(lo / step) + i) * step;
    if (v > hi) break;
    char text[40];
    const double shown = std::abs(v) < step / 2 ? 0.0 : v;
    if (largest < 1e7 && step > 1e-16 && (largest > 1e-3 || shown == 0))
      std::snprintf(text, sizeof text, "%.*f", static_cast<int>(std::max(0.0, std::ceil(-std::log10(step) - 1e-9))),
                    shown);
    else
      std::snprintf(text, sizeof text, "%.*g", digits, shown);
    tick(log ? std::log2(v) : v, text, {});
  }
}

}  // namespace chapters::precision::number_line
