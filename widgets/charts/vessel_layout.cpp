#include <algorithm>
#include <cmath>

#include "widgets/charts/vessel.h"

namespace widgets {
namespace {

constexpr float words_beside_px = 96, bracket_px = 104, axis_px = 46;

double total_of(const Vessel& v) {
  double sum = 0;
  for (const VesselLayer& l : v.layers)
    if (l.value > 0) sum += l.value;
  return sum;
}

/// Thin layers have their words beside the vessel, pushed apart so that none touch.
void place_beside(std::vector<VesselPiece>& pieces, std::size_t first, float line, float top, float bottom) {
  float free = bottom;
  for (std::size_t i = first; i < pieces.size(); ++i) {  // bottom up
    VesselPiece& p = pieces[i];
    if (p.caption != VesselCaption::beside) continue;
    p.caption_y = std::min(p.caption_y, free - line / 2);
    free = p.caption_y - line / 2;
  }
  float taken = top;
  for (std::size_t i = pieces.size(); i-- > first;) {  // top down, where the stack was pushed out
    VesselPiece& p = pieces[i];
    if (p.caption != VesselCaption::beside) continue;
    p.caption_y = std::max(p.caption_y, taken + line / 2);
    taken = p.caption_y + line / 2;
  }
}

/// Steps of 1, 2 or 5 times a power of ten, at least `least` pixels apart; above the rim only those that what does not
/// fit reaches.
void place_ticks(const PlacedVessel& first, double rim, double most, float line, VesselLayout& out) {
  const double least = 2.4 * static_cast<double>(line) * out.scale;
  if (!(least > 0) || !std::isfinite(least)) return;
  const double ten = std::pow(10, std::floor(std::log10(least)));
  const double step = ten * (least <= ten ? 1 : least <= 2 * ten ? 2 : least <= 5 * ten ? 5 : 10);
  const auto y_of = [&](double value) { return out.ground - static_cast<float>(value / out.scale); };
  const bool has_rim = std::isfinite(rim) && rim > 0;
  for (int i = 0; i * step <= most * (1 + 1e-9) && i < 100; ++i) {
    const float y = y_of(i * step);
    if (y < first.top - line / 2 || (has_rim && std::abs(y - y_of(rim)) < line)) continue;
    out.ticks.push_back({.value = i * step, .y = y});
  }
  if (!has_rim) return;
  const VesselTick tag{.value = rim, .y = y_of(rim), .rim = true};
  out.ticks.insert(std::find_if(out.ticks.begin(), out.ticks.end(), [&](const auto& t) { return t.value > rim; }), tag);
}

/// Stacks the layers of vessel `i` from x on, cut at the rim, with words beside them from y `top` on.
void place_vessel(const Vessel& v, std::size_t i, float x, float width, float line, float top, VesselLayout& out) {
  const bool has_rim = std::isfinite(v.rim);
  const auto y_of = [&](double value) { return out.ground - static_cast<float>(value / out.scale); };
  PlacedVessel placed{.total = total_of(v)};
  const std::size_t first = out.pieces.size();
  double at = 0;
  const auto piece = [&](std::size_t layer, double from, double to, bool over) {
    const Rect rect{{x, y_of(to)}, {x + width, y_of(from)}};
    VesselCaption caption = VesselCaption::beside;
    if (rect.height() >= line) caption = VesselCaption::inside;
    out.pieces.push_back({i, layer, rect, to - from, over, caption, (rect.min.y + rect.max.y) / 2});
  };
  for (std::size_t k = 0; k < v.layers.size(); ++k) {
    const double value = v.layers[k].value;
    if (!(value > 0)) continue;
    const double end = at + value;
    if (has_rim && at < v.rim && end > v.rim) {
      piece(k, at, v.rim, false);
      const std::size_t below = out.pieces.size() - 1;
      piece(k, v.rim, end, true);
      // Each part has its own figure, so that those above the rim add up to what does not fit; a thin part has none.
      VesselPiece& lower = out.pieces[below];
      VesselPiece& upper = out.pieces.back();
      VesselPiece& smaller = lower.rect.height() >= upper.rect.height() ? upper : lower;
      if (smaller.caption != VesselCaption::inside) smaller.caption = VesselCaption::none;
    } else {
      piece(k, at, end, has_rim && at >= v.rim);
    }
    at = end;
  }
  placed.body = {{x, y_of(has_rim ? v.rim : at)}, {x + width, out.ground}};
  placed.top = std::min(placed.body.min.y, y_of(at));
  place_beside(out.pieces, first, line, top, out.ground);
  out.vessels.push_back(placed);
}

}  // namespace

void layout_vessels(std::span<const Vessel> vessels, const VesselOptions& options, Rect area, Measure,
                    VesselLayout& out) {
  const Theme& t = theme();
  out.pieces.clear();
  out.vessels.clear();
  out.ticks.clear();
  if (vessels.empty()) return;
  const float line = t.type(Type::small) + t.px(3), head = t.type(Type::title) + 2 * line + t.px(8);
  const float foot = line + t.px(6);
  out.ground = area.max.y - foot;
  out.left = area.min.x + (options.brackets.empty() ? 0.0f : std::min(t.px(bracket_px), area.width() * 0.22f));
  out.axis = options.axis ? std::min(t.px(axis_px), area.width() * 0.1f) : 0.0f;
  out.left += out.axis;
  const float beside = std::min(t.px(words_beside_px), area.width() * (vessels.size() == 1 ? 0.34f : 0.2f));
  double most = 0;
  for (const Vessel& v : vessels) most = std::max({most, total_of(v), std::isfinite(v.rim) ? v.rim : 0.0});
  const float height = std::max(1.0f, out.ground - area.min.y - head);
  out.scale = most > 0 ? most / static_cast<double>(height) : 1;
  if (options.scale > 0) {
    out.scale = options.scale;
    out.ground = options.ground;
  }
  const auto count = static_cast<float>(vessels.size());
  const float room = std::max(1.0f, area.max.x - beside - out.left);
  const float gap = vessels.size() > 1 ? std::min(t.px(120), room * 0.36f / (count - 1) + t.px(8)) : 0.0f;
  const float width = std::min(t.px(240), std::max(1.0f, (room - gap * (count - 1)) / count));
  for (std::size_t i = 0; i < vessels.size(); ++i) {
    const float x = std::round(out.left + static_cast<float>(i) * (width + gap));
    place_vessel(vessels[i], i, x, width, line, area.min.y + line, out);
  }
  if (options.axis) place_ticks(out.vessels.front(), vessels.front().rim, most, line, out);
}

}  // namespace widgets
