#include "models/inference/recall.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/inference/recall_parts.h"

namespace models::inference {
namespace {

constexpr std::int32_t recall_no_place = -1;

std::int32_t recall_drawn_below(std::uint64_t stream, std::uint64_t& i, std::int64_t n) {
  return static_cast<std::int32_t>(unit_draw(stream, i++) * static_cast<double>(n));
}

/// Which of the tokens are pairs: all orders of pairs and fillers are alike.
bool recall_is_pair(std::uint64_t stream, std::uint64_t& i, std::int64_t pairs_left, std::int64_t tokens_left) {
  return unit_draw(stream, i++) * static_cast<double>(tokens_left) < static_cast<double>(pairs_left);
}

std::int32_t recall_best_of(const float* scores) {
  return static_cast<std::int32_t>(std::max_element(scores, scores + recall_value_count) - scores);
}

}  // namespace

RecallStream recall_stream(const RecallTask& task, std::uint64_t random, std::uint64_t index) {
  const std::uint64_t stream = counter_hash(random, index);
  std::uint64_t draw = 0;
  RecallStream out;
  const std::int64_t tokens = task.tokens();
  std::array<std::int32_t, static_cast<std::size_t>(recall_keys)> order{}, last{};
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k);
  last.fill(recall_no_place);
  std::int64_t fresh = 0, pairs = 0;
  std::int32_t needle_key = -1;
  for (std::int64_t t = 0; t < tokens; ++t) {
    std::int32_t value = recall_drawn_below(stream, draw, recall_values);
    if (task.fillers > 0 && !recall_is_pair(stream, draw, task.pairs - pairs, tokens - t)) {
      out.keys.push_back(static_cast<std::int32_t>(recall_keys) +
                         recall_drawn_below(stream, draw, recall_filler_tokens));
      out.values.push_back(value);
      continue;
    }
    ++pairs;
    const std::int64_t kept = needle_key >= 0 ? 1 : 0;
    const bool again = fresh > kept && (fresh == recall_keys || unit_draw(stream, draw++) < task.rewritten);
    std::size_t at = 0;
    if (again) {
      at = static_cast<std::size_t>(recall_drawn_below(stream, draw, fresh));
      if (order[at] == needle_key) at = (at + 1) % static_cast<std::size_t>(fresh);
      const std::int32_t old = out.values[static_cast<std::size_t>(last[static_cast<std::size_t>(order[at])])];
      if (value == old) value = (value + 1) % static_cast<std::int32_t>(recall_values);
    } else {
      at = static_cast<std::size_t>(fresh + recall_drawn_below(stream, draw, recall_keys - fresh));
      std::swap(order[at], order[static_cast<std::size_t>(fresh)]);
      at = static_cast<std::size_t>(fresh++);
    }
    if (pairs - 1 == task.needle) needle_key = order[at];
    out.keys.push_back(order[at]);
    out.values.push_back(value);
    last[static_cast<std::size_t>(order[at])] = static_cast<std::int32_t>(t);
  }
  std::int32_t pair = -1;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::int32_t key = out.keys[static_cast<std::size_t>(t)];
    if (key >= recall_keys) continue;
    ++pair;
    if (last[static_cast<std::size_t>(key)] != t) continue;
    if (pair == task.needle) out.needle = static_cast<std::int64_t>(out.asked.size());
    out.pairs.push_back(pair);
    out.asked.push_back(key);
    out.answers.push_back(out.values[static_cast<std::size_t>(t)]);
    out.places.push_back(static_cast<std::int32_t>(t));
  }
  return out;
}

std::vector<float> recall_weights(const RecallModel& m, const RecallStream& s, std::int32_t asked, std::int64_t read) {
  const std::size_t n = static_cast<std::size_t>(read), width = static_cast<std::size_t>(m.stride);
  std::vector<float> out(n);
  float most = -1e30f;
  for (std::size_t t = 0; t < n; ++t) {
    const float age = static_cast<float>(n - 1 - t);
    out[t] = recall_dot(&m.asked[static_cast<std::size_t>(asked) * width],
                        &m.written[static_cast<std::size_t>(s.keys[t]) * width], width) -
             m.slope * age;
    most = std::max(most, out[t]);
  }
  float sum = 0;
  for (float& w : out) sum += w = std::exp(w - most);
  for (float& w : out) w /= sum;
  return out;
}

