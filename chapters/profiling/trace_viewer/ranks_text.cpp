#include "chapters/profiling/trace_viewer/ranks_text.h"

#include <algorithm>
#include <map>

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

}  // namespace

bool rank_twice(const std::vector<Row>& rows) {
  std::map<int, std::size_t> file_of;
  return std::any_of(rows.begin(), rows.end(), [&](const Row& r) {
    const int rank = r.recording->trace.rank;
    return rank >= 0 && file_of.try_emplace(rank, r.file).first->second != r.file;
  });
}

JobWaits job_waits(const std::vector<Row>& rows) {
  if (rank_twice(rows)) return {};
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
  if (rank_twice(rows)) return "Two recordings are of the same rank: with one file a rank it can be seen who waits.";
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
          " of it with nothing to compute meanwhile." + explained(rows, waits, steps);
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

std::string slowest_sentence(const std::string& rank, const Slowest& slowest) {
  return capital(rank) + " computes " + widgets::format_text(100 * slowest.excess, "%", 3) +
         " longer a step than the median of the others (" + widgets::format_text(slowest.mean_comp_s, "s", 3) +
         " against " + widgets::format_text(slowest.median_comp_s, "s", 3) + ").";
}

}  // namespace chapters::profiling::trace_viewer
