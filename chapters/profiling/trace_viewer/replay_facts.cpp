#include "chapters/profiling/trace_viewer/replay_facts.h"

#include <cmath>

#include "chapters/profiling/trace_viewer/facts.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

std::string replayed_time(std::int64_t ns) { return widgets::format_text(static_cast<double>(ns) * 1e-9, "s", 3); }

/// Rounded down: what is not all of it is not called 100 %.
std::string explained_text(const models::trace::ReplayFit& fit) {
  return widgets::format_text(std::floor(1000 * fit.explained) / 10, "%", 3);
}

}  // namespace

bool Replayed::says(std::size_t diagnosis) const {
  return diagnosis < won_ns.size() && won_ns[diagnosis] != models::trace::not_replayed;
}

Replayed replayed(const models::trace::Trace& trace, const models::trace::Metrics& metrics) {
  std::vector<models::trace::RecordedRank> devices;
  for (const auto& d : metrics.devices) devices.push_back({&trace, d.device, metrics.steps});
  const auto job = models::trace::recorded_job(devices);
  if (!job) return {};
  return {job->fit, models::trace::won_by_diagnosis(*job, trace, metrics)};
}

std::string replay_sentence(const Replayed& replayed, std::size_t diagnosis) {
  if (!replayed.says(diagnosis)) return {};
  const std::int64_t won_ns = replayed.won_ns[diagnosis];
  // Where causes are hidden, nothing won may be what is hidden.
  constexpr double tells_of_nothing = 0.8;
  if (won_ns <= 0 && replayed.fit.explained < tells_of_nothing)
    return "A replay explains only " + explained_text(replayed.fit) +
           " of this recording and cannot say what would be won without it.";
  return "A replay that explains " + explained_text(replayed.fit) + " of this recording" +
         (replayed.fit.alone > 0 ? ", without the other ranks," : "") + " is " +
         (won_ns > 0 ? replayed_time(won_ns) + " shorter without it." : "no shorter without it.");
}

RankOnTime rank_on_time(const std::vector<Row>& rows, int culprit) {
  RankOnTime out;
  std::vector<models::trace::RecordedRank> ranks;
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].device < 0) continue;
    if (static_cast<int>(i) == culprit) rank = static_cast<std::uint32_t>(ranks.size());
    ranks.push_back({&rows[i].recording->trace, rows[i].device, rows[i].recording->metrics.steps});
  }
  const auto job = models::trace::recorded_job(ranks);
  if (!job || job->fit.collectives == 0) return out;
  const models::trace::JobGraph& graph = job->replay->graph();
  models::trace::JobTimes recorded = job->replay->unchanged();
  recorded.start_ns = job->start_ns;
  out.fit = job->fit;
  out.spared_ns = models::trace::blame_of(graph, recorded).spared_ns[rank];
  out.won_ns = job->replay->won_ns(models::trace::rank_on_time(*job->replay, rank));
  out.replayed = true;
  return out;
}

std::string on_time_sentence(const RankOnTime& on_time) {
  if (!on_time.replayed) return {};
  return "On time, no later than the last of the others, it would spare them " + replayed_time(on_time.spared_ns) +
         " of that, call by call; a replay that explains " + explained_text(on_time.fit) + " of the job is " +
         (on_time.won_ns > 0 ? replayed_time(on_time.won_ns) + " shorter." : "no shorter.");
}

}  // namespace chapters::profiling::trace_viewer