std::vector<float> recall_state(const RecallModel& m, const RecallStream& s, std::int64_t read) {
  const std::size_t width = static_cast<std::size_t>(m.width), stride = static_cast<std::size_t>(m.stride);
  if (m.mixer == RecallMixer::attention) return {};
  std::vector<float> state(width * recall_value_count, 0.0f);
  for (std::size_t t = 0; t < static_cast<std::size_t>(read); ++t) {
    const std::size_t key = static_cast<std::size_t>(s.keys[t]), value = static_cast<std::size_t>(s.values[t]);
    const float* k = &m.written[key * stride];
    if (m.mixer == RecallMixer::gated) {
      const float keep = std::exp(-m.decay * m.gates[key]);
      for (float& x : state) x *= keep;
    }
    if (m.mixer == RecallMixer::delta) {
      std::array<float, recall_value_count> held{};
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t v = 0; v < recall_value_count; ++v) held[v] += k[i] * state[i * recall_value_count + v];
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t v = 0; v < recall_value_count; ++v)
          state[i * recall_value_count + v] -= m.gates[key] * k[i] * held[v];
    }
    const float strength = m.mixer == RecallMixer::linear ? 1.0f : m.gates[key];
    for (std::size_t i = 0; i < width; ++i) state[i * recall_value_count + value] += strength * k[i];
  }
  return state;
}

std::vector<float> recall_scores(const RecallModel& m, const RecallStream& s, std::span<const std::int32_t> asked,
                                 std::int64_t read) {
  const std::size_t width = static_cast<std::size_t>(m.width), stride = static_cast<std::size_t>(m.stride);
  std::vector<float> out(asked.size() * recall_value_count, 0.0f);
  if (m.mixer == RecallMixer::attention) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const std::vector<float> weights = recall_weights(m, s, asked[i], read);
      for (std::size_t t = 0; t < weights.size(); ++t)
        out[i * recall_value_count + static_cast<std::size_t>(s.values[t])] += m.scale * weights[t];
    }
    return out;
  }
  const std::vector<float> state = recall_state(m, s, read);
  for (std::size_t i = 0; i < asked.size(); ++i)
    for (std::size_t k = 0; k < width; ++k) {
      const float q = m.scale * m.asked[static_cast<std::size_t>(asked[i]) * stride + k];
      for (std::size_t v = 0; v < recall_value_count; ++v)
        out[i * recall_value_count + v] += q * state[k * recall_value_count + v];
    }
  return out;
}

RecallShares recall_shares(const RecallModel& m, const RecallTask& task, std::int64_t streams, std::uint64_t random) {
  double right = 0, asked = 0, found = 0;
  for (std::int64_t i = 0; i < streams; ++i) {
    const RecallStream s = recall_stream(task, random, static_cast<std::uint64_t>(i));
    const std::vector<float> scores = recall_scores(m, s, s.asked, task.tokens());
    for (std::size_t k = 0; k < s.asked.size(); ++k) {
      const double hit = recall_best_of(&scores[k * recall_value_count]) == s.answers[k] ? 1 : 0;
      right += hit;
      asked += 1;
      if (static_cast<std::int64_t>(k) == s.needle) found += hit;
    }
  }
  return {.all = right / asked, .needle = found / static_cast<double>(streams)};
}

double recall_needle_share(const RecallModel& m, const RecallTask& task, std::int64_t streams, std::uint64_t random) {
  double found = 0;
  for (std::int64_t i = 0; i < streams; ++i) {
    const RecallStream s = recall_stream(task, random, static_cast<std::uint64_t>(i));
    if (s.needle < 0) continue;
    const std::size_t needle = static_cast<std::size_t>(s.needle);
    const std::vector<float> scores = recall_scores(m, s, {&s.asked[needle], 1}, task.tokens());
    found += recall_best_of(scores.data()) == s.answers[needle] ? 1 : 0;
  }
  return found / static_cast<double>(streams);
}

namespace {

/// The entries of a cache that is kept small, and what each was attended to.
struct RecallSmallCache {
  std::vector<std::int32_t> places;  ///< tokens, oldest first
  std::vector<float> heat;
  std::vector<float> weights;

