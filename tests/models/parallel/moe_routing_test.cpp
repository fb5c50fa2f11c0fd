#include "models/parallel/moe/moe_routing.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "tests/support/base/near.h"

using namespace models::parallel;
using support::near;

namespace {

/// Four tokens, four experts; all like expert 0 best, then 1, 2 and 3 in turn.
const std::vector<float> four_scores = {0.7f, 0.2f, 0.06f, 0.04f, 0.6f, 0.1f, 0.2f,  0.1f,
                                        0.5f, 0.1f, 0.1f,  0.3f,  0.4f, 0.3f, 0.15f, 0.15f};

MoeRouted routed_of(const MoeRouting& r, const std::vector<float>& bias = {}) {
  MoeRouted out;
  route_tokens(r, 4, four_scores, bias, nullptr, out);
  return out;
}

}  // namespace

TEST_CASE("top-k: first choices arrive before second ones, and what is beyond the capacity is dropped") {
  // ceil(1 x 4 x 2 / 4) = 2 copies an expert: expert 0 keeps those of tokens 0 and 1.
  const MoeRouted r = routed_of({.experts = 4, .top_k = 2, .capacity_factor = 1});
  CHECK(r.capacity == 2);
  CHECK(r.asked == std::vector<std::int64_t>{4, 2, 1, 1});
  CHECK(r.kept == std::vector<std::int64_t>{2, 2, 1, 1});
  CHECK(r.dropped == 2);
  CHECK_FALSE(r.copies[2].kept);  // the first choice of token 2
  CHECK_FALSE(r.copies[3].kept);
  CHECK(r.copies[4].expert == 1);  // the second choice of token 0
  CHECK(r.tokens_without == 0);
  CHECK(near(r.copies[0].weight + r.copies[4].weight, 1.0, 1e-6));
  CHECK(near(r.copies[0].weight, 0.7 / 0.9, 1e-6));

  const MoeRouted one = routed_of({.experts = 4, .top_k = 1, .capacity_factor = 1});
  CHECK(one.capacity == 1);
  CHECK(one.tokens_without == 3);
  CHECK(near(one.copies[0].weight, 0.7, 1e-6));  // the score itself, or no gradient would reach the gate
  CHECK(routed_of({.experts = 4, .top_k = 1, .capacity_factor = 0}).dropped == 0);
}

TEST_CASE("a bias changes who is chosen and not what a choice weighs") {
  const MoeRouted r = routed_of({.experts = 4, .top_k = 1, .capacity_factor = 0}, {-1, 0, 0, 0});
  CHECK(r.asked == std::vector<std::int64_t>{0, 2, 1, 1});
  CHECK(near(r.copies[0].weight, 0.2, 1e-6));
}

TEST_CASE("expert choice fills every expert with the tokens that score highest with it") {
  const MoeRouted r = routed_of({.rule = MoeRule::expert_choice, .experts = 4, .top_k = 1, .capacity_factor = 1});
  CHECK(r.kept == std::vector<std::int64_t>{1, 1, 1, 1});
  REQUIRE(r.copies.size() == 4);
  CHECK((r.copies[0].token == 0 && r.copies[0].expert == 0));
  CHECK((r.copies[1].token == 1 && r.copies[1].expert == 2));
  CHECK((r.copies[2].token == 2 && r.copies[2].expert == 3));
  CHECK((r.copies[3].token == 3 && r.copies[3].expert == 1));
}

TEST_CASE("a limit of groups keeps the groups with the largest sums, and a token stays within them") {
  // Groups {0, 1} and {2, 3}: one group of the best two scores. Token 1: 0.7 against 0.3.
  const MoeRouted r = routed_of({.experts = 4, .top_k = 2, .capacity_factor = 0, .groups = 2, .group_limit = 1});
  for (const MoeCopy& copy : r.copies) CHECK(copy.expert < 2);
  CHECK(check_moe_routing({.experts = 6, .top_k = 2, .groups = 4, .group_limit = 2}).error.find("evenly") !=
        std::string::npos);
  CHECK(check_moe_routing({.experts = 8, .top_k = 4, .groups = 4, .group_limit = 1}).error.find("allow more nodes") !=
        std::string::npos);
  CHECK(check_moe_routing({.experts = 2, .top_k = 3}).error.find("fewer choices") != std::string::npos);
}

TEST_CASE("dealt and hashed tokens go to k different experts; dealing is even") {
  for (const MoeRule rule : {MoeRule::dealt, MoeRule::hash}) {
    std::vector<std::uint16_t> words(64);
    for (std::size_t t = 0; t < words.size(); ++t) words[t] = static_cast<std::uint16_t>(t % 7);
    MoeRouted r;
    route_tokens({.rule = rule, .experts = 8, .top_k = 3, .capacity_factor = 0}, 64, {}, {}, words.data(), r);
    for (std::size_t t = 0; t < 64; ++t) {
      std::set<int> experts;
      for (std::size_t j = 0; j < 3; ++j) experts.insert(r.copies[j * 64 + t].expert);
      CHECK(experts.size() == 3);
    }
    if (rule == MoeRule::dealt) CHECK(r.asked == std::vector<std::int64_t>(8, 24));
    if (rule == MoeRule::hash) CHECK(r.copies[0].expert == r.copies[7].expert);  // the same word
  }
}

