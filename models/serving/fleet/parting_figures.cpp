#include <algorithm>
#include <cmath>

#include "models/serving/fleet/parting.h"

namespace models {
namespace {

/// Tokens from after `from_s` to `until_s`.
std::int64_t count_between(const std::vector<double>& token_s, double from_s, double until_s) {
  const auto begin = std::upper_bound(token_s.begin(), token_s.end(), from_s),
             end = std::upper_bound(token_s.begin(), token_s.end(), until_s);
  return std::max<std::int64_t>(0, end - begin);
}

/// The longest distance of two tokens that reaches into the time that is counted.
double longest_gap(const std::vector<double>& token_s, double counted_s) {
  double longest_s = 0;
  for (std::size_t i = 1; i < token_s.size() && token_s[i - 1] < counted_s; ++i)
    if (token_s[i] > 0) longest_s = std::max(longest_s, token_s[i] - token_s[i - 1]);
  return longest_s;
}

/// Tokens in the time that is counted whose distance from the one before is within the limit.
std::int64_t count_in_time(const std::vector<double>& token_s, double counted_s, double gap_s) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < token_s.size() && token_s[i] <= counted_s; ++i)
    count += token_s[i] > 0 && token_s[i] - token_s[i - 1] <= gap_s;
  return count;
}

void count_users(const PartingSetup& setup, const PartingHistory& history, const PartingHistory& calm,
                 PartingFigures& out) {
  const auto writes = [](const PartingReplica& r) { return r.decoders > 0; };
  std::vector<std::int64_t> here, there;  // a user's tokens, by replica that has users
  for (const PartingReplica& r : history.replicas)
    if (writes(r)) here.push_back(count_between(r.token_s, 0, setup.counted_s));
  for (const PartingReplica& r : calm.replicas)
    if (writes(r)) there.push_back(count_between(r.token_s, 0, setup.counted_s));
  for (const PartingReplica& r : history.replicas)
    out.longest_gap_s = std::max(out.longest_gap_s, longest_gap(r.token_s, setup.counted_s));
  for (std::size_t user = 0; user < static_cast<std::size_t>(setup.decoders); ++user) {
    const std::int64_t tokens = here[user % here.size()], lost = there[user % there.size()] - tokens;
    out.tokens += tokens;
    out.tokens_lost += lost;
    out.payers += lost > 0;
    out.most_lost = std::max(out.most_lost, lost);
  }
  out.gap_s = setup.counted_s * static_cast<double>(setup.decoders) /
              static_cast<double>(std::max<std::int64_t>(1, out.tokens));
}

void count_prompts(const PartingSetup& setup, const PartingHistory& history, const PartingHistory& alone,
                   PartingFigures& out) {
  if (history.prompts.empty()) return;
  for (const PartingPrompt& p : history.prompts) {
    out.ttft_s += p.ttft_s() / static_cast<double>(history.prompts.size());
    out.longest_ttft_s = std::max(out.longest_ttft_s, p.ttft_s());
    const double left_s = setup.counted_s - p.lands_s, before = -setup.lead_s;
    if (!alone.prompts.empty())
      out.newcomers_lost += count_between(alone.prompts.front().token_s, before, left_s) -
                            count_between(p.token_s, before, setup.counted_s);
  }
}

}  // namespace

PartingFigures count_parting(const PartingSetup& setup, const PartingHistory& history, const PartingHistory& calm,
                             const PartingHistory& alone, const PartingLimits& limits) {
  PartingFigures out;
  count_users(setup, history, calm, out);
  count_prompts(setup, history, alone, out);
  std::int64_t in_time = 0;
  for (const PartingReplica& r : history.replicas)
    in_time += r.decoders * count_in_time(r.token_s, setup.counted_s, limits.gap_s);
  for (const PartingPrompt& p : history.prompts)
    if (p.ttft_s() <= limits.ttft_s && p.first_token_s <= setup.counted_s)
      in_time += 1 + count_in_time(p.token_s, setup.counted_s, limits.gap_s);
  out.in_time_per_s = static_cast<double>(in_time) / setup.counted_s;
  const double idle = 1 - history.busy_s / (static_cast<double>(setup.replicas) * setup.counted_s);
  out.idle_share = idle > 1e-9 ? idle : 0;  // less is the rounding of the sum
  return out;
}

PartingSetup calm_of(PartingSetup setup) {
  setup.lands_s.clear();
  return setup;
}

PartingSetup alone_of(PartingSetup setup) {
  setup.lands_s = {0};
  setup.decoders = 0;
  setup.replicas = 1;
  setup.prefill_replicas = 0;
  return setup;
}

}  // namespace models
