#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "models/realtime/task_graph_stack.h"
#include "widgets/charts/tornado.h"
#include "widgets/timeline/span_names.h"
#include "widgets/timeline/timeline.h"

/// The schedule of a perception stack, as found and with its changes, against the deadline of a frame.
namespace chapters::driving::gantt {

struct Inputs {
  std::vector<models::StackTask> tasks = models::example_stack();
  double rate_hz = 30;
  std::int64_t frames = 2;
  models::StackChanges changes{.engine = true, .tuned_code = true};
  bool pipelining = false, preemptive = false;
  std::int64_t cpu = 4, gpu = 1, dla = 2, isp = 1;
  bool operator==(const Inputs&) const = default;
};

struct TaskRow {
  std::string name;
  models::StackResource resource{};
  double before_s = 0, now_s = 0, start_s = 0, finish_s = 0, float_s = 0;
  bool critical = false;
};
struct ResourceRow {
  std::string name;
  std::int64_t units = 0;
  double work_s = 0;
  double demand = 0, busy = 0;  ///< %
};
struct FrameRow {
  std::int64_t frame = 0;
  double release_s = 0, finish_s = 0, latency_s = 0, slack_s = 0;
  bool met = false;
};

/// The switches of the lab, in the order of Outputs::changes.
enum class Change : std::uint8_t {
  engine,
  tuned_code,
  shared_backbone,
  parallel_heads,
  temporal_fusion,
  sparse,
  int8,
  pipelining,
  preemption
};
inline constexpr std::size_t change_count = static_cast<std::size_t>(Change::preemption) + 1;

/// What one change does to the latency of a lone frame, s; below 0: it is sooner done.
struct ChangeRow {
  std::string name;
  bool on = false;
  double alone_s = 0;   ///< from the stack as found
  double on_top_s = 0;  ///< with the other changes as they are set
};

struct Outputs {
  std::string reason;
  double before_s = 0, latency_s = 0, speedup = 1, saved_s = 0;
  double engine_s = 0, tuned_s = 0;  ///< latency as found but for engines alone, and for engines and tuned code
  std::string ends_with;             ///< the task that ends last, and results that are ready before
  double before_throughput_hz = 0, throughput_hz = 0;
  double deadline_s = 0, slack_s = 0, worst_latency_s = 0;
  bool deadline_met = false, keeps_up = false;
  std::int64_t missed_frames = 0, preemptions = 0;
  double critical_path_s = 0, busiest_s = 0;
  std::array<double, models::stack_resource_count> demand{};  ///< %, by StackResource
  std::string critical_path, busiest;
  std::vector<TaskRow> tasks;
  std::vector<ResourceRow> resources;
  std::vector<FrameRow> frames;
  std::vector<ChangeRow> changes;  ///< one a Change
};

/// A stack as a task graph, and its schedule over the frames shown.
struct ScheduledStack {
  models::TaskGraph graph;
  models::GraphSchedule schedule;
  /// By frame: the segments that its end waited for, one after the other; see models::critical_chain.
  std::vector<std::vector<std::size_t>> chains;
};

struct Run {
  ScheduledStack found, changed;
};

/// Lanes of one schedule: its frames, then the resources that do something.
struct Lanes {
  std::vector<std::string> labels;
  std::string folded_label;  ///< what the frames are called where the resources under them are left out
  std::vector<std::vector<widgets::TimelineSpan>> spans;
  std::vector<widgets::TimelineStep>
      thread;  ///< the critical path of the first frame, by time; lanes as in the picture
};

struct Picture {
  std::uint64_t version = 0;
  LabDoors doors;
  Lanes before, now;
  std::vector<widgets::SpanName> names;  ///< what spans are called, by the number in TimelineSpan::name
  std::vector<double> deadlines_s;
  std::string answer;
  bool changed = true;                    ///< else both schedules are the same, and one is shown
  std::vector<std::string> change_names;  ///< what the rows of `changes` are called
  std::vector<widgets::TornadoRow> changes;
};

void describe(Fields& f, TaskRow& r);
void describe(Fields& f, ResourceRow& r);
void describe(Fields& f, FrameRow& r);

struct View {
  widgets::TimelineView timeline;
  DescribedTable<TaskRow> tasks;
  DescribedTable<ResourceRow> resources;
  DescribedTable<FrameRow> frames;
  widgets::TornadoView tornado;
  std::vector<widgets::TimelineLane> lanes;
  std::vector<widgets::TimelineStep> thread;
  Requests requests;
};

Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
LabDoors doors_of(const Inputs& inputs, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

inline double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
/// From frame to frame, and from a frame's arrival to its deadline.
inline std::int64_t period_ns_of(double rate_hz) { return static_cast<std::int64_t>(1 / rate_hz * 1e9 + 0.5); }

}  // namespace chapters::driving::gantt
