#include <algorithm>
#include <array>

#include "chapters/driving/jitter/draw_parts.h"
#include "widgets/plot/plot.h"

namespace chapters::driving::jitter {
namespace {

void mark_deadline(widgets::Plot& plot, const Outputs& out) {
  plot.vertical_mark(out.deadline_s, "deadline", {.colour = widgets::theme().bad, .output = "deadline_s"});
}

}  // namespace

void draw_histogram(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("answers by time", view.histogram,
                     {
                         .x = {.lo = 0, .hi = picture.histogram_s, .label = "response", .unit = "s"},
                         .y = {.kind = widgets::AxisKind::log10, .lo = 1e-3, .hi = 100, .label = "share", .unit = "%"},
                         .size = size,
                         .legend = false,
                     });
  plot.curve(picture.histogram);
  plot.vertical_mark(out.summary.p50_s, "P50", {.output = "p50_s"});
  plot.vertical_mark(out.summary.p99_s, "P99", {.colour = t.accent, .output = "p99_s"});
  mark_deadline(plot, out);
}

void draw_tail(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("slower than", view.tail,
                     {
                         .x = {.lo = std::min(out.summary.best_s, out.deadline_s) * 0.98,
                               .hi = std::max(out.summary.worst_s, out.deadline_s) * 1.05,
                               .label = "response",
                               .unit = "s"},
                         .y = {.kind = widgets::AxisKind::log10,
                               .lo = picture.min_tail_share * 0.6,
                               .hi = 150,
                               .label = "take longer",
                               .unit = "%"},
                         .size = size,
                         .legend = false,
                     });
  plot.curve(picture.tail);
  const std::array<double, 3> xs{out.summary.p50_s, out.summary.p99_s, out.summary.p999_s}, ys{50, 1, 0.1};
  static constexpr std::array<std::string_view, 3> names{"P50", "P99", "P99.9"};
  plot.scatter("percentiles", xs, ys,
               {.colour = t.accent,
                .marker = widgets::Marker::diamond,
                .radius = 5,
                .labels = names,
                .legend = false,
                .info = "nearest rank"});
  if (!picture.measured.x.empty()) plot.curve(picture.measured);
  mark_deadline(plot, out);
}

}  // namespace chapters::driving::jitter