// How many of its experts a token gets from each of its groups is drawn as if they were taken from all of theirs, which
// is what the planner's traffic assumes; so a token may reach fewer groups than the limit, and loads differ a little.
TEST_CASE("dealt tokens keep to their limit of groups, and every group and expert gets nearly as many") {
  // DeepSeek-V3's limit: 4 of 8 groups, top-8 of 64 experts; and one where the choices do not divide by the groups.
  for (const std::int64_t top_k : {8, 6}) {
    MoeRouted r;
    route_tokens(
        {.rule = MoeRule::dealt, .experts = 64, .top_k = top_k, .capacity_factor = 0, .groups = 8, .group_limit = 4},
        256, {}, {}, nullptr, r);
    std::vector<std::set<int>> groups(256), experts(256);
    std::vector<std::int64_t> by_group(8);
    for (const MoeCopy& copy : r.copies) {
      groups[copy.token].insert(copy.expert / 8);
      experts[copy.token].insert(copy.expert);
      ++by_group[static_cast<std::size_t>(copy.expert / 8)];
    }
    double reached = 0;
    for (std::size_t t = 0; t < groups.size(); ++t) {
      CHECK(groups[t].size() <= 4);
      CHECK(experts[t].size() == static_cast<std::size_t>(top_k));
      reached += static_cast<double>(groups[t].size()) / 256;
    }
    // A group of 8 among 32 experts is missed by all of k choices with C(24, k) / C(32, k).
    double missed = 1;
    for (std::int64_t i = 0; i < top_k; ++i) missed *= static_cast<double>(24 - i) / static_cast<double>(32 - i);
    CHECK(std::abs(reached - 4 * (1 - missed)) < 0.1);
    const auto [least, most] = std::minmax_element(by_group.begin(), by_group.end());
    // Each group is dealt to 128 tokens and gets k / 4 of each on average, with the variance of drawing k of 32 of
    // which 8 are its own; the range of eight such sums is below five standard deviations.
    const double k = static_cast<double>(top_k), variance = k * 0.25 * 0.75 * (32 - k) / 31;
    CHECK(static_cast<double>(*most - *least) < 5 * std::sqrt(128 * variance));
    // Within a group the deck is dealt, so that its experts differ by two at most.
    for (std::size_t g = 0; g < 8; ++g) {
      const auto from = r.asked.begin() + static_cast<std::ptrdiff_t>(8 * g);
      const auto [low, high] = std::minmax_element(from, from + 8);
      CHECK(*high - *low <= 2);
    }
  }
}

TEST_CASE("measures of a load: even, on one, and in between") {
  CHECK(near(max_over_mean({2, 2, 2, 2}), 1.0));
  CHECK(near(load_entropy({2, 2, 2, 2}), 1.0));
  CHECK(near(load_deviation({2, 2, 2, 2}), 0.0));
  CHECK(near(max_over_mean({8, 0, 0, 0}), 4.0));
  CHECK(near(load_entropy({8, 0, 0, 0}), 0.0));
  CHECK(near(load_deviation({8, 0, 0, 0}), std::sqrt(3.0)));
  CHECK(near(load_entropy({1, 1, 0, 0}), 0.5));
  CHECK(near(max_over_mean({0, 0}), 1.0));
}

TEST_CASE("a token's experts are the largest of its row, whatever the number of experts, and of equals the first") {
  for (const std::int64_t experts : {2, 3, 4, 7, 19, 64}) {
    const std::size_t tokens = 40, stride = moe_score_stride(experts);
    std::vector<float> scores(tokens * stride, 0.0f);
    for (std::size_t t = 0; t < tokens; ++t)
      for (std::size_t e = 0; e < static_cast<std::size_t>(experts); ++e)
        scores[t * stride + e] = 0.1f * static_cast<float>((t * 7 + e * 5) % 6 + 1);  // many are alike
    const std::int64_t k = std::min<std::int64_t>(experts, 3);
    MoeRouted out;
    route_tokens({.experts = experts, .top_k = k, .capacity_factor = 0}, tokens, scores, {}, nullptr, out);
    for (std::size_t t = 0; t < tokens; ++t) {
      std::vector<std::size_t> order(static_cast<std::size_t>(experts));
      for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return scores[t * stride + a] > scores[t * stride + b]; });
      for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j)
        CHECK(out.copies[j * tokens + t].expert == order[j]);
    }
  }
}
