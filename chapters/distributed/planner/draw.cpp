#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/planner/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::distributed::planner {
namespace {

using widgets::Type;
constexpr auto nothing = static_cast<std::size_t>(-1);

/// The plan whose dot is nearest to the pointer, within a few pixels.
std::size_t nearest_plan(const Picture& picture, const widgets::PlotFrame& frame) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (!(mouse.x >= frame.area.min.x && mouse.x < frame.area.max.x && mouse.y >= frame.area.min.y &&
        mouse.y < frame.area.max.y))
    return nothing;
  double least = std::pow(static_cast<double>(widgets::theme().px(9)), 2);
  std::size_t found = nothing;
  for (const PlanDot& dot : picture.dots) {
    const double dx = frame.x.pixel(dot.memory_bytes) - static_cast<double>(mouse.x),
                 dy = frame.y.pixel(dot.step_s) - static_cast<double>(mouse.y);
    if (dx * dx + dy * dy >= least) continue;
    least = dx * dx + dy * dy;
    found = dot.point;
  }
  return found;
}

void draw_marks(widgets::Plot& plot, const Outputs& out, const Picture& picture) {
  const auto& t = widgets::theme();
  const Run& run = *picture.run;
  plot.curves(picture.frontiers);
  if (!picture.published.x.empty()) plot.curve(picture.published);
  if (!run.second.name.empty()) {
    const double x = run.second.price.memory_bytes, y = run.second.price.step_s;
    plot.scatter("runner-up", std::span(&x, 1), std::span(&y, 1),
                 {.colour = t.text, .marker = widgets::Marker::square, .radius = 5});
  }
  if (!run.best.name.empty()) {
    const double x = run.best.price.memory_bytes, y = run.best.price.step_s;
    plot.scatter("fastest", std::span(&x, 1), std::span(&y, 1),
                 {.colour = t.text, .marker = widgets::Marker::diamond, .radius = 8, .output = "best_step_time_s"});
    plot.tag_y(y, {}, {.colour = t.text, .output = "best_step_time_s"});
    plot.tag_x(x, {}, {.colour = t.text, .output = "best_memory_bytes"});
  }
  if (run.yours.name.empty()) return;
  const double x = out.yours.memory_bytes, y = out.yours.step_s;
  plot.scatter("your plan", std::span(&x, 1), std::span(&y, 1),
               {.colour = t.accent, .radius = 7, .output = "step_time_s"});
}

/// Yours has a ring round it wherever it is.
void ring_yours(const Outputs& out, const Picture& picture, const View& view) {
  if (picture.run->yours.name.empty() || widgets::veiled()) return;
  const widgets::PlotFrame& frame = view.plans.scratch.frame;
  const ImVec2 at{static_cast<float>(frame.x.pixel(out.yours.memory_bytes)),
                  static_cast<float>(frame.y.pixel(out.yours.step_s))};
  if (!frame.area.contains(at)) return;
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  painter.ring(at, t.px(8), t.background, t.px(1.5f));
  painter.ring(at, t.px(10), widgets::with_alpha(t.accent, 0.45f), t.px(3));
}

/// Asks for the card of the plan under the pointer, says what the plot itself knows of it, and takes a press.
void show_hovered(Inputs& in, const Picture& picture, View& view) {
  const auto& t = widgets::theme();
  const widgets::PlotFrame& frame = view.plans.scratch.frame;
  const std::size_t point = nearest_plan(picture, frame);
  view.hovered = {picture.version, point};
  if (point == nothing) return;
  view.hover.ask(view.requests, view.hovered, [run = picture.run, in](const HoveredPlan& plan, Progress&) {
    PlanCard card = card_of(run->job, run->search->points[plan.point]);
    add_doors(in, card);
    return card;
  });
  if (const PlanCard* card = view.hover.answer(); card != nullptr && view.shown != view.hovered) {
    view.card = *card;
    view.shown = view.hovered;
  }
  const models::parallel::PlanPoint& plan = picture.run->search->points[point];
  widgets::Painter::window().ring(
      {static_cast<float>(frame.x.pixel(plan.memory_bytes)), static_cast<float>(frame.y.pixel(plan.step_s))}, t.px(6),
      t.text, t.px(2));
  widgets::Line value;
  value.add(widgets::format(plan.step_s, "s")).add(", ").add(widgets::format(plan.memory_bytes, "B"));
  const bool known = view.shown == view.hovered;
  widgets::tip(known ? std::string_view(view.card.name) : "a plan", value.view(),
               known ? std::string_view(view.card.details) : std::string_view());
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 3).x == 0 &&
      ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 3).y == 0)
    choose(in, plan);
}

/// What a question gives: the memory that there is. No range of an axis comes from plans.
void draw_given_plans(const Outputs& out, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  widgets::Plot plot(
      "plans, given", view.given_plans,
      {.x = {.lo = 0, .hi = 2.5 * out.wall_bytes, .label = "memory of the fullest GPU", .unit = "B"},
       .y = {.kind = widgets::AxisKind::log10, .lo = 1, .hi = 100, .label = "time of a step", .unit = "s"},
       .size = size,
       .legend = false,
       .interactive = false,
       .ghost = false});
  plot.vertical_mark(out.wall_bytes, "the memory", {.colour = widgets::theme().text, .dashed = false});
  plot.tag_x(out.wall_bytes, {}, {.colour = widgets::theme().text});
}

