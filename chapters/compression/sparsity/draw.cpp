#include <algorithm>
#include <cmath>

#include "chapters/compression/shared/guess_note.h"
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
       .y = {.lo = 0, .hi = std::max(2.1, 1.08 * picture.largest_speedup), .label = "speed-up", .unit = "\xC3\x97"},
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

/// The way of four weights, under the best that was measured of the pattern or how many rows are gone.
void draw_hero(const Inputs& in, const Picture& picture, const View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool measured = in.pattern == models::SparsePattern::two_four && picture.skips == Skips::products;
  float above =
      measured && !widgets::veiled() ? published_line("best measured of 2:4: ", picture.published, size, t.px(300)) : 0;
  if (!picture.rows_words.empty() && !widgets::veiled() && size.y >= t.px(300)) {
    above = t.type(widgets::Type::small) + t.px(8);
    widgets::fit_text(Painter::window(), at, picture.rows_words, size.x, t.text, widgets::Type::small);
    ImGui::SetCursorScreenPos({at.x, at.y + above});
  }
  draw_path(in, picture, view, {size.x, size.y - above});
  paint_guess_note({at.x + size.x, at.y + above});
}

/// The mask, and at its right the error of every share; under it where there is no room.
void draw_cost(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::vector<std::uint8_t>& mask = picture.run->masks[static_cast<std::size_t>(in.pattern)];
  if (size.x >= t.px(620)) {
    const float gap = t.px(24), half = std::floor((size.x - gap) / 2), head = t.type(widgets::Type::small) + t.px(8);
    widgets::fit_text(Painter::window(), at, "the mask of an example: press neighbours to follow them", half, t.muted,
                      widgets::Type::small);
    ImGui::SetCursorScreenPos({at.x, at.y + head});
    draw_mask(*picture.run, mask, picture.pairs, view, {half, size.y - head});
    ImGui::SetCursorScreenPos({at.x + size.x - half, at.y});
    draw_errors(in, out, picture, view, {half, size.y});
    return;
  }
  const float gap = t.px(12);
  if (size.y < t.px(360)) {  // the mask, and the error in words
    const float foot = t.type(widgets::Type::small) + t.px(6);
    draw_mask(*picture.run, mask, picture.pairs, view, {size.x, size.y - foot});
    widgets::fit_text(Painter::window(), {at.x, at.y + size.y - foot + t.px(4)}, picture.cost_words, size.x, t.text,
                      widgets::Type::small);
    return;
  }
  const float above = std::floor(0.42f * (size.y - gap));
  draw_mask(*picture.run, mask, picture.pairs, view, {size.x, above});
  ImGui::SetCursorScreenPos({at.x, at.y + above + gap});
  draw_errors(in, out, picture, view, {size.x, size.y - above - gap});
}

/// The most that each pattern can bring, and under it what was reached with 2:4.
void draw_gain(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float head = t.type(widgets::Type::small) + t.px(8), gap = t.px(12);
  if (!picture.published.any || size.y < t.px(360)) return draw_speeds(in, out, picture, view, size);
  const float above = std::floor(0.56f * (size.y - gap - head)), below = at.y + above + gap;
  draw_speeds(in, out, picture, view, {size.x, above});
  widgets::fit_text(widgets::Painter::window(), {at.x, below}, "2:4: best possible against reached", size.x, t.text,
                    widgets::Type::small, widgets::Font::bold);
  ImGui::SetCursorScreenPos({at.x, below + head});
  published_strip(picture.published, {size.x, at.y + size.y - below - head});
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
              [&](ImVec2 size) { draw_hero(in, picture, view, size); });
  stage.panel("mask", {.title = "What the zeros cost", .least = {320, 170}, .ideal = {0, 470}},
              [&](ImVec2 size) { draw_cost(in, out, picture, view, size); });
  stage.panel("gain", {.title = "What they bring", .least = {420, 240}, .ideal = {0, 420}},
              [&](ImVec2 size) { draw_gain(in, out, picture, view, size); });
  stage.panel("patterns", {.title = "The three patterns", .least = {420, 120}, .ideal = {0, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_patterns(out, view, size); });
}

}  // namespace chapters::compression::sparsity