  /// The value that a question for the key reads; attention is counted where `counts`.
  std::int32_t ask(const RecallModel& m, const RecallStream& s, std::int32_t key, std::int64_t now, bool counts) {
    const std::size_t width = static_cast<std::size_t>(m.stride);
    weights.resize(places.size());
    float most = -1e30f, sum = 0;
    for (std::size_t e = 0; e < places.size(); ++e) {
      const std::size_t written = static_cast<std::size_t>(s.keys[static_cast<std::size_t>(places[e])]);
      weights[e] = recall_dot(&m.asked[static_cast<std::size_t>(key) * width], &m.written[written * width], width) -
                   m.slope * static_cast<float>(now - places[e]);
      most = std::max(most, weights[e]);
    }
    for (float& w : weights) sum += w = std::exp(w - most);
    std::array<float, recall_value_count> scores{};
    for (std::size_t e = 0; e < places.size(); ++e) {
      if (counts) heat[e] += weights[e] / sum;
      scores[static_cast<std::size_t>(s.values[static_cast<std::size_t>(places[e])])] += weights[e];
    }
    return recall_best_of(scores.data());
  }

  void keep(Eviction eviction, std::int64_t entries, std::int64_t sinks) {
    if (static_cast<std::int64_t>(places.size()) <= entries) return;
    std::size_t out = static_cast<std::size_t>(std::min(sinks, entries - 1));
    if (eviction == Eviction::heavy_hitters) {
      // The newest half is safe, whatever it was attended to.
      const std::size_t old = places.size() - static_cast<std::size_t>(std::max<std::int64_t>(1, entries / 2));
      out = static_cast<std::size_t>(std::min_element(heat.begin(), heat.begin() + static_cast<std::ptrdiff_t>(old)) -
                                     heat.begin());
    }
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(out));
    heat.erase(heat.begin() + static_cast<std::ptrdiff_t>(out));
  }
};

/// A key that stands after `now`, by popularity; its weight is one over its rank.
std::size_t recall_popular_key(const RecallStream& s, const std::vector<double>& popularity, std::int64_t now,
                               double draw) {
  double sum = 0;
  for (std::size_t i = 0; i < s.asked.size(); ++i)
    if (s.places[i] <= now) sum += popularity[i];
  double left = draw * sum;
  std::size_t last = s.asked.size();
  for (std::size_t i = 0; i < s.asked.size(); ++i) {
    if (s.places[i] > now) continue;
    last = i;
    if ((left -= popularity[i]) < 0) break;
  }
  return last;
}

}  // namespace

EvictedShares evicted_shares(const RecallModel& m, const RecallTask& task, Eviction eviction, std::int64_t entries,
                             std::int64_t sinks, std::int64_t streams, std::uint64_t random) {
  double right = 0, asked = 0, popular = 0, weight = 0, needles = 0, found = 0;
  for (std::int64_t i = 0; i < streams; ++i) {
    const RecallStream s = recall_stream(task, random, static_cast<std::uint64_t>(i));
    const std::uint64_t luck = counter_hash(random + 1, static_cast<std::uint64_t>(i));
    std::vector<double> popularity(s.asked.size());
    for (std::size_t k = 0; k < popularity.size(); ++k) popularity[k] = 1.0 / static_cast<double>(k + 1);
    for (std::size_t k = popularity.size(); k > 1; --k)
      std::swap(popularity[k - 1],
                popularity[static_cast<std::size_t>(unit_draw(luck, 1000 + k) * static_cast<double>(k))]);
    RecallSmallCache cache;
    for (std::int64_t t = 0; t < task.tokens(); ++t) {
      cache.places.push_back(static_cast<std::int32_t>(t));
      cache.heat.push_back(0);
      const std::size_t k = recall_popular_key(s, popularity, t, unit_draw(luck, static_cast<std::uint64_t>(t)));
      if (k < s.asked.size()) cache.ask(m, s, s.asked[k], t, true);
      cache.keep(eviction, entries, sinks);
    }
    for (std::size_t k = 0; k < s.asked.size(); ++k) {
      const double hit = cache.ask(m, s, s.asked[k], task.tokens() - 1, false) == s.answers[k] ? 1 : 0;
      right += hit;
      asked += 1;
      popular += hit * popularity[k];
      weight += popularity[k];
      if (static_cast<std::int64_t>(k) != s.needle) continue;
      needles += 1;
      found += hit;
    }
  }
  return {.all = right / asked, .popular = popular / weight, .needle = needles > 0 ? found / needles : 0};
}

}  // namespace models::inference
