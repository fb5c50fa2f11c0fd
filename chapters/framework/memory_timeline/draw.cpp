#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/memory_timeline/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::framework::memory_timeline {
namespace {

using widgets::Type;

void draw_step(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.curve.time_s.empty()) return;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool stack = size.x >= t.px(560);
  const float right = stack ? std::min(t.px(230), size.x * 0.27f) : 0.0f;
  // Where both have no room, the mountain has it: it answers the question.
  const bool row = size.y >= t.px(270);
  const float pillars = row ? std::clamp(size.y * 0.2f, t.px(64), t.px(130)) : 0.0f;
  const float upper = size.y - pillars - (row ? t.px(26) : 0.0f);
  const float mountain = size.x - right - (stack ? t.px(12) : 0.0f);
  if (widgets::veiled())
    return draw_given_step(
        out, picture,
        {.mountain = {at, {at.x + mountain, at.y + upper}},
         .vessel =
             stack ? widgets::Rect{{at.x + size.x - right, at.y}, {at.x + size.x, at.y + upper}} : widgets::Rect{},
         .pillars = row ? widgets::Rect{{at.x, at.y + upper + t.px(30)}, {at.x + size.x, at.y + size.y - t.px(22)}}
                        : widgets::Rect{}});
  draw_mountain(out, picture, view, {mountain, upper}, at.x + size.x);
  if (stack) {
    ImGui::SetCursorScreenPos({at.x + size.x - right, at.y});
    draw_cursor_stack(out, picture, view, {right, upper});
  }
  widgets::drew("mountain");
  if (!row) return;
  widgets::drew("pillars");
  const widgets::Painter p = widgets::Painter::window();
  const float y = at.y + upper + t.px(6);
  p.text({at.x, y}, "What each layer keeps", t.text, Type::small, widgets::Font::bold);
  widgets::fit_text(p, {at.x + size.x, y}, picture.count_words, size.x - t.px(160), t.muted, Type::small,
                    widgets::Font::sans, widgets::Align::right);
  ImGui::SetCursorScreenPos({at.x, y + t.px(20)});
  const widgets::PillarEvent event = widgets::draw_pillars("layers", picture.pillars, view.pillars,
                                                           {.size = {size.x, pillars},
                                                            .full = picture.full_words,
                                                            .low = picture.low_words,
                                                            .low_share = picture.low_share,
                                                            .mark = picture.mark,
                                                            .mark_words = picture.mark_words});
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  const std::vector<widgets::Rect>& placed = view.pillars.layout.pillars;
  if (guess && guess->output == "layers_needed" && !placed.empty()) {
    const auto after = static_cast<std::size_t>(std::clamp(guess->value, 0.0, static_cast<double>(placed.size())));
    const float x = after == 0 ? placed.front().min.x - t.px(2) : placed[after - 1].max.x + t.px(2);
    p.dashed_line({x, placed.front().min.y - t.px(4)}, {x, placed.front().max.y}, t.accent, t.px(2), t.px(4));
    const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "").view(), false);
    widgets::paint_guess_words(p, {x + t.px(6), placed.front().min.y + t.px(4)}, words.view());
  }
  if (event.pillar < 0) return;
  in.letters = picture.letters;
  if (static_cast<std::size_t>(event.pillar) < in.letters.size())
    in.letters[static_cast<std::size_t>(event.pillar)] = event.hollow ? 'r' : 'k';
  in.which = Which::drawn;
}

/// The recording and the model, each on its own time, as shares of their spans.
void draw_beside(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::fit_text(widgets::Painter::window(), at, picture.recorded_words, size.x, t.text, Type::small);
  const float line = t.type(Type::small) + t.px(6);
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  widgets::Plot plot("beside", view.beside,
                     {.x = {.kind = widgets::AxisKind::time, .lo = 0, .label = "time", .unit = "s"},
                      .y = {.lo = 0, .label = "memory", .unit = "B"},
                      .size = {size.x, size.y - line}});
  plot.curves(picture.beside);
  plot.horizontal_mark(out.recording.peak_bytes, "recorded peak");
}

/// The largest tensors at the peak, and under them the phases of the step.
void draw_tables(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> phases{{{.key = "name", .title = "phase"},
                                                          {.key = "step", .title = "step"},
                                                          {.key = "micro_batch", .title = "micro-batch"},
                                                          {.key = "begin_s", .title = "begins"},
                                                          {.key = "takes_s", .title = "takes", .bar = true},
                                                          {.key = "fullest_bytes", .title = "fullest"}}};
  static constexpr std::array<DescribedColumn, 5> tensors{{{.key = "name", .title = "tensor"},
                                                           {.key = "owner", .title = "owner", .priority = 1},
                                                           {.key = "each_bytes", .title = "one of them", .bar = true},
                                                           {.key = "count", .title = "times"},
                                                           {.key = "total_bytes", .title = "together", .bar = true}}};
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(6);
  const bool both = size.y >= t.px(280);
  const float upper = both ? std::floor((size.y - 2 * line) * 0.58f) : size.y - line;
  widgets::fit_text(widgets::Painter::window(), at, picture.tensor_words, size.x, t.muted, Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  view.tensors.draw("tensors", out.tensors, tensors, {size.x, upper});
  if (!both) return;
  const float y = at.y + line + upper;
  widgets::fit_text(widgets::Painter::window(), {at.x, y + t.px(4)}, "The phases of the step, one after the other.",
                    size.x, t.muted, Type::small);
  ImGui::SetCursorScreenPos({at.x, y + line});
  view.phases.draw("phases", out.phases, phases, {size.x, size.y - upper - 2 * line});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("step", {.title = "Step", .least = {640, 440}, .answers = true, .marks = "mountain, pillars"},
              [&](ImVec2 size) { draw_step(in, out, picture, view, size); });
  stage.panel("loss", {.title = "The loss", .least = {560, 300}, .ideal = {0, 460}},
              [&](ImVec2 size) { draw_loss(out, picture, view, size); });
  stage.panel("tensors", {.title = "Tensors and phases", .least = {560, 300}, .ideal = {0, 560}, .scrolls = true},
              [&](ImVec2 size) { draw_tables(out, picture, view, size); });
  // Those who have a recording of their own look at that; the drawer has the published ones too.
  if (picture.beside.empty()) return published_panel(stage, "Measured", picture.published);
  stage.panel("beside", {.title = "Next to a recording", .least = {560, 320}, .ideal = {0, 460}},
              [&](ImVec2 size) { draw_beside(out, picture, view, size); });
}

}  // namespace chapters::framework::memory_timeline