void draw_plans(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (!picture.run->search) {
    ImGui::Dummy(size);
    return;
  }
  if (widgets::veiled()) return draw_given_plans(out, view, size);
  {
    widgets::Plot plot("plans", view.plans,
                       {.x = {.lo = 0, .hi = picture.most_bytes, .label = "memory of the fullest GPU", .unit = "B"},
                        .y = {.kind = widgets::AxisKind::log10,
                              .lo = picture.least_s,
                              .hi = picture.most_s,
                              .label = "time of a step",
                              .unit = "s"},
                        .size = size});
    plot.curve(picture.wall);
    plot.curve(picture.fitting);
    plot.curve(picture.beyond);
    plot.vertical_mark(out.wall_bytes, {}, {.colour = t.text, .dashed = false});
    draw_marks(plot, out, picture);
  }
  widgets::drew("plans");
  if (!picture.run->best.name.empty() || !picture.run->yours.name.empty()) widgets::drew("fastest and yours");
  ring_yours(out, picture, view);
  if (ImGui::IsItemHovered())
    show_hovered(in, picture, view);
  else if (ImGui::IsWindowHovered())
    view.hovered = {};
}

/// The plans, and under them in one line how far such step times are off.
void draw_every_plan(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(6);
  const bool room = size.y > t.px(300) && picture.error_line < picture.unknown.size();
  draw_plans(in, out, picture, view, {size.x, size.y - (room ? line : 0)});
  if (!room) return;
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - line});
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + size.y - line + t.px(3)},
                    picture.unknown[picture.error_line], size.x, t.muted, Type::small);
  ImGui::Dummy({size.x, line});
}

/// "Make it yours", then the doors of a plan; shut are those whose lab cannot hold it.
std::span<const Door> doors_of(const PlanCard& card, std::array<Door, plan_door_count + 1>& out) {
  out[0] = {"make it yours", "Make it yours", {}};
  const std::size_t count = std::min(card.doors.size(), plan_door_count);
  for (std::size_t i = 0; i < count; ++i) out[i + 1] = card.doors[i].shown();
  return {out.data(), count + 1};
}

void draw_yours(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Run& run = *picture.run;
  const bool fits = !run.best.name.empty();
  // Until the plan under the pointer is priced, the one before it stays.
  const bool hovering =
      view.hovered.point != nothing && view.hovered.version == picture.version && view.shown.version == picture.version;
  const bool own = view.own == picture.version && !run.yours.name.empty();
  const PlanCard& card = hovering ? view.card : own ? run.yours : fits ? run.best : run.leanest;
  if (card.name.empty()) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const auto painter = widgets::Painter::window();
    painter.frame(corner, {corner.x + size.x, corner.y + size.y}, t.line, t.px(1.5f), t.px(8));
    painter.text_fit({corner.x + t.px(12), corner.y + t.px(12)}, "No plan fits.", size.x - t.px(24), t.muted);
    ImGui::Dummy(size);
    return;
  }
  const std::string_view heading = hovering ? "under the pointer"
                                   : own    ? "yours"
                                   : fits   ? "fastest that fits"
                                            : "needs the least memory";
  const ImVec2 at = ImGui::GetCursorScreenPos();
  std::array<Door, plan_door_count + 1> shown;
  const auto doors = doors_of(card, shown);
  const float doors_px = doors_height(doors, size.x);
  const bool room = size.y > t.px(200) && size.x > t.px(200);
  draw_card(card, heading, t.text, out.wall_bytes, {size.x, size.y - (room ? doors_px : 0)});
  if (!room) return;
  const int pressed = draw_doors(doors, {at.x, at.y + size.y - doors_px + t.px(6)}, size.x);
  if (pressed == 0) choose(in, card.point);
  const auto opened = static_cast<std::size_t>(pressed - 1);
  if (pressed > 0 && opened < card.doors.size()) view.requests.open_link = *card.doors[opened].link;
}

void draw_table_of(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "plan"},
                                                           {.key = "step_s"},
                                                           {.key = "later", .title = "Longer"},
                                                           {.key = "memory_bytes", .bar = true},
                                                           {.key = "mfu", .priority = 1},
                                                           {.key = "details", .priority = 2}}};
  view.table.draw("plans-table", out.plans, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("every-plan",
              {.title = "Every plan",
               .least = {430, 300},
               .ideal = {760, 0},
               .answers = true,
               .marks = "plans, fastest and yours"},
              [&](ImVec2 size) { draw_every_plan(in, out, picture, view, size); });
  stage.panel("fastest", {.title = "Fastest", .least = {300, 250}},
              [&](ImVec2 size) { draw_yours(in, out, picture, view, size); });
  // Where your plan is the fastest there is no way to go, and the runner-up's loss stands in its place.
  const bool way = picture.run->way.size() > 1;
  stage.panel("why-not", {.title = way ? "Why not yours" : "Runner-up", .least = {430, 220}}, [&](ImVec2 size) {
    if (way)
      draw_way(in, out, picture, view, size);
    else
      draw_lost(out, picture, size);
  });
  stage.panel("table", {.title = "Table and limits", .least = {430, 260}, .scrolls = true}, [&](ImVec2 size) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float under = unknown_height(picture);
    draw_table_of(out, view, {size.x, size.y - under - widgets::theme().px(6)});
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - under});
    draw_unknown(picture, {size.x, under});
  });
}

}  // namespace chapters::distributed::planner
