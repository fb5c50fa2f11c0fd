#include "chapters/described/realtime.h"
#include "chapters/driving/gantt/lab.h"

#include "chapters/mechanism/lab.h"

namespace chapters::driving::gantt {

namespace {

constexpr std::string_view graham = "Graham, Bounds on Multiprocessing Timing Anomalies, 1969";

}  // namespace

void describe(Fields& f, Inputs& in) {
  auto& c = in.changes;
  f.group("The camera");
  f.real("rate_hz", in.rate_hz, {"Camera rate", "Hz"},
         "A frame arrives this often, and is due when the next one arrives.", {.range = {5, 120}, .headline = true});
  f.integer("frames", in.frames, "Frames shown", "All are scheduled from an empty machine at time 0.",
            {.range = {1, 8, Scale::step}});
  f.group("Faster tasks");
  f.toggle("engine", c.engine, "Engine compilation",
           "Networks run as compiled engines with fused layers and chosen kernels: they take their tuned time.",
           {.headline = true});
  f.toggle("tuned_code", c.tuned_code, "Tuned code",
           "What is not a network (camera, tracking, planning) takes its tuned time.");
  f.toggle("int8", c.int8, "INT8", "Networks on GPU and DLA run in 8-bit integers.");
  f.real("int8_speedup", c.int8_speedup, "INT8 is faster by",
         "Factor on each network; the peak doubles over FP16, and memory-bound layers gain less.",
         {.range = {1, 4}, .when = {"int8", "true"}});
  f.group("Heads");
  f.toggle("shared_backbone", c.shared_backbone, "Shared backbone",
           "One encoder feeds all heads; without it every further head runs an encoder of its own.");
  f.toggle("parallel_heads", c.parallel_heads, "Parallel heads",
           "Heads no longer wait for each other; they overlap only where they run on different units.",
           {.headline = true});
  f.toggle("temporal_fusion", c.temporal_fusion, "Temporal fusion",
           "Heads reuse features of the frame before: less work, and each head now waits for its own last result.");
  f.real("temporal_saving", c.temporal_saving, "Fusion saves",
         "Share of a head's time; 0.3 to 0.4 is often quoted, and traffic that changes a lot saves less.",
         {.range = {0, 0.9}, .when = {"temporal_fusion", "true"}});
  f.toggle("sparse", c.sparse, "Sparse compute", "Heads skip empty space: they save a share of what is left.");
  f.real("sparse_saving", c.sparse_saving, "Sparsity saves",
         "Share of a head's time in an ordinary scene; a crowded one saves less, just when it matters.",
         {.range = {0, 0.9}, .when = {"sparse", "true"}});
  f.group("Scheduling");
  f.toggle("pipelining", in.pipelining, "Pipelining",
           "A frame starts before the one before it has ended: more frames per second, no frame is sooner done.");
  f.toggle("preemptive", in.preemptive, "Preemption",
           "A ready task of higher priority takes the place of a running one, which goes on later.");
  f.group("Hardware");
  f.integer("cpu", in.cpu, "CPU cores", "Tasks that the CPU runs at once.", {.range = {1, 12, Scale::step}});
  f.integer("gpu", in.gpu, "GPU queues",
            "Tasks that the GPU runs at once at full speed; one is honest for networks that fill it.",
            {.range = {1, 4, Scale::step}});
  f.integer("dla", in.dla, "DLAs", "Deep-learning accelerators; Orin has two.", {.range = {0, 4, Scale::step}});
  f.integer("isp", in.isp, "ISPs", "Image signal processors.", {.range = {0, 4, Scale::step}});
  f.group("The stack");
  f.table("tasks", in.tasks, "Tasks of a frame",
          "What runs where, for how long, and after what. The times are typed in, from a published example, not from a "
          "chip's peak or bandwidth.",
          {.max_items = 20});
}

void describe(Fields& f, TaskRow& r) {
  f.text("name", r.name, "Task");
  f.choice("resource", r.resource, stack_resource_choices(), "On");
  f.real("before_s", r.before_s, {"As found", "s"}, "Without any of the changes.");
  f.real("now_s", r.now_s, {"Now", "s"}, "With the changes that are on.");
  f.real("start_s", r.start_s, {"Starts", "s"}, "In the first frame.");
  f.real("finish_s", r.finish_s, {"Ends", "s"}, "In the first frame.");
  f.real("float_s", r.float_s, {"Room", "s"}, "How much later it could end without moving the end of the frame.");
  f.toggle("critical", r.critical, "Critical");
}
void describe(Fields& f, ResourceRow& r) {
  f.text("name", r.name, "Resource");
  f.integer("units", r.units, "Units", "Tasks at once.");
  f.real("work_s", r.work_s, {"Work per frame", "s"}, "Over its units.");
  f.real("demand", r.demand, {"Asked for", "%"}, {.formula = "work per frame x rate"});
  f.real("busy", r.busy, {"Busy", "%"}, "Its part of the time from the first release to the last result.");
}
void describe(Fields& f, FrameRow& r) {
  f.integer("frame", r.frame, "Frame", "From 1.");
  f.real("release_s", r.release_s, {"Arrives", "s"}, {.formula = "(frame - 1) / rate"});
  f.real("finish_s", r.finish_s, {"Ends", "s"}, "Its last task.");
  f.real("latency_s", r.latency_s, {"Latency", "s"}, {.formula = "ends - arrives"});
  f.real("slack_s", r.slack_s, {"Slack", "s"}, {.formula = "deadline - latency"});
  f.toggle("met", r.met, "In time");
}

void describe(Fields& f, ChangeRow& r) {
  f.text("name", r.name, "Change");
  f.toggle("on", r.on, "On");
  f.real("alone_s", r.alone_s, {"Alone", "s"}, "Against the stack as found; below 0 it saves time.",
         {.may_be_missing = true});
  f.real("on_top_s", r.on_top_s, {"On top", "s"}, "With the other changes as they are set; below 0 it saves time.",
         {.may_be_missing = true});
}

void describe(Fields& f, Outputs& o) {
  f.group("One frame");
  f.real("latency_s", o.latency_s, {"Latency", "s"},
         "How long a frame that finds the machine empty takes to its last result.",
         {.headline = true, .against = {"as found", "before_s"}, .formula = "end of the last task - arrival"});
  f.real("before_s", o.before_s, {"Latency as found", "s"}, "Every change off; a shared backbone stays as it is set.");
  f.real("engine_s", o.engine_s, {"With engines alone", "s"},
         "The stack as found, but its networks take their tuned time.", {.absent = "There is no schedule."});
  f.real("tuned_s", o.tuned_s, {"With engines and tuned code", "s"},
         "The stack as found, but every task takes its tuned time.", {.absent = "There is no schedule."});
  f.text("ends_with", o.ends_with, "Ends with",
         "The task whose result comes last, which the latency counts to; a plan may be ready before.");
  f.real("saved_s", o.saved_s, {"Saved", "s"}, {.formula = "latency as found - latency"});
  f.real("speedup", o.speedup, {"Faster by", "\xC3\x97"}, {.formula = "latency as found / latency"});
  f.real("deadline_s", o.deadline_s, {"Deadline", "s"}, {.formula = "1 / rate"});
  f.real("slack_s", o.slack_s, {"Slack", "s"}, "Left for jitter; negative when a lone frame is already late.",
         {.headline = true, .formula = "deadline - latency"});
  f.toggle("deadline_met", o.deadline_met, "Deadline met", "Every frame shown is in time.");
  f.group("Frame after frame");
  f.real("throughput_hz", o.throughput_hz, {"Throughput", "Hz"},
         "Frames per second when there is always a next frame waiting.",
         {.headline = true, .formula = "frames / time between their ends, pipeline full"});
  f.real("before_throughput_hz", o.before_throughput_hz, {"Throughput as found", "Hz"},
         {.formula = "1 / latency as found"});
  f.toggle("keeps_up", o.keeps_up, "Keeps up with the camera",
           "Throughput is at least the rate: latency does not grow from frame to frame.");
  f.real("worst_latency_s", o.worst_latency_s, {"Worst latency shown", "s"}, {.formula = "max over the frames shown"});
  f.integer("missed_frames", o.missed_frames, "Frames late", "How many of the frames shown are late.",
            {.headline = true});
  f.group("What holds it up");
  f.real("critical_path_s", o.critical_path_s, {"Longest dependency chain", "s"}, "No hardware gets a frame below it.",
         {.formula = "max over paths of the sum of times", .source = graham});
  f.real("busiest_s", o.busiest_s, {"Busiest resource", "s"},
         "Work of a frame on it, over its units: no pipelining gets the time between frames below it.",
         {.formula = "max over resources of work / units", .source = graham});
  f.text("busiest", o.busiest, "... which is");
  f.text("critical_path", o.critical_path, "Critical path",
         "What the end of the first frame waited for, task by task.");
  f.integer("preemptions", o.preemptions, "Preemptions", "Times a running task was set aside, in the frames shown.");
  f.group("Resources at the camera's rate");
  f.real("cpu_demand", o.demand[0], {"CPU asked for", "%"}, {.formula = "work per frame x rate / cores"});
  f.real("gpu_demand", o.demand[1], {"GPU asked for", "%"}, {.formula = "work per frame x rate / queues"});
  f.real("dla_demand", o.demand[2], {"DLA asked for", "%"}, {.formula = "work per frame x rate / units"});
  f.real("isp_demand", o.demand[3], {"ISP asked for", "%"}, {.formula = "work per frame x rate / units"});
  f.group("Tables");
  f.table("changes", o.changes, "Changes", "What each switch does to the latency of a lone frame.");
  f.table("stages", o.tasks, "Tasks");
  f.table("resources", o.resources, "Resources");
  f.table("frame_times", o.frames, "Frames");
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s, {"Time cursor", "s"}, "Where the cursor stands on the schedule.",
         {.range = {0, 10}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"driving/gantt", "The frame budget",
       "Which change gets a camera frame to a plan before the next frame arrives?"},
      compute, arrange, draw);
}

}  // namespace chapters::driving::gantt
