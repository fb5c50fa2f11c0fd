#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/speculative/lab.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::speculative {
namespace {

using widgets::AxisKind;

void draw_lengths(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("lengths", view.by_length,
                     {.x = {.lo = 0, .hi = 16, .label = "drafted in a round", .unit = "tokens"},
                      .y = {.lo = 0, .label = "as fast as without", .unit = widgets::times_unit},
                      .size = size});
  plot.curves(picture.by_length);
  plot.horizontal_mark(1, "without a draft");
  double length = static_cast<double>(in.draft_length);
  if (plot.drag_x("drag the length", length, {.lo = 0, .hi = 16}))
    in.draft_length = std::clamp<std::int64_t>(std::llround(length), 0, 16);
}

void draw_batch(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("batch", view.by_batch,
                     {.x = {.kind = AxisKind::log2, .lo = 1, .hi = 2048, .label = "requests at once"},
                      .y = {.lo = 0, .label = "as fast as without", .unit = widgets::times_unit},
                      .size = size});
  plot.curves(picture.by_batch);
  plot.horizontal_mark(1, "without a draft");
  double batch = static_cast<double>(in.batch);
  if (plot.drag_x("drag the batch", batch, {.lo = 1, .hi = 2048}))
    in.batch = std::max<std::int64_t>(1, std::llround(batch));
}

void draw_words(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float used = widgets::wrapped_text(widgets::Painter::window(), at, picture.words_say, size.x, t.text) + t.px(8);
  ImGui::SetCursorScreenPos({at.x, at.y + used});
  widgets::Plot plot("words", view.words,
                     {.x = {.lo = 0.4, .hi = 12.6, .label = "word"},
                      .y = {.lo = 0, .label = "written", .unit = "%"},
                      .size = {size.x, std::max(t.px(60), size.y - used)}});
  if (picture.words.empty()) return;
  plot.bars("the target alone", picture.words, picture.target_share,
            {.colour = t.muted, .width = 0.35f, .offset = -0.5f});
  plot.bars("with a draft", picture.words, picture.written_share, {.colour = t.accent, .width = 0.35f, .offset = 0.5f});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs&, const Picture& picture, View& view) {
  stage.panel("clock", {.title = "One clock", .least = {560, 330}, .answers = true, .marks = "rounds"},
              [&](ImVec2 size) { draw_clock(in, picture, view, size); });
  stage.panel("length", {.title = "Best length", .least = {420, 300}},
              [&](ImVec2 size) { draw_lengths(in, picture, view, size); });
  stage.panel("batch", {.title = "Batch", .least = {400, 300}},
              [&](ImVec2 size) { draw_batch(in, picture, view, size); });
  stage.panel("words", {.title = "The words", .least = {400, 300}},
              [&](ImVec2 size) { draw_words(picture, view, size); });
}

}  // namespace chapters::inference::speculative
