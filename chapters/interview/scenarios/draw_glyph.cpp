#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/interview/scenarios/draw_parts.h"
#include "widgets/base/tint.h"

namespace chapters::interview::scenarios {
namespace {

using widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme;

struct NamedTint {
  std::string_view name;
  Meaning meaning;
};
constexpr std::array tints{
    NamedTint{"forward", Meaning::forward},           NamedTint{"backward", Meaning::backward},
    NamedTint{"optimizer", Meaning::optimizer},       NamedTint{"communication", Meaning::communication},
    NamedTint{"data_loading", Meaning::data_loading}, NamedTint{"kv_cache", Meaning::kv_cache},
    NamedTint{"memory_bound", Meaning::memory_bound}, NamedTint{"compute_bound", Meaning::compute_bound},
    NamedTint{"launch_bound", Meaning::launch_bound}, NamedTint{"idle", Meaning::idle}};

ImU32 glyph_colour(std::string_view name) {
  for (const NamedTint& t : tints)
    if (t.name == name) return theme().of(t.meaning);
  return widgets::with_alpha(theme().text, 0.8f);
}

struct Pen {
  const Painter& p;
  const SymptomGlyph& g;
  Rect box;
  ImU32 ink, hot;

  float y(double v) const { return box.max.y - static_cast<float>(std::clamp(v, 0.0, 1.25)) / 1.1f * box.height(); }
  bool is_hot(std::size_t i) const {
    return std::find(g.hot.begin(), g.hot.end(), static_cast<double>(i)) != g.hot.end();
  }
  float step() const { return box.width() / static_cast<float>(g.values.size()); }

  void line() const {
    const std::size_t n = g.values.size();
    std::array<ImVec2, 64> points;
    const float dx = box.width() / static_cast<float>(n - 1);
    for (std::size_t i = 0; i < n; ++i) points[i] = {box.min.x + dx * static_cast<float>(i), y(g.values[i])};
    p.polyline({points.data(), n}, ink, theme().px(1.6f));
    for (std::size_t i = 1; i < n; ++i)
      if (is_hot(i)) p.line(points[i - 1], points[i], hot, theme().px(2));
  }
  void bars() const {
    const float dx = step();
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      const float x = box.min.x + dx * static_cast<float>(i);
      p.rect({x, std::min(y(g.values[i]), box.max.y - 1)}, {x + std::max(1.0f, dx - theme().px(1.5f)), box.max.y},
             is_hot(i) ? hot : ink);
    }
  }
  /// Busy and idle in turns, as long as the values say.
  void blocks() const {
    double sum = 0;
    for (const double v : g.values) sum += v;
    float x = box.min.x;
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      const float wide = static_cast<float>(g.values[i] / std::max(sum, 1e-9)) * box.width();
      const float top = box.min.y + 0.2f * box.height();
      if (i % 2 == 0) p.rect({x, top}, {x + std::max(1.0f, wide), box.max.y}, is_hot(i) ? hot : ink);
      x += wide;
    }
    p.line({box.min.x, box.max.y}, {box.max.x, box.max.y}, theme().line);
  }
  /// Parts that fill a bar from the left; the limit is a rim across it.
  void stack() const {
    float x = box.min.x;
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      const float wide = static_cast<float>(g.values[i]) / 1.1f * box.width();
      p.rect({x, box.min.y + 0.25f * box.height()}, {x + std::max(1.0f, wide - 1), box.max.y - 0.1f * box.height()},
             is_hot(i) ? hot : widgets::with_alpha(ink, 0.35f + 0.6f / static_cast<float>(i + 1)));
      x += wide;
    }
    if (!std::isfinite(g.limit)) return;
    const float rim = box.min.x + static_cast<float>(g.limit) / 1.1f * box.width();
    p.line({rim, box.min.y}, {rim, box.max.y}, theme().text, theme().px(2));
  }
  /// One bar a lane, as long as the value.
  void lanes() const {
    const float high = box.height() / static_cast<float>(g.values.size());
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      const float top = box.min.y + high * static_cast<float>(i);
      const float right = box.min.x + static_cast<float>(g.values[i]) / 1.1f * box.width();
      p.rect({box.min.x, top}, {std::max(box.min.x + 1, right), top + std::max(1.0f, high - theme().px(2))},
             is_hot(i) ? hot : ink);
    }
  }
};

}  // namespace

void paint_glyph(const Painter& p, const SymptomGlyph& glyph, Rect box, bool quiet) {
  if (glyph.values.size() < 2 || glyph.values.size() > 64 || box.width() < 8 || box.height() < 6) return;
  const ImU32 ink = widgets::with_alpha(glyph_colour(glyph.tint), quiet ? 0.5f : 1.0f);
  const Pen pen{p, glyph, box, ink, widgets::with_alpha(theme().bad, quiet ? 0.6f : 1.0f)};
  if (glyph.kind == "line") pen.line();
  if (glyph.kind == "bars") pen.bars();
  if (glyph.kind == "blocks") pen.blocks();
  if (glyph.kind == "stack") pen.stack();
  if (glyph.kind == "lanes") pen.lanes();
  if (std::isfinite(glyph.limit) && (glyph.kind == "line" || glyph.kind == "bars"))
    p.dashed_line({box.min.x, pen.y(glyph.limit)}, {box.max.x, pen.y(glyph.limit)}, theme().muted, 1, theme().px(3));
}

}  // namespace chapters::interview::scenarios
