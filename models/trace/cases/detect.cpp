#include "models/trace/cases/detect.h"

#include <algorithm>

#include "models/trace/cases/detect_parts.h"
#include "models/trace/measure/median.h"

namespace models::trace {
namespace {

/// Time that one rank spends beyond this part of what another spends for the same cause is not the code of all.
constexpr double alike = 0.4, alike_code = 0.15;
/// A cause that costs a late rank so much of its lateness more than it costs the others says why it is late.
constexpr double says_why = 0.4;

/// Does anything on the rank that comes last say why it does?
bool lateness_explained(const std::vector<RowCosts>& costs, std::size_t culprit) {
  const auto late = static_cast<std::size_t>(Cause::late_rank);
  for (std::size_t c = 1; c < late; ++c) {
    std::vector<std::int64_t> others;
    for (std::size_t r = 0; r < costs.size(); ++r)
      if (r != culprit) others.push_back(costs[r].ns[c]);
    const double more = static_cast<double>(costs[culprit].ns[c] - median_or(others, 0));
    if (more >= says_why * static_cast<double>(costs[culprit].ns[late])) return true;
  }
  return false;
}

void witness_for(Cause cause, std::span<const DetectRow> rows, const std::vector<RowCosts>& costs, Witness& out) {
  const auto c = static_cast<std::size_t>(cause);
  std::int64_t most = 0, least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t r = 0; r < costs.size(); ++r) {
    least = std::min(least, costs[r].ns[c]);
    if (costs[r].ns[c] <= most) continue;
    most = costs[r].ns[c];
    out.row = static_cast<int>(r);
    out.event_row = static_cast<int>(r);
    out.event = costs[r].longest[c].event;
  }
  out.cost_ns = most;
  // What is in the program shows on every rank, on some more.
  const bool code = cause == Cause::hidden_sync || cause == Cause::small_kernels || cause == Cause::pageable_copy;
  const bool all = static_cast<double>(least) > (code ? alike_code : alike) * static_cast<double>(most) ||
                   cause == Cause::bad_link || cause == Cause::late_bucket;
  if (rows.size() > 1 && all) out.row = -1;
}

std::vector<RowCosts> costs_of(std::span<const DetectRow> rows, const RowWaits& waits) {
  std::vector<RowCosts> out(rows.size());
  const auto add_gaps = [&](std::vector<RowCosts>& costs, bool with_waiting) {
    const Intervals nobody;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (!rows[r].work.empty()) cost_of_gaps(rows[r], with_waiting ? nobody : waits.waiting[r], costs[r]);
  };
  const auto add_work = [&](std::vector<RowCosts>& costs) {
    cost_of_kernels(rows, costs);
    cost_of_collectives(rows, waits, costs);
    cost_of_waits(rows, waits, costs);
  };
  add_gaps(out, true);
  add_work(out);
  if (!waits.waits.stands_out) return out;
  const auto culprit = static_cast<std::size_t>(waits.waits.culprit);
  if (lateness_explained(out, culprit)) {
    out[culprit].ns[static_cast<std::size_t>(Cause::late_rank)] = 0;
    return out;
  }
  // What the others' hosts did while they waited for the late rank cost nothing.
  std::vector<RowCosts> again(rows.size());
  add_gaps(again, false);
  add_work(again);
  return again;
}

}  // namespace

JobDiagnosis diagnose_job(std::span<const Trace* const> ranks) {
  JobDiagnosis out;
  std::vector<DetectRow> rows;
  for (const Trace* trace : ranks) {
    rows.push_back(detect_row(*trace));
    if (rows.back().compute == none) rows.back().work.clear();
    out.readable |= !rows.back().work.empty();
    out.length_ns = std::max(out.length_ns, rows.back().last_ns - rows.back().first_ns);
  }
  if (!out.readable) return out;
  const RowWaits waits = waits_of_rows(rows);
  const std::vector<RowCosts> costs = costs_of(rows, waits);
  for (const RowCosts& c : costs) {
    out.idle_ns += c.idle_ns;
    out.explained_ns += c.explained_ns;
  }
  std::int64_t most = 0;
  for (std::size_t c = 1; c < cause_count; ++c) {
    const auto cause = static_cast<Cause>(c);
    witness_for(cause, rows, costs, out.witnesses[c]);
    if (out.witnesses[c].cost_ns <= most) continue;
    most = out.witnesses[c].cost_ns;
    if (static_cast<double>(most) >= least_accused_share * static_cast<double>(out.length_ns)) out.cause = cause;
  }
  if (out.cause != Cause::nothing) out.row = out.witness().row;
  return out;
}

}  // namespace models::trace
