#include <algorithm>
#include <string>
#include <vector>

#include "models/training/step_rank.h"

/// Launching kernels ahead of the device, as many at a time as go at one pace.
namespace models {
namespace {

std::string_view kernel_name(StepWork phase, std::int64_t i) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const char* what : {"forward_kernel_", "backward_kernel_", "adamw_kernel_"})
      for (int k = 0; k < 32; ++k) out.push_back(what + std::to_string(k));
    return out;
  }();
  const std::size_t of = phase == StepWork::forward ? 0 : phase == StepWork::backward ? 1 : 2;
  return names[of * 32 + static_cast<std::size_t>(i % 32)];
}

std::string_view operation_name(StepWork phase) {
  return phase == StepWork::forward    ? "aten::linear"
         : phase == StepWork::backward ? "autograd::engine::evaluate_function: LinearBackward0"
                                       : "aten::_foreach_addcdiv_";
}

}  // namespace

/// Waits shorter than a kernel and its launch are the device's pace and belong to the stretch of launching around them.
void StepRank::wait_for_room(std::int64_t until_ns, const Group& group) {
  const bool pace = until_ns - host_ns_ <= group.kernel_ns + launch_ns_;
  host(pace ? StepWork::launch : StepWork::ahead, until_ns, pace ? group.phase : StepWork::idle);
}

/// Notes when the kernels begin that the host has just launched.
void StepRank::keep_starts(std::int64_t count, std::int64_t start_ns, std::int64_t stride_ns) {
  const std::int64_t first = launches_;
  launches_ += count;
  if (!starts_.empty()) {
    Starts& last = starts_.back();
    const std::int64_t gap_ns = start_ns - last.at(first - 1);
    if ((last.count == 1 || last.stride_ns == gap_ns) && (count == 1 || stride_ns == gap_ns)) {
      last.stride_ns = gap_ns;
      last.count += count;
      return;
    }
  }
  starts_.push_back({first, count, start_ns, stride_ns});
}

/// The queue holds what is launched and has not begun.
void StepRank::count_lead() {
  while (begun_ + 1 < starts_.size() && starts_[begun_ + 1].start_ns <= host_ns_) ++begun_;
  const Starts& s = starts_[begun_];
  const std::int64_t begun =
      s.start_ns > host_ns_ ? 0
                            : std::min(s.count, (host_ns_ - s.start_ns) / std::max<std::int64_t>(1, s.stride_ns) + 1);
  largest_lead_ = std::max(largest_lead_, launches_ - s.first - begun);
}

/// A kernel is launched when the queue has room for it, and begins when its launch has arrived and the one before it
/// has ended; the first also waits for what the group depends on.
void StepRank::run(const Group& group) {
  std::int64_t end_ns = stream_free_ns_;
  for (std::int64_t done = 0; done < group.kernels;) done += run_some(group, done, end_ns);
  busy_of(group.phase) += group.kernels * group.kernel_ns;
  kernel_end_ns_ = stream_free_ns_ = end_ns;
}

/// As many kernels as are launched at one pace and begin at one pace; returns how many. With calls c, starts s and the
/// room r, which runs on at one pace too: c[i] = max(c[i-1] + launch, r[i]), s[i] = max(s[i-1] + kernel, arrival of
/// c[i]).
std::int64_t StepRank::run_some(const Group& group, std::int64_t done, std::int64_t& end_ns) {
  std::int64_t n = group.kernels - done, room_ns = 0, room_stride_ns = 0;
  const std::int64_t frees = launches_ - setup_.queue_depth;  // the kernel whose beginning makes room for the first
  if (frees < 0) {
    n = std::min(n, -frees);
  } else {
    while (starts_.front().first + starts_.front().count <= frees) {
      starts_.pop_front();
      begun_ -= begun_ > 0 ? 1 : 0;
    }
    const Starts& s = starts_.front();
    room_ns = s.at(frees);
    room_stride_ns = s.stride_ns;
    n = std::min(n, s.first + s.count - frees);
  }
  // How many steps a line that starts `ahead` of another and falls behind by `slower` a step stays ahead.
  const auto stays_ahead = [](std::int64_t ahead, std::int64_t slower) { return (ahead + slower - 1) / slower; };
  wait_for_room(room_ns, group);
  const std::int64_t called_ns = host_ns_, arrived_ns = called_ns + launch_ns_ + latency_ns_;
  std::int64_t pace_ns = launch_ns_;
  if (room_stride_ns > launch_ns_ && n > 1) {
    if (called_ns == room_ns)
      pace_ns = room_stride_ns;
    else
      n = std::min(n, stays_ahead(called_ns - room_ns, room_stride_ns - launch_ns_));
  }
  std::int64_t start_ns = std::max(end_ns, arrived_ns);
  if (done == 0) {
    start_ns = std::max(start_ns, group.depends_ns);
    find_causes(group, called_ns, arrived_ns, start_ns);
  } else {
    idle(end_ns, start_ns, StepCause::launch);
  }
  std::int64_t stride_ns = group.kernel_ns;
  if (pace_ns > group.kernel_ns) {
    if (start_ns == arrived_ns)
      stride_ns = pace_ns;
    else
      n = std::min(n, stays_ahead(start_ns - arrived_ns, pace_ns - group.kernel_ns));
  }
  host(StepWork::launch, called_ns + (n - 1) * pace_ns + launch_ns_, group.phase);
  const bool gaps = n > 1 && stride_ns > group.kernel_ns;
  if (!gaps) block(StepRow::compute, group.phase, start_ns, start_ns + n * group.kernel_ns);
  if (gaps && !keeps_blocks())
    ledger_.idle_ns[static_cast<std::size_t>(StepCause::launch)] += (n - 1) * (stride_ns - group.kernel_ns);
  for (std::int64_t i = 0; gaps && keeps_blocks() && i < n; ++i) {
    const std::int64_t at_ns = start_ns + i * stride_ns;
    if (i > 0) idle(at_ns - stride_ns + group.kernel_ns, at_ns, StepCause::launch);
    block(StepRow::compute, group.phase, at_ns, at_ns + group.kernel_ns);
  }
  for (std::int64_t i = 0; keeps_trace() && i < n; ++i)
    record_kernel(group, done + i, called_ns + i * pace_ns, start_ns + i * stride_ns);
  end_ns = start_ns + (n - 1) * stride_ns + group.kernel_ns;
  keep_starts(n, start_ns, stride_ns);
  count_lead();
  return n;
}

void StepRank::record_kernel(const Group& group, std::int64_t i, std::int64_t called_ns, std::int64_t start_ns) {
  const std::int64_t returned_ns = called_ns + launch_ns_, end_ns = start_ns + group.kernel_ns;
  recorder_->host("cpu_op", operation_name(group.phase), called_ns, returned_ns);
  const std::int64_t id = recorder_->call("cudaLaunchKernel", returned_ns - launch_ns_ / 2, returned_ns);
  recorder_->device("kernel", kernel_name(group.phase, i), StepRecorder::compute_stream, start_ns, end_ns, id);
}

}  // namespace models
