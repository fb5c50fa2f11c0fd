#include "models/serving/prefix/prefix_cache.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "models/serving/prefix/prefix_cache_cost.h"
#include "tests/models/serving/prefix_cache_direct.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

// Figures of three recordings, computed once from the publishers' files, block by block, by the rules of
// prefix_cache.h: Mooncake's conversation (first 2,400 s) and synthetic trace (first 680 s),
// kvcache-ai/Mooncake@3b5a5941, and 28 agent sessions of callanjfox/kv-cache-tester@94f6046d. Whole numbers are exact,
// shares to ten digits.

using namespace models;
using prefix_test::ids_of, prefix_test::pass_of;
using support::near;

namespace {

PromptTrace conversation_trace() {
  return parse_prompt_rows(support::gunzipped_file(support::data_file("mooncake_conversation_rows.txt.gz")), 512, true);
}

PrefixCacheFigures figures(const PrefixTree& tree, const PrefixPass& pass, PrefixEviction eviction,
                           std::int64_t capacity = 0, std::int64_t ttl_s = 0) {
  return count_prefix_hits(tree, pass, {eviction, capacity, 1000 * ttl_s});
}

struct Sized {
  std::int64_t capacity, hit_blocks, hit_tokens;
};

/// Hits after the first 10, 100 and 1,000 requests.
std::vector<std::int64_t> running(const PrefixPass& pass, const PrefixCacheSetting& setting) {
  std::vector<std::int64_t> out;
  std::int64_t hits = 0;
  for (std::size_t place = 0; place < 1000; ++place) {
    hits += prefix_hit(pass, place, setting);
    if (place == 9 || place == 99 || place == 999) out.push_back(hits);
  }
  return out;
}

}  // namespace

TEST_CASE("prefix cache: Mooncake's conversation gives the recorded tree, ideal, LRU, root-first and TTL figures") {
  const PromptTrace trace = conversation_trace();
  REQUIRE(trace.requests.size() == 7851);
  const PrefixTree tree = prefix_tree(trace, PrefixRule::every_block);
  const PrefixTreeFigures t = count_prefix_tree(tree);
  CHECK(t.nodes == 126103);
  CHECK(t.max_depth == 244);
  CHECK(t.root_children == 1);
  CHECK(t.leaves == 7788);
  CHECK(t.branching_nodes == 2478);
  CHECK(t.compressed_nodes == 10271);
  CHECK(t.distinct_end_nodes == 7795);
  CHECK(near(t.mean_node_depth, 35.72309937, 1e-9));
  const PrefixPass pass = pass_of(trace, tree);
  const auto ideal = figures(tree, pass, PrefixEviction::none);
  CHECK(ideal.total_blocks == 194284);
  CHECK(ideal.hit_blocks == 68181);
  CHECK(near(ideal.block_hit_rate, 0.3509347141, 1e-9));
  CHECK(ideal.total_tokens == 97571920);
  CHECK(ideal.hit_tokens == 34896689);
  CHECK(near(ideal.token_hit_rate, 0.357650941, 1e-9));
  CHECK(near(ideal.mean_request_token_hit_rate, 0.3954985193, 1e-9));
  CHECK(ideal.requests_full_hit == 56);
  CHECK(ideal.requests_no_hit == 1);
  CHECK(running(pass, {PrefixEviction::none}) == std::vector<std::int64_t>{9, 99, 5791});
  for (const Sized& s :
       {Sized{100, 7891, 4040069}, Sized{300, 7941, 4065669}, Sized{1000, 8575, 4389599}, Sized{3000, 12704, 6501762},
        Sized{10000, 40105, 20526742}, Sized{30000, 61765, 31613199}, Sized{100000, 68181, 34896689}}) {
    const auto lru = figures(tree, pass, PrefixEviction::lru, s.capacity);
    CHECK(lru.hit_blocks == s.hit_blocks);
    CHECK(lru.hit_tokens == s.hit_tokens);
  }
  CHECK(running(pass, {PrefixEviction::lru, 3000}) == std::vector<std::int64_t>{9, 99, 1640});
  CHECK(running(pass, {PrefixEviction::lru, 10000}) == std::vector<std::int64_t>{9, 99, 4723});
  for (const Sized& s : {Sized{1000, 8559, 4381407}, Sized{10000, 39980, 20462742}}) {
    const auto wrong = figures(tree, pass, PrefixEviction::lru_root_first, s.capacity);
    CHECK(wrong.hit_blocks == s.hit_blocks);
    CHECK(wrong.hit_tokens == s.hit_tokens);
  }
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 60).hit_blocks == 19382);
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 300).hit_blocks == 54529);
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 900).hit_blocks == 67161);
  const PrefixTree full = prefix_tree(trace, PrefixRule::full_blocks);
  const auto paged = figures(full, pass_of(trace, full), PrefixEviction::none);
  CHECK(paged.hit_blocks == 68125);
  CHECK(paged.hit_tokens == 34880000);
  CHECK(near(paged.token_hit_rate, 0.3574798979, 1e-9));
  CHECK(count_prefix_tree(full).nodes == 118324);
}

