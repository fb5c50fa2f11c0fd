#include "app/shell/home/home.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "app/shell/home/own_lessons.h"
#include "app/shell/home/progress_ring.h"
#include "app/shell/pages/pages.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

constexpr float heading = 50, lab_ring = 5.5f, chapter_ring = 14;

constexpr float line_px = 20;  // design pixels from one line of small type to the next

/// Text that breaks at spaces into at most `lines` lines; the last one is shortened. Returns the y below it.
float lines_of(const Painter& p, ImVec2 at, std::string_view s, float width, int lines, ImU32 colour) {
  const auto& t = theme();
  const float step = t.px(line_px);
  for (int i = 0; i < lines && !s.empty(); ++i, at.y += step) {
    std::size_t end = 0;
    for (std::size_t next = 0; next <= s.size(); ++next) {
      if (next < s.size() && s[next] != ' ') continue;
      if (end > 0 && widgets::text_size(s.substr(0, next), Type::small).x > width) break;
      end = next;
    }
    if (i + 1 == lines) end = s.size();
    p.text_fit(at, s.substr(0, end), width, colour, Type::small);
    s.remove_prefix(std::min(end + 1, s.size()));
  }
  return at.y;
}

struct Door {
  ImVec2 at, end;  ///< inside the frame
  bool pressed = false;
};

/// A card that is one button. `again`: the one to press first.
Door door(const char* label, ImVec2 size, bool again, bool dashed) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + size.x, at.y + size.y};
  const bool pressed = widgets::press_area(label, size);
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  p.rect(at, end, again ? widgets::with_alpha(t.accent, 0.13f) : t.panel, t.px(8));
  if (dashed && !hovered) {
    const float r = t.px(1);
    for (const auto& [a, b] : {std::pair{at, ImVec2{end.x, at.y}}, std::pair{ImVec2{end.x, at.y}, end},
                               std::pair{end, ImVec2{at.x, end.y}}, std::pair{ImVec2{at.x, end.y}, at}})
      p.dashed_line(a, b, t.muted, r, t.px(4));
  } else {
    p.frame(at, end, again || hovered ? t.accent : t.line, t.px(again ? 1.5f : 1), t.px(8));
  }
  ui::focus_ring(t.px(8));
  const float pad = t.px(20);
  return {{at.x + pad, at.y + t.px(16)}, {end.x - pad, end.y - t.px(16)}, pressed};
}

/// A narrow door has no room for its picture beside the words.
bool pictured(const Door& d) { return d.end.x - d.at.x > theme().px(290); }

/// How many lines of text there is room for from `top` to the words at a door's foot: `most`, and one at least.
int lines_above_foot(const Door& d, float top, int most) {
  const auto& t = theme();
  const float room = d.end.y - t.type(Type::small) - t.px(6) - top;
  return std::clamp(static_cast<int>((room + t.px(line_px) - t.type(Type::small)) / t.px(line_px)), 1, most);
}

/// Heading, as many lines of text as there is room for, three at most, and what a press does. Returns whether it was
/// pressed.
bool worded_door(const Door& d, std::string_view title, std::string_view text, std::string_view go, float picture) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float width = d.end.x - d.at.x - (pictured(d) ? picture : 0);
  p.text_fit(d.at, title, width, t.text, Type::title, Font::bold);
  const float top = d.at.y + t.px(32);
  lines_of(p, {d.at.x, top}, text, width, lines_above_foot(d, top, 3), t.muted);
  p.text_fit({d.at.x, d.end.y - t.type(Type::small)}, go, d.end.x - d.at.x, t.accent, Type::small);
  return d.pressed;
}

