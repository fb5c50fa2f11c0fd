#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/trace/cases/recorded_case.h"
#include "models/trace/trace.h"

/// Recordings of real jobs that others published, each an extract (writers/extract.h) that lies in assets/recordings
/// and in the program. NOTICE names their licences.
namespace models::trace {

struct RealRecording {
  std::string_view id;
  std::string_view work;    ///< what ran, and on what: nothing of what is wrong with it
  std::string_view origin;  ///< repository and file, licence, and what was cut out
  std::string_view name;    ///< file in assets/recordings; of several ranks its beginning
  int ranks = 1;
  Cause cause = Cause::nothing;  ///< what it is known for
  int culprit = -1;              ///< its rank; -1: of one rank, or nothing is wrong
};
inline constexpr std::size_t real_recording_count = 5;
const std::array<RealRecording, real_recording_count>& real_recordings();

/// All ranks. Fails where what was built in cannot be read.
Result<std::vector<Trace>> open_real_recording(const RealRecording& recording);

/// Suspects in the line-up of a recorded case, at most.
inline constexpr std::size_t max_real_suspects = 8;
/// The recordings as cases, in their order: opened once, when somebody asks first. What cannot be read is not there.
const std::array<std::shared_ptr<const RecordedCase>, real_recording_count>& real_cases();

/// The bytes of a file of assets/recordings, by its name without ".json.gz"; empty where there is none.
std::string_view embedded_recording(std::string_view name);

}  // namespace models::trace
