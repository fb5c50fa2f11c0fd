#include "models/serving/prefix/serving_sessions.h"

#include <algorithm>

#include "models/base/counter_random.h"

namespace models {

std::vector<PromptPrefix> draw_sessions(std::vector<ServingRequest>& requests, const SessionMix& mix) {
  std::vector<PromptPrefix> out;
  if (!(mix.turns > 1) || mix.open < 1) return out;
  struct Session {
    std::int32_t name = 0, said = 0;
  };
  std::vector<Session> open(static_cast<std::size_t>(mix.open));
  std::int32_t names = 0;
  for (Session& s : open) s = {names++, 0};
  const std::uint64_t stream = random_stream(static_cast<std::int64_t>(mix.seed), 11);
  out.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ServingRequest& r = requests[i];
    const auto place = static_cast<std::size_t>(unit_draw(stream, 2 * i) * static_cast<double>(open.size()));
    Session& s = open[std::min(place, open.size() - 1)];
    if (s.said + std::int64_t{r.prompt_tokens} > mix.longest_tokens) s = {names++, 0};
    out.push_back({s.name, s.said});
    r.prompt_tokens += s.said;
    s.said = static_cast<std::int32_t>(
        std::min<std::int64_t>(std::int64_t{r.prompt_tokens} + r.output_tokens, mix.longest_tokens));
    if (unit_draw(stream, 2 * i + 1) * mix.turns < 1) s = {names++, 0};
  }
  return out;
}

}  // namespace models
