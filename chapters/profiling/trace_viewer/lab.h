#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/profiling/trace_viewer/lanes.h"
#include "models/trace/sample.h"
#include "widgets/charts/heat_map.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/table/table.h"
#include "widgets/timeline/timeline.h"

/// The lab profiling/trace-viewer, in parts: described (trace_viewer.cpp), read (trace_source), laid out (trace_lanes),
/// computed (trace_viewer_compute.cpp), drawn (trace_viewer_draw.cpp, trace_viewer_panels.cpp).
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
enum class RankFigure : std::uint8_t { computation, communication, idle, step };

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
  RankFigure rank_figure = RankFigure::computation;
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
struct RankRow {
  std::int64_t rank = 0, device = 0;
  double step_s = 0, compute_s = 0, communication_s = 0, exposed_s = 0, idle_s = 0;
};
struct Finding {
  std::string title, finding;
  double covers_s = 0;
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
         idle_other_share = 0, streams_idle_s = 0;
  double compute_s = 0, communication_s = 0, memory_s = 0, exposed_communication_s = 0, overlapped_s = 0, overlap = 0;
  std::int64_t queue_longest = 0, launches = 0;
  double launch_delay_median_s = 0, launch_delay_longest_s = 0;
  std::int64_t late_launches = 0;
  std::int64_t slowest_rank = -1;
  double slowest_excess = 0;
  std::int64_t matches = 0;
  double matches_s = 0;
  double beside_step_time_s = 0, beside_busy_share = 0, beside_speedup = 0;
  std::string diagnosis, losses;
  std::vector<KernelRow> kernels;
  std::vector<StreamRow> streams;
  std::vector<StepRow> step_rows;
  std::vector<RankRow> ranks;
  std::vector<Finding> findings;
  std::vector<HostRow> host_rows;
  double host_wait_s = 0, after_sync_s = 0;

  // For the picture alone.
  std::shared_ptr<const Lanes> lanes;
  std::vector<double> overview;  ///< busy share of equal parts of the whole recording
  double overview_start_s = 0, overview_end_s = 0;
  widgets::TimelineWindow window;  ///< the step chosen; duration 0: everything
  std::vector<Place> finding_places, gap_places, kernel_places, host_places;  ///< of a row: its longest piece
  std::vector<double> heat;
  std::size_t heat_rows = 0, heat_cols = 0;
  std::vector<std::string> heat_labels;
  struct Bar {
    std::string label;
    std::array<double, 7>
        parts{};  ///< seconds: computing alone, both, communicating alone, memory alone, idle by three causes
  };
  std::vector<Bar> bars;
  std::string summary, matches_text, rank_story, breakdown_story, beside_story, host_story, kernel_story;
  bool compared = false;  ///< something stands beside, and its kernels with it
};

struct SelectionStatistics {
  double from_s = std::numeric_limits<double>::quiet_NaN(), to_s = from_s;
  std::shared_ptr<const Lanes> of;
  std::string text;
};

struct View {
  double time = 0;                     ///< cursor, seconds since the recording's first span
  double start_s = 0, duration_s = 0;  ///< what of the time is shown; a duration of 0 shows everything
  std::int64_t match = -1, gap = -1;   ///< the match and the gap stepped to last
  widgets::TimelineView timeline;
  widgets::StackedBarView breakdown;
  widgets::HeatMapView heat;
  widgets::TableView kernels, host;
  std::shared_ptr<const Lanes> shown;  ///< what the timeline's index was made for
  widgets::TimelineWindow asked;       ///< the window that Outputs asked for last
  SelectionStatistics selection;
  std::uint64_t version = 0;
  float natural_px = 0, natural_scale = 0;  ///< the timeline's own height, and the interface scale that it is for
};

Outputs compute(const Inputs& inputs, Progress& progress);
void draw(Inputs& inputs, const Outputs& out, View& view);
/// The recording shown first as Chrome JSON, which this lab and other viewers read again.
models::Result<std::string> document_of(const Outputs& out);
/// Shows a span of time with some room around it, and selects what is there.
void show(View& view, const Place& place);
void draw_panels(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, RankFile& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, KernelRow& row);
void describe(Fields& fields, HostRow& row);
void describe(Fields& fields, StreamRow& row);
void describe(Fields& fields, StepRow& row);
void describe(Fields& fields, RankRow& row);
void describe(Fields& fields, Finding& row);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::profiling::trace_viewer
