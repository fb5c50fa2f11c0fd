#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/precision/number_line/lab.h"

namespace chapters::precision::number_line {

void paint_curve(const widgets::Painter& p, const Outputs& out, const Picture& picture, View& view, const Frame& frame,
                 float top, float height) {
  if (out.tensor.spread == models::ValueSpread::none) return;
  const auto& t = widgets::theme();
  const std::size_t columns = static_cast<std::size_t>(std::max(1.0f, (frame.right - frame.left) / 2));
  if (view.curve_version != picture.version || view.curve_laid_out != frame.laid_out()) {
    view.curve_version = picture.version;
    view.curve_laid_out = frame.laid_out();
    view.curve.assign(columns, 0);
    const auto share = [&](std::size_t i) {
      const double at = frame.stretch.lo +
                        (frame.stretch.hi - frame.stretch.lo) * static_cast<double>(i) / static_cast<double>(columns);
      const double v = models::value_at(*picture.format, frame.axis, at);
      return frame.axis == models::LineAxis::log2 ? models::share_of_magnitudes_below(out.tensor, v)
                                                  : models::share_below(out.tensor, v);
    };
    double before = share(0);
    for (std::size_t i = 0; i < columns; ++i) {
      const double here = share(i + 1);
      view.curve[i] = std::max(0.0, here - before);
      before = here;
    }
  }
  const double highest = *std::max_element(view.curve.begin(), view.curve.end()),
               all = std::accumulate(view.curve.begin(), view.curve.end(), 0.0);
  if (!(all > 1e-7)) return;  // Hardly a number is in view: the shape would be that of rounding errors.
  const double edge = out.limits.overflow_threshold, small = out.limits.underflow_threshold;
  const float step = (frame.right - frame.left) / static_cast<float>(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const float x = frame.left + step * static_cast<float>(i), h = height * static_cast<float>(view.curve[i] / highest);
    if (h < 0.4f) continue;
    const double magnitude =
        frame.axis == models::LineAxis::ordinal
            ? 1
            : std::abs(models::value_at(*picture.format, frame.axis, frame.coordinate(x + step / 2)));
    const bool inside = frame.axis == models::LineAxis::ordinal || (magnitude > small && magnitude <= edge);
    const ImU32 colour = inside               ? t.of(widgets::Meaning::forward)
                         : magnitude <= small ? t.of(widgets::Meaning::data_loading)
                                              : t.of(widgets::Meaning::optimizer);
    p.rect({x, top + height - h}, {x + step, top + height}, widgets::with_alpha(colour, 0.45f));
  }
}

void paint_fate(const widgets::Painter& p, const Row& r, std::string_view text, float left, float right, float top) {
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
  widgets::fit_text(p, {left, top + t.px(19)}, text, right - left, t.muted, widgets::Type::small);
}

}  // namespace chapters::precision::number_line
