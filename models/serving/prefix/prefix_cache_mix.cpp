#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/serving/prefix/prefix_cache_trace.h"

namespace models {
namespace {

enum Use : std::uint64_t { use_system, use_system_of, use_document, use_question, use_pick, use_gap };

constexpr double document_median = 12'000, document_spread = 0.7, mean_gap_ms = 2000;
constexpr std::int64_t min_document = 1'500, max_document = 80'000;

std::int64_t between(std::int64_t lo, std::int64_t hi, std::uint64_t stream, std::uint64_t i) {
  return lo + static_cast<std::int64_t>(unit_draw(stream, i) * static_cast<double>(hi - lo + 1));
}

/// One document with its questions, or one conversation.
struct Group {
  std::int64_t system = 0;  ///< which system prompt it has
  std::int64_t tokens = 0;  ///< what its next prompt shares with the one before: system prompt and document, or turns
  std::int64_t left = 0;    ///< requests still to come
  std::int32_t latest = -1;
};

std::vector<Group> make_groups(const PromptMix& mix, const std::vector<std::int64_t>& systems) {
  std::vector<Group> out(static_cast<std::size_t>(mix.groups));
  const std::uint64_t of = random_stream(mix.seed, use_system_of), documents = random_stream(mix.seed, use_document);
  for (std::size_t g = 0; g < out.size(); ++g) {
    out[g].left = mix.each;
    out[g].system = between(0, mix.systems - 1, of, g);
    out[g].tokens = systems[static_cast<std::size_t>(out[g].system)];
    if (mix.chat) continue;
    const double drawn = document_median * std::exp(document_spread * normal_draw(documents, g));
    out[g].tokens += std::clamp(static_cast<std::int64_t>(drawn), min_document, max_document);
  }
  return out;
}

/// One of those that have requests left, each of these with the same chance for each of its requests.
std::size_t pick(const std::vector<Group>& groups, std::int64_t left, std::uint64_t stream, std::uint64_t i) {
  std::int64_t at = between(0, left - 1, stream, i);
  std::size_t g = 0;
  while (at >= groups[g].left) at -= groups[g++].left;
  return g;
}

}  // namespace

PromptTrace make_prompts(const PromptMix& mix) {
  const std::uint64_t system_stream = random_stream(mix.seed, use_system),
                      question = random_stream(mix.seed, use_question), picks = random_stream(mix.seed, use_pick),
                      gaps = random_stream(mix.seed, use_gap);
  std::vector<std::int64_t> systems(static_cast<std::size_t>(mix.systems));
  for (std::size_t s = 0; s < systems.size(); ++s) systems[s] = between(600, 4'000, system_stream, s);
  std::vector<std::int32_t> latest_of_system(systems.size(), -1);
  std::vector<Group> groups = make_groups(mix, systems);
  PromptTrace out{mix.block_tokens, {}, {}};
  double now_ms = 0;
  for (std::int64_t left = mix.groups * mix.each; left > 0; --left) {
    const auto i = static_cast<std::uint64_t>(out.requests.size());
    Group& g = groups[pick(groups, left, picks, i)];
    const auto system = static_cast<std::size_t>(g.system);
    if (i > 0) now_ms -= mean_gap_ms * std::log(open_draw(gaps, i));
    // The first of a group shares the system prompt alone, with whoever had it last.
    const bool first = g.latest < 0;
    const std::int64_t shared = first ? systems[system] : g.tokens;
    const std::int64_t added = mix.chat ? between(200, 2'200, question, i) : between(30, 900, question, i);
    PromptRequest r{.time_ms = static_cast<std::int64_t>(now_ms), .tokens = g.tokens + added};
    r.blocks = static_cast<std::int32_t>((r.tokens + mix.block_tokens - 1) / mix.block_tokens);
    r.like = first ? latest_of_system[system] : g.latest;
    r.shared = r.like < 0 ? 0 : static_cast<std::int32_t>(shared / mix.block_tokens);
    if (r.shared == 0) r.like = -1;
    out.requests.push_back(r);
    g.latest = latest_of_system[system] = static_cast<std::int32_t>(i);
    --g.left;
    if (mix.chat) g.tokens = r.tokens;
  }
  return out;
}

}  // namespace models
