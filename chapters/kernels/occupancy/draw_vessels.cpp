#include <algorithm>
#include <cmath>

#include "chapters/kernels/occupancy/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

/// The SM as four vessels that the blocks fill together.
namespace chapters::kernels::occupancy {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::int64_t cells_a_row = 8;

/// One vessel: where it stands, and how tall an amount is in it.
struct Place {
  Rect body;      ///< from the rim to the ground
  float top = 0;  ///< y up to which a block may stick out
  double capacity = 1;
  float y(double amount) const {
    return body.max.y - static_cast<float>(amount / capacity) * (body.max.y - body.min.y);
  }
  double amount(float at) const {
    return capacity * static_cast<double>((body.max.y - at) / (body.max.y - body.min.y));
  }
};

/// Blocks from the first on: neighbours differ, and none has the colour of a meaning.
ImU32 block_colour(std::int64_t block) {
  return widgets::colour(block % 2 == 0 ? widgets::Tint::ramp(2, 4) : widgets::Tint::ramp(1, 4), widgets::theme());
}

/// Words on a plate in the middle of `box` where they have room.
void label_in(const Painter& p, Rect box, std::string_view words, ImU32 ink, bool plate) {
  const auto& t = widgets::theme();
  const ImVec2 size = widgets::text_size(words, Type::small);
  if (size.x + t.px(8) > box.width() || size.y + t.px(3) > box.height()) return;
  const ImVec2 at{(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2 - t.type(Type::small) / 2};
  if (plate)
    p.rect({at.x - size.x / 2 - t.px(6), at.y - t.px(3)}, {at.x + size.x / 2 + t.px(6), at.y + size.y + t.px(1)},
           t.background, t.px(3));
  p.text(at, words, ink, Type::small, Font::sans, Align::center);
}

/// A vessel's walls, with ears at the rim.
void paint_walls(const Painter& p, const Place& place, ImU32 ink) {
  const auto& t = widgets::theme();
  const float ear = t.px(8), wide = t.px(2);
  const Rect& b = place.body;
  p.line({b.min.x - ear, b.min.y}, {b.min.x, b.min.y}, ink, wide);
  p.line({b.min.x, b.min.y}, {b.min.x, b.max.y}, ink, wide);
  p.line({b.min.x, b.max.y}, {b.max.x, b.max.y}, ink, wide);
  p.line({b.max.x, b.max.y}, {b.max.x, b.min.y}, ink, wide);
  p.line({b.max.x, b.min.y}, {b.max.x + ear, b.min.y}, ink, wide);
}

void paint_blocks(const Painter& p, const Vessel& v, const Place& place, std::int64_t blocks) {
  const auto& t = widgets::theme();
  for (std::int64_t i = 0; i < blocks; ++i) {
    const float bottom = place.y(static_cast<double>(i) * v.block), top = place.y(static_cast<double>(i + 1) * v.block);
    const float gap = bottom - top > t.px(4) ? t.px(1) : 0;
    const Rect box{{place.body.min.x + t.px(1), top + gap}, {place.body.max.x - t.px(1), bottom}};
    p.rect(box.min, box.max, block_colour(i));
    widgets::Line name;
    name.add("block ").add_integer(i);
    label_in(p, box, name.view(), widgets::text_on(block_colour(i), t), false);
  }
}

Rect cell_at(const Place& place, std::int64_t cell) {
  const double rows = place.capacity / static_cast<double>(cells_a_row);
  const float h = place.body.height() / static_cast<float>(rows),
              w = place.body.width() / static_cast<float>(cells_a_row);
  const auto row = static_cast<float>(cell / cells_a_row), column = static_cast<float>(cell % cells_a_row);
  const float gap = std::min(widgets::theme().px(2), 0.2f * std::min(w, h));
  const ImVec2 from{place.body.min.x + column * w, place.body.max.y - (row + 1) * h};
  return {{from.x + gap, from.y + gap}, {from.x + w - gap, from.y + h - gap}};
}

/// Warp slots one by one: those of the blocks, and in outline those that the next one would take.
void paint_cells(const Painter& p, const Vessel& v, const Place& place, std::int64_t blocks, ImU32 next) {
  const std::int64_t taken = blocks * v.cells, all = static_cast<std::int64_t>(place.capacity);
  for (std::int64_t i = 0; i < taken; ++i) {
    const Rect cell = cell_at(place, i);
    p.rect(cell.min, cell.max, block_colour(i / v.cells));
  }
  for (std::int64_t i = taken; i < taken + v.cells; ++i) {
    const Rect cell = cell_at(place, i);
    if (cell.min.y < place.top) break;
    if (i >= all) p.rect(cell.min, cell.max, widgets::with_alpha(next, 0.25f));
    p.frame(cell.min, cell.max, next);
  }
}

/// The next block: hatched where it does not fit, an outline where it would.
void paint_next(const Painter& p, const Vessel& v, const Place& place, std::int64_t blocks) {
  const auto& t = widgets::theme();
  const ImU32 ink = v.wall ? t.bad : t.muted;
  const float bottom = place.y(static_cast<double>(blocks) * v.block);
  const float top = std::max(place.top, place.y(static_cast<double>(blocks + 1) * v.block));
  const Rect box{{place.body.min.x + t.px(1), std::min(top, bottom - t.px(2))}, {place.body.max.x - t.px(1), bottom}};
  const float line = t.type(Type::small) + t.px(8);
  if (v.cells > 0) {
    paint_cells(p, v, place, blocks, ink);
  } else if (v.wall) {
    p.rect(box.min, box.max, widgets::with_alpha(ink, 0.14f));
    widgets::hatch(p, box, widgets::with_alpha(ink, 0.6f), t.px(7));
  }
  if (v.cells == 0) {
    const ImVec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
    for (int i = 0; i < 4; ++i) p.dashed_line(corners[i], corners[(i + 1) % 4], ink, t.px(1.3f));
  }
  const bool inside = box.height() >= line && v.cells == 0;
  const float above = std::max(place.top, box.min.y - line);
  const Rect words = inside ? box : Rect{{box.min.x, above}, {box.max.x, above + line}};
  if (v.block > 0) label_in(p, words, v.would, v.wall ? t.bad : t.text, true);
}

/// What lies under the rim and is of no use to a block: the rest of each quarter of the registers, or what one block
/// cannot have.
void paint_useless(const Painter& p, const Vessel& v, const Place& place) {
  const auto& t = widgets::theme();
  if (v.usable >= v.capacity) return;
  const Rect rest{{place.body.min.x + t.px(1), place.body.min.y}, {place.body.max.x - t.px(1), place.y(v.usable)}};
  p.rect(rest.min, rest.max, widgets::with_alpha(t.muted, 0.15f));
  widgets::hatch(p, rest, widgets::with_alpha(t.muted, 0.5f), t.px(5));
  p.line({rest.min.x, rest.max.y}, {rest.max.x, rest.max.y}, t.text, t.px(1.5f));
}

void paint_caption(const Painter& p, const Vessel& v, const Place& place, bool given) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), y = place.body.max.y + t.px(6), width = place.body.width();
  const ImU32 ink = v.wall && !given ? t.bad : t.text;
  const float figure = given ? 0 : widgets::text_size(v.filled, Type::small, Font::mono).x + t.px(8);
  const auto fits = [&](std::string_view words, float beside) {
    return widgets::text_size(words, Type::small, Font::bold).x + beside <= width;
  };
  const std::string_view name = fits(v.name, 0) ? v.name : v.short_name;
  const bool both = !given && fits(name, figure);
  p.text_fit({place.body.min.x, y}, name, width, ink, Type::small, Font::bold);
  const float second = y + small + t.px(3);
  if (given) {
    p.text_fit({place.body.min.x, second}, v.given, width, t.muted, Type::small);
    return;
  }
  if (both) widgets::fit_text(p, {place.body.max.x, y}, v.filled, width, ink, Type::small, Font::mono, Align::right);
  const float total = widgets::text_size(v.total, Type::small).x + t.px(10);
  p.text({place.body.max.x, second}, v.total, t.muted, Type::small, Font::sans, Align::right);
  p.text_fit({place.body.min.x, second}, v.each, width - total, t.muted, Type::small);
}

