#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/shell/home/home_layout.h"
#include "app/store/progress.h"
#include "app/workspace/jobs.h"

namespace app {

/// What home says about one lab; texts are made once, when home opens.
struct HomeLab {
  std::string id, title, minutes_text, hint;
  bool open = false, here = false, next = false;
  bool ready = true;  ///< every lab that should come first was opened
  store::Quarters done;
  double minutes = 0;
};

struct HomeChapter {
  std::string slug, ordinal, title, minutes_text, planned_text, planned_hint;
  std::string test_label, test_text, test_hint;  ///< its test's button; empty where it has no test
  std::vector<HomeLab> labs;
  std::size_t open = 0;
  double fraction = 0, minutes = 0;
};

struct HomeDoors {
  bool again = false;  ///< not the first start: "continue where you were" is offered
  std::string lab, lab_title, lab_setting, lab_questions;
  store::Quarters lab_done;
  std::string lesson, lesson_go, question, question_go;
  std::size_t due = 0;  ///< drills that are to come back by now
  bool question_done = false;
  std::size_t lesson_index = 0, lesson_step = 0, lesson_steps = 0;
};

/// What one sitting may hold: what is due, one new lab, one question.
struct HomeToday {
  std::string cards_text;                              ///< "4 cards due"; empty where none is
  std::string due_text, lab, lab_text, question_text;  ///< `lab` is an id; empty: every lab is done
};

/// Written by the job that deals the question of the day, which takes longer than a frame.
struct TodaysQuestion {
  std::string question;
  std::size_t due = 0;    ///< drills that are to come back by now
  std::size_t cards = 0;  ///< open questions whose day has come
  bool done = false, known = false;
};

struct HomeState {
  bool ready = false;  ///< false: made anew with the next frame
  std::string promise, count_text, hours_text, spent_text;
  HomeToday today;
  std::vector<HomeChapter> chapters;
  std::vector<HomeBlock> blocks;
  HomeDoors doors;
  Job question_job;
  std::shared_ptr<TodaysQuestion> question;  ///< to be read when the job has ended
  HomeMap map;
  ImVec2 map_for{};  ///< width and room, design pixels, that `map` was laid out for
};

struct Shell;
/// Everything that home says, of what the person has done by now.
HomeState home_of(Shell& shell);
/// Takes over the question of the day once it is there.
void take_question(HomeState& home);

}  // namespace app
