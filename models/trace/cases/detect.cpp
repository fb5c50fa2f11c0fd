#include "models/trace/cases/detect.h"

#include <algorithm>

#include "models/trace/cases/detect_parts.h"

namespace models::trace {
namespace {

/// Time that one rank spends beyond this part of what another spends for the same cause is not the code of all.
constexpr double alike = 0.4, alike_code = 0.15;

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
  std::vector<RowCosts> costs(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (!rows[r].work.empty()) cost_of_gaps(rows[r], rows, r, costs[r]);
  cost_of_kernels(rows, costs);
  cost_of_collectives(rows, costs);
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
