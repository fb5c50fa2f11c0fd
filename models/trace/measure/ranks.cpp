#include "models/trace/measure/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "models/trace/measure/intervals.h"
#include "models/trace/measure/median.h"

namespace models::trace {
namespace {

/// One rank's kernel of a collective.
struct RankPart {
  std::uint32_t row = 0, event = none;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t stream = -1;
  std::string group, seq;
};
using Meeting = std::vector<RankPart>;  // by row

/// Saturates: a clock that jumps must not wrap round.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? (a < 0 ? INT64_MIN / 4 : INT64_MAX / 4)
                                            : std::clamp(out, INT64_MIN / 4, INT64_MAX / 4);
}

/// Reads what a collective's kernel says of its process group. False: it is a send or a receive between two.
bool read_group(const Trace& trace, RankPart& part) {
  std::string name, ranks;
  for (auto& [key, value] : arguments(trace, trace.events[part.event])) {
    if (key == "Process Group Name") name = std::move(value.text);
    if (key == "Process Group Ranks") ranks = std::move(value.text);
    if (key == "Seq") part.seq = std::move(value.text);
    if (key == "Collective name" && (value.text == "send" || value.text == "recv")) return false;
  }
  if (!name.empty() || !ranks.empty()) part.group = name + "\n" + ranks;
  return true;
}

/// The collectives of a rank, by start. Arguments are read in the order of the file, which is cheap also of a gz.
std::vector<RankPart> parts_of_rank(const RankWork& rank, std::uint32_t row) {
  const Trace& trace = *rank.trace;
  std::vector<RankPart> out;
  for (const Track& t : trace.tracks) {
    if (t.kind != TrackKind::stream || t.device != rank.device) continue;
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
      const Event& e = trace.events[i];
      if (e.cls != EventClass::communication || e.kind != EventKind::span) continue;
      const std::int64_t start_ns = sum(trace.base_ns, e.start_ns);
      out.push_back({row, i, start_ns, sum(start_ns, e.duration_ns), t.stream, {}, {}});
    }
  }
  std::sort(out.begin(), out.end(), [&](const RankPart& a, const RankPart& b) {
    return trace.events[a.event].args_offset < trace.events[b.event].args_offset;
  });
  constexpr std::size_t asked = 16;
  bool any = out.size() <= asked;
  for (std::size_t i = 0; i < std::min(asked, out.size()) && !any; ++i) {
    const Result<std::string> args = trace.args(trace.events[out[i].event]);
    any = args &&
          (args->find("Process Group") != std::string::npos || args->find("Collective name") != std::string::npos);
  }
  if (any) std::erase_if(out, [&](RankPart& p) { return !read_group(trace, p); });
  std::sort(out.begin(), out.end(), [](const RankPart& a, const RankPart& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.event < b.event;
  });
  return out;
}

/// Do all ranks number the streams of their collectives alike?
bool same_streams(const std::vector<std::vector<RankPart>>& ranks) {
  std::vector<std::set<std::int64_t>> streams(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (const RankPart& p : ranks[r])
      if (p.group.empty()) streams[r].insert(p.stream);
  return std::all_of(streams.begin(), streams.end(), [&](const auto& s) { return s == streams.front(); });
}

/// Ends that lie close together, of the parts beside each other from `offset` on.
std::size_t ends_together(const std::vector<const RankPart*>& few, const std::vector<const RankPart*>& many,
                          std::size_t offset) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < few.size(); ++i)
    n += std::abs(few[i]->end_ns - many[i + offset]->end_ns) <= clock_tolerance_ns;
  return n;
}

/// The k-th of each rank. A rank that recorded more is moved to where the ends agree; where they agree nowhere, nobody
/// knows which of its collectives the others lack, and none is matched.
void match_in_order(const std::map<std::uint32_t, std::vector<const RankPart*>>& by_row, std::vector<Meeting>& out) {
  constexpr std::size_t max_offsets = 64;
  const auto* few = &by_row.begin()->second;
  for (const auto& [row, parts] : by_row)
    if (parts.size() < few->size()) few = &parts;
  std::map<std::uint32_t, std::size_t> offsets;
  for (const auto& [row, parts] : by_row) {
    std::size_t best = 0, best_n = 0;
    const std::size_t more = parts.size() - few->size();
    for (std::size_t offset = 0; more > 0 && offset <= std::min(more, max_offsets); ++offset)
      if (const std::size_t n = ends_together(*few, parts, offset); n > best_n) {
        best = offset;
        best_n = n;
      }
    if (more > 0 && best_n == 0) return;
    offsets[row] = best;
  }
  for (std::size_t k = 0; k < few->size(); ++k) {
    Meeting meeting;
    for (const auto& [row, parts] : by_row) meeting.push_back(*parts[k + offsets[row]]);
    out.push_back(std::move(meeting));
  }
}

