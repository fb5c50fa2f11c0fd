#pragma once
#include <string>

#include "models/serving/prefix/prefix_cache_trace.h"

namespace models {

/// A recording as it was read.
struct PromptFile {
  PromptTrace trace;
  std::int64_t rows_left_out = 0;  ///< lines or requests of a session that say something else than what is expected
  std::string first_fault;         ///< what is wrong with the first of them, in one sentence; empty: none is
  std::int64_t without_ids = 0;    ///< requests of sessions that have no ids (sub-agents): left out, and no fault
};

/// One JSON object a line. Either a request, as Mooncake records them: `timestamp` in milliseconds (or `arrival_s` in
/// seconds), `input_length` (or `input_tokens`), `hash_ids`, whose blocks have `block_tokens` tokens. Or a session, as
/// WEKA records them: `requests`, each with `t` in seconds, `in` and `hash_ids`, and `block_size`, which counts instead
/// of `block_tokens`; ids mean nothing outside of their session. `hash_runs`, a list of [first id, how many], may stand
/// for hash_ids in both. An id must stand for a whole prefix: it follows the same id wherever it is. A request that
/// says something else is left out and counted; the error is one sentence for a text in which no request is good, or
/// that holds more than `most_requests` of them or 50 million ids.
Result<PromptFile> parse_prompt_file(std::string_view text, std::int64_t block_tokens, std::size_t most_requests);

}  // namespace models
