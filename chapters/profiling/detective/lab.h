#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/practice/scenario_history.h"
#include "chapters/profiling/trace_viewer/lab.h"
#include "models/trace/cases/case.h"
#include "models/trace/cases/detect.h"
#include "models/trace/cases/recorded_case.h"
#include "models/trace/cases/recording.h"
#include "models/trace/recorded/real_recordings.h"
#include "widgets/timeline/timeline.h"

/// A slow job's recordings as a board, and the suspects under it: who is guilty is what a replay without them says.
namespace chapters::profiling::detective {

/// What the learner says is wrong: nothing said yet, a cause, or that nothing is.
inline constexpr int charge_healthy = static_cast<int>(models::trace::cause_count);
enum class Charge : std::uint8_t { none };

/// Where the case comes from: dealt by its number, or one of models::trace::real_recordings(), counted from 1.
enum class Source : std::uint8_t { dealt };

/// Suspects in the line-up, at most.
inline constexpr std::size_t max_suspects = models::trace::max_real_suspects;

/// Defaults: a case of two ranks that is solved, so that the first picture shows what a verdict is.
struct Inputs {
  Source recording{};
  std::int64_t seed = 17, level = 1;
  bool faults = true, sealed = false;
  double severity = 1;
  std::int64_t accused = 0;
  Charge charge{};
  models::trace::Fix fix = models::trace::Fix::nothing;
  FileInput file;
  std::vector<trace_viewer::RankFile> ranks;
  std::vector<ScenarioRecord> history;  ///< sealed cases that were solved, among all cases that are kept
  double now_s = 0;
  bool operator==(const Inputs&) const = default;
};

inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// A suspect of the line-up. What is sealed is not a number.
struct SuspectRow {
  std::string letter, name;
  double longest_s = 0, length_s = 0, won_s = no_value;
  std::string verdict{};
};
/// What the diagnosis found for a cause.
struct WitnessRow {
  std::string cause{}, where{}, span{};
  double cost_s = 0;
};

struct Outputs {
  std::string planted = "sealed", diagnosed = "sealed";
  double culprit_rank = no_value, won_s = no_value, won_percent = no_value;
  double length_s = 0, step_s = 0, step_without_s = no_value;
  double longest_s = no_value, longest_won_s = no_value, culprit_s = no_value;
  double accused_s = no_value, accused_won_s = no_value, fix_won_s = no_value, score = no_value;
  double diagnosed_rank = no_value, diagnosed_s = no_value, explained_percent = no_value;
  double replay_percent = no_value;
  std::int64_t ranks = 0, steps = 0, cases_kept = 0, cases_sealed = 0, cases_solved = 0;
  double today_case = no_value;
  std::vector<SuspectRow> suspects;
  std::vector<WitnessRow> witnesses;
  std::string losses, origin;
  std::string reason;
};

/// The case that everybody is dealt on the day of this time, the same for all; NaN where the time is not known.
double case_of_the_day(double now_s);

struct DealtKey {
  std::int64_t seed = 0, level = 0;
  bool faults = false;
  double severity = 1;
  bool operator==(const DealtKey&) const = default;
};
/// A case with all that was made of it; kept while somebody is accused.
struct Dealt {
  models::trace::Case played;
  models::trace::CaseRecording recording;
  models::trace::JobDiagnosis diagnosis;
  std::vector<models::trace::Suspect> line_up;
};
using DealtCases = Memo<DealtKey, Dealt, 6>;

struct Run {
  std::shared_ptr<const Dealt> dealt;  ///< null where the case is recorded, or recordings were given
  std::shared_ptr<const models::trace::RecordedCase> real;   ///< the recorded case
  const models::trace::RealRecording* real_facts = nullptr;  ///< what is known of it
  std::vector<trace_viewer::RecordingPtr> recorded;          ///< those that were given
  models::trace::JobDiagnosis diagnosis;                     ///< what is found in these
  bool open = false;                                         ///< nothing is sealed

  bool played() const { return dealt || real; }
  std::size_t suspects() const;
  bool guilty(std::size_t suspect) const;
};

/// A row of the board: its spans, and the task or the event of each.
struct BoardLane {
  std::string label{}, sublabel{};
  std::uint32_t rank = 0, indent = 0;
  std::vector<widgets::TimelineSpan> spans{};
  std::vector<std::uint32_t> source{};
  std::vector<std::int8_t> suspect{};  ///< whom a press on the span accuses; negative: nobody
};
/// A row of the line-up.
struct BoardSuspect {
  std::string letter{}, name{}, length{}, won{}, verdict{};
  float length_part = 0, won_part = 0;  ///< parts of the longest length
  bool guilty = false, accused = false;
  widgets::TimelineSelection span{};  ///< its longest span on the board; none where it is not shown
};

/// Names a suspect by a press in the picture. A sealed case is opened by it, and what was said is kept.
void accuse(Inputs& in, const Run& run, std::size_t suspect);

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::vector<BoardLane> lanes;
  std::vector<std::string> names;  ///< names of spans, by number
  std::vector<BoardSuspect> suspects;
  std::vector<std::uint32_t> letters;         ///< suspects by their longest span, the longest first
  std::vector<widgets::TimelineStep> thread;  ///< from the culprit to whoever waits
  std::string board_words, line_words;
  std::int64_t end_ns = 0;
  bool graded = true;  ///< somebody planted something
};

struct View {
  widgets::TimelineView timeline;
  std::vector<widgets::TimelineLane> lanes;
  DescribedTable<SuspectRow> suspects;
  DescribedTable<WitnessRow> witnesses;
  std::uint64_t shown = 0;  ///< version of the picture that the timeline was fitted to
  std::int64_t case_shown = -1;
  std::int64_t guilty_of = -1;  ///< the case whose culprit was brought into sight
};

using Computed = chapters::Computed<Outputs, Run>;
/// A recorded case with what it is graded by.
void play_recorded(const Inputs& in, Run& run, Outputs& out);
void state_diagnosis(const models::trace::JobDiagnosis& d, std::span<const models::trace::Trace* const> ranks,
                     Outputs& out);
/// The board of a recorded case, and where each suspect's longest span stands on it.
std::vector<widgets::TimelineSelection> add_recorded_board(const Run& run, Picture& picture);
Computed compute(const Inputs& in, Progress& progress, DealtCases& cases);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_board(Inputs& in, const Picture& picture, View& view, ImVec2 size);
/// Suspects as rows of two bars; a press accuses. The head leaves `head_right` pixels at its right end free.
void draw_line_up(Inputs& in, const Picture& picture, View& view, ImVec2 size, float head_right);

/// "the collector's pause"... in the words of a sentence, by models::trace::Cause.
std::string_view cause_words(models::trace::Cause cause);
std::string_view work_words(models::trace::CaseWork work);
std::string suspect_name(const models::trace::SuspectKey& key, int ranks);
std::string suspect_name(const models::trace::RecordedSuspect& suspect);
/// In a span of the board; empty where the span's tint says enough.
std::string_view work_words(models::trace::RecordedWork work);
/// The id of a cause among the choices; its label stands beside it.
const Choices& cause_choices();
std::string cause_id(models::trace::Cause cause);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, SuspectRow& row);
void describe(Fields& f, WitnessRow& row);

}  // namespace chapters::profiling::detective
