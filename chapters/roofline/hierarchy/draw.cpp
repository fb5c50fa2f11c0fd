#include <algorithm>
#include <array>

#include "chapters/roofline/hierarchy/draw_facts.h"
#include "chapters/roofline/hierarchy/draw_ladder.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::theme;

void draw_plot(Inputs& in, const Outputs& out, const Picture& pic, View& view, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  ImGui::SetCursorScreenPos(at);
  widgets::Plot plot("time against bytes", view.plot,
                     {
                         .x =
                             {
                                 .kind = widgets::AxisKind::log10,
                                 .lo = 1,
                                 .hi = 1e12,
                                 .label = "bytes moved",
                                 .unit = "B",
                             },
                         .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
                         .size = size,
                         .legend = false,
                     });
  const auto curve = [&](std::size_t index) {
    const LevelRow& row = out.levels[index];
    const LevelCurve& points = pic.curves[index];
    const bool selected = index == pic.selected;
    if (points.time_s.empty()) return;
    const std::span<const double> xs(pic.curve_bytes), ys(points.time_s);
    const std::size_t n = points.within;
    const widgets::LineOptions solid{
        .colour = level_colour(row),
        .width = selected ? 3.5f : 1.8f,
        .legend = false,
        .info = "latency + bytes / bandwidth",
    };
    plot.line(row.facts.label, xs.first(n), ys.first(n), solid);
    const std::size_t from = n > 0 ? n - 1 : 0;
    if (n < ys.size())
      plot.line(row.facts.label, xs.subspan(from), ys.subspan(from),
                {
                    .colour = level_colour(row),
                    .width = selected ? 2.5f : 1.2f,
                    .dashed = true,
                    .label = false,
                    .legend = false,
                    .info = "more bytes than the level holds: they pass through in pieces",
                });
    const std::array<double, 1> x{in.bytes}, y{row.time_s};
    plot.scatter(row.facts.label, x, y,
                 {
                     .colour = level_colour(row),
                     .radius = selected ? 5.5f : 3.5f,
                     .legend = false,
                     .info = row.human_time,
                 });
  };
  // The selected curve comes first, so that its name finds room before the others.
  if (pic.selected < out.levels.size()) curve(pic.selected);
  for (std::size_t i = 0; i < out.levels.size(); ++i)
    if (i != pic.selected) curve(i);
  if (out.reason.empty() && in.pattern == models::AccessPattern::stream)
    plot.vertical_mark(out.needed_in_flight_bytes, "latency x bandwidth",
                       {.colour = level_colour(out.levels[pic.selected])});
  const auto label = widgets::format(in.bytes, "B");
  plot.drag_x("bytes moved", in.bytes,
              {
                  .colour = t.accent,
                  .label = label,
                  .lo = 1,
                  .hi = 1e12,
              });
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (out.levels.empty()) return;
  const float width = std::max(room.x, t.px(620)), height = std::max(room.y, t.px(396));
  const auto rows = static_cast<float>(out.levels.size());
  const float ladder = t.px(36) + rows * std::clamp((height * 0.54f - t.px(36)) / rows, t.px(22), t.px(38));
  // Beside the question where there is room, else beside the title above it.
  const bool beside = widgets::text_size(question).x + basis_legend_width() + t.px(24) <= width;
  basis_legend(at.x + width, at.y - t.px(beside ? 24 : 48));
  draw_ladder(in, out, pic, at, {width, ladder});
  const float top = at.y + ladder + t.px(12), below = height - ladder - t.px(12);
  const float side = std::clamp(width * 0.36f, t.px(250), t.px(400)), plot = width - side - t.px(20);
  const bool roomy = below >= t.px(210);
  const float power = t.px(roomy ? 100 : 82);
  const ImVec2 facts{at.x + plot + t.px(20), top};
  draw_facts(out, pic, facts, {side, below - power - t.px(4)});
  draw_power(out, pic, {facts.x, at.y + height - power}, side, roomy);
  draw_plot(in, out, pic, view, {at.x, top}, {plot, below});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
}

}  // namespace chapters::roofline::hierarchy
