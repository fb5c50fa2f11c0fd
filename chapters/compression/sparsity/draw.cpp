#include <algorithm>
#include <cmath>

#include "chapters/compression/sparsity/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::sparsity {
namespace {

using widgets::AxisKind, widgets::Marker, widgets::Painter;

void draw_errors(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("error by share", view.errors,
                     {.x =
                          {
                              .lo = 0,
                              .hi = 96,
                              .label = "pruned",
                              .unit = "%",
                          },
                      .y =
                          {
                              .lo = 0,
                              .hi = 100,
                              .label = "error",
                              .unit = "%",
                          },
                      .size = size});
  plot.curves(picture.errors);
  const bool two_four = in.pattern == models::SparsePattern::two_four;
  const std::array<double, 1> half{two_four_share},
      error{out.errors[static_cast<std::size_t>(models::SparsePattern::two_four)]};
  plot.scatter(picture.two_four_name, half, error,
               {
                   .colour = two_four ? t.accent : t.series_at(1),
                   .marker = Marker::triangle,
                   .radius = two_four ? 8.0f : 6.0f,
                   .info = "two of every four",
               });
  if (!two_four) {
    const std::array<double, 1> at{picture.pruned}, here{out.error};
    plot.scatter("yours", at, here,
                 {
                     .colour = t.accent,
                     .marker = Marker::diamond,
                     .radius = 7,
                     .info = "what the mask shows",
                 });
    plot.drag_x("drag share", in.share, {.lo = 0, .hi = 95});
  }
  plot.callout(picture.pruned, out.error, widgets::format(out.error, "%"), picture.error_words,
               {.colour = t.accent, .output = "error"});
}

void draw_speeds(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "speed-up by tokens", view.speeds,
      {.x =
           {
               .kind = AxisKind::log2,
               .lo = 1,
               .hi = 65536,
               .label = "tokens",
           },
       .y = {.lo = 0, .hi = std::max(2.1, 1.08 * picture.largest_speedup), .label = "speed-up over dense, at most"},
       .size = size,
       .end_labels = true});
  plot.curves(picture.speedups);
  plot.horizontal_mark(1, "dense");
  const std::array<double, 1> x{in.tokens}, y{out.time.speedup};
  plot.scatter("here", x, y,
               {
                   .colour = t.accent,
                   .marker = Marker::diamond,
                   .radius = 7,
                   .legend = false,
                   .info = "the layer as set",
               });
  plot.callout(in.tokens, out.time.speedup, widgets::format(out.time.speedup, widgets::times_unit), picture.speed_words,
               {.colour = t.accent, .output = "speedup"});
  plot.drag_x("drag tokens", in.tokens, {.lo = 1, .hi = 65536});
}

void draw_patterns(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 8> columns{
      {{.key = "name", .title = "zeros"},
       {.key = "share", .title = "pruned", .priority = 4},
       {.key = "error", .title = "error", .bar = true, .priority = 1},
       {.key = "bytes", .title = "weight bytes", .priority = 3},
       {.key = "ratio", .title = "of dense", .priority = 4},
       {.key = "time_s", .title = "time", .priority = 2},
       {.key = "speedup", .title = "speed-up", .bar = true},
       {.key = "skips", .title = "the hardware skips", .priority = 5}}};
  view.patterns.draw("patterns", out.patterns, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.run->weights.empty()) return;
  stage.panel("path",
              {.title = picture.pairs ? "Four pairs of weights on their way" : "Four weights on their way",
               .least = {500, 270},
               .ideal = {0, 420},
               .answers = true,
               .marks = "four weights"},
              [&](ImVec2 size) { draw_path(in, picture, view, size); });
  stage.panel("mask", {.title = "The mask: press a group", .least = {300, 170}, .ideal = {0, 300}}, [&](ImVec2 size) {
    draw_mask(*picture.run, picture.run->masks[static_cast<std::size_t>(in.pattern)], picture.pairs, view, size);
  });
  stage.panel("cost", {.title = "What the zeros cost", .least = {340, 220}, .ideal = {0, 340}},
              [&](ImVec2 size) { draw_errors(in, out, picture, view, size); });
  stage.panel("gain", {.title = "What they bring", .least = {380, 220}, .ideal = {0, 340}},
              [&](ImVec2 size) { draw_speeds(in, out, picture, view, size); });
  published_panel(stage, "2:4: best possible against reached", picture.published);
  stage.panel("patterns", {.title = "The three patterns", .least = {420, 120}, .ideal = {0, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_patterns(out, view, size); });
}

}  // namespace chapters::compression::sparsity
