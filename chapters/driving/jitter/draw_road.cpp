#include <algorithm>
#include <cmath>

#include "chapters/driving/jitter/draw_parts.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::driving::jitter {
namespace {

using models::FrameFate, widgets::Painter, widgets::Rect, widgets::Type;

/// The line at which a frame is due, named on a plate at its right end.
void paint_due(const Painter& p, const Rect& plot, float y, double deadline_s) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  widgets::Line due;
  due.add("due in ").add(widgets::format(deadline_s, "s"));
  p.dashed_line({plot.min.x, y}, {plot.max.x, y}, t.bad, t.px(1.5f), t.px(5));
  const float gutter = widgets::text_size(due.view(), Type::small).x + t.px(8),
              top = std::max(plot.min.y, y - small - t.px(3));
  p.rect({plot.max.x - gutter, top}, {plot.max.x, top + small + t.px(1)}, t.background, t.px(2));
  p.text({plot.max.x - t.px(4), top}, due.view(), t.text, Type::small, widgets::Font::sans, widgets::Align::right);
}

/// How far the learner said that the car goes, as a length on the road.
void mark_guess(const View& view) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || (guess->output != "frame_m" && guess->output != "blind_worst_m")) return;
  const auto& t = widgets::theme();
  const widgets::RoadLayout& road = view.road.layout;
  const float from = road.lane.min.x + static_cast<float>(-road.from_m) * road.px_per_m,
              wanted = from + static_cast<float>(guess->value) * road.px_per_m, to = std::min(wanted, road.lane.max.x),
              y = road.lane.min.y + t.px(8);
  const Painter p = Painter::window();
  p.line({from, y}, {to, y}, t.accent, t.px(2));
  p.dashed_line({to, road.lane.min.y}, {to, road.lane.max.y}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), to < wanted);
  const float width = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(p, {std::min(to + t.px(6), road.lane.max.x - width - t.px(4)), y}, words.view());
}

/// A column for each frame, on the metres that the car travels in it, against the deadline.
void draw_columns(const Outputs& out, const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small);
  widgets::fit_text(p, area.min, picture.lines[0], area.width(), t.muted, Type::small);
  const Rect plot{{area.min.x, area.min.y + small + t.px(6)}, area.max};
  const double metres = picture.to_m - picture.from_m;
  const auto x_of = [&](double m) {
    return std::clamp(plot.min.x + static_cast<float>((m - picture.from_m) / metres) * plot.width(), plot.min.x,
                      plot.max.x);
  };
  const auto y_of = [&](double s) {
    return plot.max.y - static_cast<float>(std::clamp(s / picture.slowest_s, 0.0, 1.0)) * plot.height();
  };
  p.line({plot.min.x, plot.max.y}, plot.max, t.line);
  for (const FrameColumn& c : picture.columns) {
    const float x0 = x_of(c.from_m), whole = x_of(c.to_m) - x0,
                x1 = x0 + std::max(1.0f, whole - (whole > t.px(4) ? t.px(2) : 0));
    if (!(whole > 0)) continue;
    const bool skipped = c.fate == FrameFate::skipped, missed = c.fate != FrameFate::fresh;
    const Rect bar{{x0, y_of(skipped && c.response_s == 0 ? out.deadline_s : c.response_s)}, {x1, plot.max.y}};
    if (!missed) {
      p.rect(bar.min, bar.max, widgets::with_alpha(t.muted, 0.45f));
    } else if (c.fate == FrameFate::late) {
      p.rect(bar.min, bar.max, t.warning);
    } else {
      p.rect(bar.min, bar.max, widgets::with_alpha(t.warning, 0.16f));
      widgets::hatch(p, bar, t.warning, t.px(5));
    }
  }
  paint_due(p, plot, y_of(out.deadline_s), out.deadline_s);
}

}  // namespace

