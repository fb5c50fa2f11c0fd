#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/sharing/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"
#include "widgets/base/tint.h"

/// Shelves with the blocks that lie on them, the holes, who waits, and the whole time as a strip below.
namespace chapters::fleet::sharing {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Where shelves stand: rows of eight cells, in as many columns as give the largest cells.
struct ShelfGrid {
  ImVec2 corner{};
  int columns = 1, rows = 1;
  float cell_x = 10, cell_y = 10, name = 0, gap = 0;

  ImVec2 at(std::uint32_t shelf, int place) const {
    const int column = static_cast<int>(shelf) / rows, row = static_cast<int>(shelf) % rows;
    const float wide = name + 8 * cell_x + gap;
    return {corner.x + static_cast<float>(column) * wide + name + static_cast<float>(place) * cell_x,
            corner.y + static_cast<float>(row) * cell_y};
  }
};

ShelfGrid make_grid(ImVec2 corner, ImVec2 size, std::uint32_t shelves) {
  const auto& t = widgets::theme();
  ShelfGrid best{.corner = corner};
  best.name = t.px(22);
  best.gap = t.px(12);
  float least = 0;
  for (int columns = 1; columns <= 8; ++columns) {
    const int rows = std::max(1, (static_cast<int>(shelves) + columns - 1) / columns);
    // The last column needs no gap behind it.
    const float x =
        (size.x + best.gap - static_cast<float>(columns) * (best.name + best.gap)) / static_cast<float>(8 * columns);
    const float y = std::min(size.y / static_cast<float>(rows), t.px(64));
    const float side = std::min(x, 2 * y);
    if (side <= least) continue;
    least = side;
    best.columns = columns;
    best.rows = rows;
    best.cell_x = std::max(t.px(2), x);
    best.cell_y = std::max(t.px(3), y);
  }
  return best;
}

ImU32 block_fill(const Picture& p, std::uint8_t hue) { return widgets::theme().ramp_at(hue, std::max(p.hues, 2u)); }

void paint_free(const Painter& p, const Picture& picture, const ShelfGrid& g) {
  const auto& t = widgets::theme();
  for (const FreePlace& free : picture.free) {
    if (free.mark == FreeMark::idle) continue;
    const ImVec2 at = g.at(free.shelf, free.place);
    const ImU32 hue = free.mark == FreeMark::stranded ? t.bad : t.warning;
    const ImVec2 min{at.x + t.px(1), at.y + t.px(2)}, max{at.x + g.cell_x - t.px(1), at.y + g.cell_y - t.px(2)};
    p.rect(min, max, widgets::with_alpha(hue, 0.16f));
    if (free.mark == FreeMark::stranded) widgets::hatch(p, {min, max}, widgets::with_alpha(hue, 0.8f), t.px(6));
  }
}

void paint_block(const Painter& p, const Picture& picture, const Block& block, ImVec2 min, ImVec2 max) {
  const auto& t = widgets::theme();
  const ImU32 fill = block.holds_up ? t.bad : block_fill(picture, block.hue);
  p.rect(min, max, fill, t.px(3));
  const ImVec2 words = widgets::text_size(block.label, Type::small, Font::bold);
  if (words.x + t.px(4) < max.x - min.x && words.y < max.y - min.y)
    p.text({(min.x + max.x) / 2, (min.y + max.y - words.y) / 2}, block.label, widgets::text_on(fill, t), Type::small,
           Font::bold, Align::center);
}

void paint_frames(const Painter& p, std::uint32_t shelves, const ShelfGrid& g) {
  const auto& t = widgets::theme();
  for (std::uint32_t s = 0; s < shelves; ++s) {
    const ImVec2 from = g.at(s, 0), to = g.at(s, 8);
    p.frame({from.x, from.y + t.px(1)}, {to.x, from.y + g.cell_y - t.px(1)}, t.line, t.px(1), t.px(3));
    for (int i = 1; i < 8; ++i) {
      const ImVec2 at = g.at(s, i);
      p.line({at.x, at.y + t.px(3)}, {at.x, at.y + g.cell_y - t.px(3)}, t.grid);
    }
  }
}

/// Where the first in line will lie.
void paint_ahead(const Painter& p, const Picture& picture, const ShelfGrid& g) {
  const auto& t = widgets::theme();
  for (const Block& block : picture.ahead) {
    const ImVec2 from = g.at(block.shelf, block.from), to = g.at(block.shelf, block.from + block.count);
    p.frame({from.x, from.y + t.px(1)}, {to.x, from.y + g.cell_y - t.px(1)}, t.text, t.px(2), t.px(3));
  }
}

/// Pressing a shelf's number keeps it and all above it for whole-shelf jobs; pressing the last of them frees it.
void press_shelves(Inputs& in, const Painter& p, const Picture& picture, const ShelfGrid& g) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small);
  for (std::uint32_t s = 0; s < picture.shelves; ++s) {
    const ImVec2 at = g.at(s, 0);
    ImGui::PushID(static_cast<int>(s));
    ImGui::SetCursorScreenPos({at.x - g.name, at.y});
    if (widgets::press_area("keep shelves up to here", {g.name, g.cell_y}))
      in.reserved = in.reserved == static_cast<std::int64_t>(s) + 1 ? static_cast<std::int64_t>(s)
                                                                    : static_cast<std::int64_t>(s) + 1;
    const bool lit = ImGui::IsItemHovered();
    ImGui::PopID();
    if (lit) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      widgets::tip("keep shelves up to here", {}, "for jobs that need whole shelves");
    }
    const bool kept = s < picture.reserved;
    if (kept) p.rect({at.x - t.px(5), at.y + t.px(2)}, {at.x - t.px(2), at.y + g.cell_y - t.px(2)}, t.accent, t.px(1));
    if (g.cell_y > line)
      p.text({at.x - t.px(7), at.y + (g.cell_y - line) / 2}, picture.shelf_names[s], kept || lit ? t.accent : t.muted,
             Type::small, Font::mono, Align::right);
  }
}

