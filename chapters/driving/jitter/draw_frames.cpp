#include <algorithm>
#include <cmath>

#include "chapters/driving/jitter/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot.h"

namespace chapters::driving::jitter {

using models::FrameFate;
using widgets::Marker;

void draw_whole(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto& e = picture.envelope;
  const double top = std::max(out.summary.worst_s, out.deadline_s) * 1.08;
  widgets::Plot plot("frames over the run", view.whole,
                     {
                         .x = {.lo = 0, .hi = static_cast<double>(out.run->response_s.size()), .label = "frame"},
                         .y =
                             {
                                 .lo = 0,
                                 .hi = top,
                                 .label = "response",
                                 .unit = "s",
                             },
                         .size = size,
                         .legend = false,
                     });
  plot.area("best to worst", e.frame, e.high_s, e.low_s,
            {
                .colour = t.series_at(0),
                .alpha = 0.4f,
                .legend = false,
                .info = "of each stretch of frames",
                .version = picture.version,
            });
  plot.horizontal_mark(out.deadline_s, "deadline", {.colour = t.bad});
  double at = std::min(view.time_s, picture.length_s) / out.deadline_s;
  if (plot.drag_x("drag time", at, {.label = "", .lo = 0, .hi = static_cast<double>(out.run->response_s.size() - 1)}))
    view.time_s = std::max(0.0, at * out.deadline_s);
}

void draw_window(const Outputs& out, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto& run = *out.run;
  const std::size_t n = run.response_s.size(), shown = std::min(n, window_frames);
  const std::size_t first =
      std::min(n - shown, static_cast<std::size_t>(std::max(0.0, std::floor(view.time_s / out.deadline_s + 1e-6))));
  auto& [x, y, late_x, late_y, reused_x, reused_y, skipped_x, skipped_y] = view.room;
  std::size_t late = 0, reused = 0, skipped = 0;
  double top = out.deadline_s;
  for (std::size_t i = 0; i < shown; ++i) {
    const FrameFate fate = run.fate[first + i];
    const double at = static_cast<double>(first + i), response = static_cast<double>(run.response_s[first + i]);
    x[i] = at;
    y[i] = fate == FrameFate::skipped ? std::nan("") : response;
    top = std::max(top, response);
    if (fate == FrameFate::late) {
      late_x[late] = at;
      late_y[late++] = response;
    } else if (fate == FrameFate::reused) {
      reused_x[reused] = at;
      reused_y[reused++] = response;
    } else if (fate == FrameFate::skipped) {
      skipped_x[skipped] = at;
      skipped_y[skipped++] = out.deadline_s;
    }
  }
  const double begin = static_cast<double>(first), end = static_cast<double>(first + shown - 1);
  widgets::Plot plot("frames at the cursor", view.window,
                     {.x = {.lo = begin, .hi = std::max(end, begin + 1), .label = "frame"},
                      .y =
                          {
                              .lo = 0,
                              .hi = top * 1.12,
                              .label = "response",
                              .unit = "s",
                          },
                      .size = size});
  plot.line("response", {x.data(), shown}, {y.data(), shown},
            {
                .colour = t.series_at(0),
                .width = 1.5f,
                .label = false,
                .info = "from arrival to an answer",
            });
  plot.scatter("late", {late_x.data(), late}, {late_y.data(), late},
               {
                   .colour = t.bad,
                   .marker = Marker::triangle,
                   .radius = 4.5f,
                   .info = "answered after the deadline",
               });
  if (out.totals.reused > 0)
    plot.scatter("last result again", {reused_x.data(), reused}, {reused_y.data(), reused},
                 {
                     .colour = t.series_at(1),
                     .marker = Marker::square,
                     .radius = 4,
                     .info = "given up at the watchdog's limit",
                 });
  if (out.totals.skipped > 0)
    plot.scatter("skipped", {skipped_x.data(), skipped}, {skipped_y.data(), skipped},
                 {
                     .colour = t.series_at(3),
                     .marker = Marker::diamond,
                     .radius = 4,
                     .info = "arrived while the stack was busy",
                 });
  plot.horizontal_mark(out.deadline_s, "deadline", {.colour = t.bad});
}

void draw_road(const Outputs& out, const View& view, float width) {
  const auto& t = widgets::theme();
  const auto& run = *out.run;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float lane = t.px(16), height = lane + t.type(widgets::Type::small) + t.px(8);
  ImGui::Dummy({width, height});
  const float left = view.window.data_area().min.x, right = view.window.data_area().max.x;
  if (!(right > left) || !(view.window.x_hi > view.window.x_lo)) return;
  const auto p = widgets::Painter::window();
  const auto x_of = [&](double i) { return std::clamp(view.window.x_pixel(i), left, right); };
  p.rect({left, at.y}, {right, at.y + lane}, t.card, t.px(3));
  const auto missed = [&](std::size_t i) { return run.fate[i] != FrameFate::fresh; };
  const std::size_t n = run.response_s.size(),
                    last = std::min(n, static_cast<std::size_t>(std::max(0.0, view.window.x_hi)) + 1);
  float labelled = left - 1;
  for (std::size_t i = static_cast<std::size_t>(std::max(0.0, view.window.x_lo)); i < last;) {
    std::size_t end = i + 1;
    while (end < last && missed(end) == missed(i)) ++end;
    if (missed(i)) {
      const float x0 = x_of(static_cast<double>(i)), x1 = std::max(x_of(static_cast<double>(end)), x0 + t.px(2));
      p.rect({x0, at.y}, {x1, at.y + lane}, widgets::with_alpha(t.bad, 0.35f));
      widgets::hatch(p, {{x0, at.y}, {x1, at.y + lane}}, t.bad);
      widgets::Line metres;
      metres.add(widgets::format(static_cast<double>(end - i) * out.frame_m, "m")).add(" blind");
      const float half = widgets::text_size(metres.view(), widgets::Type::small).x / 2,
                  centre = std::clamp((x0 + x1) / 2, left + half, std::max(left + half, right - half));
      if (centre - half > labelled) {  // dropped where there is no room
        p.text({centre, at.y + lane + t.px(3)}, metres.view(), t.muted, widgets::Type::small, widgets::Font::sans,
               widgets::Align::center);
        labelled = centre + half + t.px(8);
      }
    }
    i = end;
  }
}

}  // namespace chapters::driving::jitter
