#include <algorithm>
#include <utility>

#include "chapters/serving/prefix_cache/lab.h"
#include "models/serving/prefix/prefix_cache_file.h"

/// Where the requests come from: the seed, a recording of the program's own, or a file.
namespace chapters::serving::prefix_cache {
namespace {

constexpr std::size_t max_requests = 1'000'000;
constexpr std::uint64_t max_bytes = 512ull << 20;

Workload refused(std::string sentence) {
  Workload out;
  out.refused = std::move(sentence);
  return out;
}

Workload read(const FileBytes& file, std::int64_t block_tokens) {
  if (file.size_bytes > max_bytes) return refused("The file is larger than 512 MiB: cut it, it has a request a line.");
  std::string text;
  if (auto all = file.read(text); !all) return refused(std::move(all.error));
  if (text.starts_with("\x1F\x8B")) return refused("The file is packed with gzip: unpack it, and open what comes out.");
  auto parsed = models::parse_prompt_file(text, block_tokens, max_requests);
  if (!parsed) return refused(std::move(parsed.error));
  return {std::move(parsed->trace), parsed->rows_left_out, parsed->without_ids, std::move(parsed->first_fault), {}};
}

Workload make_workload(const WorkloadKey& key) {
  switch (key.source) {
    case Source::mooncake:
      return {.trace = models::mooncake_synthetic_trace()};
    case Source::agents:
      return {.trace = models::agent_session_trace()};
    case Source::file:
      if (!key.file) return refused("No requests are chosen: open a file of them, or take others than your own.");
      return read(*key.file, key.block_tokens);
    case Source::documents:
    case Source::chat:
      break;
  }
  return {.trace = models::make_prompts(key.mix)};
}

}  // namespace

WorkloadKey workload_key(const Inputs& in) {
  WorkloadKey key{.source = in.source};
  if (in.source == Source::file) {
    key.file = in.trace.bytes;
    key.block_tokens = in.block_tokens;
  } else if (in.source == Source::documents || in.source == Source::chat) {
    key.mix = {in.source == Source::chat, in.systems, in.groups, in.each, in.block_tokens, in.seed};
  }
  return key;
}

std::shared_ptr<const Workload> workload_of(const WorkloadKey& key, Kept& kept) {
  return kept.workloads.get(key,
                            [](const WorkloadKey& k) { return std::make_shared<const Workload>(make_workload(k)); });
}

}  // namespace chapters::serving::prefix_cache
