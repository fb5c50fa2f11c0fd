#include "models/trace/cases/recorded_case.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "models/trace/cases/detect_calls.h"
#include "models/trace/measure/metrics.h"

namespace models::trace {
namespace {

/// Without whom the run wins less than half of what it wins without the worst, is not guilty.
constexpr std::int64_t guilty_part = 2;
/// Silences of a host that are shorter lie between two calls and are shown as part of launching.
constexpr std::int64_t shown_silence_ns = 20'000;

RecordedWork work_of(HostWork work) {
  switch (work) {
    case HostWork::loading:
      return RecordedWork::loading;
    case HostWork::compiling:
      return RecordedWork::compiling;
    case HostWork::syncing:
      return RecordedWork::syncing;
    case HostWork::paging_copy:
      return RecordedWork::paging_copy;
    case HostWork::saving:
      return RecordedWork::saving;
    case HostWork::computing:
      return RecordedWork::computing;
    case HostWork::launching:
      return RecordedWork::launching;
    default:
      return RecordedWork::silent;
  }
}

/// A time of a host, by the recording's clock, and what is left of it where its suspect is taken out.
struct Stretch {
  std::int64_t start_ns = 0, end_ns = 0, left_ns = 0;
  RecordedWork work{};
  std::uint32_t event = none;
};

}  // namespace

class RecordedCaseBuilder {
 public:
  RecordedCaseBuilder(std::vector<Trace> ranks, std::size_t most) : most_(most) {
    out_.traces_ = std::make_shared<const std::vector<Trace>>(std::move(ranks));
  }

