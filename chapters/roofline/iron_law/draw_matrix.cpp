#include "chapters/roofline/iron_law/draw_matrix.h"

#include <algorithm>

#include "chapters/roofline/iron_law/tints.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/table/table.h"

namespace chapters::roofline::iron_law {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

constexpr std::string_view heads[] = {"bytes", "bandwidth", "operations", "rate", "efficiency", "latency"};
constexpr std::string_view short_heads[] = {"bytes", "BW", "ops", "rate", "eff.", "wait"};
constexpr std::string_view parts[] = {"memory", "compute", "latency"};
constexpr std::size_t columns = models::iron_term_count + 2;  // and: alone, now

/// Screen positions of the columns; the label column takes what the others leave.
struct Grid {
  float left, right, label_right, column;
  float x(std::size_t i) const { return label_right + column * static_cast<float>(i); }
  float centre(std::size_t i) const { return x(i) + column / 2; }
};

Grid grid_of(std::span<const TechniqueRow> rows, ImVec2 at, float width) {
  const auto& t = theme();
  float label = t.px(80);
  for (const TechniqueRow& row : rows)
    label = std::max(label, widgets::text_size(row.technique, Type::small).x + t.px(34));
  label = std::clamp(label, width * 0.26f, width * 0.36f);
  const float column = std::min(t.px(106), (width - label) / static_cast<float>(columns));
  const float used = label + column * static_cast<float>(columns);
  return {at.x, at.x + used, at.x + label, column};
}

/// First and last column of a part of the time.
constexpr std::size_t first_of[] = {0, 2, 5}, last_of[] = {1, 4, 5};

void head(const Painter& p, const Grid& g, float y) {
  const auto& t = theme();
  const float line = t.type(Type::small) + t.px(4);
  for (std::size_t part = 0; part < 3; ++part) {
    const float from = g.x(first_of[part]) + t.px(5), to = g.x(last_of[part] + 1) - t.px(5);
    const float name = widgets::text_size(parts[part], Type::small, Font::bold).x, x = (from + to - name) / 2;
    part_mark(p, {x - t.px(3), y + t.type(Type::small) / 2 + t.px(1)}, part);
    p.text({x + t.px(6), y}, parts[part], t.text, Type::small, Font::bold);
    p.line({from, y + line}, {to, y + line}, t.line);
  }
  p.text({(g.x(6) + g.x(8)) / 2, y}, "speedup", t.text, Type::small, Font::bold, Align::center);
  p.line({g.x(6) + t.px(5), y + line}, {g.x(8) - t.px(5), y + line}, t.line);
  const float under = y + line + t.px(3);
  const bool wide = widgets::text_size(heads[2], Type::small).x + t.px(4) <= g.column;
  for (std::size_t i = 0; i < columns; ++i)
    p.text_fit({g.centre(i), under},
               i < models::iron_term_count ? (wide ? heads : short_heads)[i]
               : i == 6                    ? "alone"
                                           : "now",
               g.column - t.px(2), t.muted, Type::small, Font::sans, Align::center);
}

/// An arrow and a factor: up or down says what happens to the quantity, the colour whether the time falls.
void cell(const Painter& p, const Grid& g, std::size_t i, float y, double factor, bool helps) {
  const auto& t = theme();
  if (factor == 1) {
    p.text({g.centre(i), y}, "\xC2\xB7", t.muted, Type::small, Font::sans, Align::center);
    return;
  }
  const ImU32 ink = helps ? t.good : t.bad;
  widgets::Line text;
  text.add(factor < 1 ? "\xC3\xB7" : "\xC3\x97").add(widgets::format(factor < 1 ? 1 / factor : factor, "", 3));
  const float w = widgets::text_size(text.view(), Type::small, Font::mono).x, a = t.px(3.5f);
  const float x = g.centre(i) - (w + a * 2 + t.px(3)) / 2, c = y + t.type(Type::small) / 2 + t.px(1);
  const float tip = factor < 1 ? a : -a;
  const ImVec2 arrow[] = {{x, c - tip}, {x + 2 * a, c - tip}, {x + a, c + tip}};
  p.polygon(arrow, ink);
  p.text({x + 2 * a + t.px(3), y}, text.view(), ink, Type::small, Font::mono);
}

/// A bar under a speedup: the share of the whole time that it takes off, from nothing to all of it in the cell's width.
void gain_bar(const Painter& p, const Grid& g, std::size_t column, float y, float height, double speedup, ImU32 ink) {
  if (!(speedup > 1.005)) return;
  const float room = g.column - theme().px(10), from = g.x(column) + theme().px(5);
  const float share = static_cast<float>(1 - 1 / speedup);
  p.rect({from, y + theme().px(2)}, {from + room * share, y + height - theme().px(3)}, widgets::with_alpha(ink, 0.25f),
         theme().px(2));
}

void gain(const Painter& p, float x, float y, double speedup, ImU32 ink) {
  const auto& t = theme();
  widgets::Line text;
  text.add(widgets::format(speedup, "", 3)).add("\xC3\x97");
  const bool nothing = speedup < 1.005 && speedup > 0.995;
  p.text({x, y}, nothing ? std::string_view("1\xC3\x97") : text.view(),
         nothing       ? t.muted
         : speedup < 1 ? t.bad
                       : ink,
         Type::small, Font::mono, Align::center);
}

void row(const Painter& p, const Grid& g, ImVec2 at, float height, const TechniqueRow& r, const Press& press) {
  const auto& t = theme();
  const bool hovered = ImGui::IsItemHovered();
  if (r.on || hovered)
    p.rect(at, {g.right, at.y + height - t.px(1)}, r.on ? widgets::with_alpha(t.accent, 0.06f) : t.card, t.px(4));
  const float y = at.y + (height - t.type(Type::small)) / 2 - t.px(1);
  const ImVec2 box{at.x + t.px(6), at.y + height / 2 - t.px(6)}, end{box.x + t.px(12), box.y + t.px(12)};
  if (r.on) {
    p.rect(box, end, t.accent, t.px(3));
    const ImVec2 tick[] = {{box.x + t.px(3), box.y + t.px(6)},
                           {box.x + t.px(5.2f), box.y + t.px(8.5f)},
                           {box.x + t.px(9.5f), box.y + t.px(3.5f)}};
    p.polyline(tick, t.panel, t.px(1.8f));
  } else {
    p.frame(box, end, hovered ? t.accent : t.muted, 1, t.px(3));
  }
  p.text_fit({end.x + t.px(8), y}, r.technique, g.label_right - end.x - t.px(12), r.on ? t.text : t.muted, Type::small);
  if (r.alone.technique->overlaps)
    p.text_fit({(g.x(0) + g.x(5)) / 2, y}, "memory + compute becomes the longer of the two", g.column * 5 - t.px(6),
               t.good, Type::small, Font::sans, Align::center);
  for (std::size_t i = 0; i < models::iron_term_count; ++i)
    if (!r.alone.technique->overlaps || i == 5) cell(p, g, i, y, r.alone.factor[i], press.helps[i]);
  gain_bar(p, g, 6, at.y, height, r.alone.speedup, t.muted);
  gain_bar(p, g, 7, at.y, height, r.speedup_now, t.accent);
  gain(p, g.centre(6), y, r.alone.speedup, t.text);
  gain(p, g.centre(7), y, r.speedup_now, t.text);
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
    p.frame(at, {g.right, at.y + height}, t.accent, t.px(2), t.px(4));
}

void record(widgets::Record& out, std::span<const TechniqueRow> rows) {
  widgets::DataTable table{"techniques", {"technique", "on"}, {}};
  for (const std::string_view h : heads) table.columns.push_back("factor on " + std::string(h));
  table.columns.insert(table.columns.end(), {"speedup alone", "speedup now"});
  for (const TechniqueRow& r : rows) {
    std::vector<std::string> cells{r.technique, r.on ? "1" : "0"};
    for (const double f : r.alone.factor) cells.push_back(widgets::exact(f));
    cells.push_back(widgets::exact(r.alone.speedup));
    cells.push_back(widgets::exact(r.speedup_now));
    table.rows.push_back(std::move(cells));
  }
  out.tables.push_back(std::move(table));
}

}  // namespace

