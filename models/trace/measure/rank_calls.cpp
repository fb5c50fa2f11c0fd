#include "models/trace/measure/rank_calls.h"

#include <algorithm>

#include "models/trace/measure/intervals.h"

namespace models::trace {
namespace {

constexpr std::int64_t closed_pause_ns = 40'000;
constexpr std::size_t max_parts = 4'000, max_run_again = 16;

/// "ncclKernel_AllReduce_RING_LL_Sum_float(...)" gives "all-reduce"; another name gives itself, shortened.
std::string short_call(std::string_view kernel) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"AllReduce", "all-reduce"}, {"AllGather", "all-gather"}, {"ReduceScatter", "reduce-scatter"},
      {"Broadcast", "broadcast"},  {"SendRecv", "all-to-all"},  {"AllToAll", "all-to-all"}};
  for (const auto& [in, out] : words)
    if (kernel.find(in) != std::string_view::npos) return std::string(out);
  return std::string(kernel.substr(0, 24));
}

void add_computing(const RankWork& rank, std::int64_t shift_ns, RankCalls& out) {
  std::vector<BusyPart> spans;
  for (const Track& t : rank.trace->tracks) {
    if (t.kind != TrackKind::stream || t.device != rank.device) continue;
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
      if (const Event& e = rank.trace->events[i]; e.cls == EventClass::computation)
        spans.push_back({e.start_ns + shift_ns, e.end_ns() + shift_ns});
  }
  std::sort(spans.begin(), spans.end(), [](const BusyPart& a, const BusyPart& b) { return a.start_ns < b.start_ns; });
  std::int64_t sum = 0, reached = INT64_MIN;
  std::vector<BusyPart> parts;
  for (const BusyPart& s : spans) {
    sum += std::max<std::int64_t>(0, s.end_ns - std::max(reached, s.start_ns));
    reached = std::max(reached, s.end_ns);
    if (!parts.empty() && s.start_ns - parts.back().end_ns <= closed_pause_ns)
      parts.back().end_ns = std::max(parts.back().end_ns, s.end_ns);
    else if (parts.size() < max_parts)
      parts.push_back(s);
  }
  out.computing_ns.push_back(sum);
  out.computes.push_back(std::move(parts));
}

/// Moves all times so that the first is 0.
void begin_at_zero(RankCalls& c) {
  std::int64_t first = INT64_MAX;
  for (std::size_t i = 0; i < c.start_ns.size(); ++i)
    if (c.end_ns[i] >= 0 || c.start_ns[i] >= 0) first = std::min(first, c.start_ns[i]);
  for (const auto& parts : c.computes)
    if (!parts.empty()) first = std::min(first, parts.front().start_ns);
  if (first == INT64_MAX) return;
  for (std::size_t i = 0; i < c.start_ns.size(); ++i) {
    if (c.end_ns[i] == -1 && c.start_ns[i] == -1) continue;
    c.start_ns[i] -= first;
    c.end_ns[i] -= first;
    c.last_ns = std::max(c.last_ns, c.end_ns[i]);
  }
  for (auto& parts : c.computes)
    for (BusyPart& p : parts) {
      p.start_ns -= first;
      p.end_ns -= first;
      c.last_ns = std::max(c.last_ns, p.end_ns);
    }
}

/// The job as a graph: on each rank its collectives, with as long between them as was recorded.
JobGraph graph_of(const RankCalls& c) {
  JobGraph g;
  g.meetings = static_cast<std::uint32_t>(c.calls.size());
  std::vector<std::int64_t> last(c.calls.size(), 0);
  for (std::size_t r = 0; r < c.ranks.size(); ++r)
    for (std::size_t k = 0; k < c.calls.size(); ++k)
      if (c.takes_part(r, k)) last[k] = std::max(last[k], c.start_ns[c.at(r, k)]);
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    const std::uint32_t lane = g.add_lane("rank " + std::to_string(c.ranks[r]), static_cast<std::uint32_t>(r));
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < c.calls.size(); ++k)
      if (c.takes_part(r, k)) order.push_back(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return c.start_ns[c.at(r, a)] < c.start_ns[c.at(r, b)]; });
    std::int64_t ended = 0;
    for (const std::size_t k : order) {
      JobTask task;
      task.lane = lane;
      task.meeting = static_cast<std::uint32_t>(k);
      task.duration_ns = std::max<std::int64_t>(0, c.end_ns[c.at(r, k)] - last[k]);
      task.gap_ns = std::max<std::int64_t>(0, c.start_ns[c.at(r, k)] - ended);
      if (k == order.front()) task.not_before_ns = task.gap_ns;
      ended = c.end_ns[c.at(r, k)];
      g.add_task(task);
    }
  }
  return g;
}

template <class T>
int index_of_largest(const std::vector<T>& v) {
  return v.empty() ? -1 : static_cast<int>(std::max_element(v.begin(), v.end()) - v.begin());
}

