#include <algorithm>
#include <cmath>

#include "chapters/distributed/planner/causes.h"
#include "chapters/distributed/planner/lab.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// The staircase from your plan to the fastest: a bar for each plan on the way, its seconds by cause.
namespace chapters::distributed::planner {
namespace {

using widgets::Painter, widgets::Type;

/// Where the bars stand: `full_s` is as high as the room.
struct Stair {
  widgets::Rect room;
  double full_s = 1;
  float pitch = 0, bar = 0;
  float left(std::size_t i) const { return room.min.x + static_cast<float>(i) * pitch; }
  float top(double seconds) const {
    return room.max.y - static_cast<float>(seconds / full_s) * (room.max.y - room.min.y);
  }
};

void draw_bar(const Painter& painter, const Stair& stair, std::size_t i, const PlanCard& card, bool hot) {
  const auto& t = widgets::theme();
  const float left = stair.left(i), right = left + stair.bar;
  double sum = 0;
  for (const CauseGroup& g : cause_groups) {
    const double s = seconds_of(g, card.price.parts);
    const float bottom = stair.top(sum), top = stair.top(sum + s);
    sum += s;
    const ImU32 fill = hue_of(g);
    painter.rect({left, top}, {right, bottom}, fill);
    if (bottom - top > t.type(Type::small) + t.px(4))
      painter.text_fit({(left + right) / 2, (top + bottom) / 2 - t.type(Type::small) / 2},
                       widgets::format(s, "s").view(), stair.bar - t.px(4), g.pale ? t.text : widgets::text_on(fill, t),
                       Type::small, widgets::Font::mono, widgets::Align::center);
  }
  painter.line({left, stair.top(card.price.step_s)}, {right, stair.top(card.price.step_s)}, hot ? t.accent : t.text,
               t.px(2));
}

/// What a GPU holds, as a flat vessel under the bar, its right end the wall.
void draw_memory(const Painter& painter, const PlanCard& card, double wall_bytes, float left, float right, float y) {
  const auto& t = widgets::theme();
  const float height = t.px(8);
  const bool over = card.price.memory_bytes > wall_bytes;
  const float share = static_cast<float>(std::min(1.0, card.price.memory_bytes / wall_bytes));
  painter.rect({left, y}, {left + share * (right - left), y + height}, over ? t.bad : t.muted, t.px(2));
  painter.frame({left, y}, {right, y + height}, t.line, t.px(1), t.px(2));
  widgets::Line words;
  words.add(widgets::format(card.price.memory_bytes, "B"));
  if (over) words.add(", does not fit");
  painter.text_fit({left, y + height + t.px(3)}, words.view(), 1.5f * (right - left), over ? t.bad : t.muted,
                   Type::small);
}

}  // namespace

void draw_way(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const std::vector<WayStep>& way = picture.run->way;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto painter = Painter::window();
  const float line = t.type(Type::small) + t.px(4), foot = 3 * line + t.px(24);
  Stair stair;
  stair.room = {{at.x, at.y + line}, {at.x + size.x, at.y + size.y - foot}};
  stair.full_s = 0;
  for (const WayStep& step : way) stair.full_s = std::max(stair.full_s, step.card.price.step_s);
  stair.pitch = size.x / static_cast<float>(way.size());
  stair.bar = 0.62f * stair.pitch;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const WayStep& step = way[i];
    const float left = stair.left(i), right = left + stair.bar, top = stair.top(step.card.price.step_s);
    ImGui::SetCursorScreenPos({left, at.y});
    ImGui::PushID(static_cast<int>(i));
    const bool pressed = widgets::press_area("make this plan yours", {stair.bar, size.y});
    ImGui::PopID();
    const bool hot = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    if (pressed && i > 0) choose(in, step.card.point);
    if (pressed && i == 0) view.own = view.own == picture.version ? 0 : picture.version;
    draw_bar(painter, stair, i, step.card, hot);
    painter.text_fit({(left + right) / 2, top - line}, widgets::format(step.card.price.step_s, "s").view(), stair.pitch,
                     t.text, Type::small, widgets::Font::mono, widgets::Align::center);
    const float under = stair.room.max.y + t.px(4);
    painter.text_fit({left, under}, i == 0 ? std::string_view("yours") : std::string_view(step.changed),
                     stair.pitch - t.px(6), i == 0 ? t.accent : t.text, Type::small, widgets::Font::bold);
    if (i > 0) {
      widgets::Line gain;
      gain.add(step.gain_s < 0 ? "+" : "-").add(widgets::format(std::abs(step.gain_s), "s"));
      painter.text_fit({left, under + line}, gain.view(), stair.pitch - t.px(4), step.gain_s < 0 ? t.bad : t.good,
                       Type::small, widgets::Font::mono);
    }
    draw_memory(painter, step.card, out.wall_bytes, left, right, under + 2 * line);
    if (hot) widgets::tip(step.card.name, widgets::format(step.card.price.step_s, "s").view(), step.card.details);
    if (i == 0) continue;
    // The riser from the tread before, and what it gains.
    const float riser = left - (stair.pitch - stair.bar) / 2, before = stair.top(way[i - 1].card.price.step_s);
    painter.line({stair.left(i - 1) + stair.bar, before}, {riser, before}, t.accent, t.px(2));
    painter.line({riser, before}, {riser, top}, t.accent, t.px(2));
    painter.line({riser, top}, {left, top}, t.accent, t.px(2));
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::planner