/// Gives the input that a block's height in this vessel stands for the value of `amount`.
void set_amount(Inputs& in, const Outputs& out, const Run& run, std::size_t vessel, double amount) {
  take_in_hand(in, out);
  const double warps = static_cast<double>(out.block_warps);
  if (vessel == 0) {
    in.registers_per_thread = std::clamp<std::int64_t>(std::llround(amount / (32 * warps)), 1, 255);
  } else if (vessel == 1) {
    const std::int64_t most = run.sm->block_shared_bytes, step = 256;
    const std::int64_t bytes =
        std::clamp<std::int64_t>((std::llround(amount) - run.sm->reserved_bytes) / step * step, 0, most);
    in.static_shared_bytes = std::min(in.static_shared_bytes, bytes);
    in.dynamic_shared_bytes = bytes - in.static_shared_bytes;
  } else {
    in.block_threads = 32 * std::clamp<std::int64_t>(std::llround(amount), 1, 32);
  }
}

/// The top of the first block is a handle.
void drag_top(const Painter& p, Inputs& in, const Outputs& out, const Run& run, const Vessel& v, std::size_t vessel,
              const Place& place) {
  const auto& t = widgets::theme();
  const float at = std::max(place.top + t.px(8), place.y(v.block)), x = place.body.max.x, half = t.px(9);
  ImGui::SetCursorScreenPos({place.body.min.x, at - half});
  widgets::press_area(v.handle.data(), {place.body.width() + half, 2 * half}, ImGuiButtonFlags_EnableNav);
  const bool held = ImGui::IsItemActive(), lit = held || ImGui::IsItemHovered() || ImGui::IsItemFocused();
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2))
    set_amount(in, out, run, vessel, place.amount(ImGui::GetIO().MousePos.y));
  if (ImGui::IsItemFocused())
    if (const int steps = widgets::play_keys().steps; steps != 0) {
      const double each[] = {32.0 * static_cast<double>(out.block_warps), 1024, 1};
      set_amount(in, out, run, vessel, v.block + steps * each[vessel]);
    }
  if (ImGui::IsItemHovered() && !held) widgets::tip(v.name, v.each, "drag the top of a block");
  p.line({place.body.min.x, at}, {x, at}, t.accent, t.px(lit ? 2.5f : 1.5f));
  p.circle({x, at}, t.px(lit ? 7.0f : 5.5f), t.accent);
  p.ring({x, at}, t.px(lit ? 7.0f : 5.5f), t.background, t.px(1.5f));
}

