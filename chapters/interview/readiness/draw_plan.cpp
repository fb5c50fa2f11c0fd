#include <algorithm>
#include <array>

#include "chapters/interview/readiness/lab.h"
#include "chapters/interview/shared/word_link.h"
#include "widgets/base/fit_text.h"
#include "widgets/base/parts.h"

/// The days to the interview: a column of minutes each, and today's list with a way into each piece.
namespace chapters::interview::readiness {
namespace {

using widgets::Painter, widgets::theme, widgets::Type;

ImU32 tint_of(models::StudyKind kind) { return theme().series_at(static_cast<std::size_t>(kind)); }

void draw_columns(Inputs& in, const PlanPicture& plan, View& view, ImVec2 size) {
  std::array<ImU32, models::study_kinds> colours{};
  for (std::size_t i = 0; i < plan.kinds.size(); ++i) colours[i] = tint_of(plan.kinds[i]);
  widgets::Plot plot("plan", view.plan,
                     {
                         .x = {.lo = 0.5, .hi = std::max(plan.last_day + 1, 7.0), .label = "day, 1 is today"},
                         .y = {.lo = 0, .hi = plan.most_minutes * 1.3, .label = "minutes"},
                         .size = size,
                     });
  plot.stacked(plan.names, plan.days, plan.minutes,
               {.bars = true,
                .width = 0.8f,
                .colours = {colours.data(), plan.kinds.size()},
                .info = "what is due first, then what raises most what your answers support"});
  double minutes = in.minutes_a_day, day = static_cast<double>(in.interview_in_days) + 0.5;
  if (plot.drag_y("drag the minutes a day", minutes, {.label = "minutes a day", .lo = 5, .hi = 240}))
    in.minutes_a_day = std::round(minutes / 5) * 5;
  if (plot.drag_x("drag the interview", day, {.label = "interview", .lo = 1.5, .hi = 60.5}))
    in.interview_in_days = std::clamp<std::int64_t>(std::llround(day - 0.5), 1, 60);
}

void draw_today(const PlanPicture& plan, View& view, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float row = t.type(Type::small) + t.px(10);
  widgets::fit_text(p, at, plan.heading, size.x, t.text, Type::small, widgets::Font::bold);
  const auto places = static_cast<std::size_t>(std::max(1.0f, (size.y - row) / row));
  const float act = widgets::text_size("start", Type::small).x + t.px(12);
  const std::size_t shown = plan.today.size() <= places ? plan.today.size() : std::max<std::size_t>(places, 2) - 1;
  if (shown < plan.today.size()) {
    widgets::Line more;
    more.add("and ").add_integer(static_cast<std::int64_t>(plan.today.size() - shown)).add(" more");
    p.text({at.x + t.px(16), at.y + row * static_cast<float>(shown + 1)}, more.view(), t.muted, Type::small);
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const Task& task = plan.today[i];
    const float y = at.y + row * static_cast<float>(i + 1), when = widgets::text_size(task.minutes, Type::small).x;
    p.rect({at.x, y + t.px(3)}, {at.x + t.px(8), y + t.px(11)}, tint_of(task.kind), t.px(2));
    widgets::fit_text(p, {at.x + t.px(16), y}, task.words, size.x - t.px(28) - act - when, t.text, Type::small);
    p.text({at.x + size.x - act, y}, task.minutes, t.muted, Type::small, widgets::Font::sans, widgets::Align::right);
    if (draw_link(p, static_cast<int>(i), "start", {at.x + size.x, y})) view.requests.open_link = task.link;
  }
}

}  // namespace

bool draw_link(const Painter& p, int id, const char* word, ImVec2 end) {
  ImGui::PushID(id);
  const bool pressed = right_link(p, word, word, end);
  ImGui::PopID();
  return pressed;
}

void draw_plan(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float list = std::min(size.x * 0.42f, t.px(380)), gap = t.px(24);
  draw_columns(in, picture.plan, view, {size.x - list - gap, size.y});
  draw_today(picture.plan, view, {at.x + size.x - list, at.y}, {list, size.y});
}

}  // namespace chapters::interview::readiness
