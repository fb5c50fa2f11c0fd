#include "models/serving/engine/paged_kv_blocks.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "models/serving/engine/paged_kv_slots.h"
#include "tests/support/base/near.h"

using namespace models;

namespace {

struct Luck {
  std::mt19937_64 bits;
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(hi - lo + 1));
  }
};

/// A pool beside the values that its slots would hold: whoever reads through a table must find what its sequence wrote.
class ShadowPool {
 public:
  ShadowPool(std::int64_t blocks, std::int64_t block_tokens)
      : pool(blocks, block_tokens), slots_(static_cast<std::size_t>(blocks * block_tokens), -1) {}

  void take(std::int64_t tokens) {
    Sequence s;
    if (!pool.take(s.table, tokens)) {
      CHECK(pool.blocks_for(tokens) > pool.free_blocks());
      return;
    }
    for (std::int64_t i = 0; i < tokens; ++i) put(s, i);
    sequences.push_back(std::move(s));
  }
  void fork(std::size_t i) {
    const std::int64_t before = pool.free_blocks();
    sequences.push_back({pool.fork(sequences[i].table), sequences[i].values});
    CHECK(pool.free_blocks() == before);
  }
  void write(std::size_t i) {
    Sequence& s = sequences[i];
    const std::vector<std::int32_t> old = s.table.blocks;
    const std::int64_t at = s.table.tokens;
    const PagedWrite did = pool.write(s.table);
    if (did == PagedWrite::refused) {
      CHECK(pool.free_blocks() == 0);
      CHECK(s.table.blocks == old);
      return;
    }
    if (did == PagedWrite::copied)
      for (std::int64_t slot = 0; slot < at % pool.block_tokens(); ++slot)
        value(s.table.blocks.back(), slot) = value(old.back(), slot);
    put(s, at);
  }
  void release(std::size_t i) {
    pool.release(sequences[i].table);
    sequences.erase(sequences.begin() + static_cast<std::ptrdiff_t>(i));
  }
  /// Readers are the tables that name a block, free blocks are named by none, and every sequence reads its own tokens.
  void check() {
    std::map<std::int32_t, std::int32_t> named;
    for (const Sequence& s : sequences)
      for (const std::int32_t block : s.table.blocks) ++named[block];
    bool equal = true, own = true;
    std::int64_t filled = 0, entries = 0;
    for (std::int32_t block = 0; block < pool.blocks(); ++block) {
      const auto n = named.find(block);
      equal = equal && pool.readers(block) == (n == named.end() ? 0 : n->second);
      filled += pool.filled(block);
    }
    for (const Sequence& s : sequences)
      for (std::int64_t i = 0; i < s.table.tokens; ++i)
        own = own && value(s.table.blocks[static_cast<std::size_t>(i / pool.block_tokens())],
                           i % pool.block_tokens()) == s.values[static_cast<std::size_t>(i)];
    CHECK(equal);
    CHECK(own);
    CHECK(pool.taken_blocks() == static_cast<std::int64_t>(named.size()));
    CHECK(pool.filled_slots() == filled);
    for (const auto& [block, n] : named) entries += n;
    CHECK(pool.named_blocks() == entries);
  }

  struct Sequence {
    PagedTable table;
    std::vector<std::int64_t> values;
  };
  PagedBlocks pool;
  std::vector<Sequence> sequences;

 private:
  std::int64_t& value(std::int32_t block, std::int64_t slot) {
    return slots_[static_cast<std::size_t>(block * pool.block_tokens() + slot)];
  }
  void put(Sequence& s, std::int64_t i) {
    s.values.push_back(next_++);
    value(s.table.blocks[static_cast<std::size_t>(i / pool.block_tokens())], i % pool.block_tokens()) = s.values.back();
  }
  std::vector<std::int64_t> slots_;
  std::int64_t next_ = 0;
};

}  // namespace

