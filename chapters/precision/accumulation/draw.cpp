#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "chapters/precision/shared/formats.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::accumulation {
namespace {

using widgets::AxisKind;

/// The cursor that says which addition the adder shows.
void choose_addition(widgets::Plot& plot, const Picture& picture, View& view) {
  const auto last = static_cast<double>(picture.run->terms.size());
  double at = std::clamp(view.addition >= 1 ? view.addition : static_cast<double>(picture.shown_first), 1.0, last);
  if (plot.drag_x("drag addition", at, {.label = "", .lo = 1, .hi = last})) view.addition = std::round(at);
}

/// A guess of `output` as a line across the plot, at `from` and `scale` times it; at an edge where it lies beyond.
void mark_guess(widgets::Plot& plot, std::string_view output, double from, double scale, double lo, double hi) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != output) return;
  const double at = from + scale * guess->value;
  if (!std::isfinite(at)) return;
  plot.horizontal_mark(
      std::clamp(at, lo, hi),
      widgets::guess_words(widgets::format(guess->value, guess->unit).view(), !(at >= lo && at <= hi)).view(),
      {.colour = widgets::theme().accent});
}

/// One accumulator under the exact sum, and where the other ways of adding end.
void draw_sum(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const models::SumRun& run = picture.run->sums;
  widgets::Plot plot("sum so far", view.sum,
                     {
                         .x = {.kind = AxisKind::log2, .lo = 1, .hi = run.count.back(), .label = "terms added"},
                         .y = {.kind = picture.positive ? AxisKind::log2 : AxisKind::linear,
                               .lo = picture.sum_lo,
                               .hi = picture.sum_hi,
                               .label = "sum so far"},
                         .size = size,
                         .legend = false,
                         .end_labels = size.x >= t.px(420) && size.y >= t.px(150),
                     });
  plot.curves(picture.sums);
  mark_guess(plot, "naive_sum", 0, 1, picture.sum_lo, picture.sum_hi);
  choose_addition(plot, picture, view);
  widgets::drew("sum so far");
}

/// Two thirds for the window of bits, one for how far the sum has come.
void draw_adding(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float plot = std::clamp(size.y * 0.34f, t.px(88), t.px(260)), window = size.y - plot - t.px(8);
  draw_window(picture, view, {size.x, window});
  ImGui::SetCursorScreenPos({corner.x, corner.y + window + t.px(8)});
  draw_sum(picture, view, {size.x, plot});
}

void draw_error(const Picture& picture, View& view, ImVec2 size) {
  const models::SumRun& run = picture.run->sums;
  widgets::Plot plot("error of the sum", view.error,
                     {
                         .x = {.kind = AxisKind::log2, .lo = 1, .hi = run.count.back(), .label = "terms added"},
                         .y =
                             {
                                 .kind = AxisKind::log10,
                                 .lo = picture.least_error,
                                 .hi = 4,
                                 .label = "error / sum of magnitudes",
                                 .zero_word = "exact",
                             },
                         .size = size,
                         .legend = false,
                         .end_labels = true,
                     });
  plot.curves(picture.errors);
}

void draw_weight(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(widgets::Type::small) + t.px(6);
  const widgets::Painter p = widgets::Painter::window();
  widgets::fit_text(p, corner, picture.update_story, size.x, t.muted, widgets::Type::small);
  constexpr std::string_view key = "grey: exact; thin: one weight rounded stochastically";
  const float after = widgets::text_size(picture.update_story, widgets::Type::small).x + t.px(18);
  if (after + widgets::text_size(key, widgets::Type::small).x <= size.x)
    p.text({corner.x + after, corner.y}, key, t.muted, widgets::Type::small);
  ImGui::SetCursorScreenPos({corner.x, corner.y + line});
  const models::UpdateRun& run = picture.run->updates;
  widgets::Plot plot("weight", view.weight,
                     {
                         .x = {.lo = 0, .hi = std::max(1.0, run.step.back()), .label = "updates so far"},
                         .y = {.lo = picture.weight_lo, .hi = picture.weight_hi, .label = "weight so far"},
                         .size = {size.x, size.y - line},
                         .legend = false,
                         .end_labels = true,
                     });
  plot.curve(picture.exact_weight);
  plot.curves(picture.weights);
  for (const std::string_view gained : {"plain_gained", "stochastic_gained", "kahan_gained", "master_gained"})
    mark_guess(plot, gained, run.start, (run.exact_final - run.start) / 100, picture.weight_lo, picture.weight_hi);
  widgets::drew("weights");
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (out.sums.empty() || out.updates.empty() || picture.run->terms.empty()) return;
  const auto weight = [&] {
    stage.panel("weight",
                {.title = "Updating a weight", .least = {440, 220}, .answers = picture.of_weight, .marks = "weights"},
                [&](ImVec2 size) { draw_weight(picture, view, size); });
  };
  if (picture.of_weight) weight();
  stage.panel("adder",
              {.title = "The window of bits",
               .least = {560, 270},
               .answers = !picture.of_weight,
               .marks = "window of bits, sum so far"},
              [&](ImVec2 size) { draw_adding(picture, view, size); });
  stage.panel("error", {.title = "Error of the sum", .least = {440, 210}},
              [&](ImVec2 size) { draw_error(picture, view, size); });
  if (!picture.of_weight) weight();
  stage.panel("methods", {.title = "All methods", .least = {420, 260}, .ideal = {0, 400}, .scrolls = true},
              [&](ImVec2 size) { draw_tables(out, view, size); });
}

}  // namespace chapters::precision::accumulation
