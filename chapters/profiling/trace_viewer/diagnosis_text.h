#pragma once
#include <string>
#include <string_view>

#include "models/trace/metrics.h"

/// The findings of models::trace in words, the same in the lab and on the command line.
namespace chapters::profiling::trace_viewer {

/// A few words: "The device is idle".
std::string_view diagnosis_title(models::trace::DiagnosisKind kind);

/// One or more whole sentences. `diagnosis` is one of `metrics.diagnosis`, which were measured from `trace`.
std::string diagnosis_sentence(const models::trace::Trace& trace, const models::trace::Metrics& metrics,
                               const models::trace::Diagnosis& diagnosis);

}  // namespace chapters::profiling::trace_viewer
