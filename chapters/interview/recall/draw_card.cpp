#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "chapters/interview/recall/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"

namespace chapters::interview::recall {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

constexpr std::array<const char*, 4> sure_labels{"25 %##sure", "50 %##sure", "75 %##sure", "95 %##sure"};
constexpr std::array<const char*, 4> grade_labels{"Again##grade", "Hard##grade", "Good##grade", "Easy##grade"};

void paint_ring(const Painter& p, ImVec2 centre, float radius, double limit, double elapsed) {
  const auto& t = theme();
  const double left = std::max(0.0, limit - elapsed), share = left / limit;
  p.ring(centre, radius, t.line, t.px(5));
  constexpr int most = 64;
  std::array<ImVec2, most + 1> arc;
  const int n = static_cast<int>(std::lround(share * most));
  for (int i = 0; i <= n; ++i) {
    const float a = 6.2831853f * (static_cast<float>(i) / static_cast<float>(most) - 0.25f);
    arc[static_cast<std::size_t>(i)] = {centre.x + radius * std::cos(a), centre.y + radius * std::sin(a)};
  }
  if (n > 0) p.polyline({arc.data(), static_cast<std::size_t>(n) + 1}, share < 0.2 ? t.warning : t.text, t.px(5));
  std::array<char, 16> words;
  const int whole = static_cast<int>(std::ceil(left));
  std::snprintf(words.data(), words.size(), "%d:%02d", whole / 60, whole % 60);
  const ImVec2 size = widgets::text_size(words.data(), Type::body, Font::mono);
  p.text({centre.x, centre.y - size.y / 2}, words.data(), left > 0 ? t.text : t.bad, Type::body, Font::mono,
         Align::center);
}

/// Where the parts of the card stand, screen px.
struct CardFrame {
  ImVec2 corner{}, end{};
  float pad = 0, x = 0, inner = 0, foot = 0;
};

/// One point: covered, open, or said. Returns its height.
float draw_point(Inputs& in, const Picture& picture, View& view, const CardFrame& c, float y, std::size_t i, bool next,
                 double now) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float box = t.px(15), text_x = c.x + box + t.px(12), room = c.inner - box - t.px(12);
  const std::string& words = picture.card->points[i];
  const float high = std::max(widgets::wrapped_text(p, {}, words, room, t.text, {.paint = false}), box + t.px(4));
  const bool open = static_cast<std::int64_t>(i) < view.uncovered;
  const std::uint64_t bit = std::uint64_t{1} << i;
  const bool said = (static_cast<std::uint64_t>(view.said_mask) & bit) != 0;
  ImGui::PushID(static_cast<int>(i));
  ImGui::SetCursorScreenPos({c.x, y});
  const bool can = view.sure_percent >= 0;
  const bool pressed = widgets::press_area("point", {c.inner, high}) && can;
  const bool hot = can && (ImGui::IsItemHovered() || ImGui::IsItemFocused());
  ImGui::PopID();
  if (pressed && open) view.said_mask = static_cast<std::int64_t>(static_cast<std::uint64_t>(view.said_mask) ^ bit);
  if (pressed && !open) uncover(in, picture, view, now);
  const ImVec2 corner{c.x, y + t.px(1)}, end{c.x + box, y + t.px(1) + box};
  if (said) {
    p.rect(corner, end, t.good, t.px(3));
    p.text({corner.x + box / 2, corner.y - t.px(1)}, "\xE2\x9C\x93", widgets::text_on(t.good, t), Type::small,
           Font::bold, Align::center);
  } else {
    p.frame(corner, end, hot ? t.text : t.muted, t.px(1.2f), t.px(3));
  }
  if (open) {
    widgets::wrapped_text(p, {text_x, y}, words, room, said ? t.text : t.muted);
  } else {
    const widgets::Rect bar{{text_x, y}, {text_x + room, y + high - t.px(3)}};
    p.rect(bar.min, bar.max, t.card, t.px(4));
    widgets::hatch(p, bar, widgets::with_alpha(t.muted, next && can ? 0.5f : 0.25f));
    if (hot || (next && can)) p.frame(bar.min, bar.max, hot ? t.text : t.line, 1, t.px(4));
  }
  return high + t.px(7);
}