int draw_technique_matrix(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Grid g = grid_of(out.rows, at, size.x);
  const float header = 2 * t.type(Type::small) + t.px(12), foot = t.type(Type::small) + t.px(12);
  const float height =
      std::min((size.y - header - foot) / static_cast<float>(std::max<std::size_t>(out.rows.size(), 1)),
               t.type(Type::small) + t.px(13));
  p.text_fit({at.x, at.y}, "Press what your work has", g.label_right - at.x, t.muted, Type::small);
  head(p, g, at.y);
  int pressed = -1;
  view.hovered = -1;
  float y = at.y + header;
  for (const std::size_t i : pic.order) {
    const TechniqueRow& r = out.rows[i];
    ImGui::SetCursorScreenPos({at.x, y});
    if (widgets::press_area(r.technique.c_str(), {g.right - g.left, height})) pressed = static_cast<int>(i);
    if (ImGui::IsItemHovered()) view.hovered = static_cast<std::int64_t>(i);
    row(p, g, {at.x, y}, height, r, pic.presses[i]);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) widgets::tip(r.technique, {}, r.alone.technique->why);
    y += height;
  }
  p.line({g.left, y + t.px(3)}, {g.right, y + t.px(3)}, t.line);
  p.text_fit({g.left + t.px(26), y + t.px(8)}, "at most, were it free", g.label_right - g.left - t.px(28), t.muted,
             Type::small);
  for (std::size_t part = 0; part < 3; ++part)
    gain(p, (g.x(first_of[part]) + g.x(last_of[part] + 1)) / 2, y + t.px(8), out.bounds[part], t.text);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  if (p.record()) record(*p.record(), out.rows);
  return pressed;
}

}  // namespace chapters::roofline::iron_law
