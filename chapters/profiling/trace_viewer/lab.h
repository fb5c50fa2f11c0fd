#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chapters/mechanism/aside.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/profiling/trace_viewer/facts.h"
#include "chapters/profiling/trace_viewer/lanes.h"
#include "chapters/profiling/trace_viewer/marked_part.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/measure/ranks.h"
#include "models/trace/measure/spans.h"
#include "models/trace/writers/sample.h"
#include "widgets/charts/heat_map.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/timeline/timeline.h"

/// Recordings of real runs: read (source), laid out (lanes), measured (compute), told (arrange) and drawn.
namespace chapters::profiling::trace_viewer {

enum class Beside : std::uint8_t {
  nothing,
  healthy,
  hidden_sync,
  data_starved,
  launch_bound,
  exposed_communication,
  straggler
};
enum class RankFigure : std::uint8_t { waiting, computation, communication, idle, step };

struct RankFile {
  FileInput file;
  bool operator==(const RankFile&) const = default;
};

struct Inputs {
  FileInput file;
  models::SampleFault sample = models::SampleFault::hidden_sync;
  std::vector<RankFile> ranks;
  FileInput beside_file;
  Beside beside = Beside::nothing;
  std::int64_t device = 0;
  std::int64_t step = 0;
  std::string search;
  bool all_ranks = false, one_clock = true, arrows = false;
  RankFigure rank_figure = RankFigure::waiting;
  bool operator==(const Inputs&) const = default;
};

/// Rows of a table among the Outputs that may grow with the recording.
inline constexpr std::size_t max_table_rows = 200;

struct KernelRow {
  std::string name;
  std::int64_t count = 0;
  double total_s = 0, share = 0, mean_s = 0, longest_s = 0;
  double beside_s = 0, saved_s = 0;  ///< its total beside, over as many steps, and how much less that is
};
struct HostRow {
  std::string name;
  std::int64_t pieces = 0;
  double time_s = 0, share = 0, longest_s = 0;
};
struct StreamRow {
  std::int64_t stream = 0, events = 0;
  double busy_s = 0, idle_s = 0;
  std::int64_t queue_longest = 0;
};
struct StepRow {
  std::string name;
  double step_s = 0, busy_s = 0, compute_s = 0, communication_s = 0, exposed_s = 0, idle_s = 0;
};
/// A name of the host's spans, where no device was recorded.
struct SpanRow {
  std::string name;
  std::int64_t count = 0;
  double self_s = 0, share = 0, total_s = 0, longest_s = 0;
};
struct RankRow {
  std::int64_t rank = 0, device = 0;
  double step_s = 0, compute_s = 0, communication_s = 0, exposed_s = 0, idle_s = 0;
  double waited_s = std::numeric_limits<double>::quiet_NaN(), caused_s = waited_s;
  std::int64_t times_last = 0;
};
struct CollectiveRow {
  std::string name;
  std::int64_t last_rank = 0;
  double cost_s = 0;
};
struct Finding {
  std::string title, finding;
  double covers_s = 0;
  double won_s = absent;  ///< by how much a replay without it is shorter; absent where nothing is replayed
  int diagnosis = -1;     ///< index into Metrics::diagnosis of the chosen recording; -1: about all ranks
};

/// Where a finding, a gap or a match lies in the timeline.
struct Place {
  double start_s = 0, end_s = 0;
  widgets::TimelineSelection at{};
};

/// Figures that stand together and may be absent together are one member each (facts.h).
struct Outputs {
  std::string reason;
  std::int64_t events = 0, steps = 0, devices = 0, launches = 0;
  double step_time_s = 0;  ///< not a number where no step is marked
  DeviceTimes times;
  IdleCauses causes;
  CommunicationTimes communication;
  double streams_idle_s = absent;
  LaunchFigures launching;
  LateRank late;
  double collectives_waited_s = absent;
  SlowRank slowest;
  double explained_share = absent;  ///< %, how much of the recording its replay explains
  Matches matches;
  BesideFigures beside;
  std::string diagnosis, losses;
  std::vector<KernelRow> kernels;
  std::vector<StreamRow> streams;
  std::vector<StepRow> step_rows;
  std::vector<RankRow> ranks;
  std::vector<Finding> findings;
  std::vector<HostRow> host_rows;
  std::vector<SpanRow> span_rows;
  std::vector<CollectiveRow> collectives;
};

/// What the recordings hold beyond these facts. It is measured in the job, since a recording of millions of events
/// takes longer than a frame.
struct Run {
  std::vector<Row> rows;   ///< every device of every recording
  std::size_t chosen = 0;  ///< the row that the Outputs are about
  std::optional<Row> beside;
  std::shared_ptr<const Lanes> lanes;                 ///< null where the facts alone were asked for
  std::vector<double> overview;                       ///< busy share of equal parts of the whole recording
  std::vector<models::trace::WindowMetrics> windows;  ///< the chosen row's, the other ranks shown, what is beside
  std::vector<std::size_t> window_rows;               ///< the row of each window but the one beside
  std::vector<models::trace::RankStep> rank_steps;
  models::trace::JobWaits waits;        ///< by row; without collectives where there is one, or one rank twice
  models::trace::HostSpans host_spans;  ///< filled for a recording without a device

