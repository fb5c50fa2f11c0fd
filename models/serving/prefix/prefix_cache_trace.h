#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/serving/prefix/serving_prefix_tree.h"

/// What a prefix cache sees of requests: when each comes, how long its prompt is, and which earlier prompt it begins
/// like.
namespace models {

/// A prompt is cut into blocks of equal length, the last of which may be partly filled. Two prompts share a block only
/// where they share all blocks before it, so that a block stands for a whole prefix.
struct PromptRequest {
  std::int64_t time_ms = 0;
  std::int64_t tokens = 0;
  std::int32_t blocks = 0;  ///< that have an id: all of them, or the full ones alone, as the recorder chose
  std::int32_t like = -1;   ///< an earlier request that begins with the same `shared` blocks; -1: none does
  std::int32_t shared = 0;  ///< blocks that some earlier request of the list begins with too
};

struct PromptTrace {
  std::int64_t block_tokens = 512;
  std::vector<PromptRequest> requests;
  /// By request the number of its session, from 0, in a trace whose ids mean nothing outside of their session; else
  /// empty.
  std::vector<std::int32_t> sessions;
};

/// The requests, in their order, whose first block is among the `families` first blocks that most requests have; of as
/// many the one that came first counts first. 0: all requests.
PromptTrace most_shared_families(const PromptTrace& trace, std::int64_t families);

/// Numbers of the requests by time, as if all sessions began together; equal ones in their order.
std::vector<std::int32_t> order_of_time(const PromptTrace& trace);

/// Reads rows "gap,tokens,shared,back" with blanks between them: milliseconds since the row before, tokens of the
/// prompt, how many blocks it shares ("*": all that the other has), and with which request, counted back from it (1
/// where it is left out). What it shares with nobody has two numbers. ";" begins a session, whose clock starts at 0 and
/// whose blocks are its own. `partial`: the last, partly filled block has an id too. The rows must be well-formed: they
/// are part of the program.
PromptTrace parse_prompt_rows(std::string_view rows, std::int64_t block_tokens, bool partial);

/// Rows of the recordings that the program brings along; sources and licences stand in their files.
std::string_view mooncake_synthetic_rows();
std::string_view agent_session_rows();

/// 2,597 requests of Mooncake's synthetic trace, blocks of 512 tokens.
PromptTrace mooncake_synthetic_trace();
/// 2,589 requests of 28 agent sessions one after the other, blocks of 64 tokens.
PromptTrace agent_session_trace();

/// The full blocks of the trace's prompts by name, for an engine that keeps a tree of them.
NamedPrompts named_prompts(const PromptTrace& trace);

/// Prompts made up by a seed: each begins with one of a few system prompts; then comes one of `groups` texts of its
/// own; then its question.
struct PromptMix {
  bool chat = false;         ///< a turn continues the turn before it; else each request asks about a document
  std::int64_t systems = 2;  ///< system prompts, 600 to 4,000 tokens each
  std::int64_t groups = 7;   ///< documents, or conversations
  std::int64_t each = 5;     ///< questions to a document, or turns of a conversation
  std::int64_t block_tokens = 512;
  std::int64_t seed = 1;
  bool operator==(const PromptMix&) const = default;
};

/// Requests of the mix: documents are log-normal (median 12,000 tokens, standard deviation of the logarithm 0.7),
/// questions 30 to 900 tokens, a turn adds 200 to 2,200 tokens of answer and question. They come as a Poisson process
/// of one every two seconds, each of a group drawn among those that have some left. A block that is partly filled is
/// shared by nobody.
PromptTrace make_prompts(const PromptMix& mix);

}  // namespace models
