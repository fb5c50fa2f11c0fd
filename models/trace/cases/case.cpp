#include "models/trace/cases/case.h"

#include <algorithm>
#include <cmath>

namespace models::trace {
namespace {

std::int64_t length_of(const JobTimes& times) {
  return times.step_end_ns.empty() ? times.length_ns : times.step_end_ns.back();
}

Replay ready(const CaseJob& job) {
  auto made = Replay::of(job.graph);
  return made ? std::move(*made) : std::move(*Replay::of(JobGraph{}));
}

CaseSpec without_fault(CaseSpec spec) {
  spec.cause = Cause::nothing;
  spec.rank = 0;
  spec.size = 0;
  return spec;
}

/// The size at which the fault costs the share that it is to cost, within a tenth: between two sizes of which one costs
/// less and one more, at the place where a line through both meets it.
double sized(const CaseJob& job, const Replay& replay, std::int64_t healthy_ns) {
  const double aim = job.spec.aimed_share;
  std::vector<JobChange> changes;
  JobTimes times;
  const auto cost = [&](double size) {
    changes.clear();
    for (std::uint32_t t = 0; t < job.tasks.size(); ++t)
      if (job.tasks[t].unit_ns != 0) changes.push_back({.task = t, .duration_ns = job.duration_ns(t, size)});
    replay.run(changes, times);
    const double length = static_cast<double>(length_of(times));
    return length > 0 ? 1 - static_cast<double>(healthy_ns) / length : 0;
  };
  double low = 0, low_cost = cost(0), high = std::max(0.05, 2 * aim), high_cost = cost(high);
  while (high_cost < aim && high < 12) {
    low = high;
    low_cost = high_cost;
    high *= 2;
    high_cost = cost(high);
  }
  double size = high;
  for (int i = 0; i < 6 && std::abs(high_cost - aim) > 0.1 * aim; ++i) {
    const double part = high_cost > low_cost ? (aim - low_cost) / (high_cost - low_cost) : 0.5;
    size = low + (high - low) * std::clamp(part, 0.1, 0.9);
    const double at = cost(size);
    if (std::abs(at - aim) <= 0.1 * aim) return size;
    (at < aim ? low : high) = size;
    (at < aim ? low_cost : high_cost) = at;
  }
  return std::abs(high_cost - aim) <= std::abs(low_cost - aim) ? high : low;
}

bool has_to_be_done(CaseWork work) {
  switch (work) {
    case CaseWork::forward:
    case CaseWork::backward:
    case CaseWork::optimizer:
    case CaseWork::all_reduce:
    case CaseWork::batch_copy:
    case CaseWork::optimizer_launch:
    case CaseWork::launch:
    case CaseWork::decode:
      return true;
    default:
      return false;
  }
}

/// Is it in the program that all ranks run, or in what they share, so that one rank's part says nothing alone?
bool is_one_for_all(CaseWork work) {
  switch (work) {
    case CaseWork::all_reduce:
    case CaseWork::optimizer_launch:
    case CaseWork::batch_copy:
    case CaseWork::sync:
    case CaseWork::read_loss:
      return true;
    default:
      return false;
  }
}

}  // namespace

Case Case::of(const CaseSetup& setup) {
  Case out;
  CaseSpec spec = deal_case(setup.seed, setup.level, setup.faulty);
  const CaseJob healthy = case_job(without_fault(spec));
  const Replay healthy_run = ready(healthy);
  out.healthy_ns_ = length_of(healthy_run.unchanged());
  if (spec.cause == Cause::nothing) {
    out.job_ = healthy;
    out.replay_ = std::make_unique<Replay>(healthy_run);
    return out;
  }
  spec.size = std::max(0.05, 2 * spec.aimed_share);
  CaseJob job = case_job(spec);
  Replay replay = ready(job);
  job.spec.size = setup.severity * sized(job, replay, out.healthy_ns_);
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t)
    job.graph.tasks[t].duration_ns = job.duration_ns(t, job.spec.size);
  out.replay_ = std::make_unique<Replay>(ready(job));
  out.job_ = std::move(job);
  return out;
}

std::int64_t Case::length_ns() const { return length_of(times()); }

