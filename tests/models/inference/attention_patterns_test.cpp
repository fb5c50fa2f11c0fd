#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "models/base/counter_random.h"
#include "models/inference/attention_patterns.h"
#include "models/inference/attention_patterns_cost.h"
#include "models/inference/attention_patterns_reach.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

// Masks in closed form, tile by tile and layer by layer, against the mask asked pair by pair.

using namespace models::inference;
using support::near;

namespace {

constexpr std::uint64_t pattern_stream = 11;

std::int64_t drawn(std::uint64_t i, std::int64_t lo, std::int64_t hi) {
  return lo + static_cast<std::int64_t>(models::unit_draw(pattern_stream, i) * static_cast<double>(hi - lo + 1));
}

/// Small masks of every kind: `i` chooses the sizes.
AttentionMask small_mask(std::uint64_t i) {
  PatternShape s;
  s.pattern = static_cast<AttentionPattern>(i % attention_pattern_count);
  s.sequence = drawn(16 * i, 1, 60);
  s.window = drawn(16 * i + 1, 1, 14);
  s.global_every = drawn(16 * i + 2, 1, 20);
  s.dilation = drawn(16 * i + 3, 1, 9);
  s.sinks = drawn(16 * i + 4, 0, 6);
  s.blocks_back = drawn(16 * i + 5, 0, 2);
  s.blocks_first = drawn(16 * i + 6, 0, 2);
  s.blocks_random = drawn(16 * i + 7, 0, 3) * (i % 2 == 0 ? 1 : 0);
  s.document_tokens = drawn(16 * i + 8, 1, 20);
  s.seed = static_cast<std::int64_t>(i);
  if (i % 3 == 0) s.documents = {drawn(16 * i + 9, 1, 9), drawn(16 * i + 10, 1, 9)};
  return *AttentionMask::make(s);
}

/// What must be kept at each token is asked of every later one.
double kept_by_asking(const AttentionMask& m) {
  const std::int64_t n = m.sequence();
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t kept = 0;
    for (std::int64_t j = 0; j <= i; ++j) {
      bool read = false;
      for (std::int64_t q = i; q < n && !read; ++q) read = m.sees(q, j);
      kept += read ? 1 : 0;
    }
    most = std::max(most, kept);
  }
  return static_cast<double>(most);
}

double tiles_by_asking(const AttentionMask& m, std::int64_t side) {
  std::set<std::pair<std::int64_t, std::int64_t>> tiles;
  for (std::int64_t q = 0; q < m.sequence(); ++q)
    for (std::int64_t k = 0; k <= q; ++k)
      if (m.sees(q, k)) tiles.insert({q / side, k / side});
  return static_cast<double>(tiles.size());
}

std::vector<bool> layer_down(const AttentionMask& m, bool full, const std::vector<bool>& above) {
  std::vector<bool> below = above;
  for (std::size_t q = 0; q < above.size(); ++q)
    for (std::size_t k = 0; above[q] && k <= q; ++k)
      if (full || m.sees(static_cast<std::int64_t>(q), static_cast<std::int64_t>(k))) below[k] = true;
  return below;
}

PatternStack small_stack(std::uint64_t i) {
  PatternStack stack{small_mask(i), {}};
  for (std::int64_t l = drawn(16 * i + 11, 1, 6); l > 0; --l) stack.full.push_back(i % 4 == 1 && l % 3 == 0);
  return stack;
}

}  // namespace

TEST_CASE("attention patterns: entries, rows, what is kept and tiles are those of the mask asked pair by pair") {
  std::vector<KeySpan> spans;
  std::vector<TileSpan> tiles;
  for (std::uint64_t i = 0; i < 210; ++i) {
    const AttentionMask m = small_mask(i);
    INFO("mask " << i << ", pattern " << static_cast<int>(m.pattern()) << ", " << m.sequence() << " tokens");
    double entries = 0;
    for (std::int64_t q = 0; q < m.sequence(); ++q) {
      std::set<std::int64_t> keys;
      bool agree = true;
      m.row(q, spans);
      for (const KeySpan& s : spans)
        for (std::int64_t k = s.lo; k < s.hi; k += s.step) agree &= keys.insert(k).second;  // no key twice
      for (std::int64_t k = 0; k < m.sequence(); ++k) agree &= keys.contains(k) == m.sees(q, k);
      REQUIRE(agree);
      REQUIRE(m.row_entries(q) == static_cast<double>(keys.size()));
      entries += static_cast<double>(keys.size());
    }
    REQUIRE(m.entries() == entries);
    REQUIRE(m.kept_tokens() == kept_by_asking(m));
    for (const std::int64_t side : {1, 3, 8, 64}) {
      REQUIRE(m.tiles(side) == tiles_by_asking(m, side));
      double listed = 0;
      for (std::int64_t r = 0; r * side < m.sequence(); ++r) {
        m.tile_row(r, side, tiles);
        for (const TileSpan& t : tiles) listed += static_cast<double>(t.hi - t.lo);
      }
      REQUIRE(listed == m.tiles(side));
    }
  }
}

