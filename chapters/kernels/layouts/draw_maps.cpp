#include <imgui.h>

#include <algorithm>
#include <array>
#include <span>

#include "chapters/described/mark_legend.h"
#include "chapters/kernels/layouts/draw.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

namespace chapters::kernels::layouts {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr int bank_count = 32;
constexpr std::array<MarkEntry, 7> map_legend{{{"shade: bank of the cell", LegendMark::shades},
                                               {"number: place in memory", LegendMark::number},
                                               {"line: from place to place", LegendMark::thread},
                                               {"column you hold, a lane per row", LegendMark::held},
                                               {"banks: each level is a wavefront", LegendMark::tower},
                                               {"0 to 3: bits of the swizzle", LegendMark::button},
                                               {"thick lines: tiles or copies of A", LegendMark::copies}}};
/// Pixels of one wavefront at most, where there is room for more than the maps and towers need.
float max_level() { return widgets::theme().px(44); }

/// First bank of a cell, and how many banks it is wide.
struct Banks {
  int first = 0, wide = 1;
};
ImU32 colour_of_bank(const Banks& at) {
  return widgets::theme().ramp_at(static_cast<std::size_t>(at.first / at.wide),
                                  static_cast<std::size_t>(bank_count / at.wide));
}

void write_in_cell(const Painter& p, ImVec2 min, ImVec2 max, std::string_view words, ImU32 fill, bool bold) {
  const auto& t = widgets::theme();
  const ImVec2 text = widgets::text_size(words, Type::small, Font::mono);
  const ImU32 ink = widgets::text_on(fill, t);
  if (text.x + t.px(2) > max.x - min.x || text.y > max.y - min.y || widgets::contrast(ink, fill) < 4.6) return;
  p.text({(min.x + max.x) / 2, (min.y + max.y - text.y) / 2}, words, ink, Type::small, bold ? Font::bold : Font::mono,
         Align::center);
}

/// Whether every place can be written in its cell: places in a part of the cells would say that the others have none.
bool numbers_fit(const Run& run, const CellGrid& grid) {
  const auto& t = widgets::theme();
  std::int64_t most = 0;
  for (const CellMap& map : run.maps)
    for (const std::int64_t place : map.places) most = std::max(most, place);
  widgets::Line widest;
  widest.add_integer(most);
  const ImVec2 text = widgets::text_size(widest.view(), Type::small, Font::mono);
  const float room = grid.step - grid.gap();
  return text.x + t.px(2) <= room && text.y <= room;
}

/// The cells of one map, coloured by their bank; or, over the walk, the place of each.
void draw_cells(const Picture& pic, const CellMap& map, const CellGrid& grid, bool numbers) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float round = grid.step > 14 ? t.px(2) : 0;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const auto cell = static_cast<std::size_t>(row * grid.columns + column);
      const std::int64_t place = map.places[cell];
      if (place < 0) continue;
      const ImVec2 min = grid.min(row, column), max{min.x + grid.step - grid.gap(), min.y + grid.step - grid.gap()};
      const ImU32 fill = colour_of_bank(Banks{map.banks[cell], pic.banks_wide});
      if (!numbers) {
        p.rect(min, max, fill, round);
        continue;
      }
      widgets::Line words;
      words.add_integer(place);
      const ImVec2 text = widgets::text_size(words.view(), Type::small, Font::mono);
      const ImVec2 half{text.x / 2 + t.px(1), text.y / 2}, middle{(min.x + max.x) / 2, (min.y + max.y) / 2};
      p.rect({middle.x - half.x, middle.y - half.y}, {middle.x + half.x, middle.y + half.y}, fill);
      write_in_cell(p, min, max, words.view(), fill, column == pic.run->held);
    }
  }
}

constexpr std::size_t most_walked = 256;
bool walk_fits(const Picture& pic, const CellGrid& grid) {
  const auto cells = static_cast<std::size_t>(grid.rows * grid.columns);
  return cells <= most_walked && pic.walk.size() >= 3 * cells && grid.step >= widgets::theme().px(14);
}

/// The walk through memory: from place to place, as a thread through the cells.
void draw_walk(const Picture& pic, std::size_t map, const CellGrid& grid) {
  const auto cells = static_cast<std::size_t>(grid.rows * grid.columns);
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  std::array<ImVec2, most_walked> points;
  std::size_t n = 0;
  for (std::size_t i = map * cells; i < (map + 1) * cells; ++i) {
    const int cell = pic.walk[i];
    if (pic.run->maps[map].places[static_cast<std::size_t>(cell)] < 0) continue;
    const ImVec2 min = grid.min(cell / grid.columns, cell % grid.columns);
    points[n++] = {min.x + grid.step / 2, min.y + grid.step * 0.84f};
  }
  if (n < 2) return;
  p.polyline({points.data(), n}, widgets::with_alpha(t.text, 0.6f), t.px(1.2f));
  p.circle(points[0], t.px(3), t.text);
}

