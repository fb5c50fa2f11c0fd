#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/interview/drills/draw_parts.h"
#include "chapters/interview/shared/word_link.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

/// The card: question, clock, box for the answer, verdict with its ruler and steps; beside it how the topics stand.
namespace chapters::interview::drills {
namespace {

using widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

void paint_clock(const Painter& p, ImVec2 centre, float radius, const Shown& s) {
  const auto& t = theme();
  const double left = std::max(0.0, s.limit_s - s.elapsed_s), share = s.limit_s > 0 ? left / s.limit_s : 0;
  p.ring(centre, radius, t.line, t.px(5));
  constexpr int most = 64;
  ImVec2 arc[most + 1];
  const int n = static_cast<int>(std::lround(share * most));
  constexpr float turn = 6.2831853f;
  for (int i = 0; i <= n; ++i) {
    const float a = turn * (static_cast<float>(i) / static_cast<float>(most) - 0.25f);
    arc[i] = {centre.x + radius * std::cos(a), centre.y + radius * std::sin(a)};
  }
  if (n == most)
    p.ring(centre, radius, t.accent, t.px(5));
  else if (n > 0)
    p.polyline({arc, static_cast<std::size_t>(n) + 1}, share < 0.2 ? t.warning : t.accent, t.px(5));
  char text[16];
  const int whole = static_cast<int>(std::ceil(left));
  std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  const ImVec2 size = widgets::text_size(text, Type::body, Font::mono);
  p.text({centre.x, centre.y - size.y / 2}, text, left > 0 ? t.text : t.bad, Type::body, Font::mono,
         widgets::Align::center);
}

/// The question of the day: done, or a link to it, right under the box.
void draw_daily(Inputs& in, const Outputs& out, const Picture& picture, const Painter& p, ImVec2 end, float room,
                bool offered) {
  const auto& t = theme();
  if (!(in.now_s > 0) || out.is_daily || widgets::text_size(picture.daily, Type::small).x > room) return;
  if (out.daily_done)
    p.text(end, picture.daily, t.muted, Type::small, Font::sans, widgets::Align::right);
  else if (offered && right_link(p, "question of the day", picture.daily, end))
    in.drill = today_drill;
}

/// Where the parts of the card stand.
struct CardPlace {
  ImVec2 corner, text_at;
  float width = 0, inner = 0, words = 0, ring = 0, pad = 0;
  Type type = Type::title;
};

CardPlace place_card(ImVec2 at, ImVec2 size, const Shown& s, bool open) {
  const auto& t = theme();
  CardPlace c;
  c.width = std::min(size.x, t.px(760));
  const bool low = size.y < t.px(300);
  c.pad = low ? t.px(12) : std::min(t.px(28), c.width * 0.05f);
  c.corner = {at.x + (size.x - c.width) / 2, at.y};
  c.text_at = {c.corner.x + c.pad, c.corner.y + c.pad};
  c.inner = c.width - 2 * c.pad;
  c.ring = s.limit_s > 0 ? t.px(low ? 30 : 38) : 0;
  c.words = c.inner - (c.ring > 0 ? 2 * c.ring + t.px(20) : 0);
  // A long question in a low card, or over its solution, is set smaller.
  const float asked =
      widgets::wrapped_text(Painter::window(), {}, s.card.question, c.words, t.text, {.type = c.type, .paint = false});
  if (open && (low || (s.solution && size.y < t.px(480)) || asked > 0.4f * size.y)) c.type = Type::body;
  return c;
}

/// The hint, as a formula where it is one; returns its height.
float draw_hint(const Painter& p, ImVec2 at, float width, std::string_view hint, std::string_view formula, View& view) {
  const auto& t = theme();
  if (formula.empty()) return widgets::wrapped_text(p, at, hint, width, t.muted) + t.px(8);
  ImGui::SetCursorScreenPos(at);
  return widgets::draw_formula("hint", formula, {}, view.hint, {.type = Type::body, .max_width = width}).y + t.px(8);
}

enum class Pressed : std::uint8_t { nothing, start, enter, next };

/// The row of the box and its button, `box` px high.
Pressed draw_box(const CardPlace& c, float y, float box, const Shown& s, bool open, View& view, std::size_t answered) {
  const auto& t = theme();
  if (!open) {
    ImGui::SetCursorScreenPos({c.text_at.x, y});
    return widgets::button("Start", true, {std::min(t.px(260), c.inner * 0.6f), box}) ? Pressed::start
                                                                                      : Pressed::nothing;
  }
  const float button = t.px(110);
  ImGui::SetCursorScreenPos({c.text_at.x, y});
  ImGui::SetNextItemWidth(c.inner - button - t.px(12));
  ImGui::PushFont(widgets::font_of(Font::sans), t.type(Type::body));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(12), (box - ImGui::GetFontSize()) / 2});
  if (view.focus && !view.holding) ImGui::SetKeyboardFocusHere();
  view.focus = false;
  // A box of its own for each question: nothing typed before comes back.
  ImGui::PushID(static_cast<int>(answered) * 2 + (view.holding ? 1 : 0));
  const bool entered = ImGui::InputTextWithHint(
      "##drill answer", s.question.unit.empty() ? "a number" : "a number and its unit", view.typed, sizeof view.typed,
      ImGuiInputTextFlags_EnterReturnsTrue | (view.holding ? ImGuiInputTextFlags_ReadOnly : 0));
  ImGui::PopID();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  ImGui::SetCursorScreenPos({c.text_at.x + c.inner - button, y});
  const bool pressed = widgets::button(view.holding ? "Next" : "Enter", true, {button, box});

