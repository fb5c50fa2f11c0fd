// Associative recall: what is asked and answered, what training reaches, and what small caches and states lose.
#include "models/inference/recall.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "tests/support/base/near.h"

using namespace models::inference;
using support::near;

namespace {

constexpr RecallTraining short_training{.width = 8, .steps = 60, .batch = 4, .rate = 0.05};

RecallModel trained(RecallMixer mixer, const RecallTask& task, RecallTraining training = short_training) {
  return train_recall(mixer, task, training);
}

}  // namespace

TEST_CASE("recall: a stream asks every key once, for its last value, and never rewrites the needle") {
  const RecallTask task{.pairs = 20, .needle = 3, .fillers = 2, .rewritten = 0.6};
  for (std::uint64_t i = 0; i < 20; ++i) {
    const RecallStream s = recall_stream(task, 5, i);
    REQUIRE(s.keys.size() == 60);
    CHECK(std::count_if(s.keys.begin(), s.keys.end(), [](auto k) { return k < recall_keys; }) == 20);
    CHECK(std::set<std::int32_t>(s.asked.begin(), s.asked.end()).size() == s.asked.size());
    for (std::size_t k = 0; k < s.asked.size(); ++k) {
      const auto place = static_cast<std::size_t>(s.places[k]);
      CHECK(s.keys[place] == s.asked[k]);
      CHECK(s.values[place] == s.answers[k]);
      CHECK(std::find(s.keys.begin() + s.places[k] + 1, s.keys.end(), s.asked[k]) == s.keys.end());
    }
    REQUIRE(s.needle >= 0);
    CHECK(s.pairs[static_cast<std::size_t>(s.needle)] == 3);
  }
}

TEST_CASE("recall: attention is trained to find every pair, a state loses more with every pair beyond its size") {
  const RecallTask task{.pairs = 24, .needle = 0};
  const RecallModel attention = trained(RecallMixer::attention, task), linear = trained(RecallMixer::linear, task);
  CHECK(linear.losses.front() > 2.5f);
  CHECK(linear.losses.back() < 0.5f * linear.losses.front());
  CHECK(recall_shares(attention, task, 24, 9).all > 0.99);
  double last = 1.001;
  for (const std::int64_t pairs : {2, 8, 24}) {
    RecallTask shorter = task;
    shorter.pairs = pairs;
    const double share = recall_shares(linear, shorter, 24, 9).all;
    CHECK(share < last);
    last = share;
  }
  CHECK(last < 0.85);
  CHECK(last > 3.0 / recall_values);
  RecallTraining wide = short_training;
  wide.width = 32;
  CHECK(recall_shares(trained(RecallMixer::linear, task, wide), task, 24, 9).all > last + 0.1);
}

// Zoology (Arora 2023), Mamba (2023) and DeltaNet (Yang 2024) report the same order on tasks of their kinds.
TEST_CASE(
    "recall: where keys are rewritten, sums mix old and new values, a gate forgets old pairs, the delta rule less") {
  const RecallTask task{.pairs = 24, .needle = 0, .rewritten = 0.5};
  RecallTraining training = short_training;
  training.width = 16;
  const auto share = [&](RecallMixer mixer) { return recall_shares(trained(mixer, task, training), task, 32, 9); };
  const RecallShares linear = share(RecallMixer::linear), gated = share(RecallMixer::gated),
                     delta = share(RecallMixer::delta);
  CHECK(gated.all > linear.all);
  CHECK(delta.all > linear.all);
  CHECK(gated.needle < linear.needle - 0.2);
}

TEST_CASE("recall: scores are what the state or the weights give, and training is the same bit for bit") {
  const RecallTask task{.pairs = 12, .fillers = 1};
  const RecallStream s = recall_stream(task, 7, 1);
  for (const RecallMixer mixer : {RecallMixer::linear, RecallMixer::gated, RecallMixer::delta}) {
    RecallTraining training = short_training;
    training.width = 10;  // no multiple of four
    training.steps = 5;
    const RecallModel m = trained(mixer, task, training), again = trained(mixer, task, training);
    CHECK(m.written == again.written);
    CHECK(m.losses == again.losses);
    const std::vector<float> state = recall_state(m, s, task.tokens());
    CHECK(state.size() == 10 * 16);
    const std::vector<float> scores = recall_scores(m, s, s.asked, task.tokens());
    float score = 0;
    for (std::size_t i = 0; i < 10; ++i)
      score += m.asked[static_cast<std::size_t>(s.asked[0] * m.stride) + i] * state[i * 16 + 5];
    CHECK(near(static_cast<double>(scores[5]), static_cast<double>(m.scale * score), 1e-3));
  }
  RecallTraining none = short_training;
  none.steps = 0;
  const RecallModel attention = trained(RecallMixer::attention, task, none);
  const std::vector<float> weights = recall_weights(attention, s, s.asked[0], task.tokens());
  double sum = 0;
  for (const float w : weights) sum += static_cast<double>(w);
  CHECK(near(sum, 1, 1e-5));
}

TEST_CASE("recall: the delta rule's answer to a key that was just written whole is its value") {
  // With a strength of 1 and keys of length 1 the state maps the last key to its value, whatever stood there.
  RecallModel m{.mixer = RecallMixer::delta, .width = 4, .stride = 4};
  m.written.assign(static_cast<std::size_t>((recall_keys + recall_filler_tokens) * 4), 0.5f);
  m.asked = m.written;
  m.gates.assign(static_cast<std::size_t>(recall_keys + recall_filler_tokens), 1.0f);
  const RecallStream s = recall_stream({.pairs = 6}, 3, 0);
  const std::vector<float> scores = recall_scores(m, s, {&s.asked.back(), 1}, 6);
  for (std::size_t v = 0; v < 16; ++v) {
    const float whole = static_cast<std::int32_t>(v) == s.values.back() ? 1.0f : 0.0f;
    CHECK(std::abs(scores[v] - whole) < 1e-5f);
  }
}

TEST_CASE("recall: a window keeps its sinks and the newest; heavy hitters keep what is asked often") {
  const RecallTask task{.pairs = 24, .needle = 0};
  const RecallModel attention = trained(RecallMixer::attention, task);
  const auto evicted = [&](Eviction how, std::int64_t entries, std::int64_t sinks, std::int64_t needle) {
    RecallTask other = task;
    other.needle = needle;
    return evicted_shares(attention, other, how, entries, sinks, 24, 9);
  };
  CHECK(evicted(Eviction::window, 24, 4, 0).all > 0.99);
  CHECK(evicted(Eviction::window, 8, 4, 0).needle > 0.99);
  CHECK(evicted(Eviction::window, 8, 4, 10).needle < 0.3);
  CHECK(evicted(Eviction::window, 8, 4, 23).needle > 0.99);
  // 8 of 24 are kept, and what is gone is guessed.
  CHECK(near(evicted(Eviction::window, 8, 4, 0).all, 8.0 / 24 + 16.0 / 24 / 16, 0.15));
  const EvictedShares heavy = evicted(Eviction::heavy_hitters, 8, 4, 10);
  CHECK(heavy.popular > heavy.all + 0.05);
  CHECK(heavy.popular > evicted(Eviction::window, 8, 4, 10).popular + 0.05);
}
