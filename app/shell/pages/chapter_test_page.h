#pragma once
#include <imgui.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/chapter_test.h"
#include "app/store/progress.h"
#include "app/workspace/jobs.h"

namespace app {

struct Shell;

/// The page of a chapter's test: one question after the other, and at the end what each was worth. There is no lab on
/// it, so nothing can be lifted to see the answer.
struct ChapterTestState {
  std::string chapter;   ///< its slug; empty: none was begun
  std::int64_t day = 0;  ///< which day's test, in days since 1970
  Job job;               ///< deals it
  std::shared_ptr<models::Result<ChapterTest>> dealt;
  std::vector<TestMark> marks;  ///< one for each question answered, in order
  char typed[128] = {};
  std::size_t chosen = 0;            ///< counted from 1; 0: nothing yet
  std::string refused;               ///< why what was typed is no answer
  bool focus = false;                ///< the box is to have the keyboard
  std::string next_lab, next_label;  ///< the button at the end; no label: not found yet, no lab: home
};

/// Opens the page. A test that was begun today goes on; one that was ended today shows how it went.
void open_chapter_test(Shell& shell, std::string_view chapter);
void draw_chapter_test(Shell& shell, ImVec2 screen);

/// "The roofline".
std::string title_of_chapter(const Shell& shell, std::string_view chapter);
/// "8.5 of 10": right ones, and half of the near ones.
std::string score_text(const store::TestResult& result);

}  // namespace app
