#include "app/shell/pages/chapter_test_page.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "app/shell/home/teaching_order.h"
#include "app/shell/pages/pages.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "chapters/practice/drill_history.h"
#include "widgets/number/number.h"

namespace app {
namespace {

double unix_now_s() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

const ChapterTest* test_of(const ChapterTestState& state) {
  return state.job.done() && state.dealt && *state.dealt ? &**state.dealt : nullptr;
}

store::TestResult result_of(const ChapterTestState& state) {
  store::TestResult result{.chapter = state.chapter, .time_unix_s = static_cast<std::int64_t>(unix_now_s())};
  for (const TestMark& mark : state.marks) {
    result.right += mark.right;
    result.near += mark.near;
  }
  result.asked = static_cast<std::int64_t>(state.marks.size());
  return result;
}

void take_mark(Shell& shell, TestMark mark) {
  ChapterTestState& state = shell.chapter_test;
  state.marks.push_back(std::move(mark));
  state.typed[0] = '\0';
  state.chosen = 0;
  state.refused.clear();
  state.focus = true;
  if (state.marks.size() < test_of(state)->items.size()) return;
  shell.workspace.progress.keep_test(result_of(state));
  shell.workspace.save();
}

/// Ten dots: those behind are filled, the one that is asked has a ring.
void draw_dots(std::size_t all, std::size_t behind) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  for (std::size_t i = 0; i < all; ++i) {
    const ImVec2 centre{at.x + t.px(6 + 20 * static_cast<float>(i)), at.y + t.px(8)};
    if (i < behind)
      p.circle(centre, t.px(5), t.accent);
    else
      p.ring(centre, t.px(5), i == behind ? t.accent : t.line, t.px(1.5f));
  }
  ImGui::Dummy({t.px(20 * static_cast<float>(all)), t.px(18)});
}

void draw_choices(ChapterTestState& state, const TestItem& item) {
  for (std::size_t i = 0; i < item.choices.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ui::pill(item.choices[i].c_str(), state.chosen == i + 1)) state.chosen = i + 1;
    ImGui::PopID();
  }
}