TEST_CASE("prefix cache: Mooncake's synthetic trace gives the recorded tree, ideal, LRU, root-first and TTL figures") {
  const PromptTrace trace = mooncake_synthetic_trace();
  REQUIRE(trace.requests.size() == 2597);
  const PrefixTree tree = prefix_tree(trace, PrefixRule::every_block);
  const PrefixTreeFigures t = count_prefix_tree(tree);
  CHECK(t.nodes == 39235);
  CHECK(t.max_depth == 374);
  CHECK(t.root_children == 1962);
  CHECK(t.leaves == 2528);
  CHECK(t.branching_nodes == 297);
  CHECK(t.compressed_nodes == 2825);
  CHECK(t.distinct_end_nodes == 2528);
  CHECK(near(t.mean_node_depth, 31.72109086, 1e-9));
  const PrefixPass pass = pass_of(trace, tree);
  const auto ideal = figures(tree, pass, PrefixEviction::none);
  CHECK(ideal.total_blocks == 68538);
  CHECK(ideal.hit_blocks == 29303);
  CHECK(ideal.total_tokens == 34256229);
  CHECK(ideal.hit_tokens == 14980981);
  CHECK(near(ideal.token_hit_rate, 0.4373213701, 1e-9));
  CHECK(near(ideal.mean_request_token_hit_rate, 0.2363772746, 1e-9));
  CHECK(ideal.requests_full_hit == 69);
  CHECK(ideal.requests_no_hit == 1962);
  CHECK(running(pass, {PrefixEviction::none}) == std::vector<std::int64_t>{0, 101, 4007});
  for (const Sized& s :
       {Sized{100, 158, 80896}, Sized{300, 631, 323072}, Sized{1000, 1505, 769389}, Sized{3000, 5119, 2617109},
        Sized{10000, 14995, 7668174}, Sized{30000, 28187, 14410806}, Sized{100000, 29303, 14980981}}) {
    const auto lru = figures(tree, pass, PrefixEviction::lru, s.capacity);
    CHECK(lru.hit_blocks == s.hit_blocks);
    CHECK(lru.hit_tokens == s.hit_tokens);
  }
  CHECK(running(pass, {PrefixEviction::lru, 1000}) == std::vector<std::int64_t>{0, 100, 241});
  for (const Sized& s : {Sized{1000, 1454, 743277}, Sized{10000, 14940, 7640014}}) {
    const auto wrong = figures(tree, pass, PrefixEviction::lru_root_first, s.capacity);
    CHECK(wrong.hit_blocks == s.hit_blocks);
    CHECK(wrong.hit_tokens == s.hit_tokens);
  }
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 60).hit_blocks == 8946);
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 300).hit_blocks == 25302);
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 900).hit_blocks == 29303);
  const PrefixTree full = prefix_tree(trace, PrefixRule::full_blocks);
  const auto paged = figures(full, pass_of(trace, full), PrefixEviction::none);
  CHECK(paged.hit_blocks == 29234);
  CHECK(paged.hit_tokens == 14967808);
  CHECK(count_prefix_tree(full).nodes == 36710);
  // Eight requests of the family that most have; the next two have eight and seven.
  CHECK(most_shared_families(trace, 1).requests.size() == 8);
  CHECK(most_shared_families(trace, 3).requests.size() == 23);
}

