#include <algorithm>
#include <cmath>

#include "chapters/driving/jitter/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/charts/rows.h"
#include "widgets/controls/button.h"
#include "widgets/plot/plot.h"

namespace chapters::driving::jitter {

using models::FrameFate;
using widgets::Marker;

namespace {

/// Where the cursor stands: where it was put, or some frames before the longest blind stretch.
double cursor_s(const Outputs& out, const View& view) {
  return view.time_s >= 0 ? view.time_s : std::max(0.0, out.blind_from_s - 20 * out.deadline_s);
}

/// The frames from the cursor on, as View::room holds them.
struct WindowFrames {
  std::size_t first = 0, shown = 0;
  std::size_t late = 0, reused = 0, skipped = 0;
  double longest_s = 0;  ///< the longest response, or the deadline
};

WindowFrames fill_window(const Outputs& out, const Picture& picture, View& view) {
  const models::JitterRun& run = picture.run->frames;
  const std::size_t n = run.response_s.size();
  WindowFrames w{.shown = std::min(n, window_frames), .longest_s = out.deadline_s};
  w.first = std::min(n - w.shown,
                     static_cast<std::size_t>(std::max(0.0, std::floor(cursor_s(out, view) / out.deadline_s + 1e-6))));
  auto& [x, y, late_x, late_y, reused_x, reused_y, skipped_x, skipped_y] = view.room;
  std::size_t last_cause = 0;
  for (std::size_t i = 0; i < w.shown; ++i) {
    const FrameFate fate = run.fate[w.first + i];
    const double at = static_cast<double>(w.first + i), response = static_cast<double>(run.response_s[w.first + i]);
    x[i] = at;
    y[i] = fate == FrameFate::skipped ? std::nan("") : response;
    w.longest_s = std::max(w.longest_s, response);
    if (fate == FrameFate::late) {
      const std::size_t cause = std::min<std::size_t>(run.cause[w.first + i], picture.source_causes.size() - 1);
      // A burst is named at its first frame.
      const bool goes_on = w.late > 0 && cause == last_cause && late_x[w.late - 1] == at - 1;
      view.late_causes[w.late] = goes_on ? std::string_view() : std::string_view(picture.source_causes[cause]);
      last_cause = cause;
      late_x[w.late] = at;
      late_y[w.late++] = response;
    } else if (fate == FrameFate::reused) {
      reused_x[w.reused] = at;
      reused_y[w.reused++] = response;
    } else if (fate == FrameFate::skipped) {
      skipped_x[w.skipped] = at;
      skipped_y[w.skipped++] = out.deadline_s;
    }
  }
  return w;
}

}  // namespace

void draw_causes(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.causes.empty()) {
    widgets::paint_nothing(widgets::Painter::window(), widgets::canvas("causes", size, {t.px(40), t.px(20)}),
                           "No frame of this run missed its deadline.");
    return;
  }
  static constexpr std::size_t most = 6;
  std::array<ImU32, most> colours{};
  for (std::size_t i = 0; i < most; ++i) colours[i] = t.series_at(i);
  widgets::Plot plot("misses by cause", view.minutes,
                     {
                         .x =
                             {
                                 .kind = widgets::AxisKind::time,
                                 .lo = 0,
                                 .hi = picture.length_s,
                                 .label = "time in the run",
                                 .unit = "s",
                             },
                         .y = {.lo = 0, .hi = picture.most_per_minute * 1.25, .label = "misses per minute"},
                         .size = size,
                     });
  plot.stacked(picture.cause_labels, picture.minute_s, picture.misses_per_minute,
               {
                   .bars = true,
                   .width = 0.86f,
                   .colours = {colours.data(), picture.causes.size()},
                   .info = "what added most since the stack was last idle",
               });
  double at = std::min(cursor_s(out, view), picture.length_s);
  if (plot.drag_x("drag time", at, {.label = "", .lo = 0, .hi = picture.length_s - out.deadline_s}))
    view.time_s = std::max(0.0, at);
}

void draw_window(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (out.misses > 0 && !out.overloaded) {
    const float row = widgets::button_size("Longest blind stretch").y + t.px(6);
    if (widgets::button("Longest blind stretch")) view.time_s = std::max(0.0, out.blind_from_s - 20 * out.deadline_s);
    ImGui::SetCursorScreenPos({corner.x, corner.y + row});
    size.y -= row;
  }
  const WindowFrames w = fill_window(out, picture, view);
  const auto& [x, y, late_x, late_y, reused_x, reused_y, skipped_x, skipped_y] = view.room;
  const double begin = static_cast<double>(w.first), end = static_cast<double>(w.first + w.shown - 1);
  widgets::Plot plot("frames at the cursor", view.window,
                     {.x = {.lo = begin, .hi = std::max(end, begin + 1), .label = "frame"},
                      .y =
                          {
                              .lo = 0,
                              .hi = w.longest_s * 1.12,
                              .label = "response",
                              .unit = "s",
                          },
                      .size = size});
  plot.line("response", {x.data(), w.shown}, {y.data(), w.shown},
            {
                .colour = t.series_at(0),
                .width = 1.5f,
                .label = false,
                .info = "from arrival to an answer",
            });
  plot.scatter("late", {late_x.data(), w.late}, {late_y.data(), w.late},
               {
                   .colour = t.warning,
                   .marker = Marker::triangle,
                   .radius = 4.5f,
                   .labels = {view.late_causes.data(), w.late},
                   .info = "answered after the deadline; next to it what added most since the stack was last idle",
               });
  if (out.totals.reused > 0)
    plot.scatter("last result reused", {reused_x.data(), w.reused}, {reused_y.data(), w.reused},
                 {
                     .colour = t.warning,
                     .marker = Marker::square,
                     .radius = 4,
                     .info = "given up at the watchdog's limit",
                 });
  if (out.totals.skipped > 0)
    plot.scatter("skipped", {skipped_x.data(), w.skipped}, {skipped_y.data(), w.skipped},
                 {
                     .colour = t.warning,
                     .marker = Marker::diamond,
                     .radius = 4,
                     .info = "arrived while the stack was busy",
                 });
  plot.horizontal_mark(out.deadline_s, "deadline", {.colour = t.bad});
}

}  // namespace chapters::driving::jitter
