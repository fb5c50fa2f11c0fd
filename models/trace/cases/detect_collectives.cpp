#include <algorithm>
#include <map>

#include "models/trace/cases/detect_parts.h"

namespace models::trace {
namespace {

/// A collective that takes so many times as long as another of its kind is slow.
constexpr double slow_times = 1.12;

struct MovedCollective {
  std::size_t step = 0, bucket = 0;
  std::int64_t moved_ns = 0, last_start_ns = 0, end_ns = 0;  ///< the last two by the clock of the first row
  std::uint32_t event = none;                                ///< on the first row
};

/// What a row's times need added for those of another: recordings of one clock may count from different zeros.
std::int64_t clock_of(const DetectRow& row, const DetectRow& other) {
  return row.trace->base_ns - other.trace->base_ns;
}

/// What each collective takes once the last rank has come, of ranks that have equally many of them.
std::vector<MovedCollective> moved_collectives(std::span<const DetectRow> rows) {
  std::vector<MovedCollective> out;
  const std::size_t count = rows.front().collectives.size();
  for (const DetectRow& row : rows)
    if (row.collectives.size() != count || row.work.empty()) return out;
  const DetectRow& first = rows.front();
  std::size_t step = 0, bucket = 0;
  for (std::size_t i = 0; i < count; ++i) {
    MovedCollective m{.event = first.collectives[i]};
    m.last_start_ns = m.end_ns = std::numeric_limits<std::int64_t>::min();
    for (const DetectRow& row : rows) {
      const Event& e = row.trace->events[row.collectives[i]];
      m.last_start_ns = std::max(m.last_start_ns, e.start_ns + clock_of(row, first));
      m.end_ns = std::max(m.end_ns, e.end_ns() + clock_of(row, first));
    }
    m.moved_ns = m.end_ns - m.last_start_ns;
    const Event& e = first.trace->events[m.event];
    const std::int64_t at = e.link == none ? e.start_ns : first.trace->events[e.link].start_ns;
    const std::size_t before = step;
    while (step + 1 < first.steps.size() && at >= first.steps[step + 1].start_ns) ++step;
    bucket = step == before && i > 0 ? bucket + 1 : 0;
    m.step = step;
    m.bucket = bucket;
    out.push_back(m);
  }
  return out;
}

std::int64_t middle_of(std::vector<std::int64_t> all) {
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace

std::int64_t idle_between(const DetectRow& row, std::int64_t from_ns, std::int64_t to_ns) {
  std::int64_t idle = 0, at = from_ns;
  auto next = std::lower_bound(row.work.begin(), row.work.end(), from_ns,
                               [&](std::uint32_t i, std::int64_t ns) { return row.trace->events[i].end_ns() <= ns; });
  for (; next != row.work.end() && at < to_ns; ++next) {
    const Event& e = row.trace->events[*next];
    if (e.start_ns > at) idle += std::min(e.start_ns, to_ns) - at;
    at = std::max(at, e.end_ns());
  }
  return at < to_ns ? idle + to_ns - at : idle;
}

void cost_of_collectives(std::span<const DetectRow> rows, const RowWaits& waits, std::vector<RowCosts>& costs) {
  if (rows.size() < 2 || !waits.waits.one_clock) return;
  const std::vector<MovedCollective> all = moved_collectives(rows);
  std::map<std::size_t, std::int64_t> least;       // by bucket, over steps
  std::map<std::size_t, std::size_t> last_bucket;  // by step
  std::vector<std::int64_t> everything;
  for (const MovedCollective& m : all) {
    const auto [at, is_new] = least.try_emplace(m.bucket, m.moved_ns);
    if (!is_new) at->second = std::min(at->second, m.moved_ns);
    last_bucket[m.step] = std::max(last_bucket[m.step], m.bucket);
  }
  for (const auto& [bucket, ns] : least) everything.push_back(ns);
  const std::int64_t usual = middle_of(everything);
  for (const MovedCollective& m : all) {
    const std::int64_t lowest = least[m.bucket];
    std::int64_t exposed = std::numeric_limits<std::int64_t>::max();
    const auto idle_of = [&](const DetectRow& row) {
      const std::int64_t clock = clock_of(row, rows.front());
      return idle_between(row, m.last_start_ns - clock, m.end_ns - clock);
    };
    for (const DetectRow& row : rows) exposed = std::min(exposed, idle_of(row));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      costs[r].explained_ns += idle_of(rows[r]);
      if (static_cast<double>(m.moved_ns) > slow_times * static_cast<double>(lowest))
        costs[r].add(Cause::bad_link, std::min(exposed, m.moved_ns - lowest),
                     rows[r].collectives[static_cast<std::size_t>(&m - all.data())]);
      if (m.bucket > 0 && m.bucket == last_bucket[m.step] &&
          static_cast<double>(lowest) > slow_times * static_cast<double>(usual))
        costs[r].add(Cause::late_bucket, std::min(exposed, lowest - usual),
                     rows[r].collectives[static_cast<std::size_t>(&m - all.data())]);
    }
  }
}

}  // namespace models::trace
