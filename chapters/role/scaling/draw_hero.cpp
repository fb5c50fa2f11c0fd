#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/role/scaling/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/stage/stage.h"

namespace chapters::role::scaling {
namespace {

using models::scaling_loss_count, widgets::Painter, widgets::Type;

constexpr std::array<std::string_view, scaling_loss_count> loss_names{"unevenly shared", "waiting for the slowest",
                                                                      "communication", "not shared"};
constexpr std::array<const char*, 16> handle_ids{"point 1",  "point 2",  "point 3",  "point 4",  "point 5",  "point 6",
                                                 "point 7",  "point 8",  "point 9",  "point 10", "point 11", "point 12",
                                                 "point 13", "point 14", "point 15", "point 16"};

/// Losses are greys, but for communication, which has its own colour everywhere.
constexpr std::array<float, scaling_loss_count> loss_opacity{0.45f, 0.75f, 1, 1};
ImU32 loss_colour(std::size_t loss) {
  const auto& t = widgets::theme();
  return widgets::with_alpha(loss == 2 ? t.of(widgets::Meaning::communication) : t.muted, loss_opacity[loss]);
}

/// A point was dragged: all of the series become the learner's own.
void take_points(Inputs& in, const Picture& picture, std::size_t moved, double gpus, double speedup) {
  std::vector<PointRow> rows;
  for (const models::MeasuredStep& m : points_of(in)) rows.push_back({static_cast<std::int64_t>(m.gpus), m.step_s});
  if (moved >= rows.size()) return;
  const auto replica = static_cast<double>(in.replica_gpus);
  const double n = std::max(1.0, std::round(gpus / replica)) * replica;
  const double step_s = step_work_s(in, picture.one_gpu_s, n) / speedup;
  rows[moved] = {static_cast<std::int64_t>(std::min(n, 1e6)), std::clamp(step_s, 1e-6, 1e6)};
  in.points = std::move(rows);
  in.series = Series::points;
}

/// Is the band of this loss thicker than a hair anywhere in the window of the plot?
bool band_is_seen(const Picture& picture, std::size_t loss, double lo, double hi, double top, bool linear) {
  for (std::size_t i = 0; i < picture.gpus.size(); ++i) {
    const double upper = std::min(picture.speedup[loss][i], top), lower = picture.speedup[loss + 1][i];
    if (picture.gpus[i] < lo || picture.gpus[i] > hi || !(lower < upper)) continue;
    if (linear ? upper - lower > 0.01 * top : std::log(upper / lower) > 0.01 * std::log(top / lo)) return true;
  }
  return false;
}

std::string_view speedup_axis(const Inputs& in) {
  return in.replica_gpus > 1 ? "as fast as so many ideal GPUs" : "times as fast as one GPU";
}

/// What a question gives: the diagonal and the GPUs that are set, on the axes of the picture to come.
void draw_given_curve(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const double hi = picture.near_gpus;
  widgets::Plot plot("scaling, given", view.given_plot,
                     {.x = {.lo = 0, .hi = hi, .label = "GPUs"},
                      .y = {.lo = 0, .hi = hi, .label = speedup_axis(in)},
                      .size = size,
                      .legend = false,
                      .interactive = false,
                      .ghost = false});
  plot.curve(picture.ideal);
  plot.vertical_mark(static_cast<double>(in.gpus), "yours", {.colour = widgets::theme().accent});
}

/// What the learner said, at the right of the last line: no length in this picture is in the unit of the questions.
void show_guess(ImVec2 right) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  widgets::Line words;
  words.add(guess->label).add(", ");
  words.add(widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false).view());
  const float width = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(Painter::window(), {right.x - width - widgets::theme().px(4), right.y}, words.view());
}

