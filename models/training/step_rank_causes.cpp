#include <algorithm>

#include "models/training/step_rank.h"

/// Why the compute stream waits.
namespace models {
namespace {

StepCause cause_of(StepWork host) {
  switch (host) {
    case StepWork::load:
      return StepCause::data;
    case StepWork::copy:
      return StepCause::copy;
    case StepWork::sync:
    case StepWork::log:
      return StepCause::sync;
    default:
      return StepCause::launch;
  }
}

}  // namespace

void StepRank::idle(std::int64_t from_ns, std::int64_t to_ns, StepCause cause) {
  if (to_ns <= from_ns) return;
  ledger_.idle_ns[static_cast<std::size_t>(cause)] += to_ns - from_ns;
  block(StepRow::compute, StepWork::idle, from_ns, to_ns, 0, cause);
}

/// Time of a gap in which the host had not launched: what it did then is the cause.
void StepRank::idle_by_host(std::int64_t from_ns, std::int64_t to_ns) {
  while (segment_ < segments_.size() && segments_[segment_].end_ns <= from_ns) ++segment_;
  std::int64_t at = from_ns;
  for (std::size_t i = segment_; i < segments_.size() && at < to_ns; ++i) {
    const std::int64_t until = std::min(to_ns, segments_[i].end_ns);
    if (until <= at) continue;
    idle(at, until, cause_of(segments_[i].work));
    at = until;
  }
  idle(at, to_ns, StepCause::launch);
}

/// The gap before a group's first kernel: the host had not come to it; it launched; then what the kernel depends on.
void StepRank::find_causes(const Group& group, std::int64_t host_ns, std::int64_t launched_ns, std::int64_t first_ns) {
  std::int64_t at = kernel_end_ns_;
  const auto until = [&](std::int64_t to, const auto& blame) {
    const std::int64_t end = std::clamp(to, at, first_ns);
    if (end > at) blame(at, end);
    at = end;
  };
  const auto by_host = [&](std::int64_t from, std::int64_t to) { idle_by_host(from, to); };
  const auto by_launch = [&](std::int64_t from, std::int64_t to) { idle(from, to, StepCause::launch); };
  const auto by_copy = [&](std::int64_t from, std::int64_t to) { idle(from, to, StepCause::copy); };
  if (setup_.copy == BatchCopy::pinned) {  // the copy itself stands on this stream
    until(std::min(host_ns, copy_start_ns_), by_host);
    until(copy_start_ns_, by_launch);
    until(copy_end_ns_, by_copy);
  }
  until(host_ns, by_host);
  until(launched_ns, by_launch);
  until(first_ns, [&](std::int64_t from, std::int64_t to) { idle(from, to, group.cause); });
}

}  // namespace models
