#include "app/shell/home/progress_ring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "widgets/base/theme.h"

namespace app {
namespace {

using widgets::Painter;
using widgets::theme;

/// An arc from `from` to `to` turns, clockwise from the top.
void arc(const Painter& p, ImVec2 c, float radius, double from, double to, ImU32 colour, float width) {
  std::array<ImVec2, 49> points{};
  const auto n = static_cast<std::size_t>(std::clamp(std::ceil(48 * (to - from)), 2.0, 48.0));
  for (std::size_t i = 0; i <= n; ++i) {
    const double turn = from + (to - from) * static_cast<double>(i) / static_cast<double>(n);
    const double angle = 2 * std::numbers::pi * (turn - 0.25);
    points[i] = {c.x + radius * static_cast<float>(std::cos(angle)),
                 c.y + radius * static_cast<float>(std::sin(angle))};
  }
  p.polyline(std::span(points).first(n + 1), colour, width);
}

void dotted(const Painter& p, ImVec2 c, float radius, int dashes) {
  for (int i = 0; i < dashes; ++i) {
    const double from = static_cast<double>(i) / dashes;
    arc(p, c, radius, from, from + 0.5 / dashes, theme().muted, theme().px(1.2f));
  }
}

}  // namespace

void draw_lab_ring(const Painter& p, ImVec2 centre, float radius, const store::Quarters& done) {
  const auto& t = theme();
  if (done.count() == 4) return p.circle(centre, radius + t.px(1), t.accent);
  const float width = t.px(1.5f);
  p.ring(centre, radius, done.count() == 0 ? t.muted : t.line, width);
  const bool quarters[] = {done.opened, done.predicted, done.explored, done.drilled};
  for (int i = 0; i < 4; ++i)
    if (quarters[i]) arc(p, centre, radius, 0.25 * i, 0.25 * (i + 1), t.accent, t.px(2.2f));
}

void draw_planned_ring(const Painter& p, ImVec2 centre, float radius) { dotted(p, centre, radius, 7); }

void draw_chapter_ring(const Painter& p, ImVec2 centre, float radius, double fraction, bool planned,
                       std::string_view ordinal, ImU32 colour) {
  const auto& t = theme();
  if (planned)
    dotted(p, centre, radius, 24);
  else
    p.ring(centre, radius, t.line, t.px(2.5f));
  if (!planned && fraction > 0) arc(p, centre, radius, 0, std::min(fraction, 1.0), t.accent, t.px(2.5f));
  p.text({centre.x, centre.y - t.type(widgets::Type::small) * 0.6f}, ordinal, colour, widgets::Type::small,
         widgets::Font::mono, widgets::Align::center);
}

}  // namespace app
