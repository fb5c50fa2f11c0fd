#include "models/inference/kv_tiers.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "tests/support/base/near.h"

using namespace models::inference;
using support::near;

namespace {

/// One user of 32,768 tokens of Llama 3 8B: 131,072 bytes a token.
KvFit one_user() {
  KvFit fit;
  fit.sequence_bytes = fit.held_bytes = 32768.0 * 131072;
  fit.recompute_s = 0.55;
  return fit;
}

}  // namespace

// PCIe 5 x16 has 63 GB/s a direction; 4.295 GB over it are 68.2 ms. Eight drives of 7 GB/s hold 30.72 TB.
TEST_CASE("KV tiers: what fits in each, and the slowest link on the way sets the pace") {
  KvTierSetup setup{.host_link_bytes_per_s = 63e9};
  const auto one = kv_tiers(one_user(), {}, setup, 32768);
  REQUIRE(one.size() == 3);
  CHECK(one[0].sequences == 119);
  CHECK(one[0].tokens == std::floor(512e9 / 131072));
  CHECK(near(one[0].fetch_s, 10e-6 + 4.294967e9 / 63e9, 1e-6));
  CHECK(near(one[0].gain, 0.55 / one[0].fetch_s, 1e-12));
  // Drives at 56 GB/s are slower than the link behind them, and so is a port of 50 GB/s.
  CHECK(one[1].sequences == 7152);
  CHECK(near(one[1].fetch_s, 100e-6 + 4.294967e9 / 56e9, 1e-6));
  CHECK(near(one[2].fetch_s, 1e-3 + 4.294967e9 / 50e9, 1e-6));
  CHECK(near(one[2].bytes_per_s, 50e9, 1e-9));
  // A link between the dies of 450 GB/s (GH200) helps where nothing slower stands before it.
  setup.host_link_bytes_per_s = 450e9;
  const auto dies = kv_tiers(one_user(), {}, setup, 32768);
  CHECK(near(dies[0].fetch_s, 10e-6 + 4.294967e9 / 450e9, 1e-6));
  CHECK(dies[1].fetch_s == one[1].fetch_s);
  CHECK(dies[2].fetch_s == one[2].fetch_s);
  // Four chips that share the heads have four links and ports; the drives are the machine's.
  setup.host_link_bytes_per_s = 63e9;
  const auto four = kv_tiers(one_user(), {.chips = 4}, setup, 32768);
  CHECK(near(four[0].fetch_s, 10e-6 + 4.294967e9 / 252e9, 1e-6));
  CHECK(four[1].fetch_s == one[1].fetch_s);
  CHECK(near(four[2].fetch_s, 1e-3 + 4.294967e9 / 200e9, 1e-6));
}

TEST_CASE("KV tiers: copies are read from the host as often as chips hold them, and an unknown link stays unknown") {
  KvFit fit = one_user();
  fit.held_bytes = 8 * fit.sequence_bytes;
  const KvTierSetup setup{.host_link_bytes_per_s = 63e9};
  const auto copied = kv_tiers(fit, {.chips = 8}, setup, 32768);
  CHECK(near(copied[0].fetch_s, 10e-6 + 4.294967e9 / 63e9, 1e-6));
  CHECK(near(copied[1].fetch_s, 100e-6 + 4.294967e9 / 56e9, 1e-6));
  CHECK(near(copied[2].fetch_s, 1e-3 + 4.294967e9 / 63e9, 1e-6));
  CHECK(copied[2].sequences == std::floor(1e15 / fit.sequence_bytes));
  for (const KvTier& tier : kv_tiers(one_user(), {}, {}, 32768)) {
    CHECK(std::isnan(tier.fetch_s));
    CHECK(std::isnan(tier.gain));
    CHECK(tier.tokens > 0);
  }
}