void draw_curve(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const double least = picture.gpus.front();
  const auto kind = view.linear ? widgets::AxisKind::linear : widgets::AxisKind::log2;
  const double lo = view.linear ? 0 : least, hi = view.linear ? picture.near_gpus : picture.far_gpus;
  double top = hi;
  if (view.linear) {
    top = 1;
    for (std::size_t i = 0; i < picture.gpus.size(); ++i)
      if (picture.gpus[i] <= hi) top = std::max(top, 1.3 * picture.speedup.back()[i]);
    top = std::min(top, hi);
  }
  widgets::Plot plot(view.linear ? "scaling, linear" : "scaling", view.linear ? view.linear_plot : view.plot,
                     {.x = {.kind = kind, .lo = lo, .hi = hi, .label = "GPUs"},
                      .y = {.kind = kind, .lo = lo, .hi = top, .label = speedup_axis(in)},
                      .size = size,
                      .legend = size.y > t.px(300),
                      .ghost = false});
  for (std::size_t k = 0; k < scaling_loss_count; ++k)
    plot.area(loss_names[k], picture.gpus, picture.speedup[k], picture.speedup[k + 1],
              {.colour = loss_colour(k),
               .alpha = 0.45f * loss_opacity[k],
               .legend = band_is_seen(picture, k, std::max(lo, least), hi, top, view.linear),
               .outline = false,
               .version = picture.version});
  plot.curve(picture.ideal);
  if (!picture.fit.x.empty()) plot.curve(picture.fit);
  plot.curve(picture.model);
  const widgets::Curve& points = picture.points;
  if (!points.x.empty()) plot.curve(points);
  for (std::size_t i = 0; i < std::min(points.x.size(), handle_ids.size()); ++i) {
    double n = points.x[i], s = points.y[i];
    if (plot.drag_point(handle_ids[i], n, s, {.colour = t.text, .lo = 1, .hi = 1e6, .y_lo = 1e-3, .y_hi = 1e7}) &&
        n > 0 && s > 0)
      take_points(in, picture, i, n, s);
  }
  double yours = static_cast<double>(out.step.gpus);
  if (plot.drag_x("drag GPUs", yours, {.label = "yours", .lo = least, .hi = hi}) && yours > 0) {
    const auto replica = static_cast<double>(in.replica_gpus);
    in.gpus = static_cast<std::int64_t>(std::max(1.0, std::round(yours / replica)) * replica);
  }
  const double best = static_cast<double>(out.fastest.gpus);
  if (picture.ends && best <= hi && size.y > t.px(250))
    plot.callout(best, out.fastest.speedup, "fastest of the doublings", "twice as many cost more and win no time");
  plot.end();
  widgets::drew("curve");
  const auto& frame = plot.frame();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  view.at = 0;
  if (ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) && frame.area.contains(mouse))
    view.at = frame.x.value(static_cast<double>(mouse.x));
}

const models::ScaledStep& step_at(const Outputs& out, const Picture& picture, double gpus) {
  if (!(gpus > 0)) return out.step;
  const models::ScaledStep* best = &picture.curve.front();
  for (const models::ScaledStep& step : picture.curve)
    if (std::abs(std::log(static_cast<double>(step.gpus) / gpus)) <
        std::abs(std::log(static_cast<double>(best->gpus) / gpus)))
      best = &step;
  return *best;
}

