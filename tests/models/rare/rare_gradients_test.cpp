#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/compression/small_network_train.h"
#include "models/rare/gradient_code.h"
#include "models/rare/rare_clock.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::rare;
using support::near;

namespace {

SmallNetwork rare_network() {
  const std::array<std::size_t, 1> hidden{rare_hidden};
  return make_network(hidden, 1);
}
/// Gradients of three workers, drawn.
std::vector<std::vector<float>> drawn_gradients() {
  std::vector<std::vector<float>> out(3, std::vector<float>(1210));
  SeededRandom random(5);
  for (auto& row : out)
    for (float& v : row) v = static_cast<float>(random.normal());
  return out;
}
double ratio_of(RareMethod method, std::size_t rank, RareLayers layers) {
  return rare_message({.method = method, .rank = rank}, shapes_of(layers)).ratio();
}

}  // namespace

TEST_CASE("PowerSGD sends of ResNet-18 what its paper says: 243, 136 and 72 times less at rank 1, 2 and 4") {
  // Vogels, Karimireddy, Jaggi 2019, table 3.
  CHECK(near(ratio_of(RareMethod::power_sgd, 1, RareLayers::resnet18), 243, 0.003));
  CHECK(near(ratio_of(RareMethod::power_sgd, 2, RareLayers::resnet18), 136, 0.003));
  CHECK(near(ratio_of(RareMethod::power_sgd, 4, RareLayers::resnet18), 72, 0.003));
  double parameters = 0;
  for (const GradientShape& s : shapes_of(RareLayers::resnet18)) parameters += s.size();
  CHECK(parameters == 11'173'962);
  // Table 4: signs with a norm send 32 times less.
  CHECK(near(ratio_of(RareMethod::sign, 1, RareLayers::resnet18), 32, 0.001));
  CHECK(ratio_of(RareMethod::all_reduce, 1, RareLayers::llama8b) == 1);
}

TEST_CASE("what is gathered grows with the workers, what is summed does not") {
  const auto sent = [](RareMethod method, std::size_t workers) {
    const RareSetup s{.method = method, .workers = workers, .kept = 0.02};
    return rare_message(s, shapes_of(RareLayers::trained)).sent(workers);
  };
  CHECK(near(sent(RareMethod::all_reduce, 8), 7, 1e-9));  // 2 x 7/8 x 4 B
  // 24 of 1,210 values with their places, to seven others.
  CHECK(near(sent(RareMethod::top_k, 8), 7 * 8 * 24 / 1210.0, 1e-9));
  CHECK(sent(RareMethod::top_k, 2) < 0.16 * sent(RareMethod::top_k, 8));
}

TEST_CASE("a message keeps what it says, and error feedback sends the rest later") {
  const auto gradients = drawn_gradients();
  std::vector<float> exact, mean;
  GradientCode plain(rare_network(), {.workers = 3});
  CHECK(plain.average(gradients, exact) == 1);
  CHECK(near(static_cast<double>(exact[7]),
             static_cast<double>(gradients[0][7] + gradients[1][7] + gradients[2][7]) / 3, 1e-6));
  const auto apart = [&](const std::vector<double>& sum, double times) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double want = static_cast<double>(exact[i]) * times;
      off += (sum[i] - want) * (sum[i] - want);
      all += want * want;
    }
    return std::sqrt(off / all);
  };
  // The same gradient again and again: with error feedback the sum of what arrives is that of what was meant, up to
  // errors that stay as they are; without it, what is left out never comes.
  const auto after = [&](RareMethod method, bool feedback, int times) {
    GradientCode code(rare_network(),
                      {.method = method, .workers = 3, .kept = 0.1, .rank = 2, .error_feedback = feedback});
    std::vector<double> sum(exact.size());
    for (int i = 0; i < times; ++i) {
      code.average(gradients, mean);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(mean[k]);
    }
    return apart(sum, times);
  };
  for (const RareMethod method : {RareMethod::bits4, RareMethod::sign, RareMethod::top_k, RareMethod::power_sgd}) {
    CAPTURE(rare_method_id(method));
    CHECK(after(method, true, 40) < 0.5 * after(method, false, 40));
  }
  CHECK(after(RareMethod::bits8, false, 1) < 0.02);
}

TEST_CASE("top-k keeps as many values as it is told, and low rank is low") {
  std::vector<std::vector<float>> one{drawn_gradients()[0]};
  std::vector<float> mean;
  GradientCode(rare_network(), {.method = RareMethod::top_k, .workers = 1, .kept = 0.05}).average(one, mean);
  CHECK(std::count_if(mean.begin(), mean.end(), [](float v) { return v != 0; }) == 61);  // 5 % of 1,210, rounded
  GradientCode(rare_network(), {.method = RareMethod::power_sgd, .workers = 1, .rank = 1}).average(one, mean);
  // A product of two vectors: every 2 x 2 block has determinant 0. The biases are sent whole.
  CHECK(near(static_cast<double>(mean[0] * mean[17]), static_cast<double>(mean[1] * mean[16]), 1e-4));
  CHECK(mean[1024] == one[0][1024]);
  // A product of as many columns as the gradient has leaves nothing out, however workers differ; of fewer it does.
  const auto kept = [&](std::size_t rank) {
    const auto three = drawn_gradients();
    GradientCode code(rare_network(), {.method = RareMethod::power_sgd, .workers = 3, .rank = rank});
    return code.average(three, mean);
  };
  CHECK(kept(16) > 0.999);
  CHECK(kept(8) < 0.9);
  CHECK(kept(2) < kept(8));
}