void continue_door(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const HomeDoors& doors = shell.home.doors;
  const Door d = door("Continue", size, true, false);
  const Painter p = Painter::window();
  const float picture = t.px(84), width = d.end.x - d.at.x - picture;
  p.text_fit(d.at, "Continue where you were", d.end.x - d.at.x, t.accent, Type::small);
  p.text_fit({d.at.x, d.at.y + t.px(20)}, doors.lab_title, width, t.text, Type::title, Font::bold);
  const float top = d.at.y + t.px(52);
  lines_of(p, {d.at.x, top}, doors.lab_setting, width, lines_above_foot(d, top, 2), t.text);
  p.text_fit({d.at.x, d.end.y - t.type(Type::small)}, doors.lab_questions, d.end.x - d.at.x, t.muted, Type::small);
  const ImVec2 centre{d.end.x - t.px(32), (d.at.y + d.end.y) / 2};
  p.ring(centre, t.px(28), t.line, t.px(1));
  draw_lab_ring(p, centre, t.px(28), doors.lab_done);
  const std::array<char, 2> digit{static_cast<char>('0' + doors.lab_done.count()), 0};
  p.text({centre.x - t.px(9), centre.y - t.type(Type::body) * 0.6f}, digit.data(), t.text, Type::body, Font::mono);
  p.text({centre.x, centre.y - t.type(Type::small) * 0.5f}, "/4", t.muted, Type::small, Font::mono);
  if (d.pressed) shell.workspace.open(shell.workspace.lab().info().id);
}

void learn_door(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const HomeDoors& doors = shell.home.doors;
  const Door d = door("Learn", size, false, false);
  const Painter p = Painter::window();
  // The steps as a roofline of dots: those behind are filled.
  const float picture = t.px(96);
  const std::size_t n = pictured(d) ? std::min<std::size_t>(doors.lesson_steps, 16) : 0;
  const ImVec2 foot{d.end.x - t.px(80), d.at.y + t.px(76)};
  for (std::size_t i = 0; i < n; ++i) {
    const float x = static_cast<float>(i) / static_cast<float>(std::max<std::size_t>(n - 1, 1));
    const float up = std::min(x / 0.62f, 1.0f);
    const ImVec2 at{foot.x + x * t.px(78), foot.y - up * t.px(66)};
    if (i <= doors.lesson_step && doors.lesson_step > 0)
      p.circle(at, t.px(3.4f), t.accent);
    else
      p.ring(at, t.px(3), t.muted, t.px(1.2f));
  }
  if (worded_door(d, "Learn", doors.lesson.empty() ? "No lesson could be read." : std::string_view(doors.lesson),
                  doors.lesson_go, picture))
    lesson_resume(shell, doors.lesson_index);
}

void practise_door(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const HomeDoors& doors = shell.home.doors;
  const Door d = door("Practise", size, false, false);
  const Painter p = Painter::window();
  const ImVec2 centre{d.end.x - t.px(34), (d.at.y + d.end.y) / 2 - t.px(4)};
  if (pictured(d)) {
    p.ring(centre, t.px(32), t.accent, t.px(3));
    p.text({centre.x, centre.y - t.type(Type::body) * 0.6f}, "2:00", t.text, Type::body, Font::mono,
           widgets::Align::center);
  }
  if (worded_door(d, "Practise", doors.question, doors.question_go, t.px(88)))
    shell.workspace.say_failure(shell.workspace.open_with("interview/drills", {{"drill", "today"}}, Json::object()));
}

void data_door(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const Door d = door("My data", size, false, true);
  const Painter p = Painter::window();
  constexpr std::array<std::array<float, 6>, 3> spans{
      {{0, 14, 20, 30, 38, 60}, {6, 32, 38, 50, 56, 76}, {0, 10, 16, 50, 56, 72}}};
  for (std::size_t row = 0; row < spans.size() && pictured(d); ++row)
    for (std::size_t i = 0; i < 6; i += 2) {
      const float x = d.end.x - t.px(78), y = d.at.y + t.px(24 + 22 * static_cast<float>(row));
      p.rect({x + t.px(spans[row][i]), y}, {x + t.px(spans[row][i + 1]), y + t.px(14)}, t.muted, t.px(2));
    }
  if (worded_door(d, "My data",
                  "A trace, a config.json, weights or arrivals: opened here, and nothing leaves this machine",
                  "open a file, or drop it here", t.px(96)))
    ask_for_file(shell);
}

/// Returns the height that the doors take, in pixels.
float draw_doors(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  using Draw = void (*)(Shell&, ImVec2);
  std::array<Draw, 4> doors{};
  int n = 0;
  if (shell.home.doors.again) doors[static_cast<std::size_t>(n++)] = continue_door;
  for (const Draw d : {Draw{learn_door}, Draw{practise_door}, Draw{data_door}})
    doors[static_cast<std::size_t>(n++)] = d;
  const int in_row = doors_in_a_row(n, width / t.scale);
  const float gap = t.px(20);
  // In a low window the map below comes first.
  const bool low = ImGui::GetIO().DisplaySize.y < t.px(860);
  const float height = t.px(low ? 120.0f : 148.0f);
  const float each = (width - gap * static_cast<float>(in_row - 1)) / static_cast<float>(in_row);
  for (int i = 0; i < n; ++i) {
    ImGui::SetCursorScreenPos(
        {at.x + static_cast<float>(i % in_row) * (each + gap), at.y + static_cast<float>(i / in_row) * (height + gap)});
    doors[static_cast<std::size_t>(i)](shell, {each, height});
    if (i == 0) ImGui::SetItemDefaultFocus();
  }
  const int rows = (n + in_row - 1) / in_row;
  return static_cast<float>(rows) * height + static_cast<float>(rows - 1) * gap;
}