TEST_CASE("prefix cache: agent sessions give the recorded figures, each session by itself") {
  const PromptTrace trace = agent_session_trace();
  REQUIRE(trace.requests.size() == 2589);
  const PrefixTree tree = prefix_tree(trace, PrefixRule::every_block);
  CHECK(count_prefix_tree(tree).root_children == 28);
  const PrefixPass pass = pass_of(trace, tree);
  std::vector<std::int64_t> hits;
  const auto ideal = count_prefix_hits(tree, pass, {PrefixEviction::none}, &hits);
  CHECK(ideal.total_blocks == 5002499);
  CHECK(ideal.hit_blocks == 4852068);
  CHECK(near(ideal.block_hit_rate, 0.9699288296, 1e-9));
  CHECK(ideal.total_tokens == 320242292);
  CHECK(ideal.hit_tokens == 310532352);
  CHECK(near(ideal.token_hit_rate, 0.9696793951, 1e-9));
  CHECK(figures(tree, pass, PrefixEviction::ttl, 0, 300).hit_blocks == 4618185);
  // What the request just before shares is what it touched last: the first run.
  std::int64_t previous = 0;
  std::map<std::int32_t, std::pair<double, double>> sessions;
  for (std::size_t i = 0; i < trace.requests.size(); ++i) {
    for (const PrefixRun& run : pass.runs_of(i))
      if (run.last + 1 == static_cast<std::int32_t>(i)) previous += run.blocks;
    sessions[trace.sessions[i]].first += static_cast<double>(hits[i]);
    sessions[trace.sessions[i]].second += trace.requests[i].blocks;
  }
  CHECK(previous == 4851901);
  std::vector<double> rates;
  for (const auto& [session, sums] : sessions) rates.push_back(sums.first / sums.second);
  std::sort(rates.begin(), rates.end());
  REQUIRE(rates.size() == 28);
  CHECK(near(std::accumulate(rates.begin(), rates.end(), 0.0) / 28, 0.9274760634, 1e-9));
  CHECK(near(rates[13], 0.9556357104, 1e-9));
}

TEST_CASE("prefix cache: one pass finds what a cache of any size finds block by block, in any order") {
  for (std::int64_t seed = 1; seed <= 6; ++seed) {
    const PromptMix mix{seed % 2 == 0, 1 + seed % 3, 3 + seed % 4, 4, 256 << seed % 3, seed};
    const PromptTrace trace = make_prompts(mix);
    const auto ids = ids_of(trace);
    const PrefixTree tree = prefix_tree(trace, PrefixRule::every_block);
    auto order = order_along_tree(tree);
    if (seed > 2) std::iota(order.begin(), order.end(), 0);
    if (seed > 4) std::reverse(order.begin(), order.end());
    const prefix_test::AsTheyCame as(trace);
    const PrefixPass pass = pass_prefix_cache(tree, order, as.time_ms);
    const auto leaf_first = prefix_hits_by_capacity(tree, pass, PrefixEviction::lru),
               root_first = prefix_hits_by_capacity(tree, pass, PrefixEviction::lru_root_first);
    const std::int64_t nodes = count_prefix_tree(tree).nodes;
    REQUIRE(leaf_first.size() == static_cast<std::size_t>(nodes) + 1);
    std::int64_t wrong = 0, least = nodes;
    for (std::int64_t c = 0; c <= nodes; ++c) {
      const auto at = static_cast<std::size_t>(c);
      std::vector<std::int64_t> mine;
      for (const bool root : {false, true}) {
        const auto eviction = root ? PrefixEviction::lru_root_first : PrefixEviction::lru;
        const auto direct = prefix_test::direct_hits(ids, order, at, root);
        const auto counted = count_prefix_hits(tree, pass, {eviction, c}, &mine);
        wrong += mine == direct && counted.hit_blocks == (root ? root_first : leaf_first)[at] ? 0 : 1;
      }
      wrong += root_first[at] <= leaf_first[at] ? 0 : 1;  // a parent that goes first takes its children along
      if (leaf_first[at] == leaf_first.back()) least = std::min(least, c);
    }
    CHECK(wrong == 0);
    CHECK(least == pass.capacity_for_all);
  }
}