TEST_CASE("attention patterns: reach through a stack is that of sets built pair by pair") {
  for (std::uint64_t i = 0; i < 280; ++i) {
    const PatternStack stack = small_stack(i);
    INFO("stack " << i << ", pattern " << static_cast<int>(stack.mask.pattern()));
    const std::vector<ReachRow> rows = reach_of(stack);
    std::vector<bool> in(static_cast<std::size_t>(stack.mask.sequence()));
    in.back() = true;
    REQUIRE(rows.size() == stack.full.size() + 1);
    for (std::size_t l = 0;; ++l) {
      REQUIRE(rows[l].tokens == static_cast<double>(std::count(in.begin(), in.end(), true)));
      REQUIRE(rows[l].back_tokens == static_cast<double>(in.end() - std::find(in.begin(), in.end(), true)));
      if (l == stack.full.size()) break;
      in = layer_down(stack.mask, stack.full[stack.full.size() - 1 - l], in);
    }
    if (const auto all = layers_to_everything(stack); all && *all <= static_cast<double>(stack.full.size())) {
      const auto first = static_cast<std::size_t>(*all);
      REQUIRE(rows[first].tokens == static_cast<double>(stack.mask.sequence()));
      REQUIRE((first == 0 || rows[first - 1].tokens < rows[first].tokens));
    }
    // Layers of the mask alone until nothing changes.
    std::fill(in.begin(), in.end(), false);
    in.back() = true;
    double layers = 0;
    for (std::vector<bool> next; (next = layer_down(stack.mask, false, in)) != in; ++layers) in = next;
    const ReachRest rest = rest_of_mask(stack.mask);
    REQUIRE(rest.layers == layers);
    REQUIRE(rest.everything == (std::count(in.begin(), in.end(), true) == stack.mask.sequence()));
  }
}

TEST_CASE("attention patterns: influence is what a matrix for each layer hands down") {
  for (std::uint64_t i = 0; i < 280; ++i) {
    const PatternStack stack = small_stack(i);
    const std::int64_t n = stack.mask.sequence();
    INFO("stack " << i << ", pattern " << static_cast<int>(stack.mask.pattern()));
    const double residual = i % 5 == 0 ? 0 : 0.5;
    const Influence got = influence_of(stack, {.residual = residual, .share = 0.9, .columns = n});
    std::vector<double> above(static_cast<std::size_t>(n));
    above.back() = 1;
    for (std::size_t l = stack.full.size(); l-- > 0;) {
      std::vector<double> below(above.size());
      for (std::int64_t q = 0; q < n; ++q) {
        const double seen = stack.full[l] ? static_cast<double>(q + 1) : stack.mask.row_entries(q);
        below[static_cast<std::size_t>(q)] += residual * above[static_cast<std::size_t>(q)];
        for (std::int64_t k = 0; k <= q; ++k)
          if (stack.full[l] || stack.mask.sees(q, k))
            below[static_cast<std::size_t>(k)] += (1 - residual) * above[static_cast<std::size_t>(q)] / seen;
      }
      above = below;
    }
    REQUIRE(got.bins.size() == stack.full.size() + 1);
    double mean = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(k);
      REQUIRE(std::abs(static_cast<double>(got.bins.back()[at]) - above[at]) < 1e-6);
      mean += above[at] * static_cast<double>(n - 1 - k);
    }
    REQUIRE(std::abs(got.mean_back - mean) < 1e-9 * static_cast<double>(n));
    double sum = 0;
    for (std::int64_t k = n - 1; k >= n - static_cast<std::int64_t>(got.near_tokens); --k)
      sum += above[static_cast<std::size_t>(k)];
    REQUIRE(sum >= 0.9 - 1e-9);
  }
}

