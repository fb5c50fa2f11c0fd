#include "chapters/kernels/layouts/draw.h"

#include <imgui.h>

#include <algorithm>

#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/controls/button.h"
#include "widgets/stage/stage.h"

namespace chapters::kernels::layouts {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

/// A line of text over the rest of a panel; returns what is left of its height.
float line_over(std::string_view words, float width, float height, ImU32 colour, Font font) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::fit_text(Painter::window(), at, words, width, colour, Type::small, font);
  const float taken = t.type(Type::small) + t.px(6);
  ImGui::SetCursorScreenPos({at.x, at.y + taken});
  return height - taken;
}

widgets::RowMark mark_of(const ElementRow& row) {
  const bool wrong = row.promised != row.place && !std::isnan(row.promised);
  return wrong ? widgets::RowMark{widgets::Marker::diamond, widgets::theme().warning} : widgets::RowMark{};
}

}  // namespace

CellGrid::CellGrid(ImVec2 corner, ImVec2 room, int row_count, int column_count)
    : at(corner), rows(std::max(1, row_count)), columns(std::max(1, column_count)) {
  step = std::max(1.0f, std::min(room.x / static_cast<float>(columns), room.y / static_cast<float>(rows)));
}
int CellGrid::row_at(ImVec2 p) const {
  const float y = (p.y - at.y) / step;
  return y >= 0 && y < static_cast<float>(rows) ? static_cast<int>(y) : -1;
}
int CellGrid::column_at(ImVec2 p) const {
  const float x = (p.x - at.x) / step;
  return x >= 0 && x < static_cast<float>(columns) ? static_cast<int>(x) : -1;
}

void draw_algebra(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  float left = size.y;
  const float button = widgets::button_size("Copy as C++").x;
  const float words = std::max(t.px(60), size.x - button - t.px(12));
  left = line_over(pic.a_line, words, left, t.text, Font::mono);
  left = line_over(pic.b_line, words, left, t.text, Font::mono);
  left = line_over(pic.result_line, size.x, left, t.accent, Font::mono);
  left = line_over(pic.verdict_line, size.x, left, out.status == models::gpu::LayoutStatus::ok ? t.muted : t.warning,
                   Font::sans);
  const ImVec2 table = ImGui::GetCursorScreenPos();
  if (size.x > button + t.px(80) && !widgets::veiled()) {
    ImGui::SetCursorScreenPos({corner.x + size.x - button, corner.y});
    if (widgets::button("Copy as C++")) ImGui::SetClipboardText(out.cpp.c_str());
  }
  ImGui::SetCursorScreenPos(table);
  static constexpr DescribedColumn columns[] = {
      {"element", "element"},
      {.key = "coordinate", .title = "coordinate", .priority = 1, .code = true},
      {.key = "place", .title = "place", .whole = true},
      {.key = "promised", .title = "promised", .whole = true},
  };
  view.elements.draw("elements", out.elements, columns, {size.x, std::max(t.px(60), left)}, {.mark = mark_of});
}

void draw_fragment(Inputs& in, const Picture& pic, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (!pic.run || pic.run->fragment == nullptr) {
    ImGui::Dummy(size);
    return;
  }
  const Run& run = *pic.run;
  const float line = t.type(Type::small) + t.px(6);
  widgets::fit_text(p, corner, pic.fragment_story, size.x, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {corner.x, corner.y + line}, pic.holder_story, size.x, t.muted, Type::small);
  const CellGrid grid({corner.x, corner.y + 2 * line}, {size.x, size.y - 2 * line}, run.fragment_rows,
                      run.fragment_columns);
  const int threads = run.fragment->threads;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const Holder held = run.holders[static_cast<std::size_t>(row * grid.columns + column)];
      const bool own = held.thread == run.lane;
      const ImVec2 min = grid.min(row, column), max{min.x + grid.step - grid.gap(), min.y + grid.step - grid.gap()};
      const ImU32 fill =
          own ? t.accent
              : t.ramp_at(static_cast<std::size_t>(std::max<int>(0, held.thread)), static_cast<std::size_t>(threads));
      p.rect(min, max, fill, grid.step > 12 ? t.px(2) : 0);
      widgets::Line words;
      if (own) {
        words.add("r").add_integer(held.reg);
      } else {
        words.add_integer(held.thread);
      }
      const ImVec2 text = widgets::text_size(words.view(), Type::small, Font::mono);
      if (text.x + t.px(2) > grid.step || text.y > grid.step) continue;
      const ImU32 ink = widgets::text_on(fill, t);
      if (widgets::contrast(ink, fill) < 4.6) continue;
      p.text({(min.x + max.x) / 2, (min.y + max.y - text.y) / 2}, words.view(), ink, Type::small,
             own ? Font::bold : Font::mono, widgets::Align::center);
    }
  }
  ImGui::SetCursorScreenPos(grid.at);
  widgets::press_area("fragment", {grid.width(), grid.height()}, ImGuiButtonFlags_EnableNav);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int row = grid.row_at(mouse), column = grid.column_at(mouse);
  const bool on = row >= 0 && column >= 0;
  const Holder under = on ? run.holders[static_cast<std::size_t>(row * grid.columns + column)] : Holder{};
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left) && under.thread >= 0) in.lane = under.thread;
  if (const int steps = widgets::play_keys().steps; steps != 0) {
    in.lane = std::clamp<std::int64_t>(run.lane + steps, 0, threads - 1);
  }
  if (ImGui::IsItemHovered() && under.thread >= 0) {
    widgets::Line name, value;
    name.add("row ").add_integer(row).add(", column ").add_integer(column);
    value.add("thread ").add_integer(under.thread).add(", register ");
    value.add_integer(under.reg);
    widgets::tip(name.view(), value.view(), "press to hold this thread");
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  stage.panel("maps", {.title = "Maps and banks", .least = {520, 300}, .answers = true, .marks = "maps, banks"},
              [&](ImVec2 size) {
                draw_over_doors(pic.doors, size, view.requests, [&](ImVec2 rest) { draw_maps(in, pic, view, rest); });
              });
  if (!pic.parts_words.empty())
    stage.panel("sides", {.title = "A and R", .least = {420, 230}, .ideal = {0, 420}},
                [&](ImVec2 size) { draw_sides(pic, size); });
  stage.panel("algebra", {.title = "Algebra", .least = {380, 260}, .ideal = {0, 420}, .scrolls = true},
              [&](ImVec2 size) { draw_algebra(out, pic, view, size); });
  stage.panel("fragment", {.title = "Fragment", .least = {360, 260}, .ideal = {0, 520}},
              [&](ImVec2 size) { draw_fragment(in, pic, size); });
}

}  // namespace chapters::kernels::layouts
