#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/parallel/collectives/collective_fit.h"
#include "models/parallel/collectives/collective_published.h"
#include "models/parallel/collectives/collective_tuner.h"

/// A measured run as the catalog or a log gives it, with its fits and its machine.
namespace chapters::distributed::collectives {

inline constexpr double gib_bytes = 1024.0 * 1024 * 1024;

/// Rows of a published run of 16 H100 as nccl-tests prints them: what the log holds until another is pasted. Source:
/// issue 309 of nccl-tests.
std::string_view example_log();

struct MeasuredInputs {
  std::string run = "h100-8-allreduce-dgx";  ///< id of the catalog, or "log"
  std::string log = std::string(example_log());
  FileInput log_file;  ///< counts before `log`
  // What is known of the machine of a log; a published run states its own.
  std::string log_chip = "h100_sxm";
  models::parallel::CollectiveNetwork log_network = models::parallel::CollectiveNetwork::infiniband;
  std::int64_t log_node_ranks = 8;
  double log_port_bytes_per_s = 50e9;
  bool nvls = true, in_network = false;
  bool of_file() const { return run == "log" && !log_file.text.empty(); }
  bool operator==(const MeasuredInputs&) const = default;
};

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

/// What was worked out about it.
struct MeasuredRun {
  MeasuredSource source;
  std::vector<bool> spikes;                                          ///< by sample
  std::optional<models::parallel::CollectiveFit> one, three;         ///< lines; none where the sizes are too few
  std::optional<models::parallel::CollectiveComparison> comparison;  ///< none without a machine
};

/// "NVLSTree Simple".
std::string candidate_name(const models::parallel::NcclCandidate& candidate);

}  // namespace chapters::distributed::collectives