TEST_CASE("prefix cache: the pass agrees with the direct play of a real recording, and on what is left in the cache") {
  const PromptTrace trace = most_shared_families(mooncake_synthetic_trace(), 60);
  const auto ids = ids_of(trace);
  const PrefixTree tree = prefix_tree(trace, PrefixRule::every_block);
  const PrefixPass pass = pass_of(trace, tree);
  for (const bool root : {false, true})
    for (const std::int64_t c : {7, 350, 1500}) {
      const PrefixCacheSetting setting{root ? PrefixEviction::lru_root_first : PrefixEviction::lru, c};
      prefix_test::DirectLru left(0);
      const auto direct = prefix_test::direct_hits(ids, pass.order, static_cast<std::size_t>(c), root, &left);
      std::vector<std::int64_t> mine;
      (void)count_prefix_hits(tree, pass, setting, &mine);
      CHECK(mine == direct);
      const auto contents = prefix_cache_contents(tree, pass, setting, pass.order.size() - 1);
      CHECK(std::accumulate(contents.begin(), contents.end(), std::int64_t{0}) ==
            static_cast<std::int64_t>(left.size()));
      // By node: which of its blocks are there.
      std::int64_t wrong = 0;
      std::vector<std::int32_t> path;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        tree.path(i, path);
        for (const std::int32_t v : path) {
          const PrefixNode& node = tree.nodes[static_cast<std::size_t>(v)];
          const std::int32_t kept = contents[static_cast<std::size_t>(v)];
          for (std::int32_t b = 0; b < node.blocks; ++b) {
            const bool there = root ? b >= node.blocks - kept : b < kept;
            wrong += left.holds(ids[i][static_cast<std::size_t>(node.top + b)]) == there ? 0 : 1;
          }
        }
      }
      CHECK(wrong == 0);
    }
  const prefix_test::AsTheyCame as(trace);
  for (const std::int64_t ttl_ms : {0, 20'000, 150'000}) {
    std::vector<std::int64_t> mine;
    (void)count_prefix_hits(tree, pass, {PrefixEviction::ttl, 0, ttl_ms}, &mine);
    CHECK(mine == prefix_test::direct_ttl_hits(ids, as.time_ms, ttl_ms));
    CHECK(prefix_hits_by_ttl(pass, std::span(&ttl_ms, 1)).front() ==
          std::accumulate(mine.begin(), mine.end(), std::int64_t{0}));
  }
}

TEST_CASE("prefix cache: along the tree a cache of the longest prompt computes each block once") {
  for (const bool chat : {false, true}) {
    const PromptTrace trace = make_prompts({.chat = chat, .groups = 9, .each = 6, .seed = 3});
    const PrefixTree tree = prefix_tree(trace, PrefixRule::every_block);
    auto order = order_along_tree(tree);
    const prefix_test::AsTheyCame as(trace);
    const PrefixPass pass = pass_prefix_cache(tree, order, as.time_ms);
    const PrefixTreeFigures t = count_prefix_tree(tree);
    CHECK(pass.capacity_for_all <= t.max_depth);
    const auto found = figures(tree, pass, PrefixEviction::lru, t.max_depth);
    CHECK(found.total_blocks - found.hit_blocks == t.nodes);
    // It is an order of all requests, and a turn of a conversation never comes before the one that it continues.
    std::vector<std::int32_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; chat && i < order.size(); ++i) {
      const std::int32_t like = trace.requests[i].like;
      if (like >= 0) CHECK((place[static_cast<std::size_t>(like)] < place[i] || trace.requests[i].shared < 9));
    }
    std::sort(order.begin(), order.end());
    CHECK(order == as.order);
  }
}

TEST_CASE("prefix cache: full blocks alone are kept, and a prompt that is there already still computes one token") {
  // Two prompts of 1,024 tokens, the same, and one of 1,030 that continues them.
  const PromptTrace trace{512, {{0, 1024, 2, -1, 0}, {1, 1024, 2, 0, 2}, {2, 1030, 3, 1, 2}}, {}};
  const PrefixTree all = prefix_tree(trace, PrefixRule::every_block),
                   full = prefix_tree(trace, PrefixRule::full_blocks);
  const auto of_all = figures(all, pass_of(trace, all), PrefixEviction::none),
             of_full = figures(full, pass_of(trace, full), PrefixEviction::none);
  CHECK(of_all.hit_blocks == 4);
  CHECK(of_all.hit_tokens == 2048);
  CHECK(of_full.hit_blocks == 3);  // of the second prompt the first block alone
  CHECK(of_full.hit_tokens == 1536);
  CHECK(count_prefix_tree(all).nodes == 3);
  CHECK(count_prefix_tree(full).nodes == 2);
}

TEST_CASE(
    "prefix cache: prefill computes what is not cached, two operations a parameter and attention over all of it") {
  const Architecture& llama = models_test::shipped_model("llama-3-70b").architecture;
  const PrefillPrice price = prefill_price(llama);
  // 70.55e9 parameters less 1.05e9 of the input embedding; 4 x 80 layers x 64 heads x 128 for a pair.
  CHECK(near(price.flops_per_token, 2 * 69.5e9, 1e-3));
  CHECK(price.flops_per_pair == 4.0 * 80 * 64 * 128);
  CHECK(price.flops(1000, 1000) == 0);
  CHECK(near(price.flops(8192, 0), price.flops(4096, 0) + price.flops(8192, 4096), 1e-12));
  // The second half costs more: it attends to the first.
  CHECK(price.flops(8192, 4096) > price.flops(4096, 0));
}