/// "Today: 3 drills due | new: Roofline, 12 min | question of the day, 2 min", each a press. Returns its height.
float draw_today(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  const HomeToday& today = shell.home.today;
  const float height = widgets::button_size("A").y, right = at.x + width;
  const float words = Painter::window().text({at.x, at.y + (height - t.type(Type::body)) / 2 - t.px(2)}, "Today",
                                             t.text, Type::body, Font::bold);
  ImGui::SetCursorScreenPos({at.x + words + t.px(14), at.y});
  const float top = ImGui::GetCursorScreenPos().y;
  ImGui::BeginDisabled(shell.home.doors.due == 0);
  if (ui::button(today.due_text.c_str()))
    shell.workspace.say_failure(shell.workspace.open_with("interview/drills", {{"drill", "any"}}, Json::object()));
  ImGui::EndDisabled();
  if (!today.cards_text.empty()) {
    widgets::next_button(today.cards_text.c_str(), right);
    if (ui::button(today.cards_text.c_str()))
      shell.workspace.say_failure(
          shell.workspace.open_with("interview/recall", {{"topic", "due"}, {"card", "due"}}, Json::object()));
  }
  if (!today.lab.empty()) {
    widgets::next_button(today.lab_text.c_str(), right);
    if (ui::button(today.lab_text.c_str())) shell.workspace.open(today.lab);
  }
  widgets::next_button(today.question_text.c_str(), right);
  ImGui::BeginDisabled(shell.home.doors.question_done);
  if (ui::button(today.question_text.c_str()))
    shell.workspace.say_failure(shell.workspace.open_with("interview/drills", {{"drill", "today"}}, Json::object()));
  ImGui::EndDisabled();
  return ImGui::GetItemRectMax().y - top + t.px(14);
}

void draw_mark(const Painter& p, ImVec2 at, std::string_view word, bool filled) {
  const auto& t = theme();
  const float width = widgets::text_size(word, Type::small, Font::bold).x;
  if (filled) p.rect({at.x - t.px(6), at.y - t.px(1)}, {at.x + width + t.px(6), at.y + t.px(18)}, t.accent, t.px(9));
  p.text(at, word, filled ? t.panel : t.accent, Type::small, Font::bold);
}

void draw_lab_row(Shell& shell, const HomeLab& lab, ImVec2 at, float width, float row) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 ring{at.x + t.px(chapter_ring), at.y + t.px(row / 2)};
  const float x = at.x + t.px(40), y = at.y + t.px(row / 2 - 9);
  if (!lab.open) {
    draw_planned_ring(p, ring, t.px(lab_ring));
    p.text_fit({x, y}, lab.title, width - t.px(40), t.muted, Type::small);
    return;
  }
  const ImVec2 end{at.x + width, at.y + t.px(row)};
  ImGui::SetCursorScreenPos({x - t.px(10), at.y});
  const bool pressed = widgets::press_area(lab.id.c_str(), {end.x - x + t.px(10), t.px(row)});
  if (lab.here || ImGui::IsItemHovered())
    p.rect({x - t.px(10), at.y}, {end.x + t.px(6), end.y}, widgets::with_alpha(t.accent, lab.here ? 0.16f : 0.08f),
           t.px(5));
  ui::hint(lab.hint);
  ui::focus_ring(t.px(5));
  draw_lab_ring(p, ring, t.px(lab_ring), lab.done);
  if (lab.next) p.ring(ring, t.px(lab_ring + 4), widgets::with_alpha(t.accent, 0.4f), t.px(3));
  const float minutes = t.px(26), marks = lab.here || lab.next ? t.px(52) : 0;
  const float written = p.text_fit({x, y}, lab.title, end.x - x - minutes - marks, t.text, Type::small);
  if (lab.here) draw_mark(p, {x + written + t.px(10), y}, "here", false);
  if (lab.next) draw_mark(p, {x + written + t.px(14), y}, "next", true);
  p.text({end.x, y}, lab.minutes_text, t.muted, Type::small, Font::mono, widgets::Align::right);
  if (pressed) shell.workspace.open(lab.id);
}

