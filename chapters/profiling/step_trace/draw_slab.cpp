#include <algorithm>

#include "chapters/profiling/step_trace/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::profiling::step_trace {

namespace {

/// What the numbers under the bars stand for, in lines from `at` down.
void draw_change_names(const Picture& picture, ImVec2 at, float width, float line) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  for (std::size_t i = 0; i < picture.order.rows.size(); ++i) {
    widgets::Line words;
    words.add_integer(static_cast<std::int64_t>(i) + 1).add("  ").add(picture.order.rows[i].name);
    widgets::fit_text(p, {at.x, at.y + static_cast<float>(i) * line}, words.view(), width, t.muted,
                      widgets::Type::small);
  }
}

/// What the learner took for a step, or for the waiting at its bottom, as a level over the bars.
void draw_step_guess(const widgets::StackedBarLayout& bars) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || (guess->output != "step_s" && guess->output != "idle_s") || bars.bars.empty()) return;
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const auto level = static_cast<float>(bars.map.pixel(guess->value));
  const float y = std::clamp(level, bars.plot.min.y, bars.plot.max.y);
  p.dashed_line({bars.plot.min.x, y}, {bars.plot.max.x, y}, t.accent, t.px(1.5f), t.px(4));
  const widgets::Line words =
      widgets::guess_words(widgets::format(guess->value, guess->unit).view(), level < bars.plot.min.y);
  const float wide = widgets::text_size(words.view(), widgets::Type::small).x;
  widgets::paint_guess_words(
      p, {std::max(bars.plot.min.x, bars.plot.max.x - wide - t.px(4)), y - t.type(widgets::Type::small) - t.px(4)},
      words.view());
}

}  // namespace

void draw_slab(const Picture& picture, View& view, ImVec2 size, bool named) {
  static constexpr std::array<std::string_view, 8> numbers{"found", "1", "2", "3", "4", "5", "6", "7"};
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float head = t.type(widgets::Type::small) * 2 + t.px(12);
  widgets::fit_text(p, at, "One step by cause", size.x, t.text, widgets::Type::small, widgets::Font::bold);
  widgets::fit_text(p, {at.x, at.y + t.type(widgets::Type::small) + t.px(3)},
                    picture.bars.size() > 1 ? "after each; hatched: idle" : "hatched: idle", size.x, t.muted,
                    widgets::Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  const float line = t.type(widgets::Type::small) + t.px(3);
  const float names = named ? 0 : line * static_cast<float>(picture.order.rows.size()) + t.px(4);
  const bool key = names > 0 && size.y - head - names >= t.px(150);
  if (key) draw_change_names(picture, {at.x, at.y + size.y - names + t.px(4)}, size.x, line);
  widgets::drew("causes");
  view.drawn.clear();
  for (std::size_t i = 0; i < std::min(picture.bars.size(), numbers.size()); ++i)
    view.drawn.push_back({.label = numbers[i], .segments = picture.bars[i].segments});
  widgets::draw_stacked_bars("slab", view.drawn, view.slab,
                             {.unit = "s",
                              .axis_label = picture.bars.size() > 1 ? "changes made" : "",
                              .size = {size.x, size.y - head - (key ? names : 0)},
                              .vertical = true,
                              .legend = false,
                              .bar_px = 34});
  for (std::size_t bar = 0; bar < view.drawn.size(); ++bar) {
    const widgets::BarPiece* largest = nullptr;
    for (const widgets::BarPiece& piece : view.slab.layout.pieces)
      if (piece.bar == bar && (!largest || piece.rect.height() > largest->rect.height())) largest = &piece;
    if (largest) p.frame(largest->rect.min, largest->rect.max, t.text, t.px(1.5f), t.px(2));
  }
  draw_step_guess(view.slab.layout);
}

}  // namespace chapters::profiling::step_trace
