#include "chapters/profiling/trace_viewer/ranks_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::JobWaits;
using models::trace::Slowest;

std::string ns_text(std::int64_t ns) { return widgets::format_text(seconds(ns), "s", 3); }

std::string capital(std::string s) {
  if (!s.empty() && s[0] >= 'a' && s[0] <= 'z') s[0] = static_cast<char>(s[0] - 'a' + 'A');
  return s;
}

std::string collectives_text(std::size_t n) {
  return widgets::format_text(static_cast<double>(n), "", 15) + (n == 1 ? " collective" : " collectives");
}

/// Whether the culprit computes longer, which would explain it.
std::string explained(const std::vector<Row>& rows, const JobWaits& waits,
                      std::span<const models::trace::RankStep> steps) {
  const Slowest own = models::trace::compare_rank({steps.begin(), steps.end()}, waits.culprit);
  if (own.row < 0 || !(own.median_comp_s > 0)) return {};
  const std::string against = " (" + widgets::format_text(own.mean_comp_s, "s", 3) + " against " +
                              widgets::format_text(own.median_comp_s, "s", 3) + ")";
  if (own.excess >= notable_excess)
    return " It computes " + widgets::format_text(100 * own.excess, "%", 3) +
           " longer a step than the median of the others" + against + ".";
  std::string s = " Computation does not explain it: it computes no longer than the median of the others" + against;
  if (own.excess > 0)
    s = " Computation does not explain it: it computes only " + widgets::format_text(100 * own.excess, "%", 2) +
        " longer than the median of the others" + against;
  const Slowest longest = models::trace::slowest_rank({steps.begin(), steps.end()});
  const auto most = std::max_element(waits.waited_ns.begin(), waits.waited_ns.end()) - waits.waited_ns.begin();
  if (longest.row >= 0 && longest.row != waits.culprit && longest.excess >= notable_excess)
    s += ". " + capital(rows[static_cast<std::size_t>(longest.row)].label()) + " computes longest" +
         (longest.row == most ? " and waits longest, " + ns_text(waits.waited_ns[static_cast<std::size_t>(most)])
                              : std::string());
  return s + ".";
}

/// "rank 3 of 8"
std::string named_in_job(const models::trace::Trace& trace) {
  if (trace.rank < 0) return trace.origin + " names no rank";
  return "rank " + std::to_string(trace.rank) +
         (trace.world_size < 0 ? std::string() : " of " + std::to_string(trace.world_size));
}

bool sizes_differ(const std::vector<Row>& rows) {
  std::set<int> sizes;
  for (const Row& r : rows)
    if (r.recording->trace.world_size >= 0) sizes.insert(r.recording->trace.world_size);
  return sizes.size() > 1;
}

bool same_events(const models::trace::Trace& a, const models::trace::Trace& b) {
  if (a.rank != b.rank || a.base_ns != b.base_ns || a.records != b.records || a.events.size() != b.events.size() ||
      a.first_ns != b.first_ns || a.last_ns != b.last_ns)
    return false;
  return std::equal(a.events.begin(), a.events.end(), b.events.begin(), [&](const auto& x, const auto& y) {
    return x.start_ns == y.start_ns && x.duration_ns == y.duration_ns && a.name(x) == b.name(y);
  });
}

/// When a rank's first step began, by the clock that the recordings share.
std::int64_t first_step_ns(const Row& row) {
  return row.recording->trace.base_ns + row.recording->metrics.steps.front().start_ns;
}

std::string late_start_sentence(const std::vector<Row>& rows, const JobWaits& waits) {
  const LateStart l = late_start(rows, waits);
  if (l.late_ns <= 0) return {};
  return " " + ns_text(l.first_cost_ns) + " of it is the first collective: its step begins " + ns_text(l.late_ns) +
         " after the median of the others', so it was late before the recorded step. Without that one it causes " +
         widgets::format_text(100 * l.share_without, "%", 3) + ".";
}

}  // namespace