/// Over the warp slots: how many stay empty, and whether that matters. Not where blocks stand above their rim.
void paint_callout(const Painter& p, const Picture& picture, const Place& place, float right) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), pad = t.px(8), bottom = place.body.min.y - t.px(10);
  const float height = 2 * small + t.px(3) + 2 * pad;
  const float width = 2 * pad + std::max(widgets::text_size(picture.callout_bold, Type::small, Font::bold).x,
                                         widgets::text_size(picture.callout_words, Type::small).x);
  if (picture.callout_bold.empty() || bottom - height < place.top) return;
  const float left = std::max(t.px(4), std::min(place.body.min.x, right - width));
  const Rect box{{left, bottom - height}, {left + width, bottom}};
  const float x = std::clamp((place.body.min.x + place.body.max.x) / 2, box.min.x + pad, box.max.x - pad);
  p.line({x, box.max.y}, {x, place.body.min.y + t.px(4)}, t.line, t.px(1.5f));
  p.rect(box.min, box.max, t.panel, t.px(5));
  p.frame(box.min, box.max, t.line, t.px(1.5f), t.px(5));
  p.text({box.min.x + pad, box.min.y + pad}, picture.callout_bold, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {box.min.x + pad, box.min.y + pad + small + t.px(3)}, picture.callout_words, width - 2 * pad,
                    t.muted, Type::small);
}

void record_vessels(widgets::Record& record, const Picture& picture) {
  widgets::DataTable table{"the SM", {"resource", "a block", "capacity", "usable", "blocks"}, {}};
  for (const Vessel& v : picture.vessels)
    table.rows.push_back({v.name, widgets::exact(v.block), widgets::exact(v.capacity), widgets::exact(v.usable),
                          std::to_string(picture.blocks)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_vessels(Inputs& in, const Outputs& out, const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const bool given = widgets::veiled();
  const float caption = 2 * t.type(Type::small) + t.px(12), gap = t.px(34);
  const float column = (area.width() - t.px(18) - 3 * gap) / 4, width = std::min(column, t.px(250));
  const float head = std::floor((area.height() < t.px(170) ? 0.22f : 0.3f) * (area.height() - caption));
  for (std::size_t i = 0; i < picture.vessels.size(); ++i) {
    const Vessel& v = picture.vessels[i];
    Place place;
    place.capacity = v.capacity;
    place.top = area.min.y;
    const float left = area.min.x + t.px(9) + static_cast<float>(i) * (column + gap);
    place.body = {{left, area.min.y + head}, {left + width, area.max.y - caption}};
    if (place.body.height() < t.px(24) || width < t.px(30)) return;
    p.rect(place.body.min, place.body.max, t.card);
    paint_caption(p, v, place, given);
    if (!given) {
      paint_useless(p, v, place);
      if (v.cells == 0) paint_blocks(p, v, place, picture.blocks);
      paint_next(p, v, place, picture.blocks);
    }
    paint_walls(p, place, !given && v.wall ? t.bad : t.text);
    if (given) continue;
    const float rim = place.y(static_cast<double>(picture.blocks + 1) * v.block);
    const Rect under{place.body.min, {place.body.max.x, place.body.min.y + t.px(34)}};
    if (!v.wall && rim - t.type(Type::small) - t.px(10) > under.max.y) label_in(p, under, v.room, t.muted, false);
    if (v.cells > 0 && !v.wall) paint_callout(p, picture, place, area.max.x);
    if (!v.handle.empty()) drag_top(p, in, out, *picture.run, v, i, place);
  }
  if (widgets::output_lit("occupancy")) {
    const float left = area.min.x + t.px(9) + 2 * (column + gap);
    widgets::paint_light(p, {left, area.min.y + head}, {left + width, area.max.y - caption});
  }
  if (widgets::Record* record = p.record(); record && !given) record_vessels(*record, picture);
}

}  // namespace chapters::kernels::occupancy