void draw_held(const CellGrid& grid, int held, bool handle) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 min = grid.min(0, held);
  const float margin = t.px(2);
  const ImVec2 a{min.x - margin, min.y - margin}, b{min.x + grid.step + margin - grid.gap(), a.y},
      c{b.x, min.y + grid.height() + margin}, d{a.x, c.y};
  const std::array<ImVec2, 5> around{a, b, c, d, a};
  p.dashed_polyline(around, t.text, t.px(1.8f), t.px(5));
  if (!handle) return;
  const ImVec2 knob{(a.x + b.x) / 2, c.y};
  p.circle(knob, t.px(5), t.accent);
  p.ring(knob, t.px(5), t.text, t.px(1.2f));
}

/// Pointer and keys on a map choose the column.
void hold_column(Inputs& in, const Picture& pic, std::size_t map, const CellGrid& grid) {
  static constexpr const char* labels[] = {"cells by rows", "cells of the layout", "cells swizzled"};
  ImGui::SetCursorScreenPos(grid.at);
  widgets::press_area(labels[map], {grid.width(), grid.height() + widgets::theme().px(6)}, ImGuiButtonFlags_EnableNav);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const float x = std::clamp((mouse.x - grid.at.x) / grid.step, 0.0f, static_cast<float>(grid.columns - 1));
    in.column = static_cast<std::int64_t>(x);
  }
  if (const int steps = widgets::play_keys().steps; steps != 0) {
    in.column = std::clamp<std::int64_t>(pic.run->held + steps, 0, grid.columns - 1);
  }
  const int row = grid.row_at(mouse), column = grid.column_at(mouse);
  if (!ImGui::IsItemHovered() || row < 0 || column < 0) return;
  const auto cell = static_cast<std::size_t>(row * grid.columns + column);
  const std::int64_t place = pic.run->maps[map].places[cell];
  if (place < 0) return;
  widgets::Line name, value;
  name.add("row ").add_integer(row).add(", column ").add_integer(column);
  const Banks at{pic.run->maps[map].banks[cell], pic.banks_wide};
  value.add("place ").add_integer(place).add(", bank ").add_integer(at.first);
  if (at.wide > 1) value.add(" to ").add_integer(at.first + at.wide - 1);
  widgets::tip(name.view(), value.view(), "drag to hold another column");
}

/// The floor on which the words of the column stand: 32 banks, coloured as the cells are.
void draw_bank_floor(Rect area, int wide) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float step = area.width() / bank_count, floor = area.max.y - t.type(Type::small) - t.px(8);
  for (int bank = 0; bank < bank_count; ++bank) {
    const float x = area.min.x + step * static_cast<float>(bank);
    p.rect({x, floor}, {x + step - (step > 4 ? 1.0f : 0.0f), floor + t.px(4)}, colour_of_bank({bank, wide}));
    if (bank % 8 == 0) {
      widgets::Line words;
      words.add_integer(bank);
      p.text({x, floor + t.px(6)}, words.view(), t.muted, Type::small);
    }
  }
  p.text_fit({area.max.x, floor + t.px(6)}, "bank", step * 7, t.muted, Type::small, Font::sans, Align::right);
}

/// Each cell of the held column over its banks, in the wavefront that serves it.
void draw_towers(const Picture& pic, const CellMap& map, Rect area, std::int64_t deepest) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const Run& run = *pic.run;
  const float step = area.width() / bank_count, floor = area.max.y - t.type(Type::small) - t.px(9);
  const float level =
      std::min(max_level(), (floor - area.min.y) / static_cast<float>(std::max<std::int64_t>(1, deepest)));
  std::size_t lane = 0;
  for (int row = 0; row < run.rows; ++row) {
    const auto cell = static_cast<std::size_t>(row * run.columns + run.held);
    if (map.places[cell] < 0 || lane >= map.wavefront.size()) continue;
    const Banks at{map.banks[cell], pic.banks_wide};
    const float x = area.min.x + step * static_cast<float>(at.first);
    const float y = floor - level * static_cast<float>(map.wavefront[lane] + 1);
    const ImVec2 min{x, y + (level > 4 ? 1.0f : 0.0f)},
        max{x + step * static_cast<float>(at.wide) - (step > 3 ? 1.0f : 0.0f), y + level};
    const ImU32 fill = colour_of_bank(at);
    p.rect(min, max, fill, level > 10 ? t.px(2) : 0);
    p.frame(min, max, t.text, t.px(1), level > 10 ? t.px(2) : 0);
    widgets::Line words;
    words.add_integer(row);
    write_in_cell(p, min, max, words.view(), fill, false);
    ++lane;
  }
}

