#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "models/trace/measure/metrics.h"

namespace models::trace {

Shape shape(const Trace& trace) {
  Shape out;
  std::unordered_map<std::string, std::vector<std::uint32_t>>
      rows;  // by pid and tid as written: tracks split them further
  for (const Track& t : trace.tracks)
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
      if (trace.events[i].kind == EventKind::span) rows[t.pid + '\n' + t.tid].push_back(i);
  for (auto& [key, row] : rows) {
    // The recorder's own span, category Trace, is alone in a row that is nobody's.
    if (std::any_of(row.begin(), row.end(),
                    [&](std::uint32_t i) { return trace.category(trace.events[i]) != "Trace"; }))
      ++out.rows;
    std::sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Event &x = trace.events[a], &y = trace.events[b];
      if (x.start_ns != y.start_ns) return x.start_ns < y.start_ns;
      return x.duration_ns != y.duration_ns ? x.duration_ns > y.duration_ns : a < b;
    });
    std::vector<std::int64_t> ends;
    for (const std::uint32_t i : row) {
      const Event& e = trace.events[i];
      ++out.spans;
      if (e.duration_ns == 0) ++out.zero_duration;
      while (!ends.empty() && ends.back() <= e.start_ns) ends.pop_back();
      if (!ends.empty() && ends.back() < e.end_ns()) ++out.partial_overlaps;
      ends.push_back(e.end_ns());
      out.deepest = std::max(out.deepest, static_cast<std::int64_t>(ends.size()));
    }
  }
  std::unordered_map<std::int64_t, int> ends_of;
  for (const Flow& f : trace.flows) ends_of[f.id] |= f.phase == 's' ? 1 : f.phase == 'f' ? 2 : 0;
  out.flow_ids = static_cast<std::int64_t>(ends_of.size());
  for (const auto& [id, ends] : ends_of) {
    if (ends == 3) ++out.flow_both_ends;
    if (ends == 2) ++out.flow_end_only;
  }
  return out;
}

}  // namespace models::trace