void paint_queue(const Painter& p, const Picture& picture, ImVec2 min, ImVec2 max) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(4), wide = max.x - min.x;
  p.text_fit(min, picture.queue_title, wide, t.text, Type::small, Font::bold);
  float y = min.y + line;
  const float height = std::max(t.px(16), line);
  bool first = true;
  for (const Block& block : picture.queue) {
    if (y + height + line > max.y) break;
    const float width = std::max(t.px(12), wide * static_cast<float>(block.count) / 8);
    paint_block(p, picture, block, {min.x, y}, {min.x + width, y + height});
    if (first)
      p.frame({min.x - t.px(2), y - t.px(2)}, {min.x + width + t.px(2), y + height + t.px(2)}, t.text, t.px(2),
              t.px(4));
    y += height + t.px(first ? 8.0f : 3.0f);
    first = false;
  }
  if (!picture.more_waiting.empty() && y + line <= max.y)
    p.text_fit({min.x, y}, picture.more_waiting, wide, t.muted, Type::small);
}

/// The strip over the time that is counted, with a handle at the moment that is shown.
void drag_strip(Inputs& in, const Painter& p, const Picture& picture, ImVec2 min, ImVec2 max) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(3), wide = max.x - min.x;
  const float swatch = t.px(10), mid = min.y + t.type(Type::small) / 2;
  p.rect({min.x, mid - swatch / 2}, {min.x + swatch, mid + swatch / 2}, t.of(widgets::Meaning::forward), t.px(2));
  float x = min.x + swatch + t.px(5);
  x += p.text_fit({x, min.y}, "used", 0.2f * wide, t.text, Type::small) + t.px(14);
  p.line({x, mid}, {x + swatch, mid}, t.warning, t.px(2));
  x += swatch + t.px(5);
  p.text_fit({x, min.y}, "jobs in line", 0.25f * wide, t.text, Type::small);
  p.text_fit({max.x, min.y}, picture.moment_words, 0.38f * wide, t.accent, Type::small, Font::sans, Align::right);
  const float top = min.y + line, tall = std::max(t.px(8), max.y - top);
  p.rect({min.x, top}, {max.x, top + tall}, t.card);
  const std::size_t n = picture.strip_used.size();
  const auto x_of = [&](std::size_t i) { return min.x + wide * static_cast<float>(i) / static_cast<float>(n - 1); };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const float y = top + tall * (1 - picture.strip_used[i]);
    p.rect({x_of(i), y}, {x_of(i + 1), top + tall}, widgets::with_alpha(t.of(widgets::Meaning::forward), 0.45f));
    const float a = top + tall * (1 - picture.strip_waiting[i]), b = top + tall * (1 - picture.strip_waiting[i + 1]);
    p.line({x_of(i), a}, {x_of(i + 1), b}, t.warning, t.px(1.5f));
  }
  const float at = min.x + wide * static_cast<float>(std::clamp(picture.strip_at, 0.0, 1.0));
  ImGui::SetCursorScreenPos({min.x, top});
  widgets::press_area("drag the moment", {wide, tall});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (held && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::IsMouseClicked(ImGuiMouseButton_Left))) {
    const double share = static_cast<double>((ImGui::GetIO().MousePos.x - min.x) / std::max(wide, 1.0f));
    in.moment = std::clamp(std::round(1000 * share) / 10, 0.1, 100.0);
  }
  if (ImGui::IsItemFocused()) {
    const int steps = widgets::play_keys().steps;
    if (steps != 0) in.moment = std::clamp(std::round(10 * (100 * picture.strip_at + steps)) / 10, 0.1, 100.0);
  }
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  p.line({at, top}, {at, top + tall}, t.accent, t.px(2));
  const ImVec2 knob{at, top + tall / 2};  // at the line's upper end it would lie on the words
  p.circle(knob, t.px(lit ? 7.0f : 5.5f), t.accent);
  p.ring(knob, t.px(lit ? 7.0f : 5.5f), t.text, t.px(1.5f));
}

}  // namespace