std::vector<Meeting> match(const std::vector<std::vector<RankPart>>& ranks, std::span<const RankWork> traces) {
  const bool by_stream = same_streams(ranks);
  std::map<std::string, std::map<std::uint32_t, std::vector<const RankPart*>>> groups;
  for (const auto& parts : ranks)
    for (const RankPart& p : parts) {
      const Trace& trace = *traces[p.row].trace;
      std::string key(trace.name(trace.events[p.event]));
      key += "\n" + (!p.group.empty() ? p.group : by_stream ? std::to_string(p.stream) : std::string());
      if (!p.seq.empty()) key += "\n#" + p.seq;
      groups[key][p.row].push_back(&p);
    }
  std::vector<Meeting> out;
  for (const auto& [key, by_row] : groups)
    if (by_row.size() > 1) match_in_order(by_row, out);
  return out;
}

/// Latest end less earliest; `offsets` are taken from each row's clock first.
std::int64_t spread_of(const Meeting& meeting, const std::vector<std::int64_t>& offsets) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const RankPart& p : meeting) {
    first = std::min(first, p.end_ns - offsets[p.row]);
    last = std::max(last, p.end_ns - offsets[p.row]);
  }
  return last - first;
}

/// Each row's clock less that of the first row which it shares collectives with, by way of others if need be: the
/// median difference of ends.
std::vector<std::int64_t> clock_offsets(const std::vector<Meeting>& meetings, std::size_t rows) {
  std::vector<std::int64_t> offsets(rows, 0);
  std::vector<char> known(rows, 0);
  for (bool all = false; !all;) {
    // Start another group of rows that share nothing with those before.
    all = true;
    for (const Meeting& m : meetings)
      if (std::none_of(m.begin(), m.end(), [&](const RankPart& p) { return known[p.row] != 0; })) {
        known[m.front().row] = 1;
        all = false;
        break;
      }
    for (bool any = true; any;) {
      any = false;
      std::vector<std::vector<std::int64_t>> differences(rows);
      for (const Meeting& m : meetings) {
        const auto from = std::find_if(m.begin(), m.end(), [&](const RankPart& p) { return known[p.row] != 0; });
        if (from == m.end()) continue;
        for (const RankPart& p : m)
          if (known[p.row] == 0) differences[p.row].push_back(p.end_ns - from->end_ns + offsets[from->row]);
      }
      for (std::size_t r = 0; r < rows; ++r)
        if (known[r] == 0 && !differences[r].empty()) {
          offsets[r] = median_or(differences[r], 0);
          known[r] = 1;
          any = true;
        }
    }
  }
  return offsets;
}

/// When a rank computes, by its own clock.
Intervals computing(const RankWork& rank) {
  std::vector<Intervals::Part> spans;
  for (const Track& t : rank.trace->tracks) {
    if (t.kind != TrackKind::stream || t.device != rank.device) continue;
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
      if (const Event& e = rank.trace->events[i]; e.cls == EventClass::computation)
        spans.push_back({e.start_ns, e.end_ns()});
  }
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  Intervals out;
  for (const Intervals::Part& s : spans) out.add(s.start_ns, s.end_ns);
  return out;
}

