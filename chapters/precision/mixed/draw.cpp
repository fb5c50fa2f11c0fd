#include <algorithm>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/painter.h"

namespace chapters::precision::mixed {
namespace {

using widgets::Type;

/// A quiet line of words over what `body(size)` draws; none where there are no words.
template <class Body>
void under_words(std::string_view words, ImVec2 size, const Body& body) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (words.empty()) return body(size);
  const float line = t.type(Type::small) + t.px(6);
  widgets::fit_text(widgets::Painter::window(), corner, words, size.x, t.muted, Type::small);
  ImGui::SetCursorScreenPos({corner.x, corner.y + line});
  body(ImVec2{size.x, size.y - line});
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);  // A chart without bars makes no item.
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (out.operations.empty() || out.recipes.size() != models::recipe_count) return;
  stage.panel("layer", {.title = "One layer, by format", .least = {620, 300}, .ideal = {0, 420}, .answers = true},
              [&](ImVec2 size) {
                const float above = picture.measured ? published_line("FP8 over BF16: ", picture.published, size,
                                                                      widgets::theme().px(280))
                                                     : 0.0f;
                widgets::light_meanings(picture.meanings);
                const auto& t = widgets::theme();
                const float rows = t.type(Type::small) + t.px(4), foot = 3 * rows + t.px(10);
                const bool savings = size.y - above >= t.px(270) + foot;
                const ImVec2 at = ImGui::GetCursorScreenPos();
                draw_flow(picture, {size.x, size.y - above - (savings ? foot : 0)});
                if (!savings) return;
                draw_savings(picture, {at.x, at.y + size.y - above - 3 * rows}, {size.x, 3 * rows});
              });
  stage.panel("memory", {.title = "Memory of one chip", .least = {420, 210}, .ideal = {0, 320}}, [&](ImVec2 size) {
    under_words(picture.left_out, size, [&](ImVec2 room) { draw_memory(out, picture, view, room); });
  });
  stage.panel("time", {.title = "Time of a step", .least = {420, 210}, .ideal = {0, 320}}, [&](ImVec2 size) {
    under_words(picture.time_note, size, [&](ImVec2 room) { draw_time(out, picture, view, room); });
  });
  published_panel(stage, "FP8 over BF16: best possible against reached", picture.published);
  stage.panel("operations", {.title = "All operations", .least = {520, 220}, .scrolls = true},
              [&](ImVec2 size) { draw_operations(out, view, size); });
}

}  // namespace chapters::precision::mixed