  if (!pressed && !entered) return Pressed::nothing;
  return view.holding ? Pressed::next : Pressed::enter;
}

/// Heading, question and clock; returns the y below them.
float paint_asked(const Painter& p, const CardPlace& c, const Shown& s, bool open) {
  const auto& t = theme();
  widgets::fit_text(p, c.text_at, s.heading, c.words, t.muted, Type::small);
  float y = c.text_at.y + t.px(26);
  if (open)
    y += widgets::wrapped_text(p, {c.text_at.x, y}, s.card.question, c.words, t.text, {.type = c.type});
  else
    y += widgets::wrapped_text(p, {c.text_at.x, y},
                               "The question shows when you press Start, and its clock runs from then on.", c.inner,
                               t.text, {.type = Type::body});
  if (c.ring > 0 && open) {
    paint_clock(p, {c.corner.x + c.width - c.pad - c.ring, c.text_at.y + c.ring}, c.ring - t.px(3), s);
    y = std::max(y, c.text_at.y + 2 * c.ring + t.px(4));
  }
  return y + t.px(12);
}

/// The line under the box, and what was refused; returns the y below them.
float draw_under_box(const Painter& p, const CardPlace& c, float y, Inputs& in, const Outputs& out,
                     const Picture& picture, const View& view, const Shown& s, bool open) {
  const auto& t = theme();
  const float unit = open ? widgets::text_size(s.card.unit_label, Type::small).x : 0;
  if (open && !s.card.unit_label.empty())
    p.text_fit({c.text_at.x, y}, s.card.unit_label, c.inner, t.muted, Type::small);
  draw_daily(in, out, picture, p, {c.text_at.x + c.inner, y}, c.inner - unit - t.px(16), !view.holding);
  y += t.type(Type::small) + t.px(10);
  if (!view.refused.empty())
    y += widgets::wrapped_text(p, {c.text_at.x, y}, view.refused, c.inner, t.warning) + t.px(6);
  return y;
}

/// The foot of the card: a promise before the question is open, then a veil, then the solution.
void draw_foot(const Painter& p, const CardPlace& c, float y, float bottom, const Picture& picture, View& view,
               const Shown& s, bool open) {
  const auto& t = theme();
  if (!open) return paint_promise(p, {c.text_at.x, y + t.px(6)}, c.inner, bottom, picture);
  if (!s.solution) {
    const ImVec2 end{c.text_at.x + c.inner, bottom};
    widgets::draw_veil(p, {{c.text_at.x, y}, end}, "The answer on its ruler, and the steps to it");
    return;
  }
  ImVec2 link_at{};
  const float room = bottom - y,
              high = paint_solution(p, {c.text_at.x, y}, c.inner, room, s, view.ruler, false, link_at);
  p.rect({c.text_at.x, y}, {c.text_at.x + c.inner, y + std::min(high, room)}, t.card, t.px(8));
  paint_solution(p, {c.text_at.x, y}, c.inner, room, s, view.ruler, true, link_at);
  if (right_link(p, "open in the lab", "open in the lab", link_at)) view.requests.open_link = s.question.link;
}

