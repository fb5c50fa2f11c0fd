#pragma once
#include <string>
#include <string_view>

#include "models/gpu/counters/kernel_verdict.h"

/// What verdicts, classes, causes and stalls are called, and what to do about them.
namespace chapters::profiling::counters {

struct CauseWords {
  std::string_view name;  ///< "bank conflicts"
  std::string_view next;  ///< a whole sentence: what to try
};
const CauseWords& cause_words(models::gpu::Cause cause);
/// What to try, in the words of the vendor's chips; where the cause is no more than likely, what to print first.
std::string_view next_words(const models::gpu::Diagnosis& said, bool amd);

struct StallWords {
  std::string_view name;  ///< "the MIO queue"
  std::string_view means, fix;
};
const StallWords& stall_words(models::gpu::StallReason reason);

std::string_view verdict_words(models::gpu::SolVerdict verdict);
std::string_view class_words(models::gpu::KernelClass bound);
/// The figures that decided, in a clause.
std::string_view evidence_words(models::gpu::Evidence evidence);

}  // namespace chapters::profiling::counters
