#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/trace/measure/metrics.h"

/// The findings of models::trace in words, the same in the lab and on the command line.
namespace chapters::profiling::trace_viewer {

/// From this share of the time on, %, a device that is idle is hardly used at all: nobody waited for it.
inline constexpr double hardly_used_percent = 95;

/// A few words: "The device is idle".
std::string_view diagnosis_title(models::trace::DiagnosisKind kind);

/// One or more whole sentences. `diagnosis` is one of `metrics.diagnosis`, which were measured from `trace`.
std::string diagnosis_sentence(const models::trace::Trace& trace, const models::trace::Metrics& metrics,
                               const models::trace::Diagnosis& diagnosis);

/// One finding in words; what three or more devices share is one, told of the first and counted for the others.
struct ToldDiagnosis {
  std::size_t diagnosis = 0;  ///< place in metrics.diagnosis, of the first where several are one
  std::string title, sentence;
};
/// All of `metrics.diagnosis`, in its order.
std::vector<ToldDiagnosis> tell_diagnosis(const models::trace::Trace& trace, const models::trace::Metrics& metrics);

}  // namespace chapters::profiling::trace_viewer
