#include <algorithm>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/painter.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

using widgets::Font;
using widgets::Painter;
using widgets::Rect;
using widgets::Type;

/// The steps as bars on one scale, in the colours of what their products compute in.
void paint_steps(const Painter& p, const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), line = small + t.px(4);
  p.text(area.min, "time of a step", t.muted, Type::small);
  float names = 0, times = 0;
  double longest = 0;
  for (const StepBar& s : picture.steps) {
    names = std::max(names, widgets::text_size(s.recipe, Type::small).x + t.px(10));
    times = std::max(times, widgets::text_size(s.time, Type::small, Font::mono).x + t.px(8));
    longest = std::max(longest, s.time_s);
  }
  const float room = area.width() - names - times;
  if (room < t.px(24) || !(longest > 0)) return;
  float y = area.min.y + line;
  for (const StepBar& s : picture.steps) {
    const float x = area.min.x + names, end = x + room * static_cast<float>(s.time_s / longest);
    p.text({area.min.x, y}, s.recipe, t.text, Type::small);
    p.rect({x, y + t.px(1)}, {end, y + small}, mark_of(s.format).colour, t.px(2));
    p.text({end + t.px(8), y}, s.time, t.text, Type::small, Font::mono);
    y += line;
  }
  if (widgets::output_lit(picture.speedup_key))
    widgets::paint_light(p, {area.min.x, area.min.y + line}, {area.max.x, y - t.px(4)});
}

/// The bytes of one parameter in a row, in the colours of what they are kept in.
void paint_states(const Painter& p, const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), top = area.min.y + small + t.px(6);
  widgets::fit_text(p, area.min, picture.states_text, area.width(), t.muted, Type::small);
  double all = 0;
  for (const StatePart& part : picture.states) all += part.bytes;
  if (!(all > 0)) return;
  const float bottom = std::min(area.max.y, top + small + t.px(10));
  float x = area.min.x;
  for (const StatePart& part : picture.states) {
    const float wide = area.width() * static_cast<float>(part.bytes / all);
    const ImU32 fill = mark_of(part.format).colour;
    p.rect({x, top}, {x + wide - t.px(1.5f), bottom}, fill, t.px(2));
    widgets::Line words;
    words.add(part.name).add(" ").add(widgets::format(part.bytes, ""));
    const float room = wide - t.px(8), y = (top + bottom - small) / 2 - t.px(1);
    const widgets::NumberText bytes = widgets::format(part.bytes, "");
    const std::string_view said = widgets::text_size(words.view(), Type::small).x <= room ? words.view() : bytes.view();
    if (widgets::text_size(said, Type::small).x <= room)
      p.text({x + t.px(4), y}, said, widgets::text_on(fill, t), Type::small);
    x += wide;
  }
  if (widgets::output_lit("bytes_per_parameter"))
    widgets::paint_light(p, {area.min.x, top}, {area.max.x - t.px(1.5f), bottom});
}

}  // namespace

void draw_savings(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float gap = t.px(28), half = std::floor((size.x - gap) / 2);
  paint_steps(p, picture, {at, {at.x + half, at.y + size.y}});
  paint_states(p, picture, {{at.x + half + gap, at.y}, {at.x + size.x, at.y + size.y}});
}

}  // namespace chapters::precision::mixed
