#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/debugging/hang/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::debugging::hang {
namespace {

using widgets::AxisKind, widgets::Plot;

void draw_cost(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("alarm", view.cost,
            {.x = {.kind = AxisKind::linear, .lo = 0, .hi = picture.most_s, .label = "timeout", .unit = "s"},
             .y = {.lo = 0, .hi = picture.most_hours, .label = "GPU hours lost per month"},
             .size = size,
             .legend = true});
  if (picture.lost.x.empty()) return;
  plot.curve(picture.falsely);
  plot.curve(picture.waiting);
  plot.curve(picture.lost);
  if (const widgets::ShownGuess* const guess = widgets::shown_guess(); guess && guess->output == "lost_gpu_hours")
    plot.horizontal_mark(guess->value, widgets::guess_words(widgets::format(guess->value, "").view(), false).view());
  double x = std::clamp(in.timeout_s, 1.0, picture.most_s);
  plot.tag_x(x, {});
  if (plot.drag_x("drag timeout", x, {.label = "", .lo = 1, .hi = picture.most_s}))
    in.timeout_s = std::max(1.0, std::round(x));
}

void draw_ranks(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "rank"},
                                                           {.key = "calls", .priority = 3},
                                                           {.key = "last", .priority = 2, .code = true},
                                                           {.key = "waits_for", .priority = 1},
                                                           {.key = "part"},
                                                           {.key = "rings_after_s", .priority = 4}}};
  view.ranks.draw("ranks", out.rank_rows, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("matrix",
              {.title = "Ranks by calls", .least = {480, 240}, .ideal = {0, 620}, .answers = true, .marks = "matrix"},
              [&](ImVec2 size) { draw_matrix(picture, view, size); });
  stage.panel("ranks", {.title = "Who waits for whom", .least = {420, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_ranks(out, view, size); });
  stage.panel("alarm", {.title = "What the alarm costs", .least = {360, 200}},
              [&](ImVec2 size) { draw_cost(in, picture, view, size); });
}

}  // namespace chapters::debugging::hang
