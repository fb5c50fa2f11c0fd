#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/playground/lab.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

using widgets::Painter, widgets::Rect, widgets::Type;

void show_tip(const Outputs& out, const BytePart& part) {
  widgets::Line what;
  what.add(widgets::format(part.bytes, "B")).add(", ").add(widgets::format(100 * part.bytes / out.size_bytes, "%"));
  widgets::tip(part.name, what.view(), part.info);
}

widgets::Line name_of(const BytePart& part) {
  widgets::Line name;
  name.add(part.name).add(" ").add(widgets::format(part.bytes, "B"));
  return name;
}

/// Width of a part's name with its square.
float name_px(const BytePart& part) {
  return widgets::theme().px(12) + widgets::text_size(name_of(part).view(), Type::small).x;
}

}  // namespace

void draw_bytes(const Outputs& out, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("bytes", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float line = t.type(Type::small), words = line + t.px(4);
  float names = 0;
  for (const BytePart& part : picture.parts)
    if (part.bytes > 0) names += name_px(part) + t.px(14);
  const float lines = names > area.width() ? 2 : 1;
  const float bar = std::clamp((area.height() - (2 + lines) * words) / 3, t.px(6), t.px(30));
  const float first = area.min.y + words, second = area.max.y - lines * words - bar;
  const float share = static_cast<float>(std::min(1.0, out.size_bytes / out.original_bytes));
  const float cut = area.min.x + area.width() * share;
  {
    const widgets::GivenMarks given;  // the network before it is compressed
    const Painter before = Painter::window();
    const float air = widgets::veiled() ? t.px(8) : 0;  // off the frame of the veil
    widgets::fit_text(before, {area.min.x + air, area.min.y + air}, picture.before_line, area.width(), t.muted,
                      Type::small);
    before.rect({area.min.x + air, first + air}, {area.max.x - air, first + air + bar}, t.muted);
  }
  p.rect({area.min.x, first}, {cut, first + bar}, t.accent);
  // The scale: this little part above is all of what stands below.
  const std::array<ImVec2, 4> fan{ImVec2{area.min.x, first + bar}, ImVec2{cut, first + bar}, ImVec2{area.max.x, second},
                                  ImVec2{area.min.x, second}};
  p.polygon(fan, widgets::with_alpha(t.accent, 0.10f));
  p.line(fan[1], fan[2], t.accent, t.px(1.2f));
  p.line(fan[0], fan[3], t.accent, t.px(1.2f));
  const float middle = (first + bar + second - line) / 2;
  const float room = area.width() * 0.45f;
  widgets::fit_text(p, {area.min.x + t.px(6), middle}, picture.after_line, room, t.text, Type::small);
  float x = area.min.x;
  ImVec2 legend{area.min.x, second + bar + t.px(4)};
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const BytePart& part : picture.parts) {
    if (!(part.bytes > 0)) continue;
    const float end = x + area.width() * static_cast<float>(part.bytes / out.size_bytes);
    const ImU32 fill = widgets::colour(part.tint, t);
    p.rect({x, second}, {end - 1, second + bar}, fill);
    if (hovered && mouse.y >= second && mouse.y < second + bar && mouse.x >= x && mouse.x < end) show_tip(out, part);
    x = end;
    const widgets::Line name = name_of(part);
    const float w = name_px(part);
    if (legend.x + w > area.max.x) legend = {area.min.x, legend.y + words};
    if (legend.x + w > area.max.x || legend.y + line > area.max.y + 1) continue;
    p.rect({legend.x, legend.y + t.px(1)}, {legend.x + t.px(8), legend.y + t.px(9)}, fill);
    p.text({legend.x + t.px(12), legend.y}, name.view(), t.text, Type::small);
    legend.x += w + t.px(14);
  }
  if (p.record()) {
    widgets::DataTable table{"bytes", {"part", "bytes_B"}, {}};
    table.rows.push_back({"float32", widgets::exact(out.original_bytes)});
    for (const BytePart& part : picture.parts)
      table.rows.push_back({std::string(part.name), widgets::exact(part.bytes)});
    p.record()->tables.push_back(std::move(table));
  }
}

}  // namespace chapters::compression::playground
