#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/questions.h"
#include "app/workspace/jobs.h"
#include "chapters/practice/drawn_curve.h"
#include "widgets/plot/draw_curve.h"
#include "widgets/plot/plot_veil.h"

/// Predict first: a question stands in the place of the lab's answer, and what would answer it is veiled, until the
/// learner has committed to a number, a choice or a drawn curve.
namespace app {

struct Shell;

/// What a question's job computes on a worker.
struct PredictAnswer {
  double number = 0;
  double here = 0;        ///< the output in the question's scenario, of a curve too
  std::string no_figure;  ///< why there is no such figure; empty: there is
  std::vector<double> curve;
  std::vector<double> below;  ///< what is drawn under the curve, at the same places; empty: nothing
  std::string why;            ///< the explanation, its live values filled in
  std::string error;
};

/// The question of one lab, asked or answered.
struct PredictState {
  std::string lab{};
  std::size_t index = 0;
  /// Set: a question about the scenario on the screen (own_question.h) and none of the lab's. While it is open it
  /// follows the inputs; nothing of it is kept or counted.
  std::optional<Prediction> own{};
  bool preparing = false;  ///< such a curve's computed line, without which its plot has no range, is still on its way
  bool open = false;       ///< asked and neither answered nor put away: what would answer it is veiled
  bool answered = false;   ///< the answer is shown
  bool waiting = false;    ///< committed, while the computed answer is still on its way
  bool guessed = true;     ///< false: shown without a guess
  char answer[128] = {};   ///< as typed
  std::string error{};
  double committed = 0;       ///< number in the SI unit, the option's index, or the score of a curve
  double computed = 0;        ///< likewise; 100 for a curve
  chapters::LabPtr asked{};   ///< with the question's inputs, not computed; null: the question's data is broken
  std::string scenario{};     ///< those inputs as text
  std::string own_inputs{};   ///< the learner's inputs before the question, as text
  std::uint64_t version = 0;  ///< version of the session's outputs when the inputs were last compared
  QuestionKind kind = QuestionKind::number;
  std::vector<std::string> choices{};
  std::vector<widgets::GivenAxis> given_axes{};  ///< the question's inputs, for the axes of veiled plots
  Job job{};
  std::shared_ptr<PredictAnswer> found{};
  // Of a curve:
  SweepAxis axis{};
  std::vector<std::string> labels{};  ///< names of the places on a step axis
  std::vector<std::string_view> categories{};
  std::vector<widgets::GivenMark> given{};
  std::vector<double> places{};  ///< where the samples lie on the x axis: values, or 0, 1, 2... for options
  widgets::DrawnLine line{};
  widgets::DrawCurveLayout layout{};
  widgets::RevealView reveal{};
  widgets::PlotFrame below_frame{};
  double revealed_at_s = 0;
  chapters::CurveScore score{};
  std::string score_text{}, typical{}, up_to{}, heading{}, because{}, verdict{}, why{};
};

/// What the learner committed to, for marks on figures and plots.
struct Guess {
  std::string question, output;              ///< id of the question, key of the output
  std::string over;                          ///< key of the input on a curve's x axis; empty for other questions
  QuestionKind kind = QuestionKind::number;  ///< `choice`: among names, not among numbers
  double value = 0;                          ///< number in the SI unit; the option's index; the score of a curve
  std::vector<double> xs, ys;                ///< points of a drawn curve, in SI units
  std::string scenario;                      ///< the question's inputs, as text
  bool right = false;
  double miss = 0;              ///< how far off, to compare with others: 0 where it is right; about 1 for twice or half
  std::string prompt, verdict;  ///< as they were on screen
  bool here = false;            ///< the lab still has exactly these inputs, so that the mark belongs to the picture
};
/// The latest guess for each question of a lab that was answered in this session.
std::span<const Guess> guesses(const Shell& shell, std::string_view lab);

/// Is a question of the open lab asked and not yet answered? Then nothing may show an output of it.
bool question_open(const Shell& shell);
/// Does a question of the open lab stand in the place of its question and answer: open, or answered and not put away?
bool question_shown(const Shell& shell);
/// Does it take the place of the picture: a curve does, while it is drawn and after the reveal? Over the panels of
/// another question lies the veil.
bool question_takes_stage(const Shell& shell);

/// Asks a question of the open lab: sets the question's scenario and keeps the learner's own inputs.
void ask_question(Shell& shell, std::size_t index);
/// Asks about the open lab as it is set. Fails with the sentence of a question that could not be made.
models::Status ask_about_scenario(Shell& shell, models::Result<Prediction> question);
/// The open lab's first question without an answer in the learner's progress; 0 when all have one.
std::size_t first_unanswered(const Shell& shell);
/// Answers the open question in words: a number, an option's label, or for a curve numbers between commas, spread
/// evenly over its samples. Fails with a sentence when they cannot be read.
models::Status answer_question(Shell& shell, std::string_view words);
/// Ends the question, answered or not. `restore` brings the learner's own inputs back.
void put_question_away(Shell& shell, bool restore);
/// Shows the answer without a guess; nothing is counted.
void show_without_guess(Shell& shell);
/// Commits what was typed, chosen (`state.committed`) or drawn. Does nothing while there is nothing to commit.
void commit_question(Shell& shell);
/// Once a frame before anything is drawn: follows the learner from lab to lab, takes a finished job's answer.
void follow_question(Shell& shell);

/// All of a question that is shown, in the place of the stage: its two lines, its buttons, and what belongs to the
/// picture. Returns the pixels taken from the area's top: all of them where question_takes_stage, else the lab's own
/// picture follows below.
float draw_question(Shell& shell, const widgets::Box& area);
/// In the place of the question's and the answer's line: "Predict first: question 1 of 3" and the question; after the
/// reveal the question and the verdict. Draws inside of `area` only.
void draw_question_lines(Shell& shell, const widgets::Box& area);
/// In the place of the presets: commit, number field or choices, start again, show me; after the reveal what is next.
/// Returns the pixels taken from the area's top: one row, and more where the area is too narrow for one.
float draw_question_buttons(Shell& shell, const widgets::Box& area);
/// In the place of the picture: the plot to draw on, or the revealed curves. After the reveal of a number or a choice:
/// the explanation at the top of the area. Returns the pixels taken from its top.
float draw_question_stage(Shell& shell, const widgets::Box& area);

}  // namespace app
