#include "models/training/step_recorder.h"

#include <utility>

namespace models {

StepRecorder::StepRecorder(std::int64_t rank, std::int64_t ranks)
    : builder_(trace_),
      pid_(std::to_string(4000 + rank)),
      pin_tid_(std::to_string(900'000 + rank)),
      device_(std::to_string(rank)) {
  trace_.origin = "simulated steps, rank " + device_;
  trace_.format = "simulated";
  trace_.rank = static_cast<int>(rank);
  trace_.world_size = static_cast<int>(ranks);
  trace_.backend = "nccl";
  builder_.name_process(pid_, "python");
  builder_.name_thread(pid_, pid_, "main thread");
  builder_.name_thread(pid_, pin_tid_, "pin_memory thread");
  builder_.name_process(device_, "GPU " + device_);
  builder_.name_thread(device_, compute_stream, "stream 7, compute");
  builder_.name_thread(device_, collective_stream, "stream 20, collectives");
  builder_.name_thread(device_, copy_stream, "stream 24, copies");
}

void StepRecorder::add(std::string_view category, std::string_view name, std::string_view pid, std::string_view tid,
                       std::int64_t start_ns, std::int64_t end_ns, std::int64_t correlation, std::string_view stream) {
  trace::Record r;
  r.phase = 'X';
  r.has_time = true;
  r.time_ns = start_ns;
  r.duration_ns = end_ns - start_ns;
  r.name = name;
  r.category = category;
  r.has_category = true;
  r.pid = pid;
  r.tid = tid;
  r.correlation = correlation;
  if (!stream.empty()) {
    r.device = device_;
    r.stream = stream;
  }
  builder_.add(r);
}

const StepRecorder::Known& StepRecorder::known(std::string_view category, std::string_view name) {
  const auto [found, is_new] = known_.try_emplace(name.data());
  if (is_new) {
    const trace::EventClass cls = trace::class_of_category(category);
    found->second = {builder_.string_number(name), builder_.category_number(category),
                     cls == trace::EventClass::computation && trace::is_communication(name)
                         ? trace::EventClass::communication
                         : cls};
  }
  return found->second;
}

void StepRecorder::add_known(std::uint32_t& track, std::string_view category, std::string_view name,
                             std::int64_t start_ns, std::int64_t end_ns, std::int64_t correlation,
                             std::string_view stream) {
  const Known& k = known(category, name);
  if (track == trace::none) {
    trace::Record r;
    r.pid = stream.empty() ? pid_ : device_;
    r.tid = stream.empty() ? std::string_view(pid_) : stream;
    if (!stream.empty()) {
      r.device = device_;
      r.stream = stream;
    }
    track = builder_.track(stream.empty() ? trace::TrackKind::thread : trace::TrackKind::stream, r);
  }
  trace::Event e;
  e.start_ns = start_ns;
  e.name = k.name;
  e.category = k.category;
  e.cls = k.cls;
  e.track = track;
  builder_.add_span(e, end_ns - start_ns, correlation);
}

void StepRecorder::host(std::string_view category, std::string_view name, std::int64_t start_ns, std::int64_t end_ns) {
  add_known(thread_track_, category, name, start_ns, end_ns, -1, {});
}

void StepRecorder::step(std::int64_t number, std::int64_t start_ns, std::int64_t end_ns) {
  add("user_annotation", "ProfilerStep#" + std::to_string(number), pid_, pid_, start_ns, end_ns, -1, {});
}

std::int64_t StepRecorder::call(std::string_view name, std::int64_t start_ns, std::int64_t end_ns) {
  add_known(thread_track_, "cuda_runtime", name, start_ns, end_ns, ++correlation_, {});
  return correlation_;
}

void StepRecorder::device(std::string_view category, std::string_view name, std::string_view stream,
                          std::int64_t start_ns, std::int64_t end_ns, std::int64_t correlation) {
  std::uint32_t& track = stream == compute_stream      ? compute_track_
                         : stream == collective_stream ? collective_track_
                                                       : copy_track_;
  add_known(track, category, name, start_ns, end_ns, correlation, stream);
}

void StepRecorder::worker(std::int64_t worker, std::string_view name, std::int64_t start_ns, std::int64_t end_ns) {
  while (worker_pids_.size() <= static_cast<std::size_t>(worker)) {
    const std::string number = std::to_string(worker_pids_.size());
    worker_pids_.push_back(std::to_string(1'000'000) + device_ + number);
    builder_.name_process(worker_pids_.back(), "loader worker " + number);
  }
  const std::string& pid = worker_pids_[static_cast<std::size_t>(worker)];
  add("user_annotation", name, pid, pid, start_ns, end_ns, -1, {});
}

void StepRecorder::pin(std::int64_t start_ns, std::int64_t end_ns) {
  add("user_annotation", "pin_memory", pid_, pin_tid_, start_ns, end_ns, -1, {});
}

void StepRecorder::memory(std::int64_t time_ns, double bytes) {
  trace::Record r;
  r.phase = 'C';
  r.has_time = true;
  r.time_ns = time_ns;
  r.name = "Bytes in use";
  r.pid = device_;
  builder_.add(r);
  builder_.add_counter(r, "value", bytes);
}

trace::Trace StepRecorder::finish() {
  builder_.finish();
  return std::move(trace_);
}

}  // namespace models