TEST_CASE("eight bits train like FP32, one bit and seldom cost steps, and runs repeat to the bit") {
  const RareDigits digits = rare_digits(1);
  const auto end = [&](const RareSetup& s) { return train_rarely(s, digits).looks.back().loss; };
  const double exact = end({});
  CHECK(exact < 0.75);
  CHECK(near(end({.method = RareMethod::bits8}), exact, 0.03));
  CHECK(end({.method = RareMethod::sign}) > 1.1 * exact);
  CHECK(end({.method = RareMethod::top_k, .error_feedback = false}) > 1.3 * end({.method = RareMethod::top_k}));
  const RareRun a = train_rarely({.method = RareMethod::diloco}, digits),
                b = train_rarely({.method = RareMethod::diloco}, digits);
  CHECK(a.looks.back().loss == b.looks.back().loss);
  CHECK(a.syncs == 8);
  CHECK(a.looks.size() == 9);
  // The outer momentum is what parts DiLoCo from averaging.
  CHECK(a.looks.back().loss < end({.method = RareMethod::local_sgd}));
  // An outer step of rate 1 without momentum is the average.
  CHECK(near(end({.method = RareMethod::diloco, .outer_rate = 1, .outer_momentum = 0}),
             end({.method = RareMethod::local_sgd}), 1e-3));
  // A sync every step, and a gradient that is never late, are the all-reduce's loss but for the optimizer's states.
  CHECK(end({.method = RareMethod::stale, .stale_by = 0}) == exact);
}

TEST_CASE("a run stops when it is told to") {
  const std::atomic<bool> cancelled{true};
  CHECK(train_rarely({}, rare_digits(1), &cancelled).stopped);
}

TEST_CASE("the clock: transfers by the ring, silence between syncs, and stale gradients behind the work") {
  const RarePrice price{.parameters = 1e9, .step_s = 0.5, .spread = 0, .bytes_per_s = 3e9, .hop_s = 0};
  const RareClock all = rare_clock({}, price);
  CHECK(near(all.transfer_s, 2, 1e-9));  // 1.5 x 4 GB over 3 GB/s
  CHECK(near(all.total_s(), 96 * 2.5, 1e-9));
  CHECK(near(all.sent_bytes, 6e9, 1e-9));
  const RareClock seldom = rare_clock({.method = RareMethod::local_sgd, .period = 12}, price);
  CHECK(seldom.talks.size() == 8);
  CHECK(near(seldom.talks[1].from_s - seldom.talks[0].until_s, 6, 1e-9));
  CHECK(near(seldom.total_s(), 8 * 8, 1e-9));
  // 96 steps are two rounds of 47 and one of two, which says nothing about the silence of a round.
  CHECK(near(rare_clock({.method = RareMethod::local_sgd, .period = 47}, price).silence_s, 23.5, 1e-9));
  // An outer step of DiLoCo passes over 24 bytes a parameter, at its syncs alone.
  const RareClock outer = rare_clock({.method = RareMethod::diloco, .period = 12}, price);
  CHECK(near(outer.total_s() - seldom.total_s(), 8 * 24e9 / 3.35e12, 1e-6));
  // A step of half a second cannot hide two seconds of transfer: the links are the floor.
  const RareClock late = rare_clock({.method = RareMethod::stale, .stale_by = 4}, price);
  CHECK(late.total_s() < all.total_s());
  CHECK(near(late.total_s(), 0.5 + 92 * 2, 1e-6));
  CHECK(late.silence_s == 0);
  CHECK(near(late.talked_s, 92 * 2, 1e-6));
  // What is on its way has not arrived: the model of step 60 has the gradients of 56.
  CHECK(late.syncs_by(late.known_s[60]) == 56);
  // Where a step takes as long as a transfer, one step of delay hides it all.
  RarePrice slow = price;
  slow.step_s = 2;
  CHECK(near(rare_clock({.method = RareMethod::stale, .stale_by = 1}, slow).total_s(), 2 + 95 * 2 + 0, 0.02));
  // The slowest of four is waited for at every sync: seldom, its bad luck evens out.
  RarePrice uneven = price;
  uneven.spread = 0.3;
  uneven.bytes_per_s = 1e15;
  CHECK(rare_clock({.method = RareMethod::local_sgd, .period = 24}, uneven).waited_s <
        0.5 * rare_clock({}, uneven).waited_s);
}

TEST_CASE("a goal lies between two looks, or at the sync that first has it") {
  RareRun run;
  run.looks = {{0, 0, 2.0}, {4, 4, 1.0}};
  RareClock clock;
  clock.known_s = {0, 1, 2, 3, 4};
  for (const double at : {1.0, 2.0, 3.0, 4.0}) clock.talks.push_back({at - 0.5, at});
  clock.sent_bytes = 10;
  const RareGoal goal = rare_goal(run, clock, 1.25);
  CHECK(goal.reached);
  CHECK(near(goal.steps, 3, 1e-12));
  CHECK(near(goal.time_s, 3, 1e-12));
  CHECK(near(goal.bytes, 30, 1e-12));
  CHECK_FALSE(rare_goal(run, clock, 0.5).reached);
  // On the line between the looks 1.4 is met after 2.4 steps: there is no step, and no message, in parts.
  CHECK(rare_goal(run, clock, 1.4).steps == 3);
  CHECK(rare_goal(run, clock, 1.4).bytes == 30);
  CHECK(rare_goal(run, clock, 2.1).steps == 1);
  // With one sync in four steps there is no shared model in between.
  run.looks.back().syncs = 1;
  clock.talks = {{3, 4}};
  CHECK(rare_goal(run, clock, 1.25).time_s == 4);
  CHECK(rare_goal(run, clock, 1.25).bytes == 10);
}
