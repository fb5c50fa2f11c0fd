#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "chapters/training/batch/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"
#include "widgets/table/row_table.h"

namespace chapters::training::batch {
namespace {

void draw_losses(const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("losses", view.losses,
                     {
                         .x = {.label = "step"},
                         .y = {.lo = 0, .hi = picture.most_loss * 1.06, .label = "loss of the batch, nats"},
                         .size = size,
                     });
  plot.curves(picture.losses);
}

/// How far apart the two trainings are, step by step, over the band in which that is rounding.
void draw_apart(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto last = static_cast<double>(in.steps);
  widgets::Plot plot("apart", view.apart,
                     {.x = {.lo = 0, .hi = 1.14 * last, .label = "step"},
                      .y = {.kind = widgets::AxisKind::log10,
                            .lo = min_apart_percent,
                            .hi = max_apart_percent,
                            .label = "distance of the weights",
                            .unit = "%"},
                      .size = size,
                      .legend = false});
  plot.curves(picture.apart);
  plot.text(0.04 * last, rounding_percent * 0.4, "rounding", {.colour = t.muted});
  plot.text(0.04 * last, rounding_percent * 4, "another training", {.colour = t.muted});
  if (picture.same)
    plot.text(0.3 * last, 1e-5, "one piece: no distance at all", {.colour = t.text});
  else if (out.weights_apart < max_apart_percent && !out.diverged)
    plot.tag_y(std::max(out.weights_apart, min_apart_percent), picture.apart_words,
               {.colour = t.accent, .output = "weights_apart"});
  widgets::drew("distance of the weights");
}

/// Steps against examples: each batch that was trained, the fit, and the batch that is set with its two prices.
void draw_trade(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "trade", view.trade,
      {
          .x = {.kind = widgets::AxisKind::log10, .label = "steps made"},
          // Room under the fewest examples for the name of a batch that took fewer than the fit says.
          .y = {.kind = widgets::AxisKind::log10, .lo = picture.least_examples, .label = "examples read"},
          .size = size,
      });
  plot.curve(picture.fit);
  plot.curve(picture.tried);
  plot.curves(picture.own);
  widgets::drew("trade");
  if (!(out.critical_batch > 0)) return;
  plot.vertical_mark(out.steps_min, "fewest steps", {.colour = t.muted});
  plot.horizontal_mark(out.examples_min, "fewest examples, by the fit", {.colour = t.muted});
  const std::array<double, 1> knee_x{out.critical_steps}, knee_y{out.critical_examples};
  plot.scatter("critical batch", knee_x, knee_y,
               {.colour = t.text, .marker = widgets::Marker::square, .info = "twice the least of both"});
  plot.bracket(out.steps_here, out.examples_min, out.examples_here, picture.examples_price, "",
               {.output = "examples_over"});
  plot.arrow(out.steps_here, out.examples_here, out.steps_min, out.examples_here, "",
             {.colour = t.text, .output = "steps_over"});
  if (const widgets::ShownGuess* const guess = widgets::shown_guess(); guess && guess->value > 0) {
    const std::string words(widgets::guess_words(widgets::format(guess->value, guess->unit), false).view());
    if (guess->output == "steps_over") plot.vertical_mark(out.steps_min * guess->value, words, {.colour = t.accent});
    if (guess->output == "examples_over")
      plot.horizontal_mark(out.examples_min * guess->value, words, {.colour = t.accent});
  }
  double steps = out.steps_here, examples = out.examples_here;
  if (plot.drag_point("batch", steps, examples, {.label = picture.price, .lo = out.steps_min * 1.0001}))
    in.batch = picture.batch_of(steps);
}

/// While a question is open: the batch as it is cut. Returns the height that it takes.
float draw_given_batch(const Inputs& in, ImVec2 at, float width) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const float line = t.type(widgets::Type::small), top = at.y + line + t.px(6), high = t.px(30);
  widgets::Line words;
  words.add("a batch of ").add_integer(in.batch);
  if (in.micro_batches > 1)
    words.add(" in ").add_integer(in.micro_batches).add(in.uneven ? " uneven pieces" : " pieces");
  p.text({at.x + t.px(8), at.y + t.px(4)}, words.view(), t.text, widgets::Type::small);
  // Uneven pieces take one part and three in turn.
  const auto parts_of = [&](std::int64_t piece) { return in.uneven && piece % 2 == 1 ? 3.0f : 1.0f; };
  float all = 0;
  for (std::int64_t i = 0; i < in.micro_batches; ++i) all += parts_of(i);
  float x = at.x + t.px(8);
  const float each = (width - t.px(16)) / all;
  for (std::int64_t i = 0; i < in.micro_batches; ++i) {
    const float end = x + each * parts_of(i);
    p.frame({x, top + t.px(4)}, {end - t.px(2), top + high}, t.muted, 1, t.px(3));
    x = end;
  }
  return line + high + t.px(24);
}

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.version == 0) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  if (widgets::veiled()) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float high = draw_given_batch(in, at, size.x);
    ImGui::SetCursorScreenPos({at.x, at.y + high});
    size.y -= high;
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  // One above the other needs height for two pairs of axes.
  const bool beside = size.x > t.px(640) || size.y < t.px(420);
  const float gap = t.px(20), head = t.type(widgets::Type::body) + t.px(10);
  const ImVec2 each = beside ? ImVec2{(size.x - gap) / 2, size.y} : ImVec2{size.x, (size.y - gap) / 2};
  widgets::heading("How far two trainings drift apart", "", each.x);
  ImGui::SetCursorScreenPos({corner.x, corner.y + head});
  draw_apart(in, out, picture, view, {each.x, each.y - head});
  const ImVec2 second = beside ? ImVec2{corner.x + each.x + gap, corner.y} : ImVec2{corner.x, corner.y + each.y + gap};
  ImGui::SetCursorScreenPos(second);
  std::string_view trade = "What a larger batch saves, and what it costs";
  if (widgets::text_size(trade, widgets::Type::body, widgets::Font::bold).x > each.x) trade = "Steps, examples";
  widgets::heading(trade, "", each.x);
  ImGui::SetCursorScreenPos({second.x, second.y + head});
  draw_trade(in, out, picture, view, {each.x, each.y - head});
}

void draw_costs(const Outputs& out, View& view, ImVec2 size) {
  // Steps to the target lie between two looks at the loss; the table shows whole ones.
  static constexpr std::array<DescribedColumn, 6> columns{
      {{.key = "batch", .title = "batch"},
       {.key = "steps", .title = "steps", .bar = true, .whole = true},
       {.key = "examples", .title = "examples", .bar = true, .whole = true},
       {.key = "rate", .title = "best rate", .digits = 2},
       {.key = "root_rate", .title = "root rule", .priority = 1, .digits = 2},
       {.key = "linear_rate", .title = "linear rule", .priority = 1, .digits = 2}}};
  view.costs.draw("costs", out.costs, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("batch",
              {.title = "The batch", .least = {480, 400}, .answers = true, .marks = "distance of the weights, trade"},
              [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("losses", {.title = "Loss of both", .least = {380, 220}},
              [&](ImVec2 size) { draw_losses(picture, view, size); });
  stage.panel("costs",
              {.title = "Batches trained to the target", .least = {380, 150}, .ideal = {0, 190}, .scrolls = true},
              [&](ImVec2 size) { draw_costs(out, view, size); });
}

}  // namespace chapters::training::batch
