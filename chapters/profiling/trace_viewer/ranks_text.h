#pragma once
#include <span>
#include <string>
#include <vector>

#include "chapters/profiling/trace_viewer/rows.h"
#include "models/trace/ranks.h"
#include "models/trace/window.h"

/// Several recordings as one job: who holds the others up, in figures and in words, the same in the lab and on the
/// command line.
namespace chapters::profiling::trace_viewer {

/// A rank whose computation exceeds the median of the others by this share computes notably longer.
inline constexpr double notable_excess = 0.05;

/// Do two recordings say that they are the same rank? Then they are not one job.
bool rank_twice(const std::vector<Row>& rows);
/// The collectives of the rows, matched. Empty where one rank is there twice.
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

/// One whole sentence on the rank that computes longest.
std::string slowest_sentence(const std::string& rank, const models::trace::Slowest& slowest);

}  // namespace chapters::profiling::trace_viewer
