#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/profiling/trace_viewer/lanes.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/measure/ranks.h"
#include "models/trace/measure/spans.h"
#include "models/trace/writers/sample.h"
#include "widgets/charts/heat_map.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/table/table.h"
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
  int diagnosis = -1;  ///< index into Metrics::diagnosis of the chosen recording; -1: about all ranks
};

/// Where a finding, a gap or a match lies in the timeline.
struct Place {
  double start_s = 0, end_s = 0;
  widgets::TimelineSelection at{};
};

struct Outputs {
  std::string reason;
  std::int64_t events = 0, steps = 0, devices = 0;
  double span_s = 0, step_time_s = 0;
  double busy_s = 0, idle_s = 0, busy_share = 0, idle_share = 0;
  double idle_host_s = 0, idle_kernel_s = 0, idle_other_s = 0, idle_host_share = 0, idle_kernel_share = 0,
         idle_other_share = 0, streams_idle_s = std::numeric_limits<double>::quiet_NaN();
  double late_before_s = 0, late_inside_s = 0, late_after_s = 0;
  double late_before_share = 0, late_inside_share = 0, late_after_share = 0;
  double compute_s = 0, communication_s = 0, memory_s = 0, exposed_communication_s = 0, overlapped_s = 0, overlap = 0;
  std::int64_t launches = 0;
  // Not a number where no launch was recorded, and where there is one rank.
  double queue_longest = std::numeric_limits<double>::quiet_NaN(), launch_delay_median_s = queue_longest,
         launch_delay_longest_s = queue_longest, late_launches = queue_longest;
  double slowest_rank = std::numeric_limits<double>::quiet_NaN(), slowest_excess = slowest_rank;
  double late_rank = slowest_rank, late_rank_cost_s = slowest_rank, late_rank_idle_cost_s = slowest_rank,
         late_rank_share = slowest_rank, collectives_waited_s = slowest_rank;
  double matches = std::numeric_limits<double>::quiet_NaN(),
         matches_s = matches;  ///< not a number: nothing is searched
  double beside_step_time_s = 0, beside_busy_share = 0, beside_speedup = 0;
  std::string diagnosis, losses;
  std::vector<KernelRow> kernels;
  std::vector<StreamRow> streams;
  std::vector<StepRow> step_rows;
  std::vector<RankRow> ranks;
  std::vector<Finding> findings;
  std::vector<HostRow> host_rows;
  std::vector<SpanRow> span_rows;
  std::vector<CollectiveRow> collectives;
  double host_wait_s = std::numeric_limits<double>::quiet_NaN(), after_sync_s = host_wait_s;

  // What a Picture is arranged from: measured in the job, since a recording of millions of events takes longer than a
  // frame.
  std::shared_ptr<const Lanes> lanes;
  std::vector<double> overview;  ///< busy share of equal parts of the whole recording
  std::vector<Row> rows;         ///< every device of every recording
  std::size_t chosen = 0;        ///< of `rows`
  std::optional<Row> beside;
  std::vector<models::trace::WindowMetrics> windows;  ///< of the chosen row, the other ranks shown, and what is beside
  std::vector<std::size_t> window_rows;               ///< of each window but the one beside: its row
  std::vector<models::trace::RankStep> rank_steps;
  models::trace::JobWaits waits;        ///< by row; without collectives where there is one, or one rank twice
  models::trace::HostSpans host_spans;  ///< of a recording without a device
};

/// A finding as a card: what it costs in all, and its share.
struct Card {
  std::string title, figure, share, sentence;
  widgets::Tint tint{};  ///< of what is to blame, the same as in the tracks
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
  std::vector<std::int64_t> col_steps;  ///< of waits: the step that holds the column's first collective; 0: none
  bool waits = false;
  double largest_s = 0;          ///< of waits: what the ramp's ends stand for
  std::vector<double> totals_s;  ///< of waits, by row: costs the others
  std::int64_t culprit = -1;     ///< row that stands out; -1: none
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Card> cards;                                                 ///< in the order of Outputs::findings
  std::vector<Place> gap_places, kernel_places, host_places, span_places;  ///< of a row: its longest piece
  std::vector<Bar> bars;                                                   ///< empty: no device did any work
  RankMap ranks;
  bool compared = false;  ///< something stands beside, and its kernels with it
  double overview_start_s = 0, overview_end_s = 0;
  widgets::TimelineWindow window;  ///< the step chosen; duration 0: everything
  std::string findings_title;      ///< says so where the findings are about more than the step shown
  std::string summary, matches_text, rank_story, breakdown_story, host_story, kernel_story, span_story, overview_title;
};

struct SelectionStatistics {
  double from_s = std::numeric_limits<double>::quiet_NaN(), to_s = from_s;
  std::shared_ptr<const Lanes> of;
  std::string text;
};

struct View {
  double label_px = 0;                 ///< design pixels of the names left of the tracks; 0: of its own
  double time = 0;                     ///< cursor, seconds since the recording's first span
  double start_s = 0, duration_s = 0;  ///< what of the time is shown; a duration of 0 shows everything
  std::int64_t match = -1, gap = -1;   ///< the match and the gap stepped to last
  widgets::TimelineView timeline;
  widgets::StackedBarView breakdown;
  widgets::HeatMapView heat;
  widgets::TableView kernels, host, spans;
  std::shared_ptr<const Lanes> shown;  ///< what the timeline's index was made for
  widgets::TimelineWindow asked;       ///< the window that Outputs asked for last
  SelectionStatistics selection;
  float low_px = 0, high_px = 0,
        natural_scale = 0;  ///< the timeline's height with low and high rows, and for which scale
};

Outputs compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The recording shown first as Chrome JSON, which this lab and other viewers read again.
models::Result<std::string> document_of(const Outputs& out);

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
