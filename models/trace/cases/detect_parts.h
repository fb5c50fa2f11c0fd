#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/trace/cases/cause.h"
#include "models/trace/cases/detect_rows.h"
#include "models/trace/measure/intervals.h"
#include "models/trace/measure/ranks.h"

/// The witnesses of diagnose_job: what each cause costs a rank, by its own kind of evidence.
namespace models::trace {

struct CostliestSpan {
  std::uint32_t event = none;
  std::int64_t ns = 0;
};

struct RowCosts {
  std::array<std::int64_t, cause_count> ns{};
  std::array<CostliestSpan, cause_count> longest{};
  std::int64_t idle_ns = 0, explained_ns = 0;

  void add(Cause cause, std::int64_t cost_ns, std::uint32_t event) {
    if (cost_ns <= 0) return;
    const auto c = static_cast<std::size_t>(cause);
    ns[c] += cost_ns;
    if (cost_ns > longest[c].ns) longest[c] = {event, cost_ns};
  }
};

/// Time between two times in which a row's compute stream does nothing.
std::int64_t idle_between(const DetectRow& row, std::int64_t from_ns, std::int64_t to_ns);

/// Who waited for whom, over all rows that have work.
struct RowWaits {
  JobWaits waits;                  ///< by row
  std::vector<Intervals> waiting;  ///< by row: from its own start of a collective until the last one has come
};
RowWaits waits_of_rows(std::span<const DetectRow> rows);
/// What the others would have waited less, each of them on average, had the rank that stands out come with them.
void cost_of_waits(std::span<const DetectRow> rows, const RowWaits& waits, std::vector<RowCosts>& costs);
/// Gaps of the compute stream by what the host did in them, without what lies in `waiting`.
void cost_of_gaps(const DetectRow& row, const Intervals& waiting, RowCosts& costs);
/// Kernels above what they take at the same place of other steps and on other ranks.
void cost_of_kernels(std::span<const DetectRow> rows, std::vector<RowCosts>& costs);
/// Collectives after the last rank has come, above what they take in other steps or other buckets. With one recording,
/// or clocks that do not agree, nobody knows when the last came, and there is nothing to say.
void cost_of_collectives(std::span<const DetectRow> rows, const RowWaits& waits, std::vector<RowCosts>& costs);

}  // namespace models::trace