/// Who waits for whom in one collective.
void judge_call(const RankCalls& c, std::size_t k, RankBlame& b) {
  const std::size_t n = c.ranks.size();
  std::size_t last = n;
  for (std::size_t r = 0; r < n; ++r)
    if (c.takes_part(r, k) && (last == n || c.start_ns[c.at(r, k)] > c.start_ns[c.at(last, k)])) last = r;
  b.last.push_back(static_cast<std::uint32_t>(std::min(last, n - 1)));
  if (last == n) return;
  std::int64_t second = -1, others = 0, caused = 0;
  for (std::size_t r = 0; r < n; ++r) {
    if (r == last || !c.takes_part(r, k)) continue;
    const std::int64_t waits = c.start_ns[c.at(last, k)] - c.start_ns[c.at(r, k)];
    b.matrix_ns[r * n + last] += waits;
    b.waited_ns[r] += waits;
    caused += waits;
    second = std::max(second, c.start_ns[c.at(r, k)]);
    ++others;
  }
  b.caused_ns[last] += caused;
  b.total_ns += caused;
  b.times_last[last] += caused > 0;
  if (others > 0) b.won_ns[last] += others * (c.start_ns[c.at(last, k)] - second);
}

}  // namespace

RankCalls rank_calls_of(std::span<const RankWork> ranks, const JobWaits& waits) {
  RankCalls out;
  const std::size_t n = ranks.size(), calls = waits.collectives.size();
  out.start_ns.assign(n * calls, -1);
  out.end_ns.assign(n * calls, -1);
  for (const Collective& c : waits.collectives) out.calls.push_back(short_call(c.name));
  std::int64_t base_ns = INT64_MAX;
  for (const RankWork& r : ranks) base_ns = std::min(base_ns, r.trace->base_ns);
  for (std::size_t r = 0; r < n; ++r) {
    const Trace& trace = *ranks[r].trace;
    const std::int64_t own_ns = trace.base_ns - base_ns;
    std::int64_t shift_ns = own_ns;
    out.ranks.push_back(trace.rank >= 0 ? trace.rank : static_cast<std::int64_t>(r));
    bool first = true;
    for (std::size_t k = 0; k < calls; ++k) {
      const Collective& c = waits.collectives[k];
      if (c.events[r] == none) continue;
      const Event& e = trace.events[c.events[r]];
      std::size_t lead = 0;
      while (c.events[lead] == none) ++lead;
      const Trace& leads = *ranks[lead].trace;
      const std::int64_t end_ns =
          waits.one_clock ? e.end_ns() + own_ns : leads.events[c.events[lead]].end_ns() + leads.base_ns - base_ns;
      if (first) shift_ns = end_ns - e.end_ns();
      first = false;
      out.end_ns[out.at(r, k)] = end_ns;
      out.start_ns[out.at(r, k)] = end_ns - e.duration_ns;
    }
    add_computing(ranks[r], shift_ns, out);
  }
  begin_at_zero(out);
  return out;
}

RankCalls with_rank_earlier(RankCalls c, std::size_t rank, std::int64_t by_ns) {
  if (by_ns <= 0 || rank >= c.ranks.size()) return c;
  for (std::size_t k = 0; k < c.calls.size(); ++k) {
    if (!c.takes_part(rank, k)) continue;
    std::int64_t floor_ns = 0;
    for (std::size_t j = 0; j < c.calls.size(); ++j)
      if (j != k && c.takes_part(rank, j) && c.end_ns[c.at(rank, j)] <= c.start_ns[c.at(rank, k)])
        floor_ns = std::max(floor_ns, c.end_ns[c.at(rank, j)]);
    c.start_ns[c.at(rank, k)] = std::max(floor_ns, c.start_ns[c.at(rank, k)] - by_ns);
  }
  return c;
}

Result<RankBlame> rank_blame_of(const RankCalls& c) {
  using Made = Result<RankBlame>;
  const std::size_t n = c.ranks.size();
  if (n < 2 || c.calls.empty()) return Made::fail("Two ranks that meet in a collective are needed.");
  RankBlame b;
  b.matrix_ns.assign(n * n, 0);
  for (auto* v : {&b.waited_ns, &b.caused_ns, &b.times_last, &b.won_ns, &b.sooner_ns}) v->assign(n, 0);
  for (std::size_t k = 0; k < c.calls.size(); ++k) judge_call(c, k, b);
  const auto replay = Replay::of(graph_of(c));
  if (!replay) return Made::fail(replay.error);
  b.length_ns = replay->unchanged().length_ns;
  // A rank that is never last wins nothing; of many, those that cause most are run again.
  std::vector<std::size_t> late;
  for (std::size_t r = 0; r < n; ++r)
    if (b.won_ns[r] > 0) late.push_back(r);
  std::stable_sort(late.begin(), late.end(), [&](auto x, auto y) { return b.caused_ns[x] > b.caused_ns[y]; });
  late.resize(std::min(late.size(), max_run_again));
  for (const std::size_t r : late)
    b.sooner_ns[r] = replay->won_ns(rank_on_time(*replay, static_cast<std::uint32_t>(r)));
  if (b.total_ns > 0) b.culprit = index_of_largest(b.caused_ns);
  b.computes_longest = index_of_largest(c.computing_ns);
  b.waits_longest = index_of_largest(b.waited_ns);
  return Made::ok(std::move(b));
}

}  // namespace models::trace
