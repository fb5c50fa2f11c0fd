#include <algorithm>
#include <cmath>

#include "chapters/interview/cheat_sheet/draw_parts.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// The sums line by line, their dashed numbers in the hand.
namespace chapters::interview::cheat_sheet {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

/// Where the pointer's way of `steps` (a hundredth of the range each) takes a number that began at `from`.
double moved_by(const DragRange& range, double from, double steps) {
  if (!range.log || !(from > 0)) return from + steps * (range.hi - range.lo) / 100;
  const double decades = std::log10(range.hi / std::max(range.lo, 1e-9));
  return from * std::pow(10.0, steps * decades / 200);
}

void draw_line(const Painter& p, Inputs& in, const Outputs& out, const SumLine& sum, View& view, bool found, ImVec2 at,
               ImVec2 size) {
  const auto& t = theme();
  const float name = std::min(t.px(140), 0.3f * size.x), unit = t.px(54), value = t.px(66);
  const float y = at.y + (size.y - t.type(Type::small)) / 2 - t.px(1);
  const ImVec2 end{at.x + size.x, at.y + size.y};
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area("a sum's name", {name, size.y});
  const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (pressed) view.requests.open_link = link_to(in, out, sum.lab);
  if (found) p.rect(at, end, widgets::with_alpha(t.accent, 0.12f), t.px(3));
  if (widgets::output_lit(sum.output)) widgets::paint_light(p, at, end);
  widgets::fit_text(p, {at.x + t.px(4), y}, sum.name, name - t.px(6), hovered ? t.accent : t.text, Type::small,
                    found ? Font::bold : Font::sans);
  float x = at.x + name;
  const float room = end.x - unit - value;
  for (const SumPiece& piece : sum.pieces) {
    const float width = widgets::text_size(piece.text, Type::small).x;
    if (x + width > room) break;
    if (piece.drag == Dragged::none)
      x += p.text({x, y}, piece.text, t.muted, Type::small);
    else
      x += draw_dragged(p, in, view, piece.drag, piece.text, {x, y}, sum.name.data());
  }
  p.text({end.x - unit, y}, sum.value, t.text, Type::small, Font::mono, Align::right);
  widgets::fit_text(p, {end.x - unit + t.px(5), y}, sum.unit, unit - t.px(5), t.muted, Type::small);
  p.line({at.x, end.y}, end, t.grid);
}

}  // namespace

float draw_dragged(const Painter& p, Inputs& in, View& view, Dragged d, std::string_view text, ImVec2 at,
                   const char* where) {
  const auto& t = theme();
  const ImVec2 words = widgets::text_size(text, Type::small, Font::sans);
  ImGui::SetCursorScreenPos({at.x, at.y - t.px(1)});
  ImGui::PushID(where);
  ImGui::PushID(static_cast<int>(d));
  widgets::press_area("drag a number", {words.x, words.y + t.px(4)});
  ImGui::PopID();
  ImGui::PopID();
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (ImGui::IsItemActivated()) {
    view.held = d;
    view.held_from = dragged_value(in, d);
  }
  if (held && view.held == d) {
    const float way = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0).x;
    if (way != 0) set_dragged(in, d, moved_by(drag_range(d), view.held_from, static_cast<double>(way / t.px(2))));
  } else if (ImGui::IsItemFocused()) {
    const int steps = widgets::play_keys().steps;
    const DragRange range = drag_range(d);
    const double now = dragged_value(in, d), then = moved_by(range, now, steps);
    // A whole number moves by one at least.
    if (steps != 0) set_dragged(in, d, range.whole && std::abs(then - now) < 1 ? now + steps : then);
  }
  if (lit) {
    p.rect({at.x - t.px(2), at.y - t.px(1)}, {at.x + words.x + t.px(2), at.y + words.y + t.px(3)},
           widgets::with_alpha(t.accent, 0.18f), t.px(3));
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }
  p.text(at, text, t.accent, Type::small);
  p.dashed_line({at.x, at.y + words.y + t.px(1)}, {at.x + words.x, at.y + words.y + t.px(1)}, t.accent, t.px(1),
                t.px(3));
  return words.x;
}

void draw_sums(Inputs& in, const Outputs& out, const Picture& picture, View& view, const Search& search, ImVec2 size) {
  const auto& t = theme();
  const std::size_t count = picture.sums.size();
  if (count == 0 || widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  const bool apart = size.x > t.px(860);
  const std::size_t per_column = apart ? (count + 1) / 2 : count;
  const float gap = t.px(24), width = apart ? std::floor((size.x - gap) / 2) : size.x;
  const float row = std::clamp(std::floor(size.y / static_cast<float>(per_column)), t.px(17), t.px(26));
  const bool scrolls = row * static_cast<float>(per_column) > size.y;
  if (scrolls) ImGui::BeginChild("the sums", size, ImGuiChildFlags_NavFlattened);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const float inner = scrolls ? width - ImGui::GetStyle().ScrollbarSize : width;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = i / per_column;
    const ImVec2 at{corner.x + static_cast<float>(column) * (width + gap),
                    corner.y + row * static_cast<float>(i - column * per_column)};
    ImGui::PushID(static_cast<int>(i));
    draw_line(p, in, out, picture.sums[i], view, search.finds(picture.sum_words[i]), at, {inner, row});
    ImGui::PopID();
  }
  if (widgets::Record* record = p.record()) {
    widgets::DataTable table{"sums", {"what", "how", "comes to", "unit"}, {}};
    for (const SumLine& sum : picture.sums)
      table.rows.push_back({std::string(sum.name), sum.text(), sum.value, sum.unit});
    record->tables.push_back(std::move(table));
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({inner, row * static_cast<float>(per_column)});
  if (scrolls) ImGui::EndChild();
}

}  // namespace chapters::interview::cheat_sheet