// Block size of vLLM, and the mean of unused slots for ends that are spread evenly: oracles of the published study.
TEST_CASE("paged blocks: 500 tokens take 32 blocks of 16, and an end leaves 7.5 of 16 slots on average") {
  const PagedBlocks pool(64, 16);
  CHECK(pool.blocks_for(500) == 32);
  CHECK(pool.blocks_for(1) == 1);
  CHECK(pool.blocks_for(512) == 32);
  double unused = 0;
  for (std::int64_t tokens = 161; tokens < 161 + 16; ++tokens)
    unused += static_cast<double>(pool.blocks_for(tokens) * 16 - tokens) / 16;
  CHECK(support::near(unused, 7.5, 1e-12));
}

TEST_CASE("paged blocks: answers share the blocks of a prompt, and the first to write copies the last one") {
  PagedBlocks pool(32, 16);
  PagedTable a;
  REQUIRE(pool.take(a, 102));
  CHECK(a.blocks.size() == 7);
  PagedTable b = pool.fork(a);
  CHECK(pool.taken_blocks() == 7);
  CHECK(pool.readers(a.blocks[6]) == 2);
  CHECK(pool.write(b) == PagedWrite::copied);
  CHECK(pool.taken_blocks() == 8);
  CHECK(b.blocks[6] != a.blocks[6]);
  CHECK(b.blocks[5] == a.blocks[5]);
  CHECK(pool.filled(a.blocks[6]) == 6);
  CHECK(pool.filled(b.blocks[6]) == 7);
  CHECK(pool.write(a) == PagedWrite::in_place);
  pool.release(a);
  CHECK(pool.readers(b.blocks[0]) == 1);
  CHECK(pool.taken_blocks() == 7);
  pool.release(b);
  CHECK(pool.free_blocks() == 32);
  CHECK(pool.filled_slots() == 0);
}

TEST_CASE("paged blocks: random forks, writes and releases leak no block and mix no tokens") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Luck luck{std::mt19937_64(seed)};
    ShadowPool shadow(luck.between(4, 40), luck.between(1, 9));
    for (int i = 0; i < 1500; ++i) {
      const auto n = static_cast<std::int64_t>(shadow.sequences.size());
      const auto pick = [&] { return static_cast<std::size_t>(luck.between(0, n - 1)); };
      const std::int64_t what = luck.between(0, 99);
      if (n == 0 || what < 8)
        shadow.take(luck.between(1, 40));
      else if (what < 16 && n < 12)
        shadow.fork(pick());
      else if (what < 26)
        shadow.release(pick());
      else
        shadow.write(pick());
      if (i % 50 == 0) shadow.check();
    }
    while (!shadow.sequences.empty()) shadow.release(0);
    shadow.check();
    CHECK(shadow.pool.free_blocks() == shadow.pool.blocks());
  }
}

TEST_CASE("slot runs: neither fit overlaps, and all holes join again") {
  for (const SlotFit fit : {SlotFit::first_fit, SlotFit::buddy}) {
    Luck luck{std::mt19937_64(7)};
    SlotRuns runs(1000, fit);
    CHECK(runs.longest_hole() == (fit == SlotFit::buddy ? 512 : 1000));
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    std::vector<bool> used(1000);
    const auto mark = [&](std::int64_t start, std::int64_t slots, bool now) {
      bool clean = true;
      for (std::int64_t i = start; i < start + runs.occupied(slots); ++i) {
        clean = clean && used.at(static_cast<std::size_t>(i)) != now;
        used[static_cast<std::size_t>(i)] = now;
      }
      CHECK(clean);
    };
    for (int i = 0; i < 800; ++i) {
      if (taken.empty() || luck.between(0, 1) == 0) {
        const std::int64_t slots = luck.between(1, 120), longest = runs.longest_hole();
        const auto start = runs.take(slots);
        CHECK(start.has_value() == (runs.occupied(slots) <= longest));
        if (!start) continue;
        mark(*start, slots, true);
        taken.emplace_back(*start, slots);
      } else {
        const auto at = taken.begin() + luck.between(0, static_cast<std::int64_t>(taken.size()) - 1);
        mark(at->first, at->second, false);
        runs.give_back(at->first, at->second);
        taken.erase(at);
      }
      CHECK(runs.free_slots() == std::count(used.begin(), used.end(), false));
    }
    for (const auto& [start, slots] : taken) runs.give_back(start, slots);
    CHECK(runs.longest_hole() == (fit == SlotFit::buddy ? 512 : 1000));
    CHECK(runs.free_slots() == 1000);
  }
}