/// The box for a number, and what counts. True when Enter was pressed in it.
bool draw_box(ChapterTestState& state, const TestItem& item) {
  const auto& t = theme();
  if (state.focus) ImGui::SetKeyboardFocusHere();
  state.focus = false;
  ImGui::SetNextItemWidth(std::min(t.px(320), ImGui::GetContentRegionAvail().x));
  const char* hint = item.number.unit.empty() ? "a number" : "a number and its unit";
  const bool entered = ImGui::InputTextWithHint("##test answer", hint, state.typed, sizeof state.typed,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ui::text(item.number.unit_label, t.muted, Type::small);
  return entered;
}

void answer(Shell& shell, const TestItem& item) {
  ChapterTestState& state = shell.chapter_test;
  if (!item.choices.empty()) {
    if (state.chosen > 0) take_mark(shell, mark_choice(item, state.chosen - 1));
    return;
  }
  auto marked = mark_number(item, state.typed);
  if (marked) return take_mark(shell, std::move(*marked));
  state.refused = std::move(marked.error);
  state.focus = true;
}

void draw_question(Shell& shell, const ChapterTest& test) {
  const auto& t = theme();
  ChapterTestState& state = shell.chapter_test;
  const std::size_t at = state.marks.size();
  const TestItem& item = test.items[at];
  ui::text("Question " + std::to_string(at + 1) + " of " + std::to_string(test.items.size()) + ", from " +
               shell.workspace.title_of(item.lab),
           t.muted, Type::small);
  draw_dots(test.items.size(), at);
  ui::spacing(10);
  ui::wrapped(item.text, t.text);
  ui::spacing(10);
  bool entered = false;
  if (item.choices.empty())
    entered = draw_box(state, item);
  else
    draw_choices(state, item);
  if (!state.refused.empty()) ui::wrapped(state.refused, t.warning, Type::small);
  ui::spacing(10);
  const bool given = item.choices.empty() ? state.typed[0] != '\0' : state.chosen > 0;
  ImGui::BeginDisabled(!given);
  const bool pressed = ui::button("Answer", true);
  ImGui::EndDisabled();
  ImGui::SameLine();
  const bool skipped = ui::button("I do not know");
  ui::spacing(14);
  ui::wrapped("What is right is shown at the end. A near answer counts half; tomorrow the test is drawn anew.", t.muted,
              Type::small);
  if (skipped)
    take_mark(shell, mark_nothing(item));
  else if (given && (pressed || entered))
    answer(shell, item);
}

/// The lab that most wrong answers were about; empty where there is none.
std::string most_missed(const ChapterTest& test, const std::vector<TestMark>& marks) {
  std::map<std::string, int> missed;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (!marks[i].right && !marks[i].near) ++missed[test.items[i].lab];
  const auto most =
      std::max_element(missed.begin(), missed.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == missed.end() ? std::string() : most->first;
}

/// What comes next: the lab that was missed most below eight of ten, else the next lab of the course.
void find_next(const Shell& shell, const std::string& missed, const store::TestResult& result,
               ChapterTestState& state) {
  const std::vector<HomeChapter> course = course_of(shell.workspace);
  const HomeLab* next = next_of(course);
  const bool again = !missed.empty() && result.score() < 0.8 * static_cast<double>(result.asked);
  state.next_lab = again ? missed : next ? next->id : std::string();
  state.next_label = state.next_lab.empty()
                         ? std::string("Home")
                         : (again ? "Look again: " : "Next lab: ") + shell.workspace.title_of(state.next_lab);
}

void draw_mark_line(const TestItem& item, const TestMark& mark) {
  const auto& t = theme();
  const char* const word = mark.right ? "\xE2\x9C\x93 right" : mark.near ? "~ near" : "\xC3\x97 wrong";
  ui::text(word, mark.right ? t.good : mark.near ? t.warning : t.bad, Type::small, Font::bold);
  ui::wrapped(item.text, t.text, Type::small);
  ui::wrapped(mark.verdict, t.text, Type::small);
  if (!mark.right) ui::wrapped(item.why, t.muted, Type::small);
  ui::spacing(10);
}

void draw_result(Shell& shell, const store::TestResult& result) {
  const auto& t = theme();
  ui::text(score_text(result), t.text, Type::title, Font::bold);
  ui::text(std::to_string(result.right) + " right, " + std::to_string(result.near) + " near, " +
               std::to_string(result.asked - result.right - result.near) + " wrong",
           t.muted);
  ui::wrapped("The test comes again tomorrow (midnight UTC), drawn anew.", t.muted, Type::small);
  ui::spacing(8);
  ChapterTestState& state = shell.chapter_test;
  const ChapterTest* test = test_of(state);
  if (state.next_label.empty()) find_next(shell, test ? most_missed(*test, state.marks) : std::string(), result, state);
  const bool pressed = ui::button(state.next_label.c_str(), true);
  ui::spacing(12);
  for (std::size_t i = 0; test && i < state.marks.size(); ++i) draw_mark_line(test->items[i], state.marks[i]);
  if (!pressed) return;
  if (state.next_lab.empty())
    go_home(shell);
  else
    shell.workspace.open(state.next_lab);
}

/// The result of a test of today that ended, in this start of the program or before; null: it is still to be taken.
const store::TestResult* ended_today(const Shell& shell) {
  const ChapterTestState& state = shell.chapter_test;
  const store::TestResult* latest = shell.workspace.progress.latest_test(state.chapter);
  return latest && chapters::day_of(static_cast<double>(latest->time_unix_s)) == state.day ? latest : nullptr;
}

void draw_body(Shell& shell) {
  const auto& t = theme();
  ChapterTestState& state = shell.chapter_test;
  if (const store::TestResult* result = ended_today(shell)) return draw_result(shell, *result);
  if (!state.job.ended()) {
    ui::working("Working out ten questions", state.job.fraction());
    shell.animating = true;
    return;
  }
  const ChapterTest* test = test_of(state);
  if (test) return draw_question(shell, *test);
  ui::wrapped(state.job.done() ? state.dealt->error : state.job.error(), t.warning);
}

}  // namespace

std::string title_of_chapter(const Shell& shell, std::string_view chapter) {
  for (const CurriculumChapter& row : shell.workspace.content.curriculum)
    if (row.slug == chapter) return row.title;
  return std::string(chapter);
}

std::string score_text(const store::TestResult& result) {
  return widgets::format_text(result.score(), "", 3) + " of " + std::to_string(result.asked);
}

void open_chapter_test(Shell& shell, std::string_view chapter) {
  shell.presentation = false;
  shell.page = Page::chapter_test;
  shell.openings_seen = shell.workspace.openings();
  ChapterTestState& state = shell.chapter_test;
  const std::int64_t today = chapters::day_of(unix_now_s());
  if (state.chapter == chapter && state.day == today) return;
  state = {.chapter = std::string(chapter), .day = today, .focus = true};
  if (ended_today(shell)) return;
  state.dealt =
      std::make_shared<models::Result<ChapterTest>>(models::Result<ChapterTest>::fail("It is not dealt yet."));
  state.job = shell.workspace.jobs.submit(
      "chapter test", [to = state.dealt, pool = pool_of(shell.workspace.content, chapter),
                       today](chapters::Progress& progress) { *to = deal_test(pool, today, progress); });
}

void draw_chapter_test(Shell& shell, ImVec2 screen) {
  const auto& t = theme();
  const std::string title = "Chapter test: " + title_of_chapter(shell, shell.chapter_test.chapter);
  const float top = draw_page_bar(shell, title, screen.x);
  const float width = std::min(t.px(760), screen.x - t.px(32));
  ImGui::SetCursorScreenPos({(screen.x - width) / 2, top});
  if (ui::begin_panel("chapter test", {width, screen.y - top}, t.background, {12, 28})) draw_body(shell);
  ImGui::EndChild();
}

}  // namespace app