  Result<RecordedCase> build() {
    const std::vector<Trace>& traces = *out_.traces_;
    std::vector<const Trace*> all;
    std::vector<Metrics> metrics;
    std::vector<RecordedRank> devices;
    for (const Trace& t : traces) {
      all.push_back(&t);
      rows_.push_back(detect_row(t));
      metrics.push_back(measure(t));
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].compute == none)
        return Result<RecordedCase>::fail(traces[r].origin + ": No work of a device is in this recording.");
      devices.push_back({&traces[r], traces[r].tracks[rows_[r].compute].device, metrics[r].steps});
    }
    auto job = recorded_job(devices);
    if (!job) return Result<RecordedCase>::fail(job.error);
    out_.job_ = std::move(*job);
    out_.diagnosis_ = diagnose_job(all);
    out_.steps_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(metrics.front().steps.size()));
    // The metrics' steps are not there any more when somebody asks.
    for (RecordedRank& r : out_.job_.ranks) r.steps = {};
    out_.changes_.resize(recorded_work_count);
    find_origin();
    if (rows_.size() > 1) {
      add_ranks();
    } else {
      add_hosts();
      add_streams(0);
      add_suspects();
    }
    judge();
    add_chain();
    return Result<RecordedCase>::ok(std::move(out_));
  }

 private:
  const Trace& trace(std::size_t row) const { return (*out_.traces_)[row]; }
  const Replay& replay() const { return *out_.job_.replay; }

  /// When the first call that launches work begins, or the first step where several are marked: what a host does before
  /// is no part of the run. By the job's clock.
  void find_origin() {
    origin_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const std::int64_t clock = out_.job_.clock_ns[r];
      for (const Event& e : trace(r).events) {
        if (e.kind != EventKind::span || !on_device(e.cls)) continue;
        origin_ns_ = std::min(origin_ns_, clock + (e.link == none ? e : trace(r).events[e.link]).start_ns);
        end_ns = std::max(end_ns, clock + e.end_ns());
      }
      if (rows_[r].steps.size() > 1) origin_ns_ = std::min(origin_ns_, clock + rows_[r].steps.front().start_ns);
    }
    out_.length_ns_ = end_ns - origin_ns_;
    out_.on_device_.assign(replay().graph().tasks.size(), true);
    for (const RecordedJob::HostLane& h : out_.job_.hosts)
      std::fill_n(out_.on_device_.begin() + h.first, h.count, false);
  }

  /// A call that copies to the host and returns when that is done has waited for the device, and loads no code.
  bool waits_for_copy(std::uint32_t event) const {
    const Event& call = trace(0).events[event];
    if (call.cls != EventClass::runtime || call.link == none) return false;
    const Event& copy = trace(0).events[call.link];
    return trace(0).name(copy).find("DtoH") != std::string_view::npos && call.end_ns() >= copy.end_ns();
  }

  /// What the threads of a host do one after another. Where two say something at once, the first goes on; between them
  /// nothing is recorded.
  std::vector<Stretch> stretches(const RecordedJob::HostLane& host) const {
    const DetectRow& row = rows_.front();
    const UsualCalls usual(row);
    const FirstLaunches first(trace(0));
    std::vector<Stretch> said, out;
    for (std::size_t t = 0; t < row.host.size(); ++t) {
      const Track& track = trace(0).tracks[t];
      if (std::find(host.threads.begin(), host.threads.end(), track.pid + '\n' + track.tid) == host.threads.end())
        continue;
      for (const HostSegment& s : row.host[t]) {
        if (s.work == HostWork::silent || s.work == HostWork::other) continue;
        Stretch one{s.start_ns, s.end_ns, 0, work_of(s.work), s.event};
        if (s.work == HostWork::launching) {
          if (waits_for_copy(s.event)) {
            one.work = RecordedWork::syncing;
          } else if (first.holds(s.event)) {
            one.work = RecordedWork::first_launch;
            one.left_ns = std::min(first.usual_ns(), s.end_ns - s.start_ns);
          } else {
            one.left_ns = s.end_ns - s.start_ns - usual.beyond(s);
          }
        }
        said.push_back(one);
      }
    }
    std::stable_sort(said.begin(), said.end(),
                     [](const Stretch& a, const Stretch& b) { return a.start_ns < b.start_ns; });
    const std::int64_t from_ns = origin_ns_ - out_.job_.clock_ns.front();
    for (Stretch& s : said) {
      const std::int64_t at = out.empty() ? from_ns : out.back().end_ns;
      if (s.end_ns <= at) continue;
      if (s.start_ns > at) out.push_back({at, s.start_ns, 0, RecordedWork::silent, none});
      s.start_ns = std::max(s.start_ns, at);
      s.left_ns = std::min(s.left_ns, s.end_ns - s.start_ns);
      out.push_back(s);
    }
    return out;
  }

  void add_hosts() {
    for (const RecordedJob::HostLane& host : out_.job_.hosts) {
      const std::vector<Stretch> all = stretches(host);
      take_out(host, all);
      RecordedLane lane{.row = 0, .host = true};
      for (const Stretch& s : all) {
        seen(s.work, s.end_ns - s.start_ns);
        const bool short_silence = s.work == RecordedWork::silent && s.end_ns - s.start_ns < shown_silence_ns;
        const RecordedWork work = short_silence ? RecordedWork::launching : s.work;
        const std::int64_t start_ns = s.start_ns + out_.job_.clock_ns.front() - origin_ns_, ns = s.end_ns - s.start_ns;
        // Ordinary launching is one span as long as nothing else comes between.
        if (work == RecordedWork::launching && !lane.spans.empty() && lane.spans.back().work == work &&
            s.left_ns == ns * !short_silence) {
          lane.spans.back().duration_ns += ns;
          continue;
        }
        lane.spans.push_back({start_ns, ns, s.event, work, -1});
      }
      if (!lane.spans.empty()) out_.lanes_.push_back(std::move(lane));
    }
  }

  /// What is left of each task of a host without one kind of its stretches.
  void take_out(const RecordedJob::HostLane& host, const std::vector<Stretch>& all) {
    const std::int64_t clock = out_.job_.clock_ns.front();
    std::array<std::int64_t, recorded_work_count> gone{};
    auto at = all.begin();
    for (std::uint32_t i = host.first; i < host.first + host.count; ++i) {
      const std::int64_t start_ns = out_.job_.start_ns[i] - clock, end_ns = out_.job_.end_ns[i] - clock;
      gone.fill(0);
      while (at != all.end() && at->end_ns <= start_ns && at->end_ns < end_ns) ++at;
      for (auto s = at; s != all.end() && s->start_ns < end_ns; ++s) {
        const std::int64_t inside = std::min(s->end_ns, end_ns) - std::max(s->start_ns, start_ns);
        const std::int64_t length = s->end_ns - s->start_ns;
        if (inside <= 0 || length <= s->left_ns) continue;
        const double part = static_cast<double>(length - s->left_ns) / static_cast<double>(length);
        gone[static_cast<std::size_t>(s->work)] +=
            s->left_ns == 0 ? inside : static_cast<std::int64_t>(part * static_cast<double>(inside));
      }
      for (std::size_t w = 0; w < recorded_work_count; ++w) {
        if (gone[w] <= 0) continue;
        const bool whole = gone[w] >= end_ns - start_ns;
        const std::int64_t left =
            whole ? 0 : std::max<std::int64_t>(0, replay().graph().tasks[i].duration_ns - gone[w]);
        out_.changes_[w].push_back({.task = i, .duration_ns = left, .waits = !whole});
      }
    }
  }

  void add_streams(std::size_t row) {
    const Trace& t = trace(row);
    const int device = t.tracks[rows_[row].compute].device;
    const std::int64_t clock = out_.job_.clock_ns[row];
    for (const Track& track : t.tracks) {
      if (track.kind != TrackKind::stream || track.device != device) continue;
      RecordedLane lane{.row = static_cast<int>(row), .stream = track.stream};
      for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
        const Event& e = t.events[i];
        if (e.kind != EventKind::span || !on_device(e.cls)) continue;
        const RecordedWork work = e.cls == EventClass::computation ? RecordedWork::kernels
                                  : e.cls == EventClass::memory    ? RecordedWork::copies
                                                                   : RecordedWork::collectives;
        lane.spans.push_back({e.start_ns + clock - origin_ns_, e.duration_ns, i, work, -1});
        seen(work, e.duration_ns);
      }
      if (!lane.spans.empty()) out_.lanes_.push_back(std::move(lane));
    }
  }

  void seen(RecordedWork work, std::int64_t ns) { sums_[static_cast<std::size_t>(work)] += ns; }

  void add_suspects() {
    for (std::size_t w = 0; w < recorded_work_count; ++w) {
      if (sums_[w] <= 0) continue;
      out_.line_up_.push_back(
          {.work = static_cast<RecordedWork>(w), .length_ns = sums_[w], .won_ns = out_.won_without(out_.changes_[w])});
    }
    find_longest(
        [](const RecordedSuspect& s, const RecordedLane&, const RecordedSpan& span) { return s.work == span.work; });
    // Those that win most stay, and the longest of the others.
    std::stable_sort(out_.line_up_.begin(), out_.line_up_.end(), [&](const auto& a, const auto& b) {
      const bool wins = 50 * a.won_ns >= out_.length_ns(), other = 50 * b.won_ns >= out_.length_ns();
      return wins != other ? wins : a.longest_ns > b.longest_ns;
    });
    out_.line_up_.resize(std::min(out_.line_up_.size(), most_));
    std::stable_sort(out_.line_up_.begin(), out_.line_up_.end(),
                     [](const auto& a, const auto& b) { return a.work < b.work; });
  }

  void add_ranks() {
    const std::size_t shown = std::min(rows_.size(), most_);
    for (std::size_t r = 0; r < rows_.size(); ++r) add_streams(r);
    for (std::size_t r = 0; r < shown; ++r) {
      RecordedSuspect s{.work = RecordedWork::rank, .row = static_cast<int>(r)};
      for (const RecordedLane& lane : out_.lanes_)
        for (const RecordedSpan& span : lane.spans)
          if (lane.row == s.row) s.length_ns += span.duration_ns;
      s.won_ns = out_.won_without(rank_on_time(replay(), static_cast<std::uint32_t>(r)));
      out_.line_up_.push_back(s);
    }
    find_longest(
        [](const RecordedSuspect& s, const RecordedLane& lane, const RecordedSpan&) { return s.row == lane.row; });
  }

  template <class Belongs>
  void find_longest(const Belongs& belongs) {
    for (RecordedSuspect& s : out_.line_up_)
      for (std::uint32_t l = 0; l < out_.lanes_.size(); ++l) {
        const RecordedLane& lane = out_.lanes_[l];
        for (std::uint32_t i = 0; i < lane.spans.size(); ++i) {
          if (!belongs(s, lane, lane.spans[i]) || lane.spans[i].duration_ns <= s.longest_ns) continue;
          s.longest_ns = lane.spans[i].duration_ns;
          s.lane = l;
          s.longest = i;
        }
      }
  }

  void judge() {
    std::int64_t most = 0;
    for (const RecordedSuspect& s : out_.line_up_) most = std::max(most, s.won_ns);
    for (RecordedSuspect& s : out_.line_up_)
      s.guilty = guilty_part * s.won_ns >= most &&
                 static_cast<double>(s.won_ns) >= least_accused_share * static_cast<double>(out_.length_ns());
    for (std::size_t i = 0; i < out_.line_up_.size(); ++i) {
      const RecordedSuspect& s = out_.line_up_[i];
      if (s.guilty) out_.attainable_ns_ = std::max(out_.attainable_ns_, s.won_ns);
      for (RecordedLane& lane : out_.lanes_)
        for (RecordedSpan& span : lane.spans)
          if (s.work == RecordedWork::rank ? s.row == lane.row : s.work == span.work)
            span.suspect = static_cast<std::int8_t>(i);
    }
  }

  /// The collective in which others wait longest for somebody guilty.
  void add_chain() {
    const JobGraph& graph = replay().graph();
    const JobTimes& times = replay().unchanged();
    std::vector<std::uint32_t> last(graph.meetings, no_task), first(graph.meetings, no_task);
    for (std::uint32_t i = 0; i < graph.tasks.size(); ++i) {
      const std::uint32_t m = graph.tasks[i].meeting;
      if (m == no_task) continue;
      if (last[m] == no_task || times.start_ns[i] > times.start_ns[last[m]]) last[m] = i;
      if (first[m] == no_task || times.start_ns[i] < times.start_ns[first[m]]) first[m] = i;
    }
    std::int64_t most = 0;
    for (std::uint32_t m = 0; m < graph.meetings; ++m) {
      if (last[m] == no_task || times.start_ns[last[m]] - times.start_ns[first[m]] <= most) continue;
      const auto row = graph.rank_of(last[m]);
      if (row >= out_.line_up_.size() || !out_.line_up_[row].guilty) continue;
      most = times.start_ns[last[m]] - times.start_ns[first[m]];
      out_.chain_ = {place_of(last[m]), place_of(first[m])};
    }
  }
  RecordedPlace place_of(std::uint32_t task) const {
    const JobTask& t = replay().graph().tasks[task];
    const int row = static_cast<int>(replay().graph().rank_of(task));
    for (std::uint32_t l = 0; l < out_.lanes_.size(); ++l)
      for (std::uint32_t i = 0; out_.lanes_[l].row == row && i < out_.lanes_[l].spans.size(); ++i)
        if (out_.lanes_[l].spans[i].event == t.event) return {l, i};
    return {};
  }

  RecordedCase out_;
  std::size_t most_;
  std::vector<DetectRow> rows_;
  std::int64_t origin_ns_ = 0;
  std::array<std::int64_t, recorded_work_count> sums_{};
};

