#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/realtime/task_graph_stack.h"
#include "widgets/table/table.h"
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
  std::string name, resource;
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

/// A stack as a task graph, and its schedule over the frames shown.
struct ScheduledStack {
  models::TaskGraph graph;
  models::GraphSchedule schedule;
};

struct Outputs {
  std::string reason;
  double before_s = 0, latency_s = 0, speedup = 1, saved_s = 0;
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

  ScheduledStack found, changed;
};

/// Lanes of one schedule: its frames, then the resources that do something.
struct Lanes {
  std::vector<std::string> labels, sublabels;
  std::vector<std::vector<widgets::TimelineSpan>> spans;
  std::vector<widgets::TimelineStep>
      thread;  ///< the critical path of the first frame, by time; lanes as in the picture
};

struct Picture {
  std::uint64_t version = 0;
  Lanes before, now;
  std::vector<std::string> names, infos;  ///< of spans, by the number in TimelineSpan::name
  std::vector<double> deadlines_s;
  std::string verdict, story;
};

struct View {
  widgets::TimelineView timeline;
  widgets::TableView tasks, resources, frames;
  std::vector<widgets::TimelineLane> lanes;
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& fields, TaskRow& row);
void describe(Fields& fields, ResourceRow& row);
void describe(Fields& fields, FrameRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

inline double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
/// From frame to frame, and from a frame's arrival to its deadline.
inline std::int64_t period_ns_of(double rate_hz) { return static_cast<std::int64_t>(1 / rate_hz * 1e9 + 0.5); }

}  // namespace chapters::driving::gantt
