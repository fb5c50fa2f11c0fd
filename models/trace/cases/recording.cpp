#include "models/trace/cases/recording.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "models/trace/builder/builder.h"

namespace models::trace {
namespace {

constexpr std::int64_t launch_ns = 6'000, inner_ns = 1'000;

std::string_view category_of(const CaseTask& task, bool device) {
  if (device) return task.name.starts_with("Memcpy") ? "gpu_memcpy" : "kernel";
  return task.name.starts_with("aten::") || task.name.starts_with("autograd::") || task.name.starts_with("nccl:")
             ? "cpu_op"
             : "user_annotation";
}

/// One rank's recording while it is written.
class CaseRecorder {
 public:
  CaseRecorder(const CaseJob& job, const JobTimes& times, int rank)
      : job_(job), times_(times), builder_(trace_), lanes_(job.lanes[static_cast<std::size_t>(rank)]), rank_(rank) {
    end_ns_ = times.step_end_ns.empty() ? times.length_ns : times.step_end_ns.back();
    trace_.origin = "rank " + std::to_string(rank);
    trace_.format = "generated";
    trace_.rank = rank;
    trace_.world_size = job.spec.ranks;
    trace_.backend = "nccl";
    name_rows();
  }

  Trace write(std::vector<std::uint32_t>* task_of) {
    steps_.assign(static_cast<std::size_t>(job_.spec.steps), {-1, -1});
    for (std::uint32_t t = 0; t < job_.graph.tasks.size(); ++t)
      if (job_.graph.rank_of(t) == static_cast<std::uint32_t>(rank_)) add(t);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const std::string name = "ProfilerStep#" + std::to_string(s + 10);
      span(lanes_.main, builder_.string_number(name), "user_annotation", EventClass::annotation, steps_[s].first,
           steps_[s].second, -1, no_task);
    }
    builder_.finish();
    if (task_of) find_tasks(*task_of);
    return std::move(trace_);
  }

 private:
  void name_rows() {
    const std::string pid = std::to_string(4000 + rank_), device = std::to_string(rank_);
    builder_.name_process(pid, "python");
    builder_.name_thread(pid, pid, "main thread");
    builder_.name_process(device, "GPU " + device);
    row(lanes_.main, pid, pid, false);
    row(lanes_.compute, device, "7", true);
    row(lanes_.collectives, device, "20", true);
    row(lanes_.copies, device, "24", true);
    builder_.name_thread(device, "7", "stream 7");
    builder_.name_thread(device, "20", "stream 20");
    builder_.name_thread(device, "24", "stream 24");
    for (std::size_t w = 0; w < lanes_.workers.size(); ++w) {
      const std::string own = std::to_string(5000 + 10 * rank_ + static_cast<int>(w));
      builder_.name_process(own, "pt_data_worker " + std::to_string(w));
      row(lanes_.workers[w], own, own, false);
    }
    if (lanes_.saver == no_task) return;
    const std::string tid = std::to_string(7000 + rank_);
    builder_.name_thread(pid, tid, "checkpoint thread");
    row(lanes_.saver, pid, tid, false);
  }
  void row(std::uint32_t lane, const std::string& pid, const std::string& tid, bool device) {
    Record r;
    r.pid = pid;
    r.tid = tid;
    if (device) {
      r.device = pid;
      r.stream = tid;
    }
    tracks_[lane] = builder_.track(device ? TrackKind::stream : TrackKind::thread, r);
  }

  void add(std::uint32_t t) {
    const CaseTask& task = job_.tasks[t];
    const std::uint32_t lane = job_.graph.tasks[t].lane;
    const std::int64_t start = times_.start_ns[t], end = std::min(times_.end_ns[t], end_ns_);
    const bool device = lane == lanes_.compute || lane == lanes_.collectives || lane == lanes_.copies;
    if (lane == lanes_.main) {
      auto& [first, last] = steps_[task.step];
      if (first < 0) first = start;
      last = end;
    }
    if (task.name.empty() || start >= end_ns_ || end <= start) return;
    if (device) {
      const std::string_view category = category_of(task, true);
      const EventClass cls = category == "gpu_memcpy"     ? EventClass::memory
                             : lane == lanes_.collectives ? EventClass::communication
                                                          : EventClass::computation;
      span(lane, known(task.name), category, cls, start, end, t, t);
      return;
    }
    const std::string_view category = category_of(task, false);
    span(lane, known(task.name), category, class_of_category(category), start, end, -1, t);
    if (task.call.empty()) return;
    const bool launches = task.launches != no_task && !task.faulty;
    const std::int64_t from = launches ? std::max(start, end - inner_ns - launch_ns) : std::min(start + 5'000, end);
    span(lane, known(task.call), "cuda_runtime", EventClass::runtime, from, std::max(from, end - inner_ns),
         task.launches == no_task ? -1 : static_cast<std::int64_t>(task.launches), t);
  }

  void span(std::uint32_t lane, std::uint32_t name, std::string_view category, EventClass cls, std::int64_t start,
            std::int64_t end, std::int64_t correlation, std::uint32_t task) {
    Event e;
    e.start_ns = start;
    e.name = name;
    e.category = categories_.contains(category.data())
                     ? categories_[category.data()]
                     : categories_[category.data()] = builder_.category_number(category);
    e.cls = cls;
    e.track = tracks_[lane];
    e.args_offset = task == no_task ? 0 : task + 1;  // until the events are in their order
    builder_.add_span(e, end - start, correlation);
  }
  std::uint32_t known(std::string_view name) {
    const auto [at, is_new] = names_.try_emplace(name.data());
    if (is_new) at->second = builder_.string_number(name);
    return at->second;
  }
  void find_tasks(std::vector<std::uint32_t>& task_of) {
    task_of.clear();
    task_of.reserve(trace_.events.size());
    for (Event& e : trace_.events)
      task_of.push_back(e.args_offset == 0 ? no_task : static_cast<std::uint32_t>(e.args_offset - 1));
  }

  const CaseJob& job_;
  const JobTimes& times_;
  Trace trace_;
  Builder builder_;
  const CaseLanes& lanes_;
  int rank_;
  std::int64_t end_ns_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> tracks_;
  std::unordered_map<const char*, std::uint32_t> names_;
  std::unordered_map<const char*, std::uint16_t> categories_;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps_;
};

}  // namespace

CaseRecording record_case(const CaseJob& job, const JobTimes& times, bool with_tasks) {
  CaseRecording out;
  for (int r = 0; r < job.spec.ranks; ++r) {
    CaseRecorder recorder(job, times, r);
    std::vector<std::uint32_t>* const tasks = with_tasks ? &out.task_of.emplace_back() : nullptr;
    out.ranks.push_back(recorder.write(tasks));
    // The place of arguments is empty again: these recordings have none.
    for (Event& e : out.ranks.back().events) e.args_offset = 0;
  }
  return out;
}

}  // namespace models::trace
