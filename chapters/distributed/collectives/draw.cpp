#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/collectives/lab.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::distributed::collectives {
namespace {

void draw_cost(Inputs& in, const Outputs& out, const Picture& p, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (p.bytes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  widgets::Plot plot(
      "time against bytes", view.cost,
      {.x = bytes_axis(p.bytes), .y = log_time_axis(p.least_s * 0.7, p.most_s * 1.4), .size = size, .legend = false});
  plot.curves(p.cost);
  for (const CrossingMark& c : p.crossings) {
    const double x = c.bytes, y = c.time_s;
    plot.scatter(
        "", std::span(&x, 1), std::span(&y, 1),
        {.colour = c.beside ? t.text : t.muted, .radius = c.beside ? 5.0f : 3.5f, .legend = false, .info = c.said});
    if (c.beside) plot.callout(x, y, c.size, c.said);
  }
  double bytes = in.bytes, time_s = out.time_s;
  plot.tag_y(time_s, {}, {.colour = t.accent, .output = "time_s"});
  plot.tag_x(bytes, {}, {.colour = t.accent});
  if (plot.drag_point("bytes", bytes, time_s, {.lo = p.bytes.front(), .hi = p.bytes.back(), .output = "time_s"}))
    in.bytes = std::clamp(bytes, 1.0, 1e12);
}

void draw_bus(const Inputs& in, const Outputs& out, const Picture& p, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (p.bytes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  widgets::Plot plot("bus bandwidth against bytes", view.bus,
                     {.x = bytes_axis(p.bytes),
                      .y = {.lo = 0, .label = "bus bandwidth", .unit = "B/s"},
                      .size = size,
                      .legend = false});
  plot.curves(p.bus);
  plot.horizontal_mark(in.bandwidth_bytes_per_s, "the link, one way", {.dashed = true});
  const double x = in.bytes, y = out.busbw_bytes_per_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1),
               {.colour = t.accent, .radius = 6, .legend = false, .output = "busbw_bytes_per_s"});
}

void draw_by_ranks(const Inputs& in, const Outputs& out, const Picture& p, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (p.ranks.empty()) {
    ImGui::Dummy(size);
    return;
  }
  widgets::Plot plot("time against ranks", view.by_ranks,
                     {.x = {.kind = widgets::AxisKind::log2,
                            .lo = p.ranks.front(),
                            .hi = p.ranks.back(),
                            .label = "ranks; lines join powers of two"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
                      .size = size,
                      .legend = false});
  plot.curves(p.by_ranks);
  const auto x = static_cast<double>(in.ranks);
  const double y = out.time_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1),
               {.colour = t.accent, .radius = 6, .legend = false, .output = "time_s"});
}

void draw_algorithms(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "algorithm"},
                                                           {.key = "time_s", .bar = true},
                                                           {.key = "steps"},
                                                           {.key = "sent_bytes"},
                                                           {.key = "busbw_bytes_per_s", .priority = 1}}};
  view.algorithms.draw("algorithms", out.algorithms, columns, size);
}

/// Chunks above, cost below; the curve gives way first where there is little room.
void draw_who(Inputs& in, const Outputs& out, const Picture& p, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float taken = 0;
  if (p.own.ranks > 0) {
    const widgets::ChunkBoardData board = board_of(p.own);
    const float room = size.y >= t.px(330) ? size.y * 0.58f : size.y;
    taken = widgets::draw_chunk_board("chunks", board, view.board, {size.x, room}) + t.px(8);
  }
  if (!p.no_chunks.empty())
    taken = widgets::wrapped_text(widgets::Painter::window(), at, p.no_chunks, size.x, t.text,
                                  {.type = widgets::Type::body}) +
            t.px(10);
  view.cost_apart = size.y - taken < t.px(110);
  if (!view.cost_apart) {
    ImGui::SetCursorScreenPos({at.x, at.y + taken});
    draw_cost(in, out, p, view, {size.x, size.y - taken});
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("who", {.title = "Who holds what", .least = {620, 420}, .answers = true},
              [&](ImVec2 size) { draw_who(in, out, picture, view, size); });
  if (picture.own.ranks > 0 && picture.beside.ranks > 0)
    stage.panel("pair", {.title = "Two on one clock", .least = {620, 440}},
                [&](ImVec2 size) { draw_pair(picture, view, size); });
  if (picture.own.ranks > 0)
    stage.panel("circle", {.title = "Who talks to whom", .least = {300, 260}}, [&](ImVec2 size) {
      widgets::draw_rank_circle("circle", board_of(picture.own), view.board.time, view.circle, size);
    });
  if (view.cost_apart)
    stage.panel("cost", {.title = "Time against bytes", .least = {340, 180}},
                [&](ImVec2 size) { draw_cost(in, out, picture, view, size); });
  draw_measured_run(stage, in.measured, picture.measured, view.measured);
  stage.panel("bus", {.title = "Bus bandwidth", .least = {340, 180}},
              [&](ImVec2 size) { draw_bus(in, out, picture, view, size); });
  stage.panel("ranks", {.title = "Against ranks", .least = {340, 180}},
              [&](ImVec2 size) { draw_by_ranks(in, out, picture, view, size); });
  stage.panel("algorithms", {.title = "Algorithms", .least = {400, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_algorithms(out, view, size); });
  draw_measured_parts(stage, picture.measured, view.measured);
  draw_weighed(stage, picture.measured, view.measured);
}

}  // namespace chapters::distributed::collectives
