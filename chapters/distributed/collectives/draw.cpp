#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/collectives/lab.h"
#include "chapters/distributed/shared/guess_marks.h"
#include "chapters/distributed/shared/panel_parts.h"
#include "widgets/base/marks.h"
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
  const auto* guess = guess_about({"crossing_bytes"});
  const widgets::Line words = guess ? guess_line(*guess) : widgets::Line();  // outlives the plot that points into it
  widgets::Plot plot("time against bytes", view.cost,
                     {.x = bytes_axis(p.bytes),
                      .y = widgets::veiled() ? log_time_axis(1e-6, 1) : log_time_axis(p.least_s * 0.7, p.most_s * 1.4),
                      .size = size,
                      .legend = false});
  plot.curves(p.cost);
  for (const CrossingMark& c : p.crossings) {
    const double x = c.bytes, y = c.time_s;
    plot.scatter(
        "", std::span(&x, 1), std::span(&y, 1),
        {.colour = c.beside ? t.text : t.muted, .radius = c.beside ? 5.0f : 3.5f, .legend = false, .info = c.said});
    if (c.beside && size.y >= t.px(170)) plot.callout(x, y, c.size, c.said);
  }
  double bytes = in.bytes, time_s = out.time_s;
  plot.tag_y(time_s, {}, {.colour = t.accent, .output = "time_s"});
  plot.tag_x(bytes, {}, {.colour = t.accent});
  if (guess) plot.vertical_mark(guess->value, words.view(), {.colour = t.accent});
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

/// While a question is open: the ranks with their buffers, empty.
float draw_empty_ranks(const BoardPicture& board, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const auto ranks = static_cast<float>(std::max<std::int64_t>(board.ranks, 1));
  at = {at.x + t.px(12), at.y + t.px(8)};
  const float step = (size.x - t.px(16)) / ranks, words = t.type(widgets::Type::small) + t.px(6);
  for (std::size_t r = 0; r < board.rank_names.size(); ++r) {
    const float x = at.x + step * static_cast<float>(r);
    widgets::fit_text(painter, {x, at.y}, board.rank_names[r], step - t.px(6), t.text, widgets::Type::small);
    painter.frame({x, at.y + words}, {x + step - t.px(8), at.y + size.y - t.px(4)}, t.line, t.px(1), t.px(4));
  }
  return size.y;
}

/// The cost, which answers, below; chunks above it in what is left.
void draw_who(Inputs& in, const Outputs& out, const Picture& p, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float least_cost = t.px(132), room = size.y - std::max(least_cost, 0.42f * size.y);
  float taken = 0;
  if (p.own.ranks > 0 && room >= t.px(120)) {
    const widgets::GivenMarks given;
    if (!widgets::veiled())
      taken = widgets::draw_chunk_board("chunks", board_of(p.own), view.board, {size.x, room}) + t.px(8);
    else
      taken = draw_empty_ranks(p.own, at, {size.x, room}) + t.px(8);
  }
  if (!p.no_chunks.empty() && !widgets::veiled())
    taken = widgets::wrapped_text(widgets::Painter::window(), at, p.no_chunks, size.x, t.text,
                                  {.type = widgets::Type::body}) +
            t.px(10);
  ImGui::SetCursorScreenPos({at.x, at.y + taken});
  draw_cost(in, out, p, view, {size.x, size.y - taken});
  if (const auto* guess = guess_about({"bytes_sent_per_rank"})) say_guess(*guess, {at.x + size.x, at.y + taken});
  widgets::drew("time curves");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("who", {.title = "Who holds what", .least = {620, 420}, .answers = true, .marks = "time curves"},
              [&](ImVec2 size) { draw_who(in, out, picture, view, size); });
  if (picture.own.ranks > 0) {
    const bool two = picture.beside.ranks > 0;
    const auto circle = [&](ImVec2 size) {
      widgets::draw_rank_circle("circle", board_of(picture.own), view.board.time, view.circle, size);
    };
    stage.panel("pair", {.title = "Step by step", .least = {two ? 900.0f : 300.0f, 440}}, [&](ImVec2 size) {
      const float side = two ? std::min(size.y, 0.36f * size.x) : size.x;
      if (two && size.x - side < widgets::theme().px(460)) return draw_pair(picture, view, size);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      if (two) draw_pair(picture, view, {size.x - side - widgets::theme().px(16), size.y});
      ImGui::SetCursorScreenPos({at.x + size.x - side, at.y});
      circle({side, size.y});
      ImGui::SetCursorScreenPos(at);
      ImGui::Dummy(size);
    });
  }
  draw_measured(stage, in.measured, picture.measured, view.measured);
  stage.panel("bus", {.title = "Bandwidth, ranks, algorithms", .least = {700, 340}, .scrolls = true}, [&](ImVec2 all) {
    draw_parts(
        all, all.x,
        [&](ImVec2 plots) {
          draw_parts(
              plots, 320, [&](ImVec2 size) { draw_bus(in, out, picture, view, size); },
              [&](ImVec2 size) { draw_by_ranks(in, out, picture, view, size); });
        },
        [&](ImVec2 size) { draw_algorithms(out, view, size); });
  });
}

}  // namespace chapters::distributed::collectives