TEST_CASE("attention patterns: Mistral 7B's window reaches 131,041 tokens in 32 layers, half of a random walk's mean") {
  // Jiang et al. 2023: "a theoretical attention span of approximately 131K tokens", 32 layers of a window of 4,096.
  const PatternStack stack{*AttentionMask::make({}), std::vector<bool>(32)};
  CHECK(stack.mask.entries() == 4096.0 * 4097 / 2 + (131072.0 - 4096) * 4096);
  CHECK(stack.mask.kept_tokens() == 4096);
  CHECK(reach_of(stack).back().tokens == 32 * 4095 + 1);
  CHECK(layers_to_everything(stack) == 33);
  const Influence influence = influence_of(stack, {});
  // Each layer moves half of what arrives by (window - 1) / 2 on average.
  CHECK(near(influence.mean_back, 32 * 4095 / 4.0, 1e-9));
  CHECK(influence.near_tokens > 48000);
  CHECK(influence.near_tokens < 52000);
  // In 16,384 tokens four layers come as far as the first: Mistral's own example.
  PatternShape short_one;
  short_one.sequence = 16384;
  const PatternStack four{*AttentionMask::make(short_one), std::vector<bool>(4)};
  CHECK(reach_of(four).back().tokens == 4 * 4095 + 1);
}

TEST_CASE(
    "attention patterns: drawn documents and random blocks are those of the seed, lengths out of range a sentence") {
  PatternShape s{.pattern = AttentionPattern::document, .sequence = 100000, .document_tokens = 500};
  const AttentionMask a = *AttentionMask::make(s);
  CHECK(a.document_starts() == AttentionMask::make(s)->document_starts());
  // About 200 documents of 500 tokens.
  CHECK(a.document_starts().size() > 150);
  CHECK(a.document_starts().size() < 260);
  s.seed = 2;
  CHECK(a.document_starts() != AttentionMask::make(s)->document_starts());
  s.window = 0;
  CHECK(AttentionMask::make(s).error == "The window is 0; it is from 1 to 1048576.");
  s.window = 1;
  PatternShape blocks{.pattern = AttentionPattern::block, .sequence = 100000, .window = 4, .blocks_random = 2};
  CHECK(AttentionMask::make(blocks).error ==
        "With random blocks a sequence has at most 16384 blocks and not 25000: take larger blocks or a shorter "
        "sequence.");
  s.documents = {5, -1};
  CHECK(AttentionMask::make(s).error == "The length of a document is -1; it is from 1 to 1048576.");
}

TEST_CASE("attention patterns: prices are pairs, tiles and tokens in the heads of a model") {
  const auto& mistral = models_test::shipped_model("mistral-7b-v0.1").architecture;
  const auto stack = stack_of_model(mistral, 131072);
  REQUIRE(stack);
  const PatternPriceSetup setup{.flops_per_s = 1e15, .memory_bytes_per_s = 1e12};
  const PatternPrice p = price_of_pattern(mistral, *stack, setup);
  // 32 heads of 128 numbers: two products of 2 FLOP a number.
  CHECK(p.flops == 32 * 528484352.0 * 4 * 32 * 128);
  CHECK(p.prefill_s == p.tile_flops / 1e15);
  // A row of tiles sees the diagonal one, 31 whole ones and the one that the window's end cuts.
  CHECK(p.tile_entries == 32 * 128.0 * 128 * (32 * 33 / 2 + (1024 - 32) * 33));
  CHECK(p.cache_bytes == 32 * 4096.0 * 4096);
  CHECK(p.read_bytes == p.cache_bytes);
  CHECK(p.read_s == p.read_bytes / 1e12);
  // 7.24 billion parameters without both embedding matrices of 131 million each.
  CHECK(near(p.linear_flops, 2 * 131072 * (7241732096.0 - 2 * 131072000.0), 1e-4));
  // The latent of DeepSeek-V3: scores over 192 numbers, values over 128, 576 numbers kept.
  const auto& deepseek = models_test::shipped_model("deepseek-v3").architecture;
  const PatternPrice latent = price_of_pattern(deepseek, *stack_of_model(deepseek, 1024), setup);
  CHECK(latent.flops == 61 * (1024.0 * 1025 / 2) * 2 * 128 * (192 + 128));
  CHECK(latent.cache_bytes == 61 * 1024.0 * 576 * 2);
}
