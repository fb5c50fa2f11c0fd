#include <algorithm>

#include "models/trace/cases/detect_parts.h"

namespace models::trace {

RowWaits waits_of_rows(std::span<const DetectRow> rows) {
  RowWaits out;
  out.waiting.resize(rows.size());
  std::vector<RankWork> ranks;
  std::vector<std::size_t> row_of;  // by rank that has work
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].work.empty()) continue;
    ranks.push_back({rows[r].trace, rows[r].trace->tracks[rows[r].compute].device});
    row_of.push_back(r);
  }
  out.waits = waits_of(ranks);
  if (ranks.size() != rows.size()) {
    out.waits.culprit = -1;  // of ranks without work nobody knows when they came
    out.waits.stands_out = false;
  }
  std::vector<Intervals::Part> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Trace& trace = *ranks[rank].trace;
    all.clear();
    for (const Collective& c : out.waits.collectives) {
      if (c.events[rank] == none) continue;
      const std::int64_t from = trace.events[c.events[rank]].start_ns;
      all.push_back({from, from + c.waited_ns[rank]});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    for (const Intervals::Part& part : all) out.waiting[row_of[rank]].add(part.start_ns, part.end_ns);
  }
  return out;
}

void cost_of_waits(std::span<const DetectRow> rows, const RowWaits& waits, std::vector<RowCosts>& costs) {
  const JobWaits& w = waits.waits;
  if (!w.stands_out || w.culprit < 0) return;
  const auto culprit = static_cast<std::size_t>(w.culprit);
  const auto others = static_cast<std::int64_t>(rows.size()) - 1;
  for (const Collective& c : w.collectives)
    if (c.last == culprit) costs[culprit].add(Cause::late_rank, c.idle_cost_ns / others, c.events[culprit]);
}

}  // namespace models::trace
