#include <algorithm>
#include <cmath>

#include "models/serving/paged/paged_kv.h"

namespace models {

PagedDemand paged_demand(std::span<const ServingRequest> requests, std::int32_t answers, std::int64_t longest_tokens,
                         const RequestStream* stream) {
  PagedDemand out;
  out.answers = std::clamp(answers, std::int32_t{1}, static_cast<std::int32_t>(paged_answers_max));
  out.requests.reserve(requests.size());
  const auto longest = static_cast<std::int32_t>(std::clamp<std::int64_t>(longest_tokens, 2, 1 << 30));
  for (const ServingRequest& r : requests) {
    PagedRequest one{.arrival_us = std::llround(1e6 * r.arrival_s),
                     .prompt_tokens = std::clamp(r.prompt_tokens, std::int32_t{1}, longest - 1)};
    one.output_tokens.fill(std::clamp(r.output_tokens, std::int32_t{1}, longest - one.prompt_tokens));
    out.requests.push_back(one);
  }
  for (std::int32_t k = 1; stream && k < out.answers; ++k) {
    RequestStream other = *stream;
    other.seed = stream->seed + 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(k);
    const auto drawn = make_requests(other);
    for (std::size_t i = 0; i < out.requests.size() && i < drawn.size(); ++i) {
      PagedRequest& one = out.requests[i];
      one.output_tokens[static_cast<std::size_t>(k)] =
          std::clamp(drawn[i].output_tokens, std::int32_t{1}, longest - one.prompt_tokens);
    }
  }
  return out;
}

}  // namespace models
