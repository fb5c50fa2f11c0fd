#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/shell/home/teaching_order.h"
#include "app/shell/pages/aims.h"
#include "app/shell/shell.h"
#include "chapters/mechanism/registry.h"
#include "chapters/practice/drill_history.h"

/// What home says, put into words.
namespace app {
namespace {

using chapters::Field;
using chapters::Kind;

std::string minutes_text(double minutes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", std::max(1.0, std::round(minutes)));
  return text;
}

std::string hours_text(double minutes) {
  const long whole = std::lround(minutes);
  if (whole < 60) return std::to_string(whole) + " min";
  return std::to_string(whole / 60) + " h " + std::to_string(whole % 60) + " min";
}

/// "Predicted 2 of 4 questions. Left: explore (a preset, a claim or a sweep), a drill."
std::string hint_of(const Workspace& w, const HomeLab& lab) {
  const std::size_t questions = w.content.of(lab.id).predictions.size();
  if (lab.done.count() == 4) return "Done: opened, predicted, explored and drilled.";
  std::string left;
  const auto add = [&](const std::string& what) { left += (left.empty() ? "" : "; ") + what; };
  if (!lab.done.opened) add("open it");
  if (!lab.done.predicted && questions > 0)
    add("predict, " + std::to_string(w.learner.answered_questions(lab.id)) + " of " + counted(questions, "question") +
        " answered");
  if (!lab.done.explored) add("explore: a preset, a claim, or a sweep");
  if (!lab.done.drilled && w.learner.has_drills(lab.id)) add("drill: one right answer");
  return "About " + minutes_text(lab.minutes) + " minutes. Left: " + left + ".";
}

HomeLab lab_of(const Workspace& w, const CurriculumLab& row) {
  HomeLab lab;
  lab.id = row.id;
  lab.open = chapters::has_lab(row.id);
  lab.title = lab.open ? w.title_of(row.id) : row.title;
  if (!lab.open) {
    lab.hint = "Planned.";
    return lab;
  }
  lab.done = w.learner.quarters(row.id);
  lab.minutes = std::max(1.0, minutes_of(w.content.of(row.id)));
  lab.minutes_text = minutes_text(lab.minutes);
  lab.hint = hint_of(w, lab) + "\n\n" + aims_text(w, row.id);
  const auto& needs = w.content.of(row.id).needs;
  lab.ready = std::all_of(needs.begin(), needs.end(), [&](const std::string& need) {
    return need.starts_with(term_prefix) || w.learner.quarters(need).opened;
  });
  return lab;
}

HomeChapter chapter_of(const Workspace& w, const CurriculumChapter& row) {
  HomeChapter chapter{.slug = row.slug, .ordinal = row.ordinal, .title = row.title};
  for (const CurriculumLab& planned : row.labs) {
    const HomeLab& lab = chapter.labs.emplace_back(lab_of(w, planned));
    if (lab.open) {
      ++chapter.open;
      chapter.minutes += lab.minutes;
      chapter.fraction += lab.done.fraction();
    } else {
      chapter.planned_hint += (chapter.planned_hint.empty() ? "Planned: " : ", ") + lab.title;
    }
  }
  if (!chapter.planned_hint.empty()) chapter.planned_hint += ".";
  if (chapter.open > 0) chapter.fraction /= static_cast<double>(chapter.open);
  chapter.minutes_text = chapter.open > 0 ? minutes_text(chapter.minutes) + " min" : "planned";
  chapter.planned_text = std::to_string(chapter.labs.size() - chapter.open) + " planned";
  return chapter;
}

/// "test", or how the last one went.
void describe_test(const Workspace& w, HomeChapter& chapter) {
  if (chapter.open == 0 || !has_test(chapter.slug)) return;
  chapter.test_label = "test " + chapter.slug;
  chapter.test_text = "test";
  chapter.test_hint = "Ten questions of this chapter, one after the other, scored at the end; drawn anew every day.";
  const store::TestResult* latest = w.progress.latest_test(chapter.slug);
  if (!latest) return;
  chapter.test_text = "test " + score_text(*latest);
  chapter.test_hint += " The score is that of the last time.";
}

void mark_here_and_next(std::vector<HomeChapter>& course, std::string_view here) {
  std::vector<HomeLab*> labs;
  for (HomeChapter& chapter : course)
    for (HomeLab& lab : chapter.labs)
      if (lab.open) {
        lab.here = lab.id == here;
        labs.push_back(&lab);
      }
  const auto mark = [&](auto&& fits) {
    for (HomeLab* lab : labs)
      if (!lab->here && fits(*lab)) return lab->next = true;
    return false;
  };
  const auto is_new = [](const HomeLab& lab) { return !lab.done.opened; };
  if (mark([&](const HomeLab& lab) { return is_new(lab) && lab.ready; }) || mark(is_new)) return;
  mark([](const HomeLab& lab) { return lab.done.count() < 4; });
}

/// "Llama 3 70B, H100 SXM, BF16", and the name of a file of one's own.
std::string setting_of(const chapters::Lab& lab) {
  std::string text;
  const auto add = [&](std::string_view what) { text += (text.empty() ? "" : ", ") + std::string(what); };
  for (const Field& f : lab.inputs())
    if (f.kind == Kind::file && !f.file().path.empty()) add(f.file().path.substr(f.file().path.rfind('/') + 1));
  for (const Field& f : lab.inputs()) {
    if (f.kind != Kind::choice || f.spec.shared.empty() || !chapters::holds(f.spec.when, lab.inputs())) continue;
    if (const double i = f.number(); i >= 0) add((*f.options)[static_cast<std::size_t>(i)].label);
  }
  return text;
}

void continue_door(const Workspace& w, const chapters::Lab& lab, HomeDoors& doors) {
  doors.again = !w.first_start();
  doors.lab = lab.info().id;
  doors.lab_title = lab.info().title;
  doors.lab_setting = setting_of(lab);
  doors.lab_done = w.learner.quarters(doors.lab);
  if (const std::size_t n = w.content.of(doors.lab).predictions.size())
    doors.lab_questions =
        std::to_string(w.learner.answered_questions(doors.lab)) + " of " + counted(n, "question") + " answered";
}

void lesson_door(const Shell& shell, HomeDoors& doors) {
  const auto& lessons = shell.workspace.content.lessons;
  doors.lesson_index = next_lesson(shell);
  if (doors.lesson_index >= lessons.size()) return;
  const Lesson& lesson = lessons[doors.lesson_index];
  const auto at = shell.workspace.resume.lesson_steps.find(lesson.id);
  doors.lesson_steps = lesson.steps.size();
  if (at != shell.workspace.resume.lesson_steps.end())
    doors.lesson_step = std::min(static_cast<std::size_t>(at->second), doors.lesson_steps - 1);
  doors.lesson =
      lesson.title + ": " + counted(doors.lesson_steps, "step") + ", first \"" + lesson.steps.front().title + "\"";
  doors.lesson_go = doors.lesson_step == 0 ? "start the lesson"
                                           : "go on at step " + std::to_string(doors.lesson_step + 1) + " of " +
                                                 std::to_string(doors.lesson_steps);
}

void ask_question(Workspace& w, HomeState& home) {
  home.doors.question = "A number with its unit, worked out against the clock";  // until it is known which
  home.doors.question_go = "question of the day, 2 min";
  home.today.question_text = home.doors.question_go;
  home.today.due_text = "looking for what is due";
  std::shared_ptr<chapters::Lab> drills = chapters::make_lab_by_id("interview/drills");
  if (!drills) return;
  w.learner.fill_in_silence(*drills);
  if (const Field* drill = drills->inputs().find("drill")) (void)drill->set_choice_id(chapters::today_drill);
  std::shared_ptr<chapters::Lab> recall = chapters::make_lab_by_id("interview/recall");
  if (recall) w.learner.fill_in_silence(*recall);
  home.question = std::make_shared<TodaysQuestion>();
  home.question_job =
      w.jobs.submit("home: question of the day", [drills, recall, out = home.question](chapters::Progress&) {
        if (recall) recall->compute_facts();
        if (const Field* cards = recall ? recall->outputs().find("due_again") : nullptr)
          out->cards = static_cast<std::size_t>(cards->number());
        drills->compute();
        const Field* done = drills->outputs().find("daily_done");
        const Field* question = drills->outputs().find("question");
        if (!done || !question || !drills->reason().empty()) return;
        if (const Field* due = drills->outputs().find("due")) out->due = static_cast<std::size_t>(due->number());
        out->done = done->toggle();
        out->question = question->text();
        out->known = true;
      });
}

}  // namespace

std::string counted(std::size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

std::vector<HomeChapter> course_of(const Workspace& w) {
  std::vector<HomeChapter> course;
  for (const CurriculumChapter& row : w.content.curriculum) describe_test(w, course.emplace_back(chapter_of(w, row)));
  mark_here_and_next(course, w.first_start() ? std::string_view() : std::string_view(w.settings.last_lab));
  return course;
}

const HomeLab* next_of(const std::vector<HomeChapter>& course) {
  for (const HomeChapter& chapter : course)
    for (const HomeLab& lab : chapter.labs)
      if (lab.next) return &lab;
  return nullptr;
}

void take_question(HomeState& home) {
  if (!home.question_job.ended()) return;
  home.question_job = {};
  const TodaysQuestion& today = *home.question;
  home.doors.due = today.due;
  home.today.due_text = today.due == 0 ? "nothing is due" : counted(today.due, "drill") + " due";
  home.today.cards_text = today.cards == 0 ? std::string() : counted(today.cards, "card") + " due";
  if (!today.known) return;
  home.doors.question = today.question;
  home.doors.question_done = today.done;
  if (!today.done) return;
  home.doors.question_go = "today's is answered: the next one";
  home.today.question_text = "question of the day: done";
}

HomeState home_of(Shell& shell) {
  Workspace& w = shell.workspace;
  HomeState home;
  double minutes = 0, done = 0;
  std::size_t open = 0, all = 0;
  home.chapters = course_of(w);
  for (const HomeChapter& chapter : home.chapters) {
    home.blocks.push_back({chapter.open, chapter.labs.size()});
    open += chapter.open;
    all += chapter.labs.size();
    for (const HomeLab& lab : chapter.labs) {
      minutes += lab.open ? lab.minutes : 0;
      done += lab.open ? lab.minutes * lab.done.fraction() : 0;
    }
  }
  home.promise =
      "Drag a number and see which wall you hit: " + counted(open, "lab") + " on making machine learning fast.";
  home.count_text = open == all ? std::to_string(all) + " labs"
                                : std::to_string(open) + " of " + std::to_string(all) + " labs are open";
  home.hours_text = hours_text(minutes) + " of material, " + hours_text(done) + " done";
  home.spent_text = "you have spent " + hours_text(w.progress.spent_s() / 60) + " in labs";
  continue_door(w, shell.workspace.lab(), home.doors);
  lesson_door(shell, home.doors);
  ask_question(w, home);
  if (const HomeLab* lab = next_of(home.chapters)) {
    home.today.lab = lab->id;
    home.today.lab_text = (lab->done.opened ? "" : "new: ") + lab->title + ", " + lab->minutes_text + " min";
  }
  home.ready = true;
  take_question(home);  // where there are no threads it is there already
  return home;
}

}  // namespace app
