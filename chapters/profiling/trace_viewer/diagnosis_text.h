#pragma once
#include <span>
#include <string>
#include <string_view>

#include "models/trace/metrics.h"
#include "models/trace/window.h"

/// The findings of models::trace in words, the same in the lab and on the command line.
namespace chapters::profiling::trace_viewer {

/// A few words: "The device is idle".
std::string_view diagnosis_title(models::trace::DiagnosisKind kind);

/// One or more whole sentences. `diagnosis` is one of `metrics.diagnosis`, which were measured from `trace`.
std::string diagnosis_sentence(const models::trace::Trace& trace, const models::trace::Metrics& metrics,
                               const models::trace::Diagnosis& diagnosis);

/// A rank whose computation exceeds the median by this share holds the others up.
inline constexpr double notable_excess = 0.05;
/// Do the other ranks spend longer in their collectives than the one at `row`, as those do who wait for it?
bool others_wait(std::span<const models::trace::RankStep> steps, std::int64_t row);
/// One whole sentence on the rank that is `slowest`; `waited_for` as others_wait says.
std::string slowest_sentence(std::int64_t rank, const models::trace::Slowest& slowest, bool waited_for);

}  // namespace chapters::profiling::trace_viewer