Pressed draw_card(Inputs& in, const Outputs& out, const Picture& picture, View& view, const Shown& s, bool open,
                  ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  ImVec2 at = ImGui::GetCursorScreenPos();
  if (!open) {  // there is no more to show: the card lies in the middle of its room
    const float high = std::min(size.y, t.px(400));
    at.y += 0.4f * (size.y - high);
    size.y = high;
  }
  const CardPlace c = place_card(at, size, s, open);
  p.rect(c.corner, {c.corner.x + c.width, c.corner.y + size.y}, t.panel, t.px(12));
  p.frame(c.corner, {c.corner.x + c.width, c.corner.y + size.y}, t.line, 1, t.px(12));
  const bool low = size.y < t.px(300);
  widgets::drew("card");
  const float bottom = at.y + size.y - c.pad, box = t.px(low ? 34 : open ? 44 : 64);
  float y = paint_asked(p, c, s, open);
  if (open && !view.holding && !out.hint.empty() && y + t.px(40) + box < bottom)
    y += draw_hint(p, {c.text_at.x, y}, c.inner, picture.card.hint, picture.card.hint_formula, view);
  y = std::min(y, bottom - box);
  const Pressed pressed = draw_box(c, y, box, s, open, view, in.history.size());
  if (!open && c.ring > 0)  // the clock stands next to the button that starts it
    paint_clock(p, {c.text_at.x + std::min(t.px(260), c.inner * 0.6f) + t.px(20) + c.ring, y + box / 2},
                std::min(c.ring, box / 2 + t.px(4)) - t.px(3), s);
  y += box + t.px(6);
  if (y + t.type(Type::small) > bottom) return pressed;
  y = draw_under_box(p, c, y, in, out, picture, view, s, open);
  if (y + t.px(60) <= bottom) draw_foot(p, c, y, bottom, picture, view, s, open);
  return pressed;
}

void keep_table(const std::vector<TopicStanding>& topics, widgets::Record& record) {
  widgets::DataTable table{"Readiness by topic", {"topic", "asked", "right", "near", "ready"}, {}};
  for (const TopicStanding& topic : topics)
    table.rows.push_back({std::string(topic.label), widgets::exact(topic.asked), widgets::exact(topic.right),
                          widgets::exact(topic.near), widgets::exact(topic.ready)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!picture.run->asked.drill) return;
  stage.panel(
      "card", {.title = "Question", .least = {560, 330}, .ideal = {0, 600}, .answers = true, .marks = "card"},
      [&](ImVec2 size) {
        const double now = ImGui::GetTime();
        if (view.first < 0) view.first = now;
        follow_question(picture, view);
        if (view.round_over) {
          view.requests.awake = false;
          if (!draw_round_end(in, picture, view, size)) return;
          view.round_over = false;
          view.furthest = {};
          next_question(picture, view, now);
          return;
        }
        const bool shows_said = !view.said.empty() && !view.holding;
        const Shown s{view.holding ? view.held : picture.run->asked,
                      view.holding ? view.held_card : picture.card,
                      view.holding ? std::string_view(view.held_heading) : std::string_view(picture.heading),
                      view.holding || shows_said ? &view.mark : nullptr,
                      view.holding || shows_said || in.reveal,
                      view.holding   ? view.held_seconds
                      : view.running ? now - view.started
                                     : 0,
                      out.limit_s};
        const bool open = view.begun || !(out.limit_s > 0) || s.solution;
        Pressed pressed = draw_card(in, out, picture, view, s, open, size);
        if (pressed == Pressed::nothing && view.holding && ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
            ImGui::IsKeyPressed(ImGuiKey_Enter, false))
          pressed = Pressed::next;
        if (pressed == Pressed::start) begin_question(view, now);
        if (pressed == Pressed::next && in.history.size() % static_cast<std::size_t>(in.questions) == 0)
          view.round_over = true;
        else if (pressed == Pressed::next || view.goes_on)
          next_question(picture, view, now);
        if (pressed == Pressed::enter && view.typed[0] != '\0') {
          view.said.clear();
          record_answer(in, out, picture, view, now);
          if (!view.holding) view.focus = true;
        }
        view.requests.awake = view.running && !view.holding && out.limit_s > 0 && now - view.started < out.limit_s;
      });
  const auto rows = static_cast<float>(picture.standings.size());
  stage.panel("topics", {.title = "Share right, topic by topic", .least = {300, 50 + 18 * rows}}, [&](ImVec2 size) {
    widgets::draw_interval_bars(
        "standings", picture.standings, view.standings,
        {.lo = 0, .hi = 100, .unit = "%", .axis_label = "right, and what the answers support", .size = size});
    if (widgets::Record* record = Painter::window().record()) keep_table(picture.run->topics, *record);
  });
}

}  // namespace chapters::interview::drills
