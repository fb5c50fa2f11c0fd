#pragma once
#include <optional>
#include <string>
#include <vector>

#include "chapters/distributed/collectives/measured.h"
#include "models/parallel/collectives/collective_tuner.h"

namespace chapters::distributed::collectives {

inline constexpr double gib_bytes = 1024.0 * 1024 * 1024;

/// A run with what NCCL would weigh on its machine.
struct MeasuredSource {
  std::string fault;          ///< not empty: there is no run, and this sentence says why
  std::string no_prediction;  ///< not empty: there is a run and no machine
  models::parallel::PublishedCollective run;
  std::optional<models::parallel::CollectiveMachine> machine;
  std::vector<models::parallel::NcclCandidate> candidates;  ///< not empty where there is a machine
  std::vector<std::string> log_notes;
  bool is_log = false;
  bool other_switches = false;  ///< NVLS or SHARP are set otherwise than the published runs had them
};
MeasuredSource source_of(const MeasuredInputs& in);
/// "NVLSTree Simple".
std::string candidate_name(const models::parallel::NcclCandidate& candidate);

}  // namespace chapters::distributed::collectives
