#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/described/launch_host.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/training/launch_queue.h"
#include "widgets/plot/plot.h"
#include "widgets/timeline/span_names.h"
#include "widgets/timeline/timeline.h"

/// A host that launches and a device that computes, with a queue between: who sets the pace of a step.
namespace chapters::framework::launch {

struct Inputs {
  models::LaunchMode mode = models::LaunchMode::eager, beside = models::LaunchMode::graph;
  LaunchHostInputs launching;
  models::LaunchSync sync = models::LaunchSync::step, beside_sync = models::LaunchSync::step;
  std::int64_t queue_depth = 1024;
  double reached = 0.85;
  std::string model = "llama-3-8b", chip = "h100_sxm";
  LaunchedPhase phase = LaunchedPhase::decode;
  std::int64_t batch = 1, sequence = 2048, context = 4096;
  bool operator==(const Inputs&) const = default;
};

struct OperationRow {
  std::string name;
  std::int64_t kernels = 0, count = 0;
  double kernel_s = 0, launches_s = 0, kernels_s = 0;
};
struct RecordedRow {
  std::string name;
  double call_s = 0, interval_s = 0, latency_s = 0, between_s = 0;
  std::int64_t lead = 0;
};

/// What one mode comes to.
struct ModeFigures {
  double step_s = 0, idle = 0, host_s = 0;  ///< idle: %, of the device
  std::int64_t launches = 0, most_queued = 0;
};

struct Outputs {
  std::string reason;
  ModeFigures now, beside;
  double speedup = 1, twice = 1, kernels_s = 0, launch_s = 0, tokens_per_s = 0, free_batch = 0, kernels_a_layer = 0;
  double sync_step_s = 0, sync_layer_s = 0;  ///< what waiting adds to a step in which the host never waits
  std::string host_times;
  bool host_bound = false;
  std::vector<OperationRow> operations;
  std::vector<RecordedRow> recorded;
};

/// One mode's kernels and the history of their launches.
struct ModeRun {
  models::LaunchList list;
  models::LaunchRun run;
  ModeFigures figures;
};
/// The steps of another batch.
struct BatchSteps {
  double batch = 0, now_s = 0, beside_s = 0, twice_s = 0, host_s = 0;
};
struct Run {
  ModeRun now, beside;
  ModeRun twice;                  ///< the first mode on a GPU that is twice as fast
  models::LaunchHost host;        ///< its times as they are used
  bool hip = false;               ///< an AMD GPU
  std::vector<BatchSteps> steps;  ///< over the batch; empty where nobody will look
};

/// A mode as two conveyors and the pool between them.
struct Conveyors {
  std::string label, lane;  ///< names of the pair of them and of its first lane
  std::string host_words, queue_words, device_words;
  std::vector<widgets::TimelineSpan> groups;  ///< over the host's launches: what they are for
  std::vector<widgets::TimelineSpan> host, device;
  std::vector<widgets::TimelineSpan> dry;   ///< under the device: runs of waits with their sum
  std::vector<std::int64_t> layer_ends_ns;  ///< inside of the window
  std::string dry_words;                    ///< when the first layer is done
  std::string pool_words;                   ///< that the queue is empty, or how many wait in it
  bool is_dry = false;                      ///< the device waits for launches in a good part of the window
  std::vector<widgets::TimelinePoint> queue;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::array<Conveyors, 2> modes;
  Conveyors twice;  ///< the first mode on a GPU that is twice as fast: its device alone
  std::vector<widgets::TimelineSpan>
      with_ghost;  ///< the first mode's device, and in a second row the faster one's work
  std::vector<widgets::SpanName> names;
  double window_s = 1;
  PublishedMarks published;
  std::vector<widgets::Curve> over_batch;
};

struct View {
  widgets::TimelineView timeline;
  widgets::PlotView plot;
  DescribedTable<OperationRow> operations;
  DescribedTable<RecordedRow> recorded;
  std::vector<widgets::TimelineLane> lanes;
  std::array<widgets::TimelineCounter, 2> counters;
  std::array<std::size_t, 2> host_lanes{}, pool_lanes{}, device_lanes{},
      sum_lanes{};  ///< where the lanes of each mode are; npos: none
};

/// The two conveyors would be the same.
bool one_mode(const Inputs& in);
/// Draws both modes as conveyors, in `size` px from the cursor.
void draw_conveyors(const Picture& picture, View& view, ImVec2 size);
/// A mode in the words of the chip's maker.
std::string mode_name(models::LaunchMode mode, bool hip);

using Computed = chapters::Computed<Outputs, Run>;
Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, OperationRow& row);
void describe(Fields& f, RecordedRow& row);
void describe(Fields& f, View& view);

extern const Choices syncs;

}  // namespace chapters::framework::launch
