#include "models/trace/cases/detect_rows.h"

#include <algorithm>

namespace models::trace {
namespace {

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

/// What a span of this name says by itself; `other` where it says nothing.
HostWork work_named(std::string_view name) {
  if (has(name, "DataLoader") || has(name, "dataloader")) return HostWork::loading;
  if (has(name, "dynamo_timed") || has(name, "compile_inner") || has(name, "compile_fx") || has(name, "nvrtcCompile") ||
      has(name, "ModuleLoad"))
    return HostWork::compiling;
  if (has(name, "Synchronize") || name == "aten::item" || has(name, "_local_scalar_dense")) return HostWork::syncing;
  return HostWork::other;
}

/// A span that only frames what is inside.
bool is_frame(std::string_view name) { return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer."); }

/// A thread as a sequence of segments, each with what its innermost telling span does.
class HostReader {
 public:
  HostReader(const Trace& trace, std::vector<HostSegment>& out) : trace_(trace), out_(out) {}

  void read(const Track& track) {
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace_.events[i];
      if (e.kind != EventKind::span || is_frame(trace_.name(e))) continue;
      leave_until(e.start_ns);
      emit(e.start_ns);
      open_.push_back({i, e.end_ns(), work_of(e)});
      at_ns_ = std::max(at_ns_, e.start_ns);
      if (e.cls == EventClass::runtime && e.link != none)
        for (Open& o : open_) o.launches = true;
    }
    leave_until(std::numeric_limits<std::int64_t>::max());
  }

 private:
  struct Open {
    std::uint32_t event;
    std::int64_t end_ns;
    HostWork work;
    bool launches = false;
  };

  HostWork work_of(const Event& e) {
    const HostWork named = work_named(trace_.name(e));
    if (e.cls == EventClass::runtime && e.link != none) {
      const Event& started = trace_.events[e.link];
      const std::string_view name = trace_.name(started);
      last_to_host_ns_ = has(name, "DtoH") ? std::int64_t{started.duration_ns} : 0;
      if (has(name, "HtoD") && has(name, "Pageable")) return HostWork::paging_copy;
      if (last_to_host_ns_ >= large_copy_ns) return HostWork::saving;
    }
    if (named == HostWork::syncing && last_to_host_ns_ >= large_copy_ns) return HostWork::saving;
    return named;
  }
  /// The work of the innermost span that says something; operations are told apart by whether they launch.
  void emit(std::int64_t until_ns) {
    if (until_ns <= at_ns_) return;
    HostSegment segment{at_ns_, until_ns, HostWork::silent, none};
    if (!open_.empty()) {
      segment.event = open_.back().event;
      segment.work = HostWork::other;
      for (std::size_t i = open_.size(); i-- > 0 && segment.work == HostWork::other;) segment.work = open_[i].work;
      const EventClass cls = trace_.events[segment.event].cls;
      if (segment.work == HostWork::other && (cls == EventClass::cpu_operation || cls == EventClass::runtime))
        segment.work = HostWork::launching;  // until its end shows that nothing was launched
    }
    out_.push_back(segment);
    at_ns_ = until_ns;
  }
  void leave_until(std::int64_t ns) {
    while (!open_.empty() && open_.back().end_ns <= ns) {
      const Open closed = open_.back();
      emit(closed.end_ns);
      open_.pop_back();
      const Event& e = trace_.events[closed.event];
      if (open_.empty() && !closed.launches && e.cls == EventClass::cpu_operation)
        for (std::size_t i = out_.size(); i-- > 0 && out_[i].start_ns >= e.start_ns;)
          if (out_[i].work == HostWork::launching) out_[i].work = HostWork::computing;
    }
  }

  const Trace& trace_;
  std::vector<HostSegment>& out_;
  std::vector<Open> open_;
  std::int64_t at_ns_ = std::numeric_limits<std::int64_t>::min(), last_to_host_ns_ = 0;
};

void find_work(DetectRow& row) {
  const Trace& trace = *row.trace;
  std::vector<std::int64_t> computes(trace.tracks.size(), 0);
  for (const Event& e : trace.events)
    if (e.cls == EventClass::computation) computes[e.track] += e.duration_ns;
  const auto most = std::max_element(computes.begin(), computes.end());
  if (most == computes.end() || *most == 0) return;
  row.compute = static_cast<std::uint32_t>(most - computes.begin());
  const int device = trace.tracks[row.compute].device;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const Event& e = trace.events[i];
    if (e.cls == EventClass::communication)
      row.collectives.push_back(i);
    else if (e.track == row.compute && on_device(e.cls))
      row.work.push_back(i);
    else if (e.cls == EventClass::memory && trace.tracks[e.track].device == device)
      row.copies.push_back(i);
  }
  const auto by_start = [&](std::uint32_t a, std::uint32_t b) {
    return trace.events[a].start_ns < trace.events[b].start_ns;
  };
  std::stable_sort(row.collectives.begin(), row.collectives.end(), by_start);
  std::stable_sort(row.copies.begin(), row.copies.end(), by_start);
  row.first_ns = trace.events[row.work.front()].start_ns;
  for (const std::uint32_t i : row.work) row.last_ns = std::max(row.last_ns, trace.events[i].end_ns());
  for (const std::uint32_t i : row.collectives) row.last_ns = std::max(row.last_ns, trace.events[i].end_ns());
}

}  // namespace

DetectRow detect_row(const Trace& trace) {
  DetectRow row;
  row.trace = &trace;
  find_work(row);
  if (row.compute == none) return row;
  row.host.resize(trace.tracks.size());
  std::vector<bool> launches(trace.tracks.size(), false);
  for (const std::uint32_t i : row.work)
    if (trace.events[i].link != none) launches[trace.events[trace.events[i].link].track] = true;
  for (std::size_t t = 0; t < trace.tracks.size(); ++t)
    if (launches[t]) HostReader(trace, row.host[t]).read(trace.tracks[t]);
  for (const Event& e : trace.events)
    if (e.kind == EventKind::span && trace.name(e).starts_with("ProfilerStep#") && !on_device(e.cls) &&
        trace.tracks[e.track].kind != TrackKind::device_annotation)
      row.steps.push_back({e.start_ns, e.end_ns()});
  std::sort(row.steps.begin(), row.steps.end(),
            [](const StepOfRow& a, const StepOfRow& b) { return a.start_ns < b.start_ns; });
  if (row.steps.empty()) row.steps.push_back({row.first_ns, row.last_ns});
  // What passes before the first work is a step's where steps are marked, and else the host's preparation.
  if (row.steps.size() > 1) row.first_ns = std::min(row.first_ns, row.steps.front().start_ns);
  return row;
}

}  // namespace models::trace