/// One step as a slab of 100 %: what is useful at the bottom, and above it what grows with the number of GPUs.
void draw_slab(const Outputs& out, const Picture& picture, const View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("slab", size, {60, 60});
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Painter p = Painter::window();
  const models::ScaledStep& step = step_at(out, picture, view.at);
  const float line = t.type(Type::small) + t.px(3), bar = std::min(t.px(64), area.width() * 0.4f);
  widgets::Line head, total;
  head.add("one step on ").add(widgets::format(static_cast<double>(step.gpus), "", 9));
  total.add(widgets::format(step.step_s, "s")).add(view.at > 0 ? ", at the pointer" : ", yours");
  widgets::fit_text(p, area.min, head.view(), area.width(), t.text, Type::small, widgets::Font::bold);
  widgets::fit_text(p, {area.min.x, area.min.y + line}, total.view(), area.width(), t.muted, Type::small);
  const float top = area.min.y + 2 * line + t.px(6), height = area.max.y - top;
  if (height < t.px(40)) return;
  float y = area.max.y, free_above = area.max.y;
  const auto piece = [&](std::string_view name, double seconds, ImU32 fill, bool hatched) {
    const float h = height * static_cast<float>(std::max(0.0, seconds) / step.step_s);
    const widgets::Rect r{{area.min.x, y - h}, {area.min.x + bar, y}};
    y -= h;
    if (h < 0.5f) return;
    if (hovered && mouse.y >= r.min.y && mouse.y < r.max.y)
      widgets::tip(name, widgets::format(seconds, "s"), "of this step; beyond the ideal, but for what is useful");
    p.rect(r.min, r.max, fill);
    if (hatched) widgets::hatch(p, r, widgets::with_alpha(t.background, 0.6f), t.px(7));
    if (h > t.px(3)) p.line({r.min.x, r.min.y}, {r.max.x, r.min.y}, t.background, t.px(1));
    widgets::Line words;
    words.add(widgets::format_percent(seconds / step.step_s, 2)).add(" ").add(name);
    // Names stand beside their pieces, pushed up where two would touch.
    const float rim = top - t.px(4), at = std::min(std::max((r.min.y + r.max.y - line) / 2, rim), free_above - line);
    if (at < rim || h < t.px(4)) return;
    free_above = at;
    widgets::fit_text(p, {r.max.x + t.px(6), at}, words.view(), area.max.x - r.max.x - t.px(6), t.text, Type::small);
  };
  widgets::drew("step");
  piece("useful", step.useful_s, t.of(widgets::Meaning::forward), false);
  constexpr std::array<std::string_view, scaling_loss_count> brief{"uneven", "slowest", "all-reduce", "not shared"};
  for (std::size_t k = 0; k < scaling_loss_count; ++k) piece(brief[k], step.loss_s[k], loss_colour(k), k != 2);
  if (!p.record()) return;
  widgets::DataTable table{"step", {"part", "seconds"}, {{"useful", widgets::exact(step.useful_s)}}};
  for (std::size_t k = 0; k < scaling_loss_count; ++k)
    table.rows.push_back({std::string(loss_names[k]), widgets::exact(step.loss_s[k])});
  p.record()->tables.push_back(std::move(table));
}

}  // namespace

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.curve.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float foot = widgets::button_size("Linear axes").y + t.px(6);
  const bool beside = size.x >= t.px(520);
  const float slab = beside ? std::clamp(size.x * 0.22f, t.px(150), t.px(230)) : 0.0f, gap = beside ? t.px(18) : 0.0f;
  if (widgets::veiled()) {
    draw_given_curve(in, picture, view, {size.x - slab - gap, size.y - foot});
    return;
  }
  draw_curve(in, out, picture, view, {size.x - slab - gap, size.y - foot});
  const float press = widgets::button_size("Linear axes").x, below = corner.y + size.y - foot + t.px(6);
  ImGui::SetCursorScreenPos({corner.x, below});
  if (widgets::button(view.linear ? "Log axes##axes" : "Linear axes##axes")) view.linear = !view.linear;
  widgets::fit_text(Painter::window(),
                    {corner.x + press + t.px(12), below + (foot - t.px(6) - t.type(Type::small)) / 2},
                    picture.points_words, size.x - slab - gap - press - t.px(12), t.muted, Type::small);
  show_guess({corner.x + size.x, below + (foot - t.px(6) - t.type(Type::small)) / 2});
  if (!beside) return;
  ImGui::SetCursorScreenPos({corner.x + size.x - slab, corner.y});
  draw_slab(out, picture, view, {slab, size.y - foot});
}

}  // namespace chapters::role::scaling
