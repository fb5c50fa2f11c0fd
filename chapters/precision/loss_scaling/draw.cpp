#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/loss_scaling/lab.h"
#include "widgets/base/guess.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::precision::loss_scaling {
namespace {

using widgets::AxisKind, widgets::Painter, widgets::Type;

void cursor(widgets::Plot& plot, const char* handle, const Picture& picture, View& view) {
  double at = std::clamp(view.time, 0.0, picture.steps - 1);
  if (plot.drag_x(handle, at, {.label = "", .lo = 0, .hi = picture.steps - 1})) view.time = std::round(at);
}

/// The height at x of a line between two points.
double height_on(const widgets::Curve& line, double x) {
  return line.y.front() + (line.y.back() - line.y.front()) * (x - line.x.front()) / (line.x.back() - line.x.front());
}

/// A rate that was guessed, as a line from where rates count.
void draw_guess(widgets::Plot& plot, const Picture& picture) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || (guess->output != "balance_rate" && guess->output != "late_skip_rate") || !(guess->value > 0)) return;
  const double slope = guess->value / 100,
               end = std::min(picture.steps, picture.rates_from + (picture.skipped_hi - picture.rates_on) / slope);
  const std::array<double, 2> x{picture.rates_from, end},
      y{picture.rates_on, picture.rates_on + slope * (end - picture.rates_from)};
  plot.line("you", x, y, {.colour = widgets::theme().accent, .width = 1.5f, .dashed = true, .label = false});
  const double at = x[0] + 0.6 * (x[1] - x[0]);
  plot.text(at, y[0] + slope * (at - x[0]),
            widgets::guess_words(widgets::format(guess->value, "%").view(), false).view(),
            {.colour = widgets::theme().accent});
}

/// How many steps were skipped so far, and how many are normal at most.
void draw_count(const Picture& picture, View& view, ImVec2 size, bool x_axis) {
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "steps skipped", view.skips,
      {
          .x = {.lo = 0, .hi = picture.steps, .label = "step"},
          .y = {.lo = 0, .hi = picture.skipped_hi, .label = picture.unguarded ? "not finite so far" : "skipped so far"},
          .size = size,
          .legend = false,
          .link = &view.run,
          .x_axis = x_axis,
      });
  if (picture.normal.y.back() > picture.rates_on) {
    plot.curve(picture.normal);
    // A label of its own stands upright whatever the line's slope is.
    plot.text(0.9 * picture.steps, height_on(picture.normal, 0.9 * picture.steps), "normal at most",
              {.colour = t.muted});
  }
  if (!picture.fifty.x.empty()) {
    plot.curve(picture.fifty);
    const double x = picture.rates_from + 0.8 * (picture.fifty.x.back() - picture.rates_from);
    plot.text(x, height_on(picture.fifty, x), "1 in 50", {.colour = t.bad});
  }
  draw_guess(plot, picture);
  plot.curve(picture.skipped);
  cursor(plot, "drag step", picture, view);
  widgets::drew("steps skipped");
}

void draw_scale(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "the scale", view.scale,
      {
          .x = {.lo = 0, .hi = picture.steps, .label = "step"},
          .y = {.kind = AxisKind::log2, .lo = out.lowest_scale / 2, .hi = out.highest_scale * 2, .label = "loss scale"},
          .size = size,
          .legend = false,
          .link = &view.run,
      });
  plot.curve(picture.scale);
  plot.vertical_mark(std::clamp(view.time, 0.0, picture.steps - 1), "", {.colour = t.accent});
}

/// Skips counted, skips one by one, and the scale that they knock down, over the same steps.
void draw_run(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = t.px(6);
  const bool scale = size.y >= t.px(260), rug = size.y >= t.px(170);
  const float rug_h = rug ? t.px(46) : 0.0f, scale_h = scale ? std::clamp(size.y * 0.36f, t.px(104), t.px(230)) : 0.0f;
  const float count_h = size.y - rug_h - scale_h - (rug ? gap : 0.0f) - (scale ? gap : 0.0f);
  draw_count(picture, view, {size.x, count_h}, !scale);
  float y = corner.y + count_h + gap;
  if (rug) {
    const widgets::Box data = view.skips.data_area();
    ImGui::SetCursorScreenPos({corner.x, y});
    widgets::draw_event_rug("skips", picture.skips, view.rug,
                            {
                                .lo = 0,
                                .hi = static_cast<double>(in.steps),
                                .label = picture.unguarded ? "steps not finite" : "steps skipped",
                                .unit = "steps",
                                .tint = tint_of(Fate::overflow),
                                .size = {size.x, rug_h},
                                .left_px = data.min.x - corner.x,
                                .right_px = corner.x + size.x - data.max.x,
                                .axis = false,
                            });
    y += rug_h + gap;
  }
  if (!scale) return;
  ImGui::SetCursorScreenPos({corner.x, y});
  draw_scale(out, picture, view, {size.x, corner.y + size.y - y});
}