void draw_points(Inputs& in, const Picture& picture, View& view, const CardFrame& c, float y, double now) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const auto& points = picture.card->points;
  const float room = c.inner - t.px(27), least = t.px(19);
  const auto height = [&](std::size_t i) {
    return std::max(widgets::wrapped_text(p, {}, points[i], room, t.text, {.paint = false}), least) + t.px(7);
  };
  // Where not all have room, those around the next one are shown.
  const auto next = static_cast<std::size_t>(
      std::clamp<std::int64_t>(view.uncovered, 0, static_cast<std::int64_t>(points.size()) - 1));
  std::size_t first = 0;
  float high = 0;
  for (std::size_t i = 0; i <= next; ++i) high += height(i);
  while (first < next && y + high > c.foot) high -= height(first++);
  for (std::size_t i = first; i < points.size(); ++i) {
    const float needs = height(i);
    if (i > next && y + needs > c.foot) break;
    y += draw_point(in, picture, view, c, y, i, i == static_cast<std::size_t>(view.uncovered), now);
  }
  if (view.uncovered < static_cast<std::int64_t>(points.size()) || picture.card->why.empty()) return;
  const float why = widgets::wrapped_text(p, {}, picture.card->why, c.inner, t.muted, {.paint = false});
  if (y + t.px(4) + why <= c.foot) widgets::wrapped_text(p, {c.x, y + t.px(4)}, picture.card->why, c.inner, t.muted);
}

/// Four buttons in a row from `x`; returns which was pressed, from 1, and 0 where none was.
int four_buttons(const std::array<const char*, 4>& labels, float x, float y, float width, float high) {
  const auto& t = theme();
  const float gap = t.px(8), each = std::min(t.px(88), (width - 3 * gap) / 4);
  int pressed = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ImGui::SetCursorScreenPos({x + static_cast<float>(i) * (each + gap), y});
    if (widgets::button(labels[i], false, {each, high})) pressed = static_cast<int>(i) + 1;
  }
  return pressed;
}

/// The way to the lab at the right end of the foot.
void draw_way(const Picture& picture, View& view, const CardFrame& c, float y) {
  const auto& t = theme();
  constexpr std::string_view words = "open the lab";
  const ImVec2 size = widgets::text_size(words, Type::small);
  const ImVec2 at{c.x + c.inner - size.x, y};
  ImGui::SetCursorScreenPos(at);
  if (widgets::press_area("open the lab", {size.x, size.y + t.px(4)})) view.requests.open_link = picture.card->lab;
  const Painter p = Painter::window();
  p.text(at, words, t.accent, Type::small);
  if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
    p.line({at.x, at.y + size.y}, {at.x + size.x, at.y + size.y}, t.accent);
}

/// A box for whoever would rather write than speak; true when Enter ends it.
bool draw_say_box(View& view, ImVec2 at, float width, float high) {
  const auto& t = theme();
  ImGui::SetCursorScreenPos(at);
  ImGui::SetNextItemWidth(width);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(10), (high - ImGui::GetFontSize()) / 2});
  const bool entered = ImGui::InputTextWithHint("##say it", "say it aloud, or type it; then Space uncovers", view.typed,
                                                sizeof view.typed, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopStyleVar();
  return entered;
}