/// Who came when: by the clock, or back from the end that all share.
Collective judged(const Meeting& meeting, std::span<const RankWork> ranks, const std::vector<Intervals>& computing,
                  bool one_clock) {
  Collective c;
  c.events.assign(ranks.size(), none);
  c.waited_ns.assign(ranks.size(), 0);
  const Trace& first = *ranks[meeting.front().row].trace;
  c.name = first.name(first.events[meeting.front().event]);
  c.spread_ns = spread_of(meeting, std::vector<std::int64_t>(ranks.size(), 0));
  const auto arrival = [&](const RankPart& p) { return one_clock ? p.start_ns : p.start_ns - p.end_ns; };
  const auto last = std::max_element(meeting.begin(), meeting.end(),
                                     [&](const RankPart& a, const RankPart& b) { return arrival(a) < arrival(b); });
  c.last = last->row;
  c.start_ns = meeting.front().start_ns;
  for (const RankPart& p : meeting) {
    c.events[p.row] = p.event;
    c.waited_ns[p.row] = arrival(*last) - arrival(p);
    c.cost_ns = sum(c.cost_ns, c.waited_ns[p.row]);
    const std::int64_t start_ns = ranks[p.row].trace->events[p.event].start_ns;
    c.idle_cost_ns = sum(c.idle_cost_ns, computing[p.row].outside(start_ns, sum(start_ns, c.waited_ns[p.row])));
    if (one_clock) c.start_ns = std::min(c.start_ns, p.start_ns);
  }
  return c;
}

}  // namespace

double JobWaits::culprit_share() const {
  if (culprit < 0 || total_ns <= 0) return 0;
  return static_cast<double>(caused_ns[static_cast<std::size_t>(culprit)]) / static_cast<double>(total_ns);
}

JobWaits waits_of(std::span<const RankWork> ranks) {
  JobWaits out;
  const std::size_t n = ranks.size();
  out.waited_ns.assign(n, 0);
  out.caused_ns.assign(n, 0);
  out.idle_caused_ns.assign(n, 0);
  out.times_last.assign(n, 0);
  if (n < 2) return out;
  std::vector<std::vector<RankPart>> parts;
  std::vector<Intervals> busy;
  for (std::uint32_t row = 0; row < n; ++row) {
    parts.push_back(parts_of_rank(ranks[row], row));
    busy.push_back(computing(ranks[row]));
    out.unmatched += static_cast<std::int64_t>(parts.back().size());
  }
  std::vector<Meeting> meetings = match(parts, ranks);
  const std::vector<std::int64_t> as_recorded(n, 0);
  const auto median_spread = [&](const std::vector<std::int64_t>& offsets) {
    std::vector<std::int64_t> spreads;
    for (const Meeting& m : meetings) spreads.push_back(spread_of(m, offsets));
    return median_or(spreads, 0);
  };
  out.spread_ns = median_spread(as_recorded);
  out.one_clock = !meetings.empty() && out.spread_ns <= clock_tolerance_ns;
  const std::vector<std::int64_t> offsets = out.one_clock ? as_recorded : clock_offsets(meetings, n);
  out.ends_agree = !meetings.empty() && median_spread(offsets) <= clock_tolerance_ns;
  // What does not end together is not one collective, or one that does not wait for all.
  std::erase_if(meetings,
                [&](const Meeting& m) { return !out.ends_agree || spread_of(m, offsets) > clock_tolerance_ns; });
  std::sort(meetings.begin(), meetings.end(),
            [](const Meeting& a, const Meeting& b) { return a.front().start_ns < b.front().start_ns; });
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  for (const Meeting& m : meetings) {
    out.unmatched -= static_cast<std::int64_t>(m.size());
    const Collective& c = out.collectives.emplace_back(judged(m, ranks, busy, out.one_clock));
    for (std::size_t r = 0; r < n; ++r) out.waited_ns[r] = sum(out.waited_ns[r], c.waited_ns[r]);
    out.caused_ns[c.last] = sum(out.caused_ns[c.last], c.cost_ns);
    out.idle_caused_ns[c.last] = sum(out.idle_caused_ns[c.last], c.idle_cost_ns);
    if (c.cost_ns > 0) ++out.times_last[c.last];
    out.total_ns = sum(out.total_ns, c.cost_ns);
    // The time of the job by the clock of the first rank that takes part in it.
    first_ns = std::min(first_ns, m.front().start_ns);
    last_ns = std::max(last_ns, m.front().end_ns);
  }
  if (out.total_ns <= 0) return out;
  out.culprit = static_cast<int>(std::max_element(out.caused_ns.begin(), out.caused_ns.end()) - out.caused_ns.begin());
  const double others = static_cast<double>(n - 1), own = 1 / static_cast<double>(n),
               cost = static_cast<double>(out.idle_caused_ns[static_cast<std::size_t>(out.culprit)]);
  out.stands_out =
      out.culprit_share() >= (1 + own) / 2 && cost / others >= 0.02 * static_cast<double>(last_ns - first_ns);
  return out;
}

}  // namespace models::trace