/// What the learner said stands as a level over the banks.
void draw_said(Rect area, std::string_view output, std::int64_t deepest) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != output || !(guess->value > 0)) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float floor = area.max.y - t.type(Type::small) - t.px(9);
  const float level =
      std::min(max_level(), (floor - area.min.y) / static_cast<float>(std::max<std::int64_t>(1, deepest)));
  const float y = std::max(area.min.y, floor - level * static_cast<float>(guess->value));
  p.dashed_line({area.min.x, y}, {area.max.x, y}, t.accent, t.px(1.5f));
  widgets::Line figure;
  figure.add_integer(static_cast<std::int64_t>(guess->value));
  widgets::paint_guess_words(p, {area.min.x + t.px(4), y + t.px(2)}, widgets::guess_words(figure.view(), false).view());
}

/// Bits of the swizzle to press, right over the swizzled map.
void draw_bits(Inputs& in, ImVec2 right, float height) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  static constexpr const char* labels[] = {"0 bits", "1 bit", "2 bits", "3 bits"};
  const float box = t.type(Type::small) + t.px(8);
  for (int bits = 3; bits >= 0; --bits) {
    const ImVec2 min{right.x - static_cast<float>(4 - bits) * (box + t.px(3)), right.y},
        max{min.x + box, min.y + height};
    ImGui::SetCursorScreenPos(min);
    if (widgets::press_area(labels[bits], {box, height})) in.swizzle_bits = bits;
    const bool set = in.swizzle_bits == bits, hovered = ImGui::IsItemHovered();
    p.rect(min, max, set ? t.accent : t.card, t.px(3));
    p.frame(min, max, hovered ? t.text : t.line, t.px(1), t.px(3));
    widgets::Line words;
    words.add_integer(bits);
    write_in_cell(p, min, max, words.view(), set ? t.accent : t.card, set);
    if (hovered) widgets::tip(labels[bits], {}, "so many bits of the place change with bits above them");
  }
}

ImU32 colour_of_cost(std::int64_t wavefronts, std::int64_t least, std::int64_t most) {
  const auto& t = widgets::theme();
  if (most == least) return t.text;
  return wavefronts == least ? t.good : wavefronts == most ? t.warning : t.text;
}