void draw_foot(Inputs& in, const Picture& picture, View& view, const CardFrame& c, Stage stage, bool grades,
               double now) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float y = c.foot + t.px(8), high = t.px(30), middle = y + (high - t.type(Type::small)) / 2;
  if (stage == Stage::waiting) return;
  if (stage == Stage::sure) {
    constexpr std::string_view ask = "How sure are you?";
    const float asks = widgets::text_size(ask, Type::body, Font::bold).x + t.px(14);
    const bool fits = c.inner > asks + t.px(4 * 60);
    if (fits) p.text({c.x, y + (high - t.type(Type::body)) / 2}, ask, t.text, Type::body, Font::bold);
    const float from = fits ? asks : 0;
    if (const int pressed = four_buttons(sure_labels, c.x + from, y, c.inner - from, high))
      say_sure(view, sure_choices[static_cast<std::size_t>(pressed) - 1], now);
    return;
  }
  widgets::Line words;
  const auto points = static_cast<std::int64_t>(picture.card->points.size());
  const bool wrote = stage == Stage::speaking && view.typed[0] != '\0';
  words.add_integer(std::popcount(static_cast<std::uint64_t>(view.said_mask))).add(" of ").add_integer(points);
  words.add(stage == Stage::speaking ? " said; tick what you said" : " said. Grade yourself: 1 to 4");
  const float way = stage == Stage::grading ? widgets::text_size("open the lab", Type::small).x + t.px(16) : 0;
  if (stage == Stage::grading) draw_way(picture, view, c, middle);
  if (stage == Stage::grading && grades && picture.pressable) {
    if (const int pressed = four_buttons(grade_labels, c.x, y, c.inner - way, high))
      give_grade(in, picture, view, pressed, now);
    return;
  }
  if (stage == Stage::speaking) {
    const float wide = widgets::button_size("Uncover").x, room = c.inner - wide - t.px(12);
    bool pressed = false;
    if (view.uncovered == 0)
      pressed = draw_say_box(view, {c.x, y}, room, high);
    else if (wrote)
      p.text_fit({c.x, middle}, view.typed, room, t.accent, Type::small);
    else
      p.text_fit({c.x, middle}, words.view(), room, t.muted, Type::small);
    ImGui::SetCursorScreenPos({c.x + c.inner - wide, y});
    pressed = widgets::button("Uncover", true, {0, high}) || pressed;
    if (pressed) uncover(in, picture, view, now);
    return;
  }
  p.text_fit({c.x, middle}, words.view(), c.inner - way, t.muted, Type::small);
}

}  // namespace

void draw_card(Inputs& in, const Picture& picture, View& view, ImVec2 size, bool grades, double now) {
  const auto& t = theme();
  const Painter p = Painter::window();
  CardFrame c;
  c.corner = ImGui::GetCursorScreenPos();
  c.end = {c.corner.x + size.x, c.corner.y + size.y};
  const bool low = size.y < t.px(250);
  c.pad = low ? t.px(10) : t.px(18);
  c.x = c.corner.x + c.pad;
  c.inner = size.x - 2 * c.pad;
  c.foot = c.end.y - c.pad - t.px(38);
  p.rect(c.corner, c.end, t.panel, t.px(10));
  p.frame(c.corner, c.end, t.line, t.px(1.5f), t.px(10));
  const Stage stage = stage_of(in, picture, view);
  const double limit = limit_of(in.clock);
  const float radius = limit > 0 ? t.px(low ? 24 : 34) : 0, words = c.inner - (limit > 0 ? 2 * radius + t.px(16) : 0);
  float y = c.corner.y + c.pad;
  const float due = widgets::text_size(picture.today, Type::small).x;
  widgets::fit_text(p, {c.x, y}, picture.heading, words - due - t.px(12), t.muted, Type::small);
  if (due < 0.5f * words) p.text({c.x + words, y}, picture.today, t.muted, Type::small, Font::sans, Align::right);
  y += t.type(Type::small) + t.px(9);
  const std::string& question = picture.card->question;
  const float large = widgets::wrapped_text(p, {}, question, words, t.text, {.type = Type::title, .paint = false});
  const bool small = low || large > 0.3f * size.y;
  y += widgets::wrapped_text(p, {c.x, y}, question, words, t.text,
                             {.type = small ? Type::body : Type::title, .font = Font::bold}) +
       t.px(10);
  if (limit > 0) {
    const double elapsed = view.started < 0 ? 0 : (view.stopped < 0 ? now : view.stopped) - view.started;
    const ImVec2 centre{c.x + c.inner - radius, c.corner.y + c.pad + radius};
    paint_ring(p, centre, radius - t.px(3), limit, elapsed);
    y = std::max(y, centre.y + radius + t.px(8));
    view.requests.awake = view.started >= 0 && view.stopped < 0 && elapsed < limit;
  }
  draw_points(in, picture, view, c, y, now);
  draw_foot(in, picture, view, c, stage, grades, now);
}

}  // namespace chapters::interview::recall
