#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "models/realtime/jitter.h"
#include "models/realtime/jitter_summary.h"
#include "widgets/charts/tornado.h"
#include "widgets/pictures/road.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Frame times of a car's stack, one by one, and how far it drives without a fresh result.
namespace chapters::driving::jitter {

struct Inputs {
  double base_s = 27e-3;
  models::FrameShape frame_shape = models::FrameShape::bell;
  double spread = 2;  ///< %
  double rate_hz = 30;
  std::int64_t frames = 100000, seed = 1;
  double speed_m_per_s = 31.29;
  models::JitterPolicy policy = models::JitterPolicy::wait;
  double watchdog = 95, small_share = 50;  ///< %
  std::int64_t recover_frames = 30;
  std::vector<models::JitterSource> sources = models::example_sources();
  bool operator==(const Inputs&) const = default;
};

/// What one source costs.
struct EffectRow {
  std::string name;
  models::JitterHits hits;
  double share = 0;  ///< % of all frames
  double mean_s = 0, p99_saved_s = 0;
};

struct Outputs {
  std::string reason;
  models::JitterSummary summary;
  models::JitterTotals totals;
  double deadline_s = 0;  ///< also the time from frame to frame
  double slack_p99_s = 0;
  double needs_s = 0;       ///< mean work of a frame, on the model that it ran on
  bool overloaded = false;  ///< the queue grows for as long as the run lasts: no percentile means anything
  double tail_ratio = 1;
  bool tail_held = false;
  std::int64_t misses = 0;
  double miss_rate = 0, small_rate = 0;  ///< %
  double misses_per_hour = 0;
  double frame_m = 0, extra_p99_m = 0, blind_worst_m = 0, blind_per_hour_m = 0, blind_worst_s = 0, blind_from_s = 0;
  std::string biggest;
  std::vector<EffectRow> effects;
};

/// Every frame, up to a million of them, and the points of the plots of their times.
struct Run {
  models::JitterRun frames;
  models::JitterDistribution distribution;
};

/// A frame on its piece of the road; where they are many, the slowest of its neighbours.
struct FrameColumn {
  double from_m = 0, to_m = 0, response_s = 0;
  models::FrameFate fate{};
};

struct Picture {
  std::uint64_t version = 0;
  LabDoors doors;
  std::shared_ptr<const Run> run;
  std::string answer;
  double length_s = 1;             ///< how long the run lasts
  double min_tail_share = 1e-3;    ///< smallest share on the plot of the tail, %
  widgets::Curve histogram, tail;  ///< answers by time: in each bin, and slower than
  widgets::Curve measured;         ///< quantiles that were measured on Orin; empty: not of this stack
  double histogram_s = 1;          ///< right end of the histogram: a multiple of the deadline
  double from_m = 0, to_m = 1;     ///< the road that is shown
  std::vector<widgets::RoadStretch> stretches;
  std::int64_t worst = 0;  ///< which of them is in the middle
  std::vector<FrameColumn> columns;
  double slowest_s = 0;  ///< the top of the columns
  std::string lines[2];  ///< what stands over the columns, and what is said of an overload

  std::vector<std::string> source_causes;  ///< what a miss is owed to, by source; the last: undisturbed frames
  std::vector<std::string> causes;         ///< what misses are owed to, most first, at most six
  std::vector<std::string_view> cause_labels;
  std::vector<double> minute_s, misses_per_minute;  ///< bins of the run; their values one cause after the other
  double most_per_minute = 0;
  std::vector<std::string> source_names;
  std::vector<widgets::TornadoRow> sources;
  std::string no_source_moves_p99;  ///< a sentence in place of the sources; empty: at least one moves it
};

constexpr std::size_t window_frames = 240;

void describe(Fields& f, EffectRow& r);

struct View {
  double time_s = -1;  ///< the cursor, since the run began; below 0: shortly before the longest blind stretch
  widgets::RoadView road;
  widgets::TornadoView tornado;
  widgets::PlotView histogram, tail, minutes, window, ramp;
  DescribedTable<EffectRow> effects;
  // Room for what the window shows, so that a frame allocates nothing: x, y of answered frames and of each kind of
  // miss.
  std::array<std::array<double, window_frames>, 8> room{};
  std::array<std::string_view, window_frames> late_causes{};
  Requests requests;
};

Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
LabDoors doors_of(const Inputs& inputs, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::driving::jitter