void draw_range(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "scaled gradients", view.range,
      {.x = {.lo = 0, .hi = picture.steps, .label = "step"},
       .y = {.kind = AxisKind::log2, .lo = picture.range_lo, .hi = picture.range_hi, .label = "|g| × scale"},
       .size = size,
       .link = &view.run});
  plot.curve(picture.middle);
  plot.curve(picture.largest);
  if (!picture.overflows.x.empty()) plot.curve(picture.overflows);
  plot.horizontal_mark(picture.infinite_from, picture.infinite_label, {.colour = colour_of(Fate::overflow)});
  plot.horizontal_mark(picture.smallest_normal, "smallest normal", {.colour = t.text});
  plot.horizontal_mark(picture.zero_below, "zero below", {.colour = colour_of(Fate::zero), .output = "zero_scaled"});
  cursor(plot, "drag step of the gradients", picture, view);
  widgets::drew("gradients and limits");
}

const StepPicture& step_at(const Picture& picture, double step) {
  const std::vector<double>& steps = picture.middle.x;
  const auto after = std::upper_bound(steps.begin(), steps.end(), step);
  const auto i = after == steps.begin() ? 0 : after - steps.begin() - 1;
  return picture.steps_shown[static_cast<std::size_t>(i)];
}

/// What the step was, over the picture that `body(size)` draws of it.
template <class Body>
void under_step_words(const Picture& picture, const View& view, ImVec2 size, const Body& body) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(6);
  widgets::fit_text(Painter::window(), corner, step_words(picture.run->history, picture.unguarded, view.time).view(),
                    size.x, t.muted, Type::small);
  ImGui::SetCursorScreenPos({corner.x, corner.y + line});
  body(ImVec2{size.x, size.y - line});
}

}  // namespace

widgets::Line step_words(const models::ScalerHistory& history, bool unguarded, double step) {
  widgets::Line line;
  const auto i = static_cast<std::size_t>(std::clamp(step, 0.0, static_cast<double>(history.fate.size()) - 1));
  line.add("step ").add(widgets::format(static_cast<double>(i), "", 9));
  switch (history.fate[i]) {
    case models::StepFate::applied:
      return line.add(": trained");
    case models::StepFate::overflowed:
      return line.add(unguarded ? ": its largest overflows, and the weights are lost"
                                : ": skipped, its largest overflows");
    case models::StepFate::bad:
      return line.add(unguarded ? ": it holds inf or NaN, and the weights are lost"
                                : ": skipped, it holds inf or NaN at any scale");
  }
  return line;
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.steps_shown.empty()) return;
  // Where nothing is skipped and nothing could be, the gradients that become zero are the answer.
  const bool quiet = in.policy == models::ScalerPolicy::none && picture.skips.empty();
  const auto run = [&] {
    stage.panel("run",
                {.title = "Skips and the scale", .least = {520, 330}, .answers = !quiet, .marks = "steps skipped"},
                [&](ImVec2 size) {
                  if (widgets::veiled()) return draw_run_given(in, view, size);
                  widgets::light_meanings(picture.meanings);
                  draw_run(in, out, picture, view, size);
                });
  };
  if (!quiet) run();
  stage.panel(
      "gradients",
      {.title = "Gradients against FP16", .least = {440, 220}, .answers = quiet, .marks = "gradients and limits"},
      [&](ImVec2 size) {
        if (widgets::veiled() && in.policy != models::ScalerPolicy::dynamic)
          return draw_range_given(picture, view, size);
        draw_range(picture, view, size);
      });
  stage.panel("shares", {.title = "What a step's gradients become", .least = {420, 190}, .ideal = {0, 260}},
              [&](ImVec2 size) {
                under_step_words(picture, view, size, [&](ImVec2 room) {
                  draw_shares(step_at(picture, view.time), !picture.unguarded, view, room);
                });
              });
  stage.panel("bell", {.title = "One step's magnitudes", .least = {420, 200}, .ideal = {0, 320}}, [&](ImVec2 size) {
    under_step_words(picture, view, size,
                     [&](ImVec2 room) { draw_bell(picture, step_at(picture, view.time), view, room); });
  });
  if (quiet) run();
}

}  // namespace chapters::precision::loss_scaling
