#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "chapters/interview/drills/lab.h"
#include "chapters/interview/shared/paper.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

/// The card: question, clock, box for the answer, verdict with its steps; readiness by topic under it.
namespace chapters::interview::drills {
namespace {

using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

struct Shown {
  const DrillQuestion& question;
  std::string_view heading;
  const DrillMark* mark;  ///< null: not answered
  bool solution;
  double elapsed_s, limit_s;
};

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

/// Verdict, steps and the way into the lab; returns the height. `link_at` receives where the link stands.
float paint_solution(const Painter& p, ImVec2 at, float width, const Shown& s, bool paint, ImVec2& link_at) {
  const auto& t = theme();
  const float pad = t.px(16), inner = width - 2 * pad;
  float y = pad * 0.8f;
  const ImVec2 text_at{at.x + pad, at.y};
  if (s.mark) {
    const ImU32 colour = s.mark->right ? t.good : s.mark->late ? t.warning : t.bad;
    const std::string_view sign = s.mark->right ? "\xE2\x9C\x93" : "\xC3\x97";
    if (paint) p.text({text_at.x, at.y + y}, sign, colour, Type::body, Font::bold);
    y += widgets::wrapped_text(p, {text_at.x + t.px(22), at.y + y}, s.mark->verdict, inner - t.px(22), colour,
                               {.type = Type::body, .font = Font::bold, .paint = paint}) +
         t.px(6);
  }
  for (const auto& step : s.question.steps)
    y += widgets::wrapped_text(p, {text_at.x, at.y + y}, step, inner, t.text, {.font = Font::mono, .paint = paint}) +
         t.px(3);
  link_at = {at.x + width - pad, at.y + y};
  return y + t.px(30);
}

void record(Inputs& in, const Outputs& out, const Picture& picture, View& view, double now) {
  const double seconds = view.running ? std::max(0.0, now - view.started) : 0;
  DrillMark mark = grade(out.asked, view.typed, seconds, out.limit_s);
  view.refused = mark.read ? std::string() : mark.verdict;
  if (!mark.read) return;
  view.held = out.asked;
  view.held_heading = picture.heading;
  view.held_seconds = seconds;
  view.mark = std::move(mark);
  view.holding = true;
  view.running = false;
  add_record(in.history, {out.asked.drill->id, static_cast<std::int64_t>(out.asked.seed), view.mark.said,
                          view.mark.right, seconds, in.now_s > 0 ? in.now_s + (now - view.first) : 0});
}

void next(View& view, double now) {
  view.holding = false;
  view.typed[0] = '\0';
  view.refused.clear();
  view.running = view.focus = true;  // a round goes on: the clock starts with the question
  view.started = now;
}

/// A link whose right end is at `end`; true when it is clicked, or Enter is pressed on it.
bool right_link(const Painter& p, const char* id, std::string_view label, ImVec2 end) {
  const auto& t = theme();
  const ImVec2 size = widgets::text_size(label, Type::small);
  ImGui::SetCursorScreenPos({end.x - size.x, end.y});
  const bool pressed = ImGui::InvisibleButton(id, {size.x, size.y + t.px(4)}, ImGuiButtonFlags_EnableNav);
  p.text({end.x - size.x, end.y}, label, t.accent, Type::small);
  if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
    p.line({end.x - size.x, end.y + size.y}, {end.x, end.y + size.y}, t.accent);
  return pressed;
}

void draw_topics(const Outputs& out, ImVec2 at, float width) {
  const auto& t = theme();
  const Painter p = Painter::window();
  p.text(at, "Readiness", t.text, Type::body, Font::bold);
  p.text_fit({at.x + t.px(96), at.y + t.px(2)}, "per cent right that your answers support with 95 % confidence",
             width - t.px(96), t.muted, Type::small);
  const int columns = std::max(1, static_cast<int>(width / t.px(150)));
  const float gap = t.px(20), cell = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns),
              row = t.px(44);
  int i = 0;
  for (const TopicStanding& s : out.topics) {
    share_bar(p,
              {at.x + static_cast<float>(i % columns) * (cell + gap),
               at.y + t.px(30) + static_cast<float>(i / columns) * row},
              cell, s.label, s.ready, -1, s.asked > 0);
    ++i;
  }
  const float height = t.px(34) + row * static_cast<float>((i + columns - 1) / columns);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  if (widgets::Record* record = p.record()) {
    widgets::DataTable table{"Readiness by topic", {"topic", "asked", "right", "ready", "level", "due"}, {}};
    for (const TopicStanding& s : out.topics)
      table.rows.push_back({std::string(s.label), widgets::exact(s.asked), widgets::exact(s.right),
                            widgets::exact(s.ready), std::to_string(s.level), std::to_string(s.due)});
    record->tables.push_back(std::move(table));
  }
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = theme();
  const Painter p = Painter::window();
  const double now = ImGui::GetTime();
  if (view.first < 0) view.first = now;
  if (view.asked_drill != out.asked.drill || view.asked_seed != out.asked.seed) {
    if (view.asked_drill && !view.holding) {  // another topic or drill was chosen: its clock has not begun
      view.running = false;
      view.typed[0] = '\0';
      view.refused.clear();
    }
    view.asked_drill = out.asked.drill;
    view.asked_seed = out.asked.seed;
  }
  // An answer from a scenario is graded and shown, not kept.
  const bool shows_said = !view.said.empty() && !view.holding;
  if (shows_said && (view.held.drill != out.asked.drill || view.held.seed != out.asked.seed ||
                     view.held.text != out.asked.text || view.mark.verdict.empty())) {
    view.held = out.asked;
    view.mark = grade(out.asked, view.said, 0, 0);
    std::snprintf(view.typed, sizeof view.typed, "%s", view.said.c_str());
  }
  const Shown s{view.holding ? view.held : out.asked,
                view.holding ? std::string_view(view.held_heading) : std::string_view(picture.heading),
                view.holding || shows_said ? &view.mark : nullptr,
                view.holding || shows_said || in.reveal,
                view.holding   ? view.held_seconds
                : view.running ? now - view.started
                               : 0,
                out.limit_s};

  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, width = std::min(room, t.px(700)),
              left = corner.x + (room - width) / 2, pad = std::min(t.px(32), width * 0.06f);
  const float ring = s.limit_s > 0 ? t.px(40) : 0, inner = width - 2 * pad,
              words = inner - (ring > 0 ? 2 * ring + t.px(24) : 0);
  const ImVec2 text_at{left + pad, corner.y + pad};
  const float heading = t.px(30), asked = widgets::wrapped_text(p, text_at, s.question.text, words, t.text,
                                                                {.type = Type::title, .paint = false});
  const float question = std::max(asked, 2 * ring - heading + t.px(8)) + t.px(14), box = t.px(44);
  const bool hinted = !out.hint.empty() && !view.holding;
  const float hint =
      hinted
          ? widgets::wrapped_text(p, text_at, out.hint, inner, t.muted, {.font = Font::mono, .paint = false}) + t.px(8)
          : 0;
  const float refused =
      view.refused.empty()
          ? 0
          : widgets::wrapped_text(p, text_at, view.refused, inner, t.warning, {.paint = false}) + t.px(8);
  ImVec2 link_at{};
  const float solution = s.solution ? paint_solution(p, {}, inner, s, false, link_at) + t.px(18) : 0;
  const float height = 2 * pad + heading + question + hint + box + t.px(26) + refused + solution;