  const Row& main() const { return rows[chosen]; }
};
using Computed = chapters::Computed<Outputs, Run>;

/// A finding as a card: what it costs in all, and its share.
struct Card {
  std::string title, figure, share, sentence;
  widgets::Tint tint{};  ///< the colour of what is to blame, the same as in the tracks
  bool hatched = false;
  Place place;
};

struct Bar {
  std::string label;
  /// Seconds: computing alone, both, communicating alone, memory alone; idle before a launch was called, inside that
  /// call, after it had returned, between tasks launched in time, late though launched, and for a cause not known.
  std::array<double, 10> parts{};
};

/// Each rank's figure of each step, as the difference from the median; or how long each rank waited in each collective.
struct RankMap {
  /// Rows x cols; NaN: no such step, or no part in that collective. Of waits: waited for others below 0, costs the
  /// others above, in % of the largest either way.
  std::vector<double> percent, value_s;
  std::size_t rows = 0, cols = 0;
  double span = 5;  ///< ends of the ramp, % either way
  std::vector<std::string> labels, col_labels;
  std::vector<std::int64_t>
      col_steps;  ///< where waits are shown: the step that holds the column's first collective; 0: none
  bool waits = false;
  double largest_s = 0;          ///< where waits are shown: what the ramp's ends stand for
  std::vector<double> totals_s;  ///< where waits are shown: what each row costs the others
  std::int64_t culprit = -1;     ///< row that stands out; -1: none
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;  ///< the timeline and the overview are drawn from it
  std::string answer;
  std::vector<Card> cards;                                                 ///< in the order of Outputs::findings
  std::vector<Place> gap_places, kernel_places, host_places, span_places;  ///< where each row's longest piece lies
  std::vector<Bar> bars;                                                   ///< empty: no device did any work
  RankMap ranks;
  bool compared = false;  ///< something stands beside, and its kernels with it
  double overview_start_s = 0, overview_end_s = 0;
  widgets::TimelineWindow window;  ///< the step chosen; duration 0: everything
  std::string findings_title;      ///< says so where the findings are about more than the step shown
  std::string summary, matches_text, rank_story, breakdown_story, host_story, kernel_story, span_story, overview_title;
};

/// The span under the pointer, about which the file says more than its name and times.
struct PointedSpan {
  std::shared_ptr<const Lanes> lanes;
  widgets::TimelineSelection span;
  bool operator==(const PointedSpan&) const = default;
};

struct View {
  double label_px = 0;                 ///< design pixels of the names left of the tracks; 0: of its own
  double time = 0;                     ///< cursor, seconds since the recording's first span
  double start_s = 0, duration_s = 0;  ///< what of the time is shown; a duration of 0 shows everything
  std::int64_t match = -1, gap = -1;   ///< the match and the gap stepped to last
  widgets::TimelineView timeline;
  widgets::StackedBarView breakdown;
  widgets::HeatMapView heat;
  DescribedTable<KernelRow> kernels;
  DescribedTable<HostRow> host;
  DescribedTable<SpanRow> spans;
  std::shared_ptr<const Lanes> shown;       ///< what the timeline's index was made for
  widgets::TimelineWindow asked;            ///< the window that the Picture asked for last
  Aside<MarkedPart, MeasuredPart> marked;   ///< the part that shift-drag marked
  Aside<PointedSpan, std::string> pointed;  ///< the arguments of the span under the pointer
  Requests requests;
  float low_px = 0, high_px = 0,
        natural_scale = 0;  ///< the timeline's height with low and high rows, and for which scale
};

Computed compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The recording shown first as Chrome JSON, which this lab and other viewers read again.
models::Result<std::string> document_of(const Outputs& out, const Run& run);

void describe(Fields& fields, RankFile& row);
void describe(Fields& fields, KernelRow& row);
void describe(Fields& fields, HostRow& row);
void describe(Fields& fields, SpanRow& row);
void describe(Fields& fields, CollectiveRow& row);
void describe(Fields& fields, StreamRow& row);
void describe(Fields& fields, StepRow& row);
void describe(Fields& fields, RankRow& row);
void describe(Fields& fields, Finding& row);
void describe(Fields& fields, View& view);

}  // namespace chapters::profiling::trace_viewer
