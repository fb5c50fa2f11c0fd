#pragma once
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/parallel/pipeline/pipeline_formulas.h"
#include "models/parallel/pipeline/pipeline_memory.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot.h"
#include "widgets/timeline/timeline.h"

/// Two pipeline schedules on one clock: what each rank does, and what it must keep meanwhile.
namespace chapters::distributed::pipeline {

/// A block of the schedule below that the learner moved: by the labels that stand on the blocks.
struct MoveRow {
  std::int64_t rank = 0;
  std::string block, before;  ///< before: empty, to the end of the rank's order
  bool operator==(const MoveRow&) const = default;
};

struct Inputs {
  models::parallel::PipelineSchedule schedule = models::parallel::PipelineSchedule::zb_h1,
                                     beside = models::parallel::PipelineSchedule::one_f_one_b;
  std::int64_t stages = 4, micro_batches = 8, chunks = 2, beside_chunks = 2;
  double t_forward = 1e-3, t_backward_input = 1e-3, t_backward_weight = 1e-3, t_link = 0, pair_share = 1;
  std::vector<double> rank_factors;
  std::int64_t steps = 1;
  double kept_share = 1;
  std::int64_t room = 0;  ///< micro-batches whose activations a rank has room for; 0: any number
  std::vector<MoveRow> moves;
  bool operator==(const Inputs&) const = default;
};

struct RankRow {
  std::int64_t rank = 0, versions = 1;
  double busy_s = 0, wall_bubble_s = 0, span_bubble_s = 0, keeps = 0, beside_keeps = 0;
};
struct OrderRow {
  std::int64_t rank = 0;
  std::string order;
};

/// Figures of one schedule.
struct SideFigures {
  models::parallel::PipelineTotals totals;  ///< NaN where ranks wait for each other for ever
  std::vector<double> peaks;  ///< what each rank keeps at most, in activations of one micro-batch on one stage
  double peak = 0, peak_bytes_share = 0;  ///< the fullest rank's, in activations of a rank's whole share
  double least = 0;                       ///< the emptiest rank's
  double weights = 1, staleness = 0, period_s = 0, idle_without_barrier = 0, idle_percent = 0;
  std::string stuck;  ///< not empty: the run ends early, and this sentence says why
};

struct Outputs {
  std::string reason;
  SideFigures now, beside;  ///< the schedules below and above
  double saved_s = 0, closed_form_s = std::numeric_limits<double>::quiet_NaN(), wall_bubble_s = 0;
  std::string closed_form;
  /// Makespan and fullest rank of the schedule below before any block was moved; NaN where none is.
  double generated_s = std::numeric_limits<double>::quiet_NaN(), generated_peak = generated_s;
  std::int64_t moves_left_out = 0;  ///< moves of blocks that this schedule does not have
  std::int64_t crowded_rank = -1;   ///< the first that keeps more than it has room for; -1: none
  std::int64_t busiest_rank = -1;   ///< the one rank that works longer than all others; -1: none does
  double busiest_s = 0;             ///< work of the rank that works longest
  std::vector<RankRow> ranks;
  std::vector<OrderRow> orders;
};

/// One schedule's plan and what came of it.
struct Side {
  models::parallel::PipelineSpec spec;
  models::parallel::PipelinePlan plan;
  models::parallel::PipelineTimes times;
  models::parallel::PipelineRun run;
  std::string stuck;     ///< not empty: the run ends early, and this sentence says why; its totals are then NaN
  double reached_s = 0;  ///< until when anything is done
  std::vector<models::parallel::PipelineMove> moves;  ///< those that its order has the blocks for
  // What only the picture shows:
  std::vector<std::vector<models::parallel::KeptActivations>>
      kept;                                               ///< by each rank over time, in a chunk's activations
  std::vector<models::parallel::PipelinePlace> critical;  ///< empty where more operations than have names
};
/// Above so many operations none has room for a name, and none for a gap of its own.
inline constexpr std::size_t max_named_operations = 6000;
std::size_t operations_of(const models::parallel::PipelinePlan& plan);

struct Run {
  Side now, beside;
  std::vector<double> micro_batches;
  /// Idle time of the schedules above and below with so many micro-batches, %; NaN where a schedule does not take so
  /// few.
  std::array<std::vector<double>, 2> idle_percent;
};

/// What the timeline shows of one rank.
struct RankLane {
  std::string label, idle_words, kept_words;  ///< its name and, at its end, how long it idles and what it keeps
  std::vector<widgets::TimelineSpan> spans;
  std::vector<widgets::TimelinePoint> kept;
  std::vector<std::uint32_t> blocks;  ///< the place of each span in the rank's order; no_block: it has none
};
inline constexpr std::uint32_t no_block = UINT32_MAX;
struct OpName {
  std::string said, brief, info;  ///< brief: without the stage
  std::int64_t duration_ns = 0;
};
struct ScheduleLanes {
  std::string title, subtitle;
  std::vector<RankLane> lanes;
  std::vector<OpName> names;
  std::vector<widgets::TimelineStep> thread;  ///< the critical path
  std::vector<double> peaks;                  ///< what each rank keeps at most, in activations of its whole share
};

/// One entry of the legend.
struct LegendWord {
  enum class Kind : std::uint8_t { box, line, dashed } kind = Kind::box;
  std::string label;
  widgets::Tint tint{};
  bool plain = false;  ///< in the colour of text, not in a hue
};
/// In the list of ranks that have a lane: the lane that names those without one.
inline constexpr auto folded_ranks = static_cast<std::size_t>(-1);

struct Picture {
  std::uint64_t version = 0;
  std::string answer, sooner;  ///< sooner: by how much the faster schedule is done before the other
  std::vector<LegendWord> legend;
  std::array<ScheduleLanes, 2> schedules;  ///< above and below
  double most_kept = 1;
  double room = std::numeric_limits<double>::quiet_NaN();  ///< micro-batches that a rank has room for; NaN: any number
  std::vector<std::string> rank_texts;
  std::vector<widgets::Curve> kept, idle;  ///< the schedule above, then below; against ranks and micro-batches
  double most_idle = 20;                   ///< end of the axis of idle time, %
  std::shared_ptr<const Run> run;
};

struct View {
  std::array<widgets::TimelineView, 2> timelines;
  widgets::PlotView kept, idle;
  DescribedTable<RankRow> ranks;
  std::array<std::vector<widgets::TimelineLane>, 2> lanes;
  std::vector<widgets::TimelineCounter> counters;
  std::vector<std::string_view> rank_names;
  std::vector<std::size_t> ranks_shown;
  widgets::Line folded;  ///< names the ranks without a lane
  std::vector<widgets::TimelineStep> thread;
  std::string carried;  ///< what the block under the pointer would do
};

/// The schedule with these micro-batches, on the inputs' times; the same work for a rank whatever its chunks. `edited`:
/// with the learner's moves, as far as its ranks get. Fails with a sentence where there is no such plan.
models::Result<Side> run_side(const Inputs& in, bool beside, std::int64_t micro_batches, bool edited = false);
/// Those of the learner's moves that the schedule has the blocks for.
std::vector<models::parallel::PipelineMove> moves_of(const Inputs& in, const models::parallel::PipelineSpec& spec);

/// Moves the block at `from` of a rank's order in front of that at `to` (one past the last: to the end). A second move
/// of one block takes the place of the first; what puts everything back where the schedule had it leaves no moves.
void move_block(Inputs& in, const Side& side, std::size_t rank, std::size_t from, std::size_t to);

/// `facts_alone`: without what only the picture needs, the schedules at other numbers of micro-batches.
Computed<Outputs, Run> compute(const Inputs& in, bool facts_alone = false);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);
void draw_schedules(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// Marks the learner's guess of the schedule below; `row` and `strip`: design pixels of a lane's blocks and of its
/// memory, 0 where that is not drawn.
void draw_guess(const Picture& picture, const View& view, double makespan_s, float row, float strip);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, RankRow& row);

}  // namespace chapters::distributed::pipeline