  p.rect({left, corner.y}, {left + width, corner.y + height}, t.panel, t.px(12));
  p.frame({left, corner.y}, {left + width, corner.y + height}, t.line, 1, t.px(12));
  p.text_fit(text_at, s.heading, words, t.muted, Type::small);
  float y = text_at.y + heading;
  widgets::wrapped_text(p, {text_at.x, y}, s.question.text, words, t.text, {.type = Type::title});
  if (ring > 0) paint_clock(p, {left + width - pad - ring, text_at.y + ring}, ring - t.px(3), s);
  y += question;
  if (hinted) widgets::wrapped_text(p, {text_at.x, y}, out.hint, inner, t.muted, {.font = Font::mono});
  y += hint;

  const float button = t.px(110);
  ImGui::SetCursorScreenPos({text_at.x, y});
  ImGui::SetNextItemWidth(inner - button - t.px(12));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(12), (box - ImGui::GetFontSize()) / 2});
  if (view.focus && !view.holding) ImGui::SetKeyboardFocusHere();
  view.focus = false;
  ImGui::PushID(static_cast<int>(in.history.size()) * 2 +
                (view.holding ? 1 : 0));  // a box of its own for each question: nothing typed before comes back
  const bool entered = ImGui::InputTextWithHint(
      "##drill answer", s.question.unit.empty() ? "a number" : "a number and its unit", view.typed, sizeof view.typed,
      ImGuiInputTextFlags_EnterReturnsTrue | (view.holding ? ImGuiInputTextFlags_ReadOnly : 0));
  ImGui::PopID();
  if (ImGui::IsItemActivated() && !view.running && !view.holding) {
    view.running = true;
    view.started = now;
  }
  ImGui::PopStyleVar();
  ImGui::SetCursorScreenPos({text_at.x + inner - button, y});
  const bool pressed = widgets::button(view.holding ? "Next" : "Enter", true, {button, box});
  p.text_fit({text_at.x, y + box + t.px(6)}, s.question.unit_label, inner, t.muted, Type::small);
  const ImVec2 daily_at{text_at.x + inner, y + box + t.px(6)};
  if (in.now_s > 0 && !out.is_daily) {
    if (out.daily_done)
      p.text(daily_at, picture.daily, t.muted, Type::small, Font::sans, widgets::Align::right);
    else if (!view.holding && right_link(p, "question of the day", picture.daily, daily_at))
      in.drill = today_drill;
  }
  y += box + t.px(26);
  if (refused > 0) widgets::wrapped_text(p, {text_at.x, y}, view.refused, inner, t.warning);
  y += refused;
  if (s.solution) {
    const ImVec2 at{text_at.x, y + t.px(8)};
    p.rect(at, {at.x + inner, at.y + solution - t.px(18)}, t.card, t.px(8));
    paint_solution(p, at, inner, s, true, link_at);
    if (right_link(p, "open in the lab", "open in the lab", link_at)) view.requests.open_link = s.question.link;
  }
  draw_topics(out, {left, corner.y + height + t.px(24)}, width);

  const bool again = view.holding && ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
                     ImGui::IsKeyPressed(ImGuiKey_Enter, false);
  if (view.holding) {
    if (pressed || again || entered) next(view, now);
  } else if ((pressed || entered) && view.typed[0] != '\0') {
    view.said.clear();
    record(in, out, picture, view, now);
    if (!view.holding) view.focus = true;
  }
  view.requests.awake = view.running && !view.holding && out.limit_s > 0 && now - view.started < out.limit_s;
}

}  // namespace chapters::interview::drills
