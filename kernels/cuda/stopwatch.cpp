#include "kernels/cuda/stopwatch.h"

#include <algorithm>

namespace kernels::cuda {
namespace {

constexpr double short_run_s = 20e-6;
constexpr std::size_t pairs = 8;  // samples enqueued before the host waits

}  // namespace

Stopwatch::Stopwatch(const Session& session, std::function<void()> enqueue, std::int64_t rotation, double seconds)
    : session_(session), enqueue_(std::move(enqueue)), rotation_(rotation), seconds_(seconds) {
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    Event event = nullptr;
    const Status status = session.driver().event_create(&event, 0);
    if (status != 0) {
      for (const Event made : events_) session.driver().event_destroy(made);
      must(session.driver(), status, "making an event");
    }
    events_.push_back(event);
  }
}

Stopwatch::~Stopwatch() {
  const Driver& d = session_.driver();
  if (exec_) d.graph_exec_destroy(exec_);
  if (graph_) d.graph_destroy(graph_);
  for (const Event event : events_) d.event_destroy(event);
}

void Stopwatch::record(std::size_t event) const {
  must(session_.driver(), session_.driver().event_record(events_[event], session_.stream()), "recording an event");
}

double Stopwatch::elapsed_s(std::size_t pair) const {
  float milliseconds = 0;
  must(session_.driver(), session_.driver().event_elapsed(&milliseconds, events_[2 * pair], events_[2 * pair + 1]),
       "reading a time");
  return static_cast<double>(milliseconds) * 1e-3;
}

double Stopwatch::warm_up() {
  double total_s = 0;
  for (std::int64_t runs = 3, all = 0; total_s < 25e-3 && all < 1000; all += runs, runs *= 2) {
    record(0);
    for (std::int64_t i = 0; i < runs; ++i) enqueue_();
    record(1);
    session_.synchronize("warming up");
    const double batch_s = elapsed_s(0);
    total_s += batch_s;
    run_s_ = batch_s / static_cast<double>(runs);
  }
  return run_s_;
}

void Stopwatch::capture() {
  capture_tried_ = true;
  runs_a_sample_ = std::clamp<std::int64_t>(rotation_, 20, 4096);
  const Driver& d = session_.driver();
  if (d.capture_begin(session_.stream(), 1) != 0)
    return;  // 1: only this thread's calls are held to the rules of capture
  try {
    for (std::int64_t i = 0; i < runs_a_sample_; ++i) enqueue_();
  } catch (...) {
    d.capture_end(session_.stream(), &graph_);  // a stream left capturing would fail every rung after this one
    throw;
  }
  if (d.capture_end(session_.stream(), &graph_) != 0 || !graph_) {
    graph_ = nullptr;
    return;
  }
  if (d.graph_instantiate(&exec_, graph_, 0) != 0) exec_ = nullptr;
}

void Stopwatch::replay() {
  if (exec_) {
    must(session_.driver(), session_.driver().graph_launch(exec_, session_.stream()), "replaying a graph");
    return;
  }
  for (std::int64_t i = 0; i < runs_a_sample_; ++i) enqueue_();
}

void Stopwatch::sample() {
  if (run_s_ < short_run_s && !capture_tried_) capture();
  // Long enough for the host to enqueue one sample: a launch costs it a few microseconds.
  const std::int64_t spin_ns = 40'000 + (exec_ ? 0 : 5'000 * (runs_a_sample_ - 1));
  const double sample_s = std::max(run_s_ * static_cast<double>(runs_a_sample_), 1e-6);
  const auto count = static_cast<std::size_t>(std::clamp(5e-3 / sample_s, 1.0, static_cast<double>(pairs)));
  for (std::size_t i = 0; i < count; ++i) {
    session_.spin(spin_ns);
    record(2 * i);
    replay();
    record(2 * i + 1);
  }
  session_.synchronize("timing");
  for (std::size_t i = 0; i < count; ++i) {
    const double s = elapsed_s(i);
    spent_s_ += s;
    samples_s_.push_back(s / static_cast<double>(runs_a_sample_));
  }
}

bool Stopwatch::done() const {
  const auto n = samples_s_.size();
  if (n >= 20'000 || (n >= 3 && spent_s_ >= seconds_)) return true;
  return n >= 30 && spent_s_ >= std::min(0.2, seconds_) && is_settled(summary(), 0.01);
}

}  // namespace kernels::cuda