/// A word that is a button, its right end at `end`. True when it was pressed.
bool word_button(const char* label, std::string_view word, std::string_view hint, ImVec2 end) {
  const auto& t = theme();
  const ImVec2 size = widgets::text_size(word, Type::small);
  ImGui::SetCursorScreenPos({end.x - size.x, end.y - t.px(2)});
  const bool pressed = widgets::press_area(label, {size.x, size.y + t.px(6)});
  const bool hovered = ImGui::IsItemHovered();
  ui::hint(hint);
  ui::focus_ring(t.px(3));
  const Painter p = Painter::window();
  p.text({end.x - size.x, end.y}, word, t.accent, Type::small);
  if (hovered) p.line({end.x - size.x, end.y + size.y}, {end.x, end.y + size.y}, t.accent);
  return pressed;
}

/// The word that opens the chapter's test, its right end at `end`. Returns the width that it takes, px.
float draw_test_button(Shell& shell, const HomeChapter& chapter, ImVec2 end) {
  if (chapter.test_text.empty()) return 0;
  if (word_button(chapter.test_label.c_str(), chapter.test_text, chapter.test_hint, end))
    open_chapter_test(shell, chapter.slug);
  return widgets::text_size(chapter.test_text, Type::small).x + theme().px(14);
}

void draw_chapter(Shell& shell, const HomeChapter& chapter, ImVec2 at, float width, const HomeMap& map) {
  const bool folded = map.folded;
  const auto& t = theme();
  const Painter p = Painter::window();
  const bool planned = chapter.open == 0;
  const ImVec2 ring{at.x + t.px(chapter_ring), at.y + t.px(15)};
  const std::size_t rows = rows_of({chapter.open, chapter.labs.size()}, folded);
  // Under the rings, so that the labs hang on one thread.
  if (rows > 0) {
    const float foot = at.y + t.px(home::header + map.row * (static_cast<float>(rows) - 0.5f));
    p.dashed_line({ring.x, ring.y + t.px(chapter_ring)}, {ring.x, foot}, t.line, t.px(1), t.px(3));
    for (std::size_t row = 0; row < rows; ++row)
      p.circle({ring.x, at.y + t.px(home::header + map.row * (static_cast<float>(row) + 0.5f))}, t.px(lab_ring + 3),
               t.background);
  }
  draw_chapter_ring(p, ring, t.px(chapter_ring), chapter.fraction, planned, chapter.ordinal,
                    planned ? t.muted : t.text);
  const float x = at.x + t.px(40);
  const std::string_view right = planned && folded ? chapter.planned_text : chapter.minutes_text;
  const float right_width = widgets::text_size(right, Type::small).x;
  const float test_width = draw_test_button(shell, chapter, {at.x + width - right_width - t.px(10), at.y + t.px(7)});
  p.text_fit({x, at.y + t.px(6)}, chapter.title, at.x + width - x - right_width - test_width - t.px(8),
             planned ? t.muted : t.text, Type::body, Font::bold);
  p.text({at.x + width, at.y + t.px(7)}, right, t.muted, Type::small, Font::sans, widgets::Align::right);
  float y = at.y + t.px(home::header);
  for (const HomeLab& lab : chapter.labs) {
    if (folded && !lab.open) continue;
    draw_lab_row(shell, lab, {at.x, y}, width, map.row);
    y += t.px(map.row);
  }
  if (!folded || chapter.planned_hint.empty()) return;
  const ImVec2 last = planned ? ImVec2{at.x, at.y} : ImVec2{at.x, y};
  if (!planned) {
    draw_planned_ring(p, {ring.x, y + t.px(map.row / 2)}, t.px(lab_ring));
    p.text({x, y + t.px(3)}, chapter.planned_text, t.muted, Type::small);
  }
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(last, {last.x + width, last.y + t.px(map.row)}))
    if (ImGui::BeginTooltip()) {
      ImGui::PushTextWrapPos(t.px(360));
      ui::text(chapter.planned_hint, t.text, Type::small);
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
}

