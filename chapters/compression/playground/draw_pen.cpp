#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "chapters/compression/playground/lab.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr auto side = models::digit_side;

/// A stroke's mark: the cell itself, and paler its four neighbours, as the program's own digits are drawn.
void put_ink(View& view, std::size_t cell, float strength) {
  const auto put = [&](std::size_t i, float ink) { view.ink[i] = strength > 0 ? std::max(view.ink[i], ink) : 0.0f; };
  put(cell, strength);
  if (!(strength > 0)) return;
  if (cell % side > 0) put(cell - 1, 0.3f * strength);
  if (cell % side + 1 < side) put(cell + 1, 0.3f * strength);
  if (cell >= side) put(cell - side, 0.3f * strength);
  if (cell + side < models::digit_pixels) put(cell + side, 0.3f * strength);
}

void start_drawing(View& view) {
  view.drawn = true;
  view.fresh = false;
}

/// With the focus: arrows move the pen, Space puts ink down or takes it up.
void take_keys(View& view) {
  if (!ImGui::IsItemFocused()) return;
  for (const ImGuiKey key :
       {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow, ImGuiKey_Space})
    ImGui::SetKeyOwner(key, ImGui::GetItemID());
  if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow) && view.cell % side > 0) --view.cell;
  if (ImGui::IsKeyPressed(ImGuiKey_RightArrow) && view.cell % side + 1 < side) ++view.cell;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && view.cell >= side) view.cell -= side;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow) && view.cell + side < models::digit_pixels) view.cell += side;
  if (ImGui::IsKeyPressed(ImGuiKey_Space)) {
    put_ink(view, view.cell, view.ink[view.cell] > 0.5f ? 0.0f : 1.0f);
    start_drawing(view);
  }
}

void draw_card(View& view, ImVec2 at, float cell) {
  const auto& t = widgets::theme();
  const float length = cell * static_cast<float>(side);
  ImGui::SetCursorScreenPos(at);
  widgets::canvas("card to draw on", {length, length}, {8, 8});
  const bool focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const float x = (mouse.x - at.x) / cell, y = (mouse.y - at.y) / cell;
    if (x >= 0 && y >= 0 && x < static_cast<float>(side) && y < static_cast<float>(side)) {
      view.cell = static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x);
      put_ink(view, view.cell, 1);
      start_drawing(view);
    }
  }
  take_keys(view);
  const Painter p = Painter::window();
  paint_digit(p, view.ink, at, cell);
  for (std::size_t i = 1; i < side; ++i) {
    const float step = cell * static_cast<float>(i);
    p.line({at.x + step, at.y}, {at.x + step, at.y + length}, t.grid);
    p.line({at.x, at.y + step}, {at.x + length, at.y + step}, t.grid);
  }
  p.frame(at, {at.x + length, at.y + length}, t.line, t.px(1));
  if (focused) {
    const ImVec2 pen{at.x + cell * static_cast<float>(view.cell % side),
                     at.y + cell * static_cast<float>(view.cell / side)};
    p.frame(pen, {pen.x + cell, pen.y + cell}, t.accent, t.px(2));
  }
}

/// Ten classes, each with a bar of both networks.
void draw_reading(const Reading& reading, Rect area) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float row = area.height() / static_cast<float>(models::digit_classes), line = t.type(Type::small);
  const float left = area.min.x + t.px(16), width = std::max(1.0f, area.max.x - left);
  for (std::size_t c = 0; c < models::digit_classes; ++c) {
    const float y = area.min.y + row * static_cast<float>(c);
    const char digit[2] = {static_cast<char>('0' + c), 0};
    const bool said = c == reading.original_says || c == reading.your_says;
    if (row >= line)
      p.text({area.min.x, y + (row - line) / 2}, digit, said ? t.text : t.muted, Type::small, Font::mono);
    const float bar = std::max(2.0f, row * 0.36f), gap = std::max(0.5f, row * 0.06f), mid = y + row / 2;
    p.rect({left, y + row * 0.06f}, {left + width, y + row * 0.94f}, t.card);
    p.rect({left, mid - gap - bar}, {left + width * static_cast<float>(reading.original[c] / 100), mid - gap}, t.muted);
    p.rect({left, mid + gap}, {left + width * static_cast<float>(reading.yours[c] / 100), mid + gap + bar}, t.accent);
  }
}

void draw_verdict(const Reading& reading, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const auto says = [&](float y, std::string_view who, std::size_t digit, ImU32 ink) {
    const char word[2] = {static_cast<char>('0' + digit), 0};
    const float used = widgets::text_size(who, Type::small).x + t.px(5);
    if (used + widgets::text_size(word, Type::small, Font::bold).x > width) return;
    p.text({at.x, y}, who, ink, Type::small);
    p.text({at.x + used, y}, word, ink, Type::small, Font::bold);
  };
  says(at.y, "float32 reads", reading.original_says, t.muted);
  says(at.y + t.type(Type::small) + t.px(3), "yours reads", reading.your_says, t.accent);
}

void save_tables(const View& view) {
  const Painter p = Painter::window();
  if (!p.record()) return;
  widgets::DataTable ink{"ink", {"row", "column", "ink"}, {}};
  for (std::size_t i = 0; i < view.ink.size(); ++i)
    ink.rows.push_back(
        {std::to_string(i / side), std::to_string(i % side), widgets::exact(static_cast<double>(view.ink[i]))});
  widgets::DataTable reading{"reading", {"digit", "float32_%", "yours_%"}, {}};
  for (std::size_t c = 0; c < models::digit_classes; ++c)
    reading.rows.push_back(
        {std::to_string(c), widgets::exact(view.reading.original[c]), widgets::exact(view.reading.yours[c])});
  p.record()->tables.push_back(std::move(ink));
  p.record()->tables.push_back(std::move(reading));
}

}  // namespace

void draw_pen(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool renewed = view.reading_of != picture.version;
  if (!view.drawn && (!view.fresh || renewed) && !picture.shown.empty()) {
    view.from = std::min(view.from, picture.shown.size() - 1);
    const auto digit = picture.run->study->held_out.picture(picture.shown[view.from]);
    std::copy(digit.begin(), digit.end(), view.ink.begin());
  }
  const float foot = widgets::button_size("Clear").y, words = 2 * t.type(Type::small) + t.px(11), gap = t.px(14);
  const float high = size.y - foot - t.px(8);
  const float cell = std::max(2.0f, std::floor(std::min(high, size.x * 0.5f) / static_cast<float>(side)));
  draw_card(view, at, cell);
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - foot});
  if (widgets::button("Clear")) {
    view.ink.fill(0);
    start_drawing(view);
  }
  widgets::next_button("Next digit", at.x + size.x);
  if (widgets::button("Next digit") && !picture.shown.empty()) {
    view.from = (view.from + 1) % picture.shown.size();
    view.drawn = view.fresh = false;
    const auto digit = picture.run->study->held_out.picture(picture.shown[view.from]);
    std::copy(digit.begin(), digit.end(), view.ink.begin());
  }
  if (!view.fresh || renewed) {
    view.reading = read_ink(*picture.run, view.ink);
    view.reading_of = picture.version;
    view.fresh = true;
  }
  const float x = at.x + cell * static_cast<float>(side) + gap;
  draw_verdict(view.reading, {x, at.y}, at.x + size.x - x);
  draw_reading(view.reading, {{x, at.y + words}, {at.x + size.x, at.y + high}});
  save_tables(view);
}

}  // namespace chapters::compression::playground