void draw_shelves(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.version == 0 || picture.shelves == 0) {
    ImGui::Dummy(size);
    return;
  }
  const float line = t.type(Type::small) + t.px(4);
  const float strip = std::clamp(size.y * 0.2f, line + t.px(20), line + t.px(90));
  const float queue = std::clamp(size.x * 0.2f, t.px(84), t.px(230)), wide = size.x - queue - t.px(14);
  const ImVec2 shelves_min{corner.x, corner.y + line + t.px(2)};
  const ShelfGrid g = make_grid(shelves_min, {wide, size.y - strip - 2 * line - t.px(12)}, picture.shelves);
  const float under = shelves_min.y + static_cast<float>(g.rows) * g.cell_y + t.px(3), foot = under + line + t.px(6);
  if (widgets::veiled()) {
    // Empty shelves are given: how many there are is an input.
    const widgets::GivenMarks given;
    paint_frames(p, picture.shelves, g);
    p.text_fit({corner.x + g.name, corner.y + t.px(3)}, picture.shelves_title, wide - g.name, t.muted, Type::small);
    ImGui::Dummy(size);
    return;
  }
  const float told =
      p.text_fit(corner, picture.free_words, wide, picture.holes ? t.bad : t.warning, Type::small, Font::bold);
  if (told + t.px(60) < wide)
    p.text_fit({corner.x + wide, corner.y}, picture.shelves_title, wide - told - t.px(14), t.muted, Type::small,
               Font::sans, Align::right);
  paint_frames(p, picture.shelves, g);
  paint_free(p, picture, g);
  for (const Block& block : picture.blocks) {
    const ImVec2 from = g.at(block.shelf, block.from), to = g.at(block.shelf, block.from + block.count);
    paint_block(p, picture, block, {from.x + t.px(1), from.y + t.px(2)}, {to.x - t.px(1), from.y + g.cell_y - t.px(2)});
  }
  paint_ahead(p, picture, g);
  press_shelves(in, p, picture, g);
  p.text_fit({corner.x, under}, picture.first_words, wide, t.text, Type::small);
  paint_queue(p, picture, {corner.x + size.x - queue, corner.y}, {corner.x + size.x - t.px(3), foot - t.px(4)});
  drag_strip(in, p, picture, {corner.x + t.px(8), foot}, {corner.x + size.x - t.px(8), foot + strip - t.px(4)});
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::fleet::sharing
