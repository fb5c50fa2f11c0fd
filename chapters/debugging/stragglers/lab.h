#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/fleet/detector.h"
#include "models/trace/measure/pipeline_what_if.h"
#include "models/trace/measure/rank_calls.h"
#include "widgets/base/figure_meaning.h"
#include "widgets/charts/heat_map.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Who lets the others wait: a job's recorded ranks, a recorded pipeline, or a made-up fleet with a detector over it.
namespace chapters::debugging::stragglers {

enum class Source : std::uint8_t { dlrm, lengths, stages, fleet };

struct RecordingRow {
  FileInput file;
  bool operator==(const RecordingRow&) const = default;
};

/// Defaults: eight recorded ranks, nobody moved.
struct Inputs {
  Source source = Source::dlrm;
  std::vector<RecordingRow> recordings;
  std::int64_t advance_rank = 7;
  double advance_s = 0;
  models::fleet::Fault fault = models::fleet::Fault::slow_rank;
  std::int64_t ranks = 1000;
  double slower = 10;  ///< %
  std::int64_t seed = 1;
  double spread = 1, pause_share = 0.01, pause_size = 20;  ///< %
  models::fleet::Rule rule = models::fleet::Rule::several;
  double threshold = 3;  ///< spreads; of a ratio %
  double step_s = 10, price_per_hour = 2.5;
  bool operator==(const Inputs&) const = default;
};

inline constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// One rank of a recording.
struct RankRow {
  std::int64_t rank = 0;
  double computing_s = 0, waited_s = 0, blamed_s = 0, won_s = 0, sooner_s = 0;
  std::int64_t times_last = 0;
};

/// Figures of the recorded ranks; absent for anything else.
struct RankFigures {
  double blamed_share = absent, won_share = absent, sooner_s = absent, times_last = absent, collectives = absent;
  double waits_longest_rank = absent, waits_longest_s = absent;
  double computes_longest_rank = absent, computes_longest_s = absent;
  double culprit_waited_s = absent, after_rank = absent;
};
/// Figures of a recorded pipeline.
struct PipelineFigures {
  double ideal_s = absent, even_lengths_s = absent, even_stages_s = absent;
  double worst_workers_share = absent, last_stage_share = absent, length_correlation = absent;
  double workers = absent, steps = absent;
};
/// Figures of a made-up fleet.
struct FleetFigures {
  double healthy_step_s = absent, added_share = absent, barrier_share = absent;
  double guilty = absent, guilty_rank = absent, caught = absent, missed = absent, wrong = absent, delay_steps = absent;
  double false_alarms_per_day = absent, found_share = absent, mean_delay_steps = absent;
  double lost_hours = absent, lost_dollars = absent;
};

struct Outputs {
  std::string reason;
  double culprit_rank = absent, waits_s = absent, blamed_s = absent, won_s = absent, slowdown = absent;
  double length_s = absent;  ///< the recording, or the mean step
  std::string cause, losses;
  RankFigures ranks;
  PipelineFigures pipeline;
  FleetFigures fleet;
  std::vector<RankRow> rank_rows;
};

enum class Shown : std::uint8_t { nothing, ranks, pipeline, fleet };

/// A recorded pipeline with what was found.
struct Pipeline {
  models::trace::PipelineJob job;
  models::trace::PipelineWhatIf what_if;
};

struct Run {
  Shown shown = Shown::nothing;
  models::trace::RankCalls calls;  ///< with the rank moved
  models::trace::RankBlame blame;
  std::size_t moved = 0;  ///< row of the rank that can be moved
  std::shared_ptr<const Pipeline> pipeline;
  models::fleet::Fleet fleet;
  models::fleet::Guilt guilt;
  models::fleet::FleetRun run;
  models::fleet::Detection detection;
  std::vector<double> thresholds, found_share;  ///< the rule's, over its threshold
};
using Computed = chapters::Computed<Outputs, Run>;

/// A lane of the recording as it is painted.
struct Lane {
  std::size_t row = 0;
  std::string name, computing;
};
struct Plumb {
  double at_s = 0;
  std::size_t call = 0, lane = 0;  ///< lane of the last to come; lanes.size(): it is not shown
};

/// A GPU of the fleet that the rule accuses.
struct Accused {
  std::size_t row = 0;
  bool healthy = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  Shown shown = Shown::nothing;
  // Ranks.
  std::vector<Lane> lanes;
  std::vector<std::size_t> calls;  ///< that are painted
  std::vector<Plumb> plumbs;
  std::vector<double> matrix_s;  ///< lanes x lanes
  std::vector<std::string> matrix_text;
  std::vector<double> blamed_s;  ///< by lane
  std::vector<std::string> blamed_text, call_names, last_names;
  double most_wait_s = 0, end_s = 1, handle_s = 0;
  std::size_t moved_lane = 0, culprit_lane = 0;
  std::string handle_words, folded;
  std::vector<std::string> bar_names;
  std::vector<double> bar_values;
  std::vector<widgets::Tint> bar_tints;
  std::string bar_unit, bars_title;
  // Pipeline and fleet.
  std::vector<double> heat;
  std::size_t heat_rows = 0, heat_cols = 0;
  std::vector<std::string> heat_names;
  double heat_lo = 0, heat_hi = 1;
  std::string heat_note, accused_words;
  std::vector<Accused> accused;
  widgets::Curve false_alarms, found;
  double threshold = 0, threshold_lo = 0, threshold_hi = 1, alarms_lo = 1e-6, alarms_hi = 1e6;
  std::string threshold_label, verdict, cost_note;
  double month_useful = 0, month_noise = 0, month_fault = 0;  ///< GPU-hours
};

struct View {
  widgets::HeatMapView heat;
  widgets::StackedBarView bars, cost;
  widgets::PlotView alarms, found;
  widgets::PlotLink link;
  DescribedTable<RankRow> rows;
};

Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_ranks(Inputs& in, const Picture& picture, ImVec2 size);
void draw_heat(const Picture& picture, View& view, ImVec2 size);
void draw_detector(Inputs& in, const Picture& picture, View& view, ImVec2 size);

/// Fills ranks or a pipeline from the files of the inputs, or says in `out.reason` why not.
void read_recordings(const Inputs& in, Progress& progress, Run& run, Outputs& out);
bool has_recordings(const Inputs& in);
models::Result<std::shared_ptr<const Pipeline>> analysed(models::trace::PipelineJob job,
                                                         const models::trace::UsualTimes& usual);

void describe(Fields& f, RecordingRow& row);
void describe(Fields& f, RankRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::debugging::stragglers
