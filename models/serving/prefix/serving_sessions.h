#pragma once
#include <vector>

#include "models/serving/arrivals/serving_requests.h"
#include "models/serving/prefix/serving_prefix_store.h"

/// Requests as turns of conversations: each prompt repeats all that was said before.
namespace models {

struct SessionMix {
  double turns = 1;         ///< mean of a conversation, at least 1; 1: each request stands alone
  std::int64_t open = 200;  ///< conversations that go on at a time
  std::uint64_t seed = 1;
  std::int32_t longest_tokens = 32768;  ///< no prompt beyond this: the conversation ends before
  bool operator==(const SessionMix&) const = default;
};

/// Gives each request, by arrival, a turn of one of the open conversations, drawn by the seed; after each turn a
/// conversation ends with a chance of 1 / turns, and a new one takes its place. A request's prompt_tokens, which were
/// what the user says new, become the whole prompt. Returns by request what its prompt begins with; none where turns is
/// 1.
std::vector<PromptPrefix> draw_sessions(std::vector<ServingRequest>& requests, const SessionMix& mix);

}  // namespace models