void draw_count_box(Shell& shell, ImVec2 at, float width) {
  const auto& t = theme();
  const HomeState& home = shell.home;
  const Painter p = Painter::window();
  const ImVec2 end{at.x + width, at.y + t.px(home.map.box_height)};
  p.rect(at, end, t.panel, t.px(8));
  p.frame(at, end, t.line, t.px(1), t.px(8));
  const float x = at.x + t.px(18), inner = width - t.px(36);
  p.text_fit({x, at.y + t.px(14)}, home.count_text, inner, t.text, Type::body, Font::bold);
  p.text_fit({x, at.y + t.px(38)}, home.hours_text, inner, t.muted, Type::small);
  p.text_fit({x, at.y + t.px(57)}, home.spent_text, inner, t.muted, Type::small);
  p.line({x, at.y + t.px(84)}, {end.x - t.px(18), at.y + t.px(84)}, t.line);
  float y = at.y + t.px(94);
  const auto row = [&](auto&& mark, std::string_view text, int lines) {
    mark(ImVec2{x + t.px(7), y + t.px(9)});
    y = lines_of(p, {x + t.px(26), y}, text, inner - t.px(26), lines, t.muted) + t.px(3);
  };
  row([&](ImVec2 c) { draw_lab_ring(p, c, t.px(lab_ring), {true, true, true, true}); }, "done", 1);
  const store::Quarters half{true, true, false, false};
  row([&](ImVec2 c) { draw_lab_ring(p, c, t.px(lab_ring), half); }, "quarters: opened, predicted, explored, drilled",
      2);
  row([&](ImVec2 c) { draw_lab_ring(p, c, t.px(lab_ring), {}); }, "not begun", 1);
  if (home.map.box_height >= home::count_box)
    row([&](ImVec2 c) { draw_planned_ring(p, c, t.px(lab_ring)); }, "planned", 1);
  // In the last line, whose own word is short.
  if (word_button("my record", "my record", "A page that prints: labs, chapter tests with scores, the time spent.",
                  {x + inner, y - t.px(line_px + 3)}))
    ask_record(shell);
}

}  // namespace

void go_home(Shell& shell) {
  shell.presentation = false;
  shell.page = Page::home;
  shell.openings_seen = shell.workspace.openings();
  shell.home.ready = false;
}

void draw_home(Shell& shell, ImVec2 screen) {
  const auto& t = theme();
  HomeState& home = shell.home;
  if (!home.ready) home = home_of(shell);
  take_question(home);
  const float top = draw_page_bar(shell, "", screen.x);
  ImGui::SetCursorScreenPos({0, top});
  const float side = screen.x / t.scale >= 1000 ? 40.0f : 20.0f;
  if (ui::begin_panel("home", {screen.x, screen.y - top}, t.background, {side, 0})) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    float y = corner.y + t.px(22);
    const Painter p = Painter::window();
    const std::string_view promise = home.promise;
    const bool whole = widgets::text_size(promise, Type::title, Font::bold).x <= width;
    p.text_fit({corner.x, y}, whole ? promise : promise.substr(0, promise.find(':')), width, t.text, Type::title,
               Font::bold);
    y += t.px(heading - 6);
    y += draw_today(shell, {corner.x, y}, width);
    y += draw_doors(shell, {corner.x, y}, width) + t.px(20);
    y += draw_own_lessons(shell, {corner.x, y}, width);
    const ImVec2 room{width / t.scale, (screen.y - (y + ImGui::GetScrollY()) - t.px(20)) / t.scale};
    if (home.map.at.size() != home.blocks.size() || home.map_for.x != room.x || home.map_for.y != room.y) {
      home.map = lay_out_map(home.blocks, room.x, room.y);
      home.map_for = room;
    }
    const float column = t.px(home.map.column_width);
    for (std::size_t i = 0; i < home.chapters.size(); ++i)
      draw_chapter(shell, home.chapters[i], {corner.x + t.px(home.map.at[i].x), y + t.px(home.map.at[i].y)}, column,
                   home.map);
    draw_count_box(shell, {corner.x + t.px(home.map.box.x), y + t.px(home.map.box.y)}, column);
    ImGui::SetCursorScreenPos({corner.x, y + t.px(home.map.height)});
    ImGui::Dummy({1, t.px(12)});
  }
  ImGui::EndChild();
}

}  // namespace app
