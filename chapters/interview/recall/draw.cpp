#include <algorithm>
#include <cmath>

#include "chapters/interview/recall/draw_parts.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::interview::recall {
namespace {

using widgets::Plot, widgets::theme;

/// Space uncovers, 1 to 4 say how sure and then grade; not while something is typed.
void take_card_keys(Inputs& in, const Picture& picture, View& view, double now) {
  if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) || ImGui::GetIO().WantTextInput) return;
  constexpr std::array<ImGuiKey, 4> keys{ImGuiKey_1, ImGuiKey_2, ImGuiKey_3, ImGuiKey_4};
  const Stage stage = stage_of(in, picture, view);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!ImGui::IsKeyPressed(keys[i], false)) continue;
    if (stage == Stage::sure) say_sure(view, sure_choices[i], now);
    if (stage == Stage::grading && picture.pressable) give_grade(in, picture, view, static_cast<int>(i) + 1, now);
  }
  // Space presses whatever has the keyboard's focus; where nothing has, it uncovers.
  if (stage == Stage::speaking && !ImGui::IsAnyItemFocused() && ImGui::IsKeyPressed(ImGuiKey_Space, false))
    uncover(in, picture, view, now);
}

void draw_table(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (!picture.card) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = theme();
  const double now = ImGui::GetTime();
  follow_card(picture, view, now);
  if (!widgets::veiled()) take_card_keys(in, picture, view, now);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool both = size.y > t.px(430), apart = size.x > t.px(760);
  const float gap = t.px(18);
  const ImVec2 card{apart ? std::floor(0.6f * (size.x - gap)) : size.x,
                    both ? std::floor(0.52f * (size.y - gap)) : size.y};
  draw_card(in, picture, view, card, !both, now);
  if (apart) {
    ImGui::SetCursorScreenPos({corner.x + card.x + gap, corner.y});
    draw_wall(in, picture, {size.x - card.x - gap, card.y});
  }
  if (both) {
    ImGui::SetCursorScreenPos({corner.x, corner.y + card.y + gap});
    draw_memory(in, picture, view, {size.x, size.y - card.y - gap}, now);
  }
  widgets::drew("card");
}

void draw_workload(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("workload", view.workload,
            {.x = {.lo = 69, .hi = 99, .label = "kept before a card comes back", .unit = "%"},
             .y = {.lo = 0, .hi = picture.most_answers, .label = "answers a day"},
             .size = size,
             .ghost = false});
  plot.curves(picture.workload);
  double keep = in.retention, answers = picture.yours_answers;
  if (plot.drag_point("drag the retention", keep, answers,
                      {.label = picture.yours_words, .lo = 70, .hi = 98, .output = "reviews_per_day"}))
    in.retention = std::clamp(std::round(keep), 70.0, 98.0);
}

void draw_calendar(const Picture& picture, View& view, ImVec2 size) {
  Plot plot("calendar", view.calendar,
            {.x = {.label = "days from today"}, .y = {.lo = 0, .label = "cards"}, .size = size});
  plot.curves(picture.calendar);
}

/// What keeping more costs, and the plan day by day next to it where there is room.
void draw_plan(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = theme().px(20);
  const bool apart = size.x > theme().px(720);
  const float half = std::floor((size.x - gap) / 2);
  draw_workload(in, picture, view, {apart ? half : size.x, size.y});
  if (!apart) return;
  ImGui::SetCursorScreenPos({corner.x + half + gap, corner.y});
  draw_calendar(picture, view, {half, size.y});
}

void draw_calibration(const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  widgets::heading("Above the line you know more than you think, below it less", "", size.x);
  const float head = ImGui::GetCursorScreenPos().y - corner.y;
  Plot plot("calibration", view.calibration,
            {.x = {.lo = 0, .hi = 100, .label = "how sure you said you were", .unit = "%"},
             .y = {.lo = 0, .hi = 104, .label = "known", .unit = "%"},
             .size = {size.x, size.y - head},
             .ghost = false});
  plot.curves(picture.calibration);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs&, const Picture& picture, View& view) {
  stage.panel("card", {.title = "The card", .least = {560, 520}, .ideal = {0, 900}, .answers = true, .marks = "card"},
              [&](ImVec2 size) { draw_table(in, picture, view, size); });
  stage.panel("deck", {.title = "The deck", .least = {700, 420}}, [&](ImVec2 size) {
    if (picture.card) draw_wall(in, picture, size);
  });
  stage.panel("plan", {.title = "The plan and its price", .least = {380, 230}},
              [&](ImVec2 size) { draw_plan(in, picture, view, size); });
  stage.panel("calibration", {.title = "How sure, how right", .least = {380, 260}},
              [&](ImVec2 size) { draw_calibration(picture, view, size); });
}

}  // namespace chapters::interview::recall