/// What a question gives: the banks and the width of a cell.
void draw_given(const Picture& pic, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const float gap = t.px(24), wide = (size.x - 2 * gap) / 3;
  widgets::fit_text(Painter::window(), corner, pic.given_story, size.x, t.text, Type::small);
  for (int map = 0; map < 3; ++map) {
    const float x = corner.x + static_cast<float>(map) * (wide + gap);
    draw_bank_floor({{x, corner.y + t.px(30)}, {x + wide, corner.y + 0.75f * size.y}}, pic.banks_wide);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

/// Three maps beside each other: what their cells and towers share.
struct MapsPlace {
  ImVec2 corner{};
  float line = 0, gap = 0, wide = 0;
  float cells = 0;                      ///< height that the cells may take
  float tallest = 0;                    ///< height of banks with their towers
  std::int64_t deepest = 1, least = 1;  ///< wavefronts
  bool numbers = false, walk = false;   ///< drawn where the cells are large enough, in all maps or in none

  float x(std::size_t map) const { return corner.x + static_cast<float>(map) * (wide + gap); }
};

/// The grid takes what the towers leave, and the towers stand right under it.
MapsPlace place_maps(const Run& run, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  MapsPlace l{.corner = corner, .least = run.maps[0].wavefronts};
  l.line = t.type(Type::small) + t.px(6);
  l.gap = t.px(24);
  l.wide = (size.x - 2 * l.gap) / 3;
  for (const auto& map : run.maps) {
    l.deepest = std::max(l.deepest, map.wavefronts);
    l.least = std::min(l.least, map.wavefronts);
  }
  const float body = size.y - 3 * l.line - t.px(8), axis = t.type(Type::small) + t.px(10);
  const float levels = static_cast<float>(l.deepest), highest = levels * max_level() + axis;
  const float least_towers = std::min(levels * t.px(24) + axis, 0.36f * body);
  l.cells = body - least_towers;
  const CellGrid sized({0, 0}, {l.wide, l.cells}, run.rows, run.columns);
  l.tallest = std::clamp(body - sized.height(), least_towers, highest);
  return l;
}

/// One map: its name and rule, its cells, and the banks under them. `parted`: the lines of parts that are shown.
void draw_map(Inputs& in, const Picture& pic, std::size_t map, const MapsPlace& l, const PartsMap* parted) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const Run& run = *pic.run;
  const ImVec2 at{l.x(map), l.corner.y};
  p.text_fit(at, pic.maps[map].name, l.wide, map == 2 ? t.accent : t.text, Type::small, Font::bold);
  const bool whole = widgets::text_size(pic.maps[map].text, Type::small, Font::mono).x <= l.wide;
  widgets::fit_text(p, {at.x, at.y + l.line}, whole ? pic.maps[map].text : pic.maps[map].brief, l.wide, t.muted,
                    Type::small, Font::mono);
  if (map == 2) draw_bits(in, {at.x + l.wide + t.px(3), at.y}, l.line);
  const CellGrid grid({at.x, at.y + 2 * l.line}, {l.wide, l.cells}, run.rows, run.columns);
  draw_cells(pic, run.maps[map], grid, false);
  if (l.walk) draw_walk(pic, map, grid);
  if (l.numbers) draw_cells(pic, run.maps[map], grid, true);
  if (parted != nullptr && map == 1) paint_part_lines(*parted, grid);
  draw_held(grid, run.held, map == 0);
  hold_column(in, pic, map, grid);
  widgets::drew("maps");
  const float top = l.corner.y + 3 * l.line + t.px(8) + grid.height();
  const Rect banks{{at.x, top}, {at.x + l.wide, top + l.tallest}};
  p.text_fit({at.x, banks.min.y - l.line + t.px(4)}, pic.maps[map].cost, l.wide,
             colour_of_cost(run.maps[map].wavefronts, l.least, l.deepest), Type::small, Font::bold);
  const Rect towers{{banks.min.x, banks.min.y + t.px(4)}, banks.max};
  draw_bank_floor(banks, pic.banks_wide);
  draw_towers(pic, run.maps[map], towers, l.deepest);
  if (map == 1) draw_said(towers, "column_in_layout", l.deepest);
  if (map == 2) draw_said(towers, "column_swizzled", l.deepest);
  widgets::drew("banks");
}

}  // namespace

void draw_maps(Inputs& in, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  ImVec2 corner = ImGui::GetCursorScreenPos();
  if (!pic.run || pic.run->columns < 1) {
    ImGui::Dummy(size);
    return;
  }
  const Run& run = *pic.run;
  if (widgets::veiled()) {
    draw_given(pic, corner, size);
    return;
  }
  const PartsMap& result = run.sides[1];
  const bool parted = (run.parts == models::gpu::PartKind::tile || run.parts == models::gpu::PartKind::copy) &&
                      result.rows == run.rows && result.columns == run.columns;
  // The legend goes first where cells and banks would be squeezed.
  const bool told = size.y > t.px(230);
  const float two_lines = told ? 2 * (t.type(Type::small) + t.px(6)) + t.px(4) : 0;
  const MapsPlace least = place_maps(run, corner, {size.x, size.y - two_lines});
  const CellGrid grid(corner, {least.wide, least.cells}, run.rows, run.columns);
  const bool numbers = numbers_fit(run, grid), walk = walk_fits(pic, grid);
  std::array<MarkEntry, map_legend.size()> entries{};
  std::size_t shown = 0;
  for (const MarkEntry& entry : map_legend) {
    const bool there = entry.mark == LegendMark::number   ? numbers
                       : entry.mark == LegendMark::thread ? walk
                       : entry.mark == LegendMark::copies ? parted
                                                          : true;
    if (there) entries[shown++] = entry;
  }
  const float legend = told ? draw_mark_legend({entries.data(), shown}, corner, size.x, view.legend) + t.px(4) : 0;
  corner.y += legend;
  size.y -= legend;
  MapsPlace l = place_maps(run, corner, size);
  l.numbers = numbers;
  l.walk = walk;
  for (std::size_t map = 0; map < 3; ++map) draw_map(in, pic, map, l, parted ? &result : nullptr);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::kernels::layouts
