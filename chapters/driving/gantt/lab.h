#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/realtime/task_graph_stack.h"
#include "widgets/table/table.h"
#include "widgets/timeline/timeline.h"

/// Between gantt.cpp (described), gantt_compute.cpp and gantt_draw.cpp.
namespace chapters::driving::gantt {

/// A row of the table of tasks: a type of this chapter, so that its description is found here.
struct StackRow : models::StackTask {
  bool operator==(const StackRow&) const = default;
};
std::vector<StackRow> example_rows();

struct Inputs {
  std::vector<StackRow> tasks = example_rows();
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
  double work_s = 0, demand = 0, busy = 0;
};
struct FrameRow {
  std::int64_t frame = 0;
  double release_s = 0, finish_s = 0, latency_s = 0, slack_s = 0;
  bool met = false;
};

/// Lanes of one schedule: its frames, then the resources that do something.
struct Lanes {
  std::vector<std::string> labels, sublabels;
  std::vector<std::vector<widgets::TimelineSpan>> spans;
};

struct Outputs {
  std::string reason;
  double before_s = 0, latency_s = 0, speedup = 1, saved_s = 0;
  double before_throughput_hz = 0, throughput_hz = 0;
  double deadline_s = 0, slack_s = 0, worst_latency_s = 0;
  bool deadline_met = false, keeps_up = false;
  std::int64_t missed_frames = 0, preemptions = 0;
  double critical_path_s = 0, busiest_s = 0;
  double cpu_demand = 0, gpu_demand = 0, dla_demand = 0, isp_demand = 0;
  std::string critical_path, busiest;
  std::vector<TaskRow> tasks;
  std::vector<ResourceRow> resources;
  std::vector<FrameRow> frames;

  // For the picture alone.
  Lanes before, now;
  std::vector<std::string> names, infos;  ///< of spans, by the number in TimelineSpan::name
  std::vector<double> deadlines_s;
  std::string verdict, story;
  std::uint64_t revision = 0;
};

struct View {
  widgets::TimelineView timeline;
  widgets::TableView tasks, resources, frames;
  std::vector<widgets::TimelineLane> lanes;
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, StackRow& row);
void describe(Fields& fields, TaskRow& row);
void describe(Fields& fields, ResourceRow& row);
void describe(Fields& fields, FrameRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::driving::gantt
