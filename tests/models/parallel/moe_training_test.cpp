#include "models/parallel/moe/moe_training.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/base/lanes.h"
#include "tests/support/base/near.h"

using namespace models::parallel;
using support::near;

namespace {

double fullest(const MoeTrained& run) {
  return max_over_mean(std::vector<double>(run.routed.asked.begin(), run.routed.asked.end()));
}

MoeTrainingSetting small_setting() {
  MoeTrainingSetting s;
  s.routing.capacity_factor = 0;
  return s;
}

}  // namespace

TEST_CASE("the four exponentials at once agree with the library's to a millionth") {
  for (float x = 0; x > -80; x -= 0.37f) {
    const auto e = models::lanes::exp_negative(models::lanes::Four{x, x - 0.1f, x - 1, 0});
    CHECK(near(static_cast<double>(e[0]), std::exp(static_cast<double>(x)), 2e-6));
    CHECK(near(static_cast<double>(e[2]), std::exp(static_cast<double>(x - 1)), 2e-6));
    CHECK(e[3] == 1.0f);
  }
}

TEST_CASE("tokens follow the popularity of topics, the same ones each time, and have targets of mean square near 1") {
  const MoeTaskSetting task{.skew = 0};
  const MoeTokens a = draw_moe_tokens(task, 6000, 0), b = draw_moe_tokens(task, 6000, 0),
                  c = draw_moe_tokens(task, 6000, 1);
  CHECK(a.x == b.x);
  CHECK(a.x != c.x);
  std::vector<double> topics(6, 0.0);
  double square = 0;
  for (const std::uint8_t t : a.topics) topics[t] += 1.0 / 6000;
  for (const float y : a.y) square += static_cast<double>(y) * static_cast<double>(y) / static_cast<double>(a.y.size());
  for (const double share : topics) CHECK(std::abs(share - 1.0 / 6) < 0.02);
  CHECK(square > 0.8);
  CHECK(square < 1.25);
  const std::vector<double> skewed = moe_topic_shares({.topics = 3, .skew = 1});
  CHECK(near(skewed[0], 6.0 / 11));
  CHECK(near(skewed[2], 2.0 / 11));
}

TEST_CASE("the gate follows the gradient of the task: a step along it lowers the loss as predicted") {
  // A run of one step reports the loss before its update; one of two steps the loss after it, on other tokens. With
  // the same tokens in both steps and a tiny rate the loss must fall.
  MoeTrainingSetting s = small_setting();
  s.tokens = 2048;  // the whole pool, so that both steps see the same tokens
  s.steps = 2;
  s.rate = 1e-3;
  for (const std::int64_t k : {1, 2}) {
    s.routing.top_k = k;
    const auto run = train_moe(s);
    CHECK(run->steps[1].loss < run->steps[0].loss);
  }
}

TEST_CASE("what balancing does: idle experts wake, the loss falls, and too much of it costs accuracy") {
  const MoeTrainingSetting plain = small_setting();
  const auto none = train_moe(plain);
  const auto same = train_moe(plain);
  CHECK(none->test_loss == same->test_loss);
  CHECK(none->routed.asked == same->routed.asked);
  MoeTrainingSetting some = plain, much = plain, bias = plain;
  some.balance = much.balance = MoeBalance::auxiliary;
  some.alpha = 0.1;
  much.alpha = 10;
  bias.balance = MoeBalance::bias;
  const auto little = train_moe(some), strong = train_moe(much), biased = train_moe(bias);
  CHECK(fullest(*none) > 2.5);
  CHECK(fullest(*little) < 1.5);
  CHECK(fullest(*biased) < 1.7);
  CHECK(little->test_loss < none->test_loss);
  CHECK(strong->test_loss > 1.2 * little->test_loss);
  CHECK(strong->auxiliary < none->auxiliary);
  CHECK(near(biased->bias_step, 0.01));
  CHECK(strong->router_entropy > little->router_entropy);
  double total = 0;
  for (const double e : none->token_error) total += e;
  CHECK(near(total, none->test_loss * moe_test_tokens, 1e-9));
}

TEST_CASE("what the lab says of the auxiliary loss's weight holds for seeds 1 to 8: 0.1 helps, 10 costs against it") {
  for (std::int64_t seed = 1; seed <= 8; ++seed) {
    MoeTrainingSetting none;
    none.task.seed = none.routing.seed = seed;
    MoeTrainingSetting little = none, much = none;
    little.balance = much.balance = MoeBalance::auxiliary;
    little.alpha = 0.1;
    much.alpha = 10;
    const double loss = train_moe(little)->test_loss;
    INFO("seed " << seed);
    CHECK(loss < train_moe(none)->test_loss);
    CHECK(loss < train_moe(much)->test_loss);
  }
}

TEST_CASE("a table of words learns less than a gate, and dealing at random least") {
  MoeTrainingSetting s = small_setting();
  const auto gate = train_moe(s);
  s.routing.rule = MoeRule::hash;
  const auto hash = train_moe(s);
  s.routing.rule = MoeRule::dealt;
  const auto dealt = train_moe(s);
  CHECK(gate->test_loss < hash->test_loss);
  CHECK(hash->test_loss < dealt->test_loss);
  CHECK(std::isnan(dealt->auxiliary));
}

TEST_CASE("a z-loss keeps the gate's probabilities even, and a cancelled training gives nothing") {
  MoeTrainingSetting s = small_setting();
  const auto plain = train_moe(s);
  s.z_loss = 0.1;
  CHECK(train_moe(s)->router_entropy > plain->router_entropy + 0.1);
  const std::atomic<bool> cancelled = true;
  CHECK(train_moe(s, &cancelled) == nullptr);
}