std::vector<std::string> drop_repeated(std::vector<RecordingPtr>& recordings, bool ranks_too) {
  std::vector<std::string> said;
  std::vector<RecordingPtr> kept;
  for (const RecordingPtr& r : recordings) {
    const auto& trace = r->trace;
    const bool same_file = std::any_of(kept.begin(), kept.end(),
                                       [&](const RecordingPtr& k) { return k == r || same_events(k->trace, trace); });
    const bool same_rank =
        ranks_too && trace.rank >= 0 && std::any_of(kept.begin(), kept.end(), [&](const RecordingPtr& k) {
          return k->trace.rank == trace.rank && k->trace.world_size == trace.world_size;
        });
    if (!same_file && !same_rank)
      kept.push_back(r);
    else
      said.push_back((same_file ? trace.origin : "Rank " + std::to_string(trace.rank)) +
                     " was given twice; the second is left out.");
  }
  recordings = std::move(kept);
  return said;
}

std::string not_one_job(const std::vector<Row>& rows, const JobWaits& waits) {
  constexpr std::size_t most = 4;
  std::vector<const models::trace::Trace*> traces;
  for (const Row& r : rows)
    if (std::find(traces.begin(), traces.end(), &r.recording->trace) == traces.end())
      traces.push_back(&r.recording->trace);
  if (traces.size() < 2) return {};
  if (!sizes_differ(rows)) {
    const bool named = std::all_of(traces.begin(), traces.end(), [](const auto* t) { return t->rank >= 0; });
    if (named || !waits.collectives.empty()) return {};
    return "Nothing says that these recordings are of one job: not all name their rank, and they share no collective; "
           "they stand "
           "side by side.";
  }
  std::string s = "These recordings are not of one job: ";
  for (std::size_t i = 0; i < std::min(most, traces.size()); ++i) s += (i ? ", " : "") + named_in_job(*traces[i]);
  if (traces.size() > most) s += " and " + std::to_string(traces.size() - most) + " more";
  return s + "; they stand side by side.";
}

LateStart late_start(const std::vector<Row>& rows, const JobWaits& waits) {
  LateStart out;
  if (!waits.one_clock || waits.culprit < 0 || waits.collectives.empty()) return out;
  const auto at = static_cast<std::size_t>(waits.culprit);
  const models::trace::Collective& first = waits.collectives.front();
  if (first.last != at || first.cost_ns <= 0) return out;
  std::vector<std::int64_t> others;
  std::int64_t waiting = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (first.events[r] == models::trace::none) continue;
    if (rows[r].recording->metrics.steps.empty()) return out;
    if (r == at) continue;
    ++waiting;
    others.push_back(first_step_ns(rows[r]));
  }
  if (others.empty()) return out;
  std::sort(others.begin(), others.end());
  const std::size_t n = others.size();
  const std::int64_t median = n % 2 ? others[n / 2] : others[n / 2 - 1] + (others[n / 2] - others[n / 2 - 1]) / 2;
  const std::int64_t late_ns = first_step_ns(rows[at]) - median;
  if (late_ns <= 0 || late_ns < first.cost_ns / (2 * waiting)) return out;
  out.late_ns = late_ns;
  out.first_cost_ns = first.cost_ns;
  const auto rest = static_cast<double>(waits.total_ns - first.cost_ns);
  if (rest > 0) out.share_without = static_cast<double>(waits.caused_ns[at] - first.cost_ns) / rest;
  return out;
}

bool rank_twice(const std::vector<Row>& rows) {
  std::map<int, std::size_t> file_of;
  return std::any_of(rows.begin(), rows.end(), [&](const Row& r) {
    const int rank = r.recording->trace.rank;
    return rank >= 0 && file_of.try_emplace(rank, r.file).first->second != r.file;
  });
}

JobWaits job_waits(const std::vector<Row>& rows) {
  if (rank_twice(rows) || sizes_differ(rows)) return {};
  std::vector<models::trace::RankWork> ranks;
  for (const Row& r : rows) ranks.push_back({&r.recording->trace, r.device});
  return models::trace::waits_of(ranks);
}

std::string waits_title(const std::vector<Row>& rows, const JobWaits& waits) {
  if (!waits.stands_out) return {};
  return capital(rows[static_cast<std::size_t>(waits.culprit)].label()) + " holds the others up";
}

