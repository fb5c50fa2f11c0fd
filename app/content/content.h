#pragma once
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/curriculum.h"
#include "models/base/result.h"

/// What is said about labs: prose, presets, predictions, claims, lessons, glossary. All of it data under assets/,
/// checked when loaded.
namespace app {

inline constexpr std::array<std::string_view, 5> angles = {"Concept", "Design", "Code", "Debug", "Frontier"};

struct Preset {
  std::string name, note;
  std::string set;  ///< JSON object of inputs; the rest are defaults
};

/// How the input's axis of a curve question is spread; `step`: whole numbers or options, one beside the other.
enum class CurveScale : unsigned char { linear, log, step };

/// What is given on the plot of a curve question: a level, or with `at` a point.
struct GivenLine {
  std::string label;
  double value = 0;                                      ///< in the SI unit of the output
  double at = std::numeric_limits<double>::quiet_NaN();  ///< input on the x axis; NaN: a level over the whole axis
};

/// The curve that a question asks for: an output over an input.
struct CurveAsk {
  std::string over, output;  ///< keys of the lab
  double lo = 0, hi = 1;     ///< range of the input, in its SI unit
  CurveScale scale = CurveScale::linear;
  std::size_t points = 65;                    ///< samples, at most; whole numbers and options are taken once each
  double least = 0, most = 1;                 ///< range of the plot's y axis, as given
  std::vector<GivenLine> given;               ///< what is known before the answer
  std::string too_high, too_low, wrong_bend;  ///< a sentence for each kind of error
  /// What is drawn under the answer on the same axis, an output of the lab, and the sentence in which it says why the
  /// curve runs as it does; empty: nothing.
  std::string below, below_says;
};

/// A wrong number that many say, and the misconception that leads to it.
struct Slip {
  double times = 0, value = 0;  ///< a multiple of what is computed, or a number in the output's unit; the other is NaN
  std::string says;
};

/// A question that the learner answers before the lab shows it: with a number, by choosing, or by drawing a curve.
struct Prediction {
  std::string id, question, set, output, explain;
  double tolerance = 0.1;  ///< relative error that counts as right
  /// Numbers to choose from, in the unit of the output; empty: type one, or choose among the options of an output that
  /// is a choice or a toggle.
  std::vector<double> options{};
  std::vector<Slip> slips{};           ///< for a number that is typed
  std::vector<std::string> because{};  ///< one sentence a choice, empty for the right one; none where nobody wrote any
  std::optional<CurveAsk> curve{};     ///< set: draw it; `output` is its output and `explain` says why
};

/// What a person can do after a lab.
struct Objective {
  std::string can;                 ///< one sentence that begins with a verb
  std::vector<std::string> check;  ///< keys of the lab's inputs and outputs on which they can check that
};

/// How a need begins that is a term of the glossary and no lab: "term:KV cache".
inline constexpr std::string_view term_prefix = "term:";

struct LabContent {
  std::vector<Objective> objectives;
  std::vector<std::string> needs;                ///< what should come first: ids of labs, and terms
  std::array<std::string, angles.size()> prose;  ///< Markdown, one per angle
  std::vector<Preset> presets;
  std::vector<Prediction> predictions;
};

/// unsettled: what the lab computes rests on an assumption or on a single measurement, so it is shown beside the claim
/// and judges nothing.
enum class Verdict : unsigned char { right, wrong, unsettled };

/// A figure somebody states, and what the lab's model says of it.
struct Claim {
  std::string id, source, statement, lab, set, output, why;
  double claimed = 0;
  double tolerance = 0.01;           ///< relative: |computed - claimed| <= tolerance * |computed| counts as right
  Verdict verdict = Verdict::right;  ///< as recorded; `check` recomputes it
};

struct LessonStep {
  std::string lab, title;
  std::string say;                      ///< what everybody reads
  std::string inputs, view;             ///< JSON objects
  std::vector<std::string> controls{};  ///< keys of the inputs to show first, the others behind "more"; empty: all
  std::string point_at{};               ///< key of what to drag first; empty: nothing is pointed at
  std::string teach{};                  ///< notes for whoever teaches, which the presentation does not show
  std::string question{};               ///< id of one of the lab's questions, which the step asks; empty: none of them
  std::string ask{};                    ///< key of an output that the step asks for; empty: none
  std::string over{};  ///< key of the input over which that output's curve is to be drawn; empty: no curve

  bool asks() const { return !question.empty() || !ask.empty(); }
};
struct Lesson {
  std::string id, title;
  std::vector<LessonStep> steps;
  bool own = true;  ///< the learner's, recorded, opened or from their folder; false: bundled
};

struct Term {
  std::string term, meaning, lab;
  std::vector<std::string> also{};  ///< other words for the same
};

struct Content {
  std::map<std::string, LabContent, std::less<>> labs;
  std::vector<Claim> claims;
  std::vector<Lesson> lessons;
  std::vector<Term> glossary;
  std::vector<CurriculumChapter> curriculum;  ///< every chapter, the planned ones too, in teaching order
  std::vector<std::string> errors;            ///< one sentence each; the rest is loaded all the same

  const LabContent& of(std::string_view lab) const;
  std::vector<const Claim*> claims_of(std::string_view lab) const;
};

/// Reads everything under an assets folder.
Content load_content(const std::string& assets);

/// Adds every lesson of a folder; broken ones are said in `content.errors`. `own`: they are the learner's.
void load_lessons(const std::filesystem::path& folder, Content& content, bool own = true);

/// What of a lesson is known only once the labs' questions are: fails where a step asks one that its lab does not have,
/// and in a lesson of the learner's own where it sets an input that there is not.
models::Status check_lesson(const Lesson& lesson, const Content& content, std::string_view origin);

/// Splits Markdown at its "# Concept" ... headings into the five angles; text before the first heading is dropped.
std::array<std::string, angles.size()> split_angles(std::string_view markdown);

/// Reads a lesson; sentences about it begin with `origin`, mostly the file's name, and name the step and the key.
models::Result<Lesson> parse_lesson(std::string_view text, std::string_view origin);
/// The lesson as a file that parse_lesson reads.
std::string lesson_to_text(const Lesson& lesson);

/// A claim recomputed by its lab.
struct CheckedClaim {
  double computed = 0;
  double residual = 0;  ///< (claimed - computed) / computed
  Verdict verdict = Verdict::wrong;
  bool agrees = false;  ///< with the recorded verdict
  std::string unit;     ///< unit of the output that the claim is about
};
/// Fails when the claim's own data is broken.
models::Result<CheckedClaim> check_claim(const Claim& claim);

}  // namespace app
