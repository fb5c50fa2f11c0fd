#include "chapters/serving/prefix_cache/draw_parts.h"

#include <algorithm>

#include "widgets/number/number.h"

namespace chapters::serving::prefix_cache {

using widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

std::size_t ColumnPlace::at(float x) const {
  const float i = std::clamp((x - area.min.x) / std::max(1e-3f, pitch()), 0.0f, static_cast<float>(columns) - 0.5f);
  return static_cast<std::size_t>(i);
}

float side_width(float width) { return width > theme().px(640) ? theme().px(136) : 0; }

void paint_columns(const Painter& p, const ColumnPlace& place, const Picture& picture, std::size_t after) {
  const auto& t = theme();
  const float half = place.half(), base = place.area.max.y;
  const double scale = static_cast<double>(place.area.height()) / picture.most_blocks;
  for (std::size_t i = 0; i < picture.columns.size(); ++i) {
    const Column& c = picture.columns[i];
    const float x0 = place.centre(i) - half, x1 = place.centre(i) + half, alpha = i < after ? 1.0f : 0.25f;
    const auto y = [&](double blocks) { return base - static_cast<float>(scale * blocks); };
    const float found = y(c.hit), gone = y(c.hit + c.recomputed), top = y(c.blocks());
    if (c.hit > 0) p.rect({x0, found}, {x1, base}, widgets::with_alpha(t.of(Meaning::kv_cache), alpha));
    if (c.recomputed > 0) {
      p.rect({x0, gone}, {x1, found}, widgets::with_alpha(t.bad, 0.85f * alpha));
      if (x1 - x0 > t.px(6)) widgets::hatch(p, {{x0, gone}, {x1, found}}, widgets::with_alpha(t.panel, 0.45f), t.px(7));
    }
    if (c.computed > 0) p.rect({x0, std::min(top, gone - 1)}, {x1, gone}, widgets::with_alpha(t.muted, alpha));
  }
}

void paint_column_outlines(const Painter& p, const ColumnPlace& place, const Picture& picture) {
  const auto& t = theme();
  const double scale = static_cast<double>(place.area.height()) / picture.most_blocks;
  for (std::size_t i = 0; i < picture.columns.size(); ++i) {
    const float x = place.centre(i), half = place.half(),
                top = place.area.max.y - static_cast<float>(scale * picture.columns[i].blocks());
    p.frame({x - half, top}, {x + half, place.area.max.y}, t.muted, 1);
  }
}

float paint_key(const Painter& p, ImVec2 at, float width, std::string_view hint) {
  const auto& t = theme();
  const float line = t.type(Type::small), side = t.px(11);
  float x = at.x;
  const auto entry = [&](ImU32 colour, std::string_view words, bool hatched) {
    const float need = side + t.px(6) + widgets::text_size(words, Type::small).x;
    if (x + need > at.x + width) return;
    const Rect swatch{{x, at.y + (line - side) / 2}, {x + side, at.y + (line + side) / 2}};
    p.rect(swatch.min, swatch.max, colour, t.px(2));
    if (hatched) widgets::hatch(p, swatch, widgets::with_alpha(t.panel, 0.45f), t.px(4));
    p.text({x + side + t.px(6), at.y}, words, t.muted, Type::small);
    x += need + t.px(18);
  };
  entry(t.of(Meaning::kv_cache), "in the cache", false);
  entry(t.muted, "computed first", false);
  entry(t.bad, "recomputed", true);
  const float words = hint.empty() ? 0 : widgets::text_size(hint, Type::small).x;
  if (words > 0 && x + words <= at.x + width)
    p.text({at.x + width, at.y}, hint, t.accent, Type::small, Font::sans, widgets::Align::right);
  return line + t.px(8);
}

void paint_side_words(const Painter& p, ImVec2 at, float room, std::string_view title, std::string_view figure,
                      std::string_view words) {
  const auto& t = theme();
  if (room < t.px(40)) return;
  widgets::fit_text(p, at, title, room, t.text, Type::small, Font::bold);
  at.y += t.type(Type::small) + t.px(5);
  widgets::fit_text(p, at, figure, room, t.text, Type::body, Font::mono);
  at.y += t.type(Type::body) + t.px(4);
  widgets::fit_text(p, at, words, room, t.muted, Type::small);
}

void show_column_tip(const Picture& picture, std::size_t column) {
  if (column >= picture.columns.size()) return;
  const Column& c = picture.columns[column];
  Line name, value, info;
  const auto add = [](Line& line, double blocks, std::string_view words) {
    line.add(widgets::format(blocks, "", 4)).add(words);
  };
  name.add("place ").add_integer(c.first + 1);
  if (c.requests > 1) name.add(" to ").add_integer(c.first + c.requests);
  add(value, c.blocks(), c.requests > 1 ? " blocks each, on average" : " blocks");
  add(info, c.hit, " found, ");
  add(info, c.recomputed, " recomputed, ");
  add(info, c.computed, " computed first");
  widgets::tip(name.view(), value.view(), info.view());
}

}  // namespace chapters::serving::prefix_cache