std::string clock_sentence(const JobWaits& waits) {
  if (waits.collectives.empty()) return {};
  if (waits.one_clock)
    return waits.spread_ns == 0 ? "The recordings share one clock: the ranks leave each collective together."
                                : "The recordings share one clock: the ranks leave a collective within " +
                                      ns_text(waits.spread_ns) + " of each other (median).";
  return "The recordings have no common clock: the ends of one collective lie " + ns_text(waits.spread_ns) +
         " apart (median). Who stays shortest in a collective is taken for the last to arrive.";
}

std::string waits_story(const std::vector<Row>& rows, const JobWaits& waits) {
  const std::string clock = waits.one_clock ? "; on one clock" : "; without a common clock, by duration";
  if (waits.culprit < 0) return "Nobody waits: all ranks arrive together" + clock;
  const auto at = static_cast<std::size_t>(waits.culprit);
  const std::string share = widgets::format_text(100 * waits.culprit_share(), "%", 3);
  if (!waits.stands_out)
    return "No rank holds the others up: of " + ns_text(waits.total_ns) + " of waiting " + rows[at].label() +
           " causes most, " + share + clock;
  return capital(rows[at].label()) + " causes " + share + " of the " + ns_text(waits.total_ns) + " of waiting, " +
         ns_text(waits.idle_caused_ns[at]) + " of it with nothing to compute" + clock;
}

std::string waits_sentences(const std::vector<Row>& rows, const JobWaits& waits,
                            std::span<const models::trace::RankStep> steps) {
  if (const std::string apart = not_one_job(rows, waits); !apart.empty()) return apart;
  if (rank_twice(rows)) return "Two recordings are of the same rank: with one file per rank it can be seen who waits.";
  if (waits.collectives.empty() && waits.spread_ns > 0 && !waits.ends_agree)
    return "The recordings have collectives of the same names, but their ends agree by no fixed difference of clocks: "
           "they are not the same collectives, or exchanges that do not wait for all. Who waits for whom cannot be "
           "seen.";
  if (waits.collectives.empty()) {
    const bool none = waits.unmatched == 0;
    return none ? "No collective was recorded: who waits for whom cannot be seen."
                : "No collective of one rank was found on another: who waits for whom cannot be seen.";
  }
  const std::string all = collectives_text(waits.collectives.size());
  std::string s;
  if (waits.culprit < 0) {
    s = "In " + all + " nobody waits: all ranks arrive together.";
  } else {
    const auto at = static_cast<std::size_t>(waits.culprit);
    const std::string share = widgets::format_text(100 * waits.culprit_share(), "%", 3);
    const std::string last = std::to_string(waits.times_last[at]);
    if (waits.stands_out)
      s = capital(rows[at].label()) + " arrives last in " + last + " of " + all + " and costs the others " +
          ns_text(waits.caused_ns[at]) + ", " + share + " of all waiting; " + ns_text(waits.idle_caused_ns[at]) +
          " of it with nothing to compute meanwhile." + late_start_sentence(rows, waits) +
          explained(rows, waits, steps);
    else
      s = "No rank holds the others up: in " + all + " the ranks wait " + ns_text(waits.total_ns) + " in all, and " +
          rows[at].label() + ", last in " + last + ", causes the largest part of it, " + share + ".";
  }
  s += " " + clock_sentence(waits);
  if (waits.unmatched > 0)
    s += " " + std::to_string(waits.unmatched) +
         (waits.unmatched == 1 ? " kernel of a collective has" : " kernels of collectives have") +
         " no partner in the other recordings" + ", or none that ends with it.";
  return s;
}

std::string others_text(const std::vector<Row>& rows, int row) {
  if (rows.size() == 2 && row >= 0 && row < 2) return rows[static_cast<std::size_t>(1 - row)].label();
  return "the median of the others";
}

std::string slowest_sentence(const std::vector<Row>& rows, const Slowest& slowest) {
  return capital(rows[static_cast<std::size_t>(slowest.row)].label()) + " computes " +
         widgets::format_text(100 * slowest.excess, "%", 3) + " longer a step than " + others_text(rows, slowest.row) +
         " (" + widgets::format_text(slowest.mean_comp_s, "s", 3) + " against " +
         widgets::format_text(slowest.median_comp_s, "s", 3) + ").";
}

}  // namespace chapters::profiling::trace_viewer
