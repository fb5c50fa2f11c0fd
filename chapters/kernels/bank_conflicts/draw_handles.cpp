#include <algorithm>
#include <cmath>

#include "chapters/kernels/bank_conflicts/draw_parts.h"
#include "widgets/base/press_area.h"

namespace chapters::kernels::bank_conflicts {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// A place that is dragged along x: true while it is, or a key moved it by `steps`.
struct Grip {
  bool held = false, lit = false;
  int steps = 0;
};
Grip grip(const char* label, Rect area) {
  ImGui::SetCursorScreenPos(area.min);
  widgets::press_area(label, {area.width(), area.height()});
  Grip out;
  out.held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  out.lit = out.held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (out.lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsItemFocused()) out.steps = widgets::play_keys().steps;
  return out;
}

/// "Yours" wherever it is: accent with a light ring and a halo.
void paint_knob(const Painter& p, ImVec2 at, bool lit) {
  const auto& t = widgets::theme();
  p.circle(at, t.px(lit ? 10.0f : 8.0f), widgets::with_alpha(t.accent, 0.25f));
  p.circle(at, t.px(5), t.accent);
  p.ring(at, t.px(5), t.text, t.px(1.5f));
}

/// What a knob says, next to it where there is room, right of `left`.
void say_knob(const Painter& p, const ColumnLayout& l, float x, std::string_view words, float left) {
  const auto& t = widgets::theme();
  const float wide = widgets::text_size(words, Type::small).x, y = l.control.min.y + t.px(5);
  const bool right = x + t.px(14) + wide <= l.control.max.x;
  if (!right && x - t.px(14) - wide < left) return;
  const float from = right ? x + t.px(14) : x - t.px(14) - wide;
  p.rect({from - t.px(3), y - t.px(1)}, {from + wide + t.px(3), y + t.type(Type::small) + t.px(2)}, t.background);
  p.text({from, y}, words, t.accent, Type::small);
}

/// The first word that the warp wants, which the column's handle stands over.
int first_bank(const Placement& placement) {
  return placement.access.word_count > 0 ? placement.access.words[0].bank : 0;
}

void drag_column(Inputs& in, const Painter& p, const Picture& pic, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  const std::int64_t element = pic.run->tile.element_bytes, per_line = 128 / element;
  const Grip g = grip("drag the column", l.control);
  const std::int64_t most = std::min<std::int64_t>(63, in.columns - 1);
  if (g.held) {
    const float share = std::clamp((ImGui::GetIO().MousePos.x - l.grid.min.x) / l.grid.width(), 0.0f, 0.9999f);
    const std::int64_t line = std::min(in.column, most) / per_line * per_line;
    in.column =
        std::clamp<std::int64_t>(line + static_cast<std::int64_t>(share * static_cast<float>(per_line)), 0, most);
  }
  if (g.steps != 0) in.column = std::clamp<std::int64_t>(in.column + g.steps, 0, most);
  const float x = l.grid.min.x + (static_cast<float>(first_bank(pic.run->placements[0])) + 0.5f) * l.cell_w,
              y = (l.control.min.y + l.control.max.y) / 2 - t.px(2);
  p.line({x, y}, {x, l.grid.min.y}, t.accent, t.px(1.5f));
  paint_knob(p, {x, y}, g.lit);
  widgets::Line words;
  say_knob(p, l, x, words.add("drag: column ").add_integer(in.column).view(), l.control.min.x);
}

void drag_row(Inputs& in, const Painter& p, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  const Grip g = grip("drag the row", l.control);
  const std::int64_t most = std::min<std::int64_t>(63, in.rows - 1);
  const float from = l.control.min.x + t.px(8), wide = std::max(1.0f, l.control.width() - t.px(16));
  if (g.held)
    in.row = std::clamp<std::int64_t>(
        std::llround((ImGui::GetIO().MousePos.x - from) / wide * static_cast<float>(most)), 0, most);
  if (g.steps != 0) in.row = std::clamp<std::int64_t>(in.row + g.steps, 0, most);
  const float x = from + wide * static_cast<float>(std::min(in.row, most)) /
                             static_cast<float>(std::max<std::int64_t>(1, most)),
              y = (l.control.min.y + l.control.max.y) / 2 - t.px(2);
  p.line({from, y}, {from + wide, y}, t.line, t.px(2));
  paint_knob(p, {x, y}, g.lit);
  widgets::Line words;
  say_knob(p, l, x, words.add("drag: row ").add_integer(in.row).view(), l.control.min.x);
}

/// A row of the tile with its end in the hand: to the right of the elements lies the padding, an element a step.
void drag_padding(Inputs& in, const Painter& p, const Picture& pic, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  const Grip g = grip("drag the row's end", l.control);
  const float row_px = std::floor(l.control.width() * 0.4f), from = l.control.min.x + row_px,
              wide = std::max(1.0f, l.control.max.x - from - t.px(10)), step = wide / static_cast<float>(pic.track_end);
  const auto most = static_cast<std::int64_t>(pic.track_end);
  if (g.held) in.padding = std::clamp<std::int64_t>(std::llround((ImGui::GetIO().MousePos.x - from) / step), 0, most);
  if (g.steps != 0) in.padding = std::clamp<std::int64_t>(in.padding + g.steps, 0, max_padding);
  const float x = from + step * static_cast<float>(std::min(in.padding, most)), top = l.control.min.y + t.px(6),
              bottom = l.control.max.y - t.px(10);
  p.rect({l.control.min.x, top}, {from, bottom}, t.card, t.px(2));
  p.frame({l.control.min.x, top}, {from, bottom}, t.line, 1, t.px(2));
  p.line({from, (top + bottom) / 2}, {l.control.max.x - t.px(10), (top + bottom) / 2}, t.line, t.px(2));
  if (x > from) {
    p.rect({from, top}, {x, bottom}, t.background);
    widgets::hatch(p, {{from, top}, {x, bottom}}, t.muted, t.px(4));
  }
  widgets::Line row, words;
  row.add_integer(in.columns).add(" wide");
  widgets::fit_text(p, {l.control.min.x + t.px(4), (top + bottom - t.type(Type::small)) / 2}, row.view(),
                    row_px - t.px(8), t.text, Type::small);
  paint_knob(p, {x, (top + bottom) / 2}, g.lit);
  say_knob(p, l, x, words.add("drag: padding ").add_integer(in.padding).view(), from);
}

/// The bits of the row number that flip bits of the column: pressed, they join the XOR.
void press_bits(Inputs& in, const Outputs& out, const Painter& p, const Picture& pic, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  const int bits = pic.swap_bits;
  if (bits == 0) {
    widgets::fit_text(p, {l.control.min.x, l.control.min.y + t.px(5)}, "a row is one unit: nothing to flip",
                      l.control.width(), t.muted, Type::small);
    return;
  }
  const float gap = t.px(4),
              wide = std::min(t.px(44),
                              (l.control.width() - gap * static_cast<float>(bits - 1)) / static_cast<float>(bits)),
              top = l.control.min.y + t.px(2), bottom = l.control.max.y - t.px(6);
  for (int i = 0; i < bits; ++i) {
    const int bit = bits - 1 - i;
    const float x = l.control.min.x + static_cast<float>(i) * (wide + gap);
    widgets::Line id, words;
    id.add("XOR bit ").add_integer(bit);
    ImGui::SetCursorScreenPos({x, top});
    const bool pressed = widgets::press_area(id.c_str(), {wide, bottom - top});
    const bool lit = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible),
               set = (out.flip_mask >> bit & 1) != 0;
    if (pressed) {
      if (in.swizzle == SwizzleKind::fitted) {
        in.swizzle = SwizzleKind::own;
        in.swizzle_unit = unit_of(out.unit_bytes);
        in.swizzle_shift = out.flip_shift;
        in.swizzle_mask = out.flip_mask;
      }
      in.swizzle_mask ^= std::int64_t{1} << bit;
    }
    p.rect({x, top}, {x + wide, bottom}, set ? widgets::with_alpha(t.accent, 0.28f) : t.card, t.px(5));
    p.frame({x, top}, {x + wide, bottom}, lit ? t.text : set ? t.accent : t.line, t.px(lit ? 2.0f : 1.2f), t.px(5));
    words.add("r").add_integer(bit + out.flip_shift);
    p.text({x + wide / 2, (top + bottom - t.type(Type::small)) / 2}, words.view(), set ? t.text : t.muted, Type::small,
           Font::mono, Align::center);
    if (ImGui::IsItemHovered()) {
      widgets::Line name, value;
      name.add("bit ").add_integer(bit + out.flip_shift).add(" of the row number");
      value.add(set ? "flips bit " : "leaves bit ").add_integer(bit).add(" of the unit's number; press it");
      widgets::tip(name.view(), value.view());
    }
  }
}

}  // namespace

void draw_handles(Inputs& in, const Outputs& out, const Picture& pic, const BanksLayout& layout) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  if (in.access == Access::row)
    drag_row(in, p, layout.columns[0]);
  else if (walks(in.access))
    drag_column(in, p, pic, layout.columns[0]);
  else
    widgets::fit_text(p, {layout.columns[0].control.min.x, layout.columns[0].control.min.y + t.px(5)}, pic.source,
                      layout.columns[0].control.width(), t.accent, Type::small, Font::mono);
  drag_padding(in, p, pic, layout.columns[1]);
  press_bits(in, out, p, pic, layout.columns[2]);
}

}  // namespace chapters::kernels::bank_conflicts