std::int64_t Case::won_by(Fix fix) const {
  CaseSpec spec = job_.spec;
  if (fixes(fix, spec.cause)) return attainable_ns();
  switch (fix) {
    case Fix::more_workers:
      spec.workers *= 2;
      spec.decode_share /= 2;
      break;
    case Fix::collect_by_hand:
      spec.pause = 0;
      break;
    case Fix::save_in_background:
      spec.saver = 0;
      break;
    case Fix::keep_on_device:
      spec.log = 0;
      break;
    case Fix::machine_alone:
      spec.host_op = 0;
      break;
    default:
      return 0;
  }
  const Replay changed = ready(case_job(spec));
  return length_ns() - length_of(changed.unchanged());
}

SuspectKey Case::key_of(std::uint32_t task) const {
  const CaseWork work = job_.tasks[task].work;
  const bool shared = spec().ranks > 1 && is_one_for_all(work);
  return {shared ? -1 : static_cast<int>(job_.graph.rank_of(task)),
          work == CaseWork::backward ? CaseWork::forward : work};
}

std::int64_t Case::won_without(const SuspectKey& key) const {
  std::vector<JobChange> changes;
  const bool needed = has_to_be_done(key.work);
  for (std::uint32_t t = 0; t < job_.tasks.size(); ++t)
    if (key_of(t) == key) changes.push_back({.task = t, .duration_ns = needed ? job_.duration_ns(t, 0) : 0});
  JobTimes changed;
  replay_->run(changes, changed);
  return length_ns() - length_of(changed);
}

std::vector<Suspect> Case::line_up(std::size_t most) const {
  std::vector<Suspect> all(static_cast<std::size_t>(spec().ranks + 1) * case_work_count);
  const JobTimes& t = times();
  for (std::uint32_t task = 0; task < job_.tasks.size(); ++task) {
    const SuspectKey key = key_of(task);
    Suspect& s = all[static_cast<std::size_t>(key.rank + 1) * case_work_count + static_cast<std::size_t>(key.work)];
    s.key = key;
    // What a task waits for is in its span, too.
    const std::int64_t ns = std::min(t.end_ns[task], length_ns()) - t.start_ns[task];
    if (ns <= 0) continue;
    s.length_ns += ns;
    ++s.spans;
    s.guilty |= job_.tasks[task].faulty && job_.tasks[task].unit_ns > 0;
    if (ns <= s.longest_ns) continue;
    s.longest_ns = ns;
    s.longest = task;
  }
  std::erase_if(all, [](const Suspect& s) { return s.spans == 0; });
  for (Suspect& s : all)
    if (s.guilty) s.won_ns = won_without(s.key);
  // Where the fault touches several of them, those count that carry it.
  for (Suspect& s : all) s.guilty &= 4 * s.won_ns >= attainable_ns();
  std::stable_sort(all.begin(), all.end(), [](const Suspect& a, const Suspect& b) {
    return a.guilty != b.guilty ? a.guilty : a.longest_ns > b.longest_ns;
  });
  all.resize(std::min(all.size(), most));
  for (Suspect& s : all)
    if (!s.guilty) s.won_ns = won_without(s.key);
  std::stable_sort(all.begin(), all.end(), [](const Suspect& a, const Suspect& b) {
    return a.key.rank != b.key.rank ? a.key.rank < b.key.rank : a.key.work < b.key.work;
  });
  return all;
}

std::vector<JobLinks> Case::chain() const {
  const JobTimes& t = times();
  std::uint32_t victim = no_task;
  std::int64_t waited = 0;
  for (std::uint32_t task = 0; task < job_.tasks.size(); ++task) {
    const std::uint32_t meeting = job_.graph.tasks[task].meeting;
    if (meeting == no_task || t.meeting_ns[meeting] - t.start_ns[task] <= waited) continue;
    waited = t.meeting_ns[meeting] - t.start_ns[task];
    victim = task;
  }
  if (victim == no_task) return by_lane(job_.graph, replay_->critical_path(t));
  return by_lane(job_.graph, replay_->chain_to_end(t, victim));
}

}  // namespace models::trace