void draw_road_and_frames(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  // As high as a lane to this scale, with the car's name over it, its length and the distances under it.
  const float lane = static_cast<float>(widgets::RoadOptions{}.lane_width_m / (picture.to_m - picture.from_m)) * size.x,
              words = 3 * t.type(widgets::Type::small) + t.px(50);
  const float most = std::max(std::min(t.px(120), size.y), std::min(size.y * 0.52f, t.px(300)));
  const float road = std::floor(std::clamp(lane + words, std::min(t.px(96), most), most));
  widgets::draw_road("road", picture.stretches, view.road,
                     {
                         .car_m = picture.stretches[static_cast<std::size_t>(picture.worst)].from_m,
                         .visible_m = picture.to_m - picture.from_m,
                         .interest = picture.worst,
                         .seen_label = "in a frame, all of it seen",
                         .size = {size.x, road},
                     });
  mark_guess(view);
  widgets::drew("road");
  const float top = at.y + road + t.px(8);
  if (at.y + size.y - top <= t.px(50)) return;
  draw_columns(out, picture, {{at.x, top}, {at.x + size.x, at.y + size.y}});
  widgets::drew("frames");
}

void draw_given_road(const Inputs& in, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float road = std::min(size.y, t.px(200));
  const widgets::RoadStretch ahead[] = {{.from_m = 0, .length_m = 20}};
  widgets::draw_road("road", ahead, view.road,
                     {
                         .car_m = 0,
                         .visible_m = 60,
                         .interest = 0,
                         .seen_label = "of road",
                         .size = {size.x, road},
                     });
  // Under it, how long an undisturbed frame takes of the time until the next one comes.
  const Rect plot{{at.x, at.y + road + t.px(24)}, {at.x + size.x, at.y + size.y - t.px(8)}};
  if (plot.height() < t.px(80)) return;
  const double period_s = 1 / in.rate_hz, most_s = 1.5 * std::max(period_s, in.base_s);
  const auto y_of = [&](double s) { return plot.max.y - static_cast<float>(s / most_s) * plot.height(); };
  const Painter p = Painter::window();
  p.line({plot.min.x, plot.max.y}, plot.max, t.line);
  p.rect({plot.min.x, y_of(in.base_s)}, {plot.max.x, plot.max.y}, widgets::with_alpha(t.muted, 0.2f));
  widgets::Line words;
  words.add("an undisturbed frame: ").add(widgets::format(in.base_s, "s"));
  p.text({plot.min.x + t.px(8), y_of(in.base_s) + t.px(6)}, words.view(), t.text, Type::small);
  paint_due(p, plot, y_of(period_s), period_s);
}

void draw_overload(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const models::JitterRun& run = picture.run->frames;
  const std::size_t shown = std::min(run.response_s.size(), window_frames);
  auto& x = view.room[0];
  auto& y = view.room[1];
  for (std::size_t i = 0; i < shown; ++i) {
    x[i] = static_cast<double>(i) * out.deadline_s;
    y[i] = static_cast<double>(run.response_s[i]);
  }
  widgets::Plot plot("an endless queue", view.ramp,
                     {
                         .x = {.lo = 0, .hi = x[shown - 1] * 1.02, .label = "a frame's arrival", .unit = "s"},
                         .y = {.lo = 0, .label = "until its plan", .unit = "s"},
                         .size = size,
                         .legend = false,
                     });
  plot.line("response", {x.data(), shown}, {y.data(), shown},
            {
                .colour = t.warning,
                .width = 2.5f,
                .label = false,
                .legend = false,
                .info = "from arrival to an answer",
            });
  plot.horizontal_mark(out.deadline_s, "due", {.colour = t.bad});
  widgets::Line bold;
  bold.add("needs ").add(widgets::format(out.needs_s, "s")).add(", gets ").add(widgets::format(out.deadline_s, "s"));
  plot.callout(x[shown / 2], y[shown / 2], bold.view(), picture.lines[1], {.colour = t.warning});
  widgets::drew("road");  // in its place: nothing of the road is seen
  widgets::drew("frames");
}

}  // namespace chapters::driving::jitter
