#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "models/base/result.h"
#include "models/trace/text/bytes.h"

/// Memory snapshots as files: text and JSON with bounds on what they may take, since anybody may have written them.
namespace models::memory {

/// All of a file, unpacked where it is a gz. Fails with a sentence where it cannot be read, is larger than 512 MiB, or
/// unpacks to more than 200 times its size, which records do not.
Result<std::string> whole_recording_text(const trace::Bytes& bytes);

/// The object of a snapshot with what the readers here look at: other keys are left out, and of a stack all but the
/// innermost frame with a name. Fails with a sentence where it is no JSON object or is cut, nests deeper than 32
/// levels, has more than `max_history` entries in one history, or more than 4 million values of that kind.
Result<nlohmann::json> parse_snapshot_json(std::string_view text, std::size_t max_history);

}  // namespace models::memory
