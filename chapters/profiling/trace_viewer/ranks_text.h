#pragma once
#include <span>
#include <string>
#include <vector>

#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/measure/ranks.h"
#include "models/trace/measure/window.h"

/// Several recordings as one job: who holds the others up, in figures and in words, the same in the lab and on the
/// command line.
namespace chapters::profiling::trace_viewer {

/// A rank whose computation exceeds the median of the others by this share computes notably longer.
inline constexpr double notable_excess = 0.05;

/// Do two recordings say that they are the same rank? Then they are not one job.
bool rank_twice(const std::vector<Row>& rows);
/// Drops what was given twice: the same events and, with `ranks_too`, another recording of the same rank of a job of
/// the same size. One sentence for each that is left out.
std::vector<std::string> drop_repeated(std::vector<RecordingPtr>& recordings, bool ranks_too = true);
/// One sentence where the recordings are not of one job: their world sizes differ, or not all name their rank and
/// they share no collective. Empty where they are, and of one recording.
std::string not_one_job(const std::vector<Row>& rows, const models::trace::JobWaits& waits);

/// How late the culprit's first step begins, where that is why it is late in the job's first collective.
struct LateStart {
  std::int64_t late_ns = 0;        ///< its step's start less the median of the others'; 0: does not explain it
  std::int64_t first_cost_ns = 0;  ///< what the first collective costs the others
  double share_without = 0;        ///< what it causes of all waiting without that collective, 0 to 1
};
LateStart late_start(const std::vector<Row>& rows, const models::trace::JobWaits& waits);

/// The collectives of the rows, matched. Empty where one rank is there twice, and where world sizes differ.
models::trace::JobWaits job_waits(const std::vector<Row>& rows);

/// A few words: "Rank 7 holds the others up". Empty where nobody stands out.
std::string waits_title(const std::vector<Row>& rows, const models::trace::JobWaits& waits);
/// Whole sentences: who arrives last, how often and at what cost, whether computation explains it, and by which clock.
std::string waits_sentences(const std::vector<Row>& rows, const models::trace::JobWaits& waits,
                            std::span<const models::trace::RankStep> steps);
/// The first of these in few words, and the clock in as few.
std::string waits_story(const std::vector<Row>& rows, const models::trace::JobWaits& waits);
/// One sentence: how the times of different ranks were compared.
std::string clock_sentence(const models::trace::JobWaits& waits);

/// What a row is compared with: "rank 0" where there is one other, else "the median of the others".
std::string others_text(const std::vector<Row>& rows, int row);
/// One whole sentence on the row that computes longest.
std::string slowest_sentence(const std::vector<Row>& rows, const models::trace::Slowest& slowest);

}  // namespace chapters::profiling::trace_viewer
