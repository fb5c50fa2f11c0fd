#include <algorithm>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/base/marks.h"
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

/// Memory and time of every recipe that the chip runs: next to each other where both have room, else time below.
void draw_recipes(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = t.px(18);
  const bool wide = size.x >= t.px(760);
  const ImVec2 one = wide ? ImVec2{(size.x - gap) / 2, size.y} : ImVec2{size.x, (size.y - gap) / 2};
  under_words(picture.memory_note, one, [&](ImVec2 room) { draw_memory(out, picture, view, room); });
  ImGui::SetCursorScreenPos(wide ? ImVec2{corner.x + one.x + gap, corner.y} : ImVec2{corner.x, corner.y + one.y + gap});
  under_words(picture.time_note, one, [&](ImVec2 room) { draw_time(out, picture, view, room); });
}

/// The step as a row under the one before, and what one parameter is kept in. The measurement goes first where there is
/// little room, then the states before.
void draw_step(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  ImVec2 corner = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    const ImVec2 inset = veil_inset();
    corner = {corner.x + inset.x, corner.y + inset.y};
    size = {size.x - 2 * inset.x, size.y - 2 * inset.y};
  }
  const bool roomy = size.y >= t.px(330);
  const float above =
      picture.measured && roomy ? published_line("FP8 over BF16: ", picture.published, size, t.px(280)) : 0.0f;
  widgets::light_meanings(picture.meanings);
  const float states = states_height(picture, roomy), gap = t.px(10);
  draw_flow(picture, {corner.x, corner.y + above}, {size.x, size.y - above - states - gap});
  draw_states(picture, {corner.x, corner.y + size.y - states}, {size.x, states});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (out.operations.empty() || out.recipes.size() != models::recipe_count) return;
  stage.panel("layer",
              {.title = "A step, by time and bits",
               .least = {620, 250},
               .answers = true,
               .marks = "step in time and bits, states of one parameter"},
              [&](ImVec2 size) { draw_step(picture, size); });
  stage.panel("recipes", {.title = "All recipes: memory and time", .least = {420, 400}, .ideal = {0, 560}},
              [&](ImVec2 size) { draw_recipes(out, picture, view, size); });
  published_panel(stage, "FP8 over BF16: best possible against reached", picture.published);
  stage.panel("operations", {.title = "All operations", .least = {520, 220}, .scrolls = true},
              [&](ImVec2 size) { draw_operations(out, view, size); });
}

}  // namespace chapters::precision::mixed