Result<RecordedCase> RecordedCase::of(std::vector<Trace> ranks, std::size_t most_suspects) {
  if (ranks.empty()) return Result<RecordedCase>::fail("There is no recording to play.");
  return RecordedCaseBuilder(std::move(ranks), most_suspects).build();
}

std::int64_t RecordedCase::won_without(std::span<const JobChange> changes) const {
  if (changes.empty()) return 0;
  const auto end_of = [&](const JobTimes& times) {
    std::int64_t out = 0;
    for (std::size_t i = 0; i < on_device_.size(); ++i)
      if (on_device_[i]) out = std::max(out, times.end_ns[i]);
    return out;
  };
  return end_of(job_.replay->unchanged()) - end_of(job_.replay->run(changes));
}

std::int64_t RecordedCase::won_by(Fix fix) const {
  using enum RecordedWork;
  const auto without = [&](std::initializer_list<RecordedWork> works) {
    std::vector<JobChange> all;
    for (const RecordedWork w : works) {
      const auto& own = changes_[static_cast<std::size_t>(w)];
      all.insert(all.end(), own.begin(), own.end());
    }
    return won_without(all);
  };
  switch (fix) {
    case Fix::more_workers:
      return without({loading});
    case Fix::pinned_memory:
      return without({paging_copy});
    case Fix::collect_by_hand:
      return without({silent});
    case Fix::fixed_shapes:
      return without({compiling});
    case Fix::keep_on_device:
      return without({syncing});
    case Fix::replace_gpu:
    case Fix::lock_clocks:
      return without({kernels});
    case Fix::save_in_background:
      return without({saving});
    case Fix::reuse_buffers:
      return without({computing});
    case Fix::machine_alone:
      return without({launching, kernels});
    case Fix::warm_up:
      return without({first_launch});
    case Fix::even_ranks: {
      std::int64_t most = 0;
      for (const RecordedSuspect& s : line_up_)
        if (s.work == rank) most = std::max(most, s.won_ns);
      return most;
    }
    default:
      return 0;
  }
}

}  // namespace models::trace
