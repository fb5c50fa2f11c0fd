#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/adam.h"
#include "models/base/counter_random.h"
#include "models/base/lanes.h"
#include "models/inference/recall.h"
#include "models/inference/recall_parts.h"

/// Training of the four ways, with gradients written out.
namespace models::inference {
namespace {

constexpr std::size_t recall_key_count = static_cast<std::size_t>(recall_keys),
                      recall_token_count = static_cast<std::size_t>(recall_keys + recall_filler_tokens);
using RecallValues = std::array<float, recall_value_count>;
using lanes::Four;

/// y += x row, `n` a multiple of four.
inline void recall_add_scaled(float* y, float x, const float* row, std::size_t n) {
  const Four factor = lanes::splat(x);
  for (std::size_t i = 0; i < n; i += lanes::width)
    lanes::store(y + i, lanes::load(y + i) + factor * lanes::load(row + i));
}

/// e^x of each in place, all at most 0, and their sum; `n` a multiple of four.
float recall_exponentials(float* x, std::size_t n) {
  Four sum = lanes::splat(0);
  for (std::size_t i = 0; i < n; i += lanes::width) {
    const Four e = lanes::exp_negative(lanes::load(x + i));
    lanes::store(x + i, e);
    sum = sum + e;
  }
  return lanes::sum(sum);
}

float recall_softplus(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }
float recall_sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// The parameters in one vector, in this order, and their gradient in another; rows of whole fours.
struct RecallLayout {
  std::size_t width;
  std::size_t written = 0, asked = recall_token_count * width, gates = asked + recall_key_count * width,
              scale = gates + recall_token_count, slope = scale + 1, decay = scale + 2, size = scale + 4;
  explicit RecallLayout(std::size_t stride) : width(stride) {}
};

/// Out of a batch: products of all questions with all keys, and what they are to be changed by.
struct RecallProducts {
  std::vector<float> asked, kept;  ///< keys x tokens; tokens x tokens, of unit keys, for the delta rule
  std::vector<float> d_asked, d_kept;
};

class RecallTrainer {
 public:
  RecallTrainer(RecallMixer mixer, const RecallTask& task, const RecallTraining& training)
      : mixer_(mixer), task_(task), training_(training), at_(recall_stride(training.width)) {
    const std::uint64_t luck = random_stream(training.seed, 11);
    p_.resize(at_.size);
    const std::size_t width = static_cast<std::size_t>(training.width);
    const float spread = 1 / std::sqrt(static_cast<float>(width));
    for (std::size_t i = 0; i < at_.gates; ++i)
      if (i % at_.width < width) p_[i] = spread * static_cast<float>(normal_draw(luck, i));
    // A step of 1, a write strength of 0.9, and a decay of 1 % a token to begin with.
    const float gate = mixer == RecallMixer::delta ? 2.2f : 0.54f;
    std::fill_n(p_.begin() + static_cast<std::ptrdiff_t>(at_.gates), recall_token_count, gate);
    p_[at_.scale] = mixer == RecallMixer::attention ? 1.0f : 0.0f;
    p_[at_.decay] = -4.6f;
  }

  RecallModel train(const std::atomic<bool>* stop) {
    RecallModel out;
    Adam adam(p_.size(), {.square = 0.99f});
    const std::uint64_t luck = random_stream(training_.seed, 12);
    for (std::int64_t step = 1; step <= training_.steps; ++step) {
      if (stop != nullptr && *stop) break;
      g_.assign(p_.size(), 0.0f);
      prepare();
      double loss = 0;
      std::int64_t asked = 0;
      for (std::int64_t b = 0; b < training_.batch; ++b) {
        const std::uint64_t index = static_cast<std::uint64_t>(step * training_.batch + b);
        RecallTask task = task_;
        // Streams of all lengths up to the task's, so that one training serves the whole curve.
        task.pairs =
            1 + static_cast<std::int64_t>(std::sqrt(unit_draw(luck + 1, index)) * static_cast<double>(task_.pairs));
        const RecallStream s = recall_stream(task, luck, index);
        loss += learn(s);
        asked += static_cast<std::int64_t>(s.asked.size());
      }
      const float share = 1 / static_cast<float>(asked);
      finish();
      for (float& g : g_) g *= share;
      adam.step(p_, g_, training_.rate);
      out.losses.push_back(static_cast<float>(loss) * share);
    }
    fill(out);
    return out;
  }

 private:
  /// Keys as they are written (of the delta rule, of unit length) and all products.
  void prepare() {
    keys_.assign(p_.begin(), p_.begin() + static_cast<std::ptrdiff_t>(at_.asked));
    if (mixer_ == RecallMixer::delta) {
      lengths_.resize(recall_token_count);
      for (std::size_t t = 0; t < recall_token_count; ++t) {
        float* k = &keys_[t * at_.width];
        float square = 1e-12f;
        for (std::size_t i = 0; i < at_.width; ++i) square += k[i] * k[i];
        lengths_[t] = std::sqrt(square);
        for (std::size_t i = 0; i < at_.width; ++i) k[i] /= lengths_[t];
      }
      multiply(keys_.data(), recall_token_count, products_.kept);
      products_.d_kept.assign(recall_token_count * recall_token_count, 0.0f);
    }
    multiply(&p_[at_.asked], recall_key_count, products_.asked);
    products_.d_asked.assign(recall_key_count * recall_token_count, 0.0f);
    turned_.clear();
  }

  /// rows x width times keys' transpose.
  void multiply(const float* rows, std::size_t count, std::vector<float>& out) {
    turned_.resize(at_.width * recall_token_count);
    for (std::size_t t = 0; t < recall_token_count; ++t)
      for (std::size_t i = 0; i < at_.width; ++i) turned_[i * recall_token_count + t] = keys_[t * at_.width + i];
    out.assign(count * recall_token_count, 0.0f);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t i = 0; i < at_.width; ++i)
        recall_add_scaled(&out[r * recall_token_count], rows[r * at_.width + i], &turned_[i * recall_token_count],
                          recall_token_count);
  }

  /// From the products' gradients to those of the vectors.
  void finish() {
    std::vector<float> d_keys(keys_.size(), 0.0f);
    const auto spread = [&](const std::vector<float>& d, std::size_t rows, const float* row, float* d_row) {
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t t = 0; t < recall_token_count; ++t) {
          const float x = d[r * recall_token_count + t];
          if (x == 0) continue;
          recall_add_scaled(d_row + r * at_.width, x, &keys_[t * at_.width], at_.width);
          recall_add_scaled(&d_keys[t * at_.width], x, row + r * at_.width, at_.width);
        }
    };
    spread(products_.d_asked, recall_key_count, &p_[at_.asked], &g_[at_.asked]);
    if (mixer_ == RecallMixer::delta) {
      std::vector<float> d_rows(keys_.size(), 0.0f);
      spread(products_.d_kept, recall_token_count, keys_.data(), d_rows.data());
      for (std::size_t t = 0; t < recall_token_count; ++t) {
        float along = 0;
        for (std::size_t i = t * at_.width; i < (t + 1) * at_.width; ++i) along += (d_keys[i] += d_rows[i]) * keys_[i];
        for (std::size_t i = t * at_.width; i < (t + 1) * at_.width; ++i)
          d_keys[i] = (d_keys[i] - along * keys_[i]) / lengths_[t];
      }
    }
    for (std::size_t i = 0; i < d_keys.size(); ++i) g_[at_.written + i] += d_keys[i];
  }

  /// Loss of one question whose plain answer is `plain`; `d` is the loss's gradient by it.
  float judge(const RecallValues& plain, std::size_t right, RecallValues& d) {
    const float scale = std::exp(p_[at_.scale]);
    float most = -1e30f, sum = 0, mean = 0;
    for (const float x : plain) most = std::max(most, scale * x);
    for (std::size_t v = 0; v < recall_value_count; ++v) d[v] = scale * plain[v] - most;
    sum = recall_exponentials(d.data(), recall_value_count);
    for (std::size_t v = 0; v < recall_value_count; ++v) {
      d[v] = d[v] / sum - (v == right ? 1.0f : 0.0f);
      mean += d[v] * plain[v];
    }
    const float loss = std::log(sum) + most - scale * plain[right];
    g_[at_.scale] += mean * scale;
    for (float& x : d) x *= scale;
    return loss;
  }

  double learn(const RecallStream& s) {
    switch (mixer_) {
      case RecallMixer::attention:
        return learn_attention(s);
      case RecallMixer::delta:
        return learn_delta(s);
      default:
        return learn_sum(s);
    }
  }

  double learn_attention(const RecallStream& s) {
    const std::size_t n = s.keys.size();
    const float slope = recall_softplus(p_[at_.slope] - 4);
    double loss = 0;
    for (std::size_t q = 0; q < s.asked.size(); ++q) {
      weights_.resize(n);
      const std::size_t row = static_cast<std::size_t>(s.asked[q]) * recall_token_count;
      float most = -1e30f, sum = 0;
      for (std::size_t t = 0; t < n; ++t) {
        weights_[t] =
            products_.asked[row + static_cast<std::size_t>(s.keys[t])] - slope * static_cast<float>(n - 1 - t);
        most = std::max(most, weights_[t]);
      }
      for (float& w : weights_) w -= most;
      weights_.resize((n + lanes::width - 1) / lanes::width * lanes::width, -1e30f);
      sum = recall_exponentials(weights_.data(), weights_.size());
      RecallValues plain{}, d{};
      for (std::size_t t = 0; t < n; ++t) plain[static_cast<std::size_t>(s.values[t])] += weights_[t] /= sum;
      loss += static_cast<double>(judge(plain, static_cast<std::size_t>(s.answers[q]), d));
      float mean = 0, aged = 0;
      for (std::size_t v = 0; v < recall_value_count; ++v) mean += d[v] * plain[v];
      for (std::size_t t = 0; t < n; ++t) {
        const float back = weights_[t] * (d[static_cast<std::size_t>(s.values[t])] - mean);
        products_.d_asked[row + static_cast<std::size_t>(s.keys[t])] += back;
        aged += back * static_cast<float>(n - 1 - t);
      }
      g_[at_.slope] -= aged * recall_sigmoid(p_[at_.slope] - 4);
    }
    return loss;
  }

  /// Linear attention, and with a gate: the answer is a sum over tokens, each with a strength.
  double learn_sum(const RecallStream& s) {
    const std::size_t n = s.keys.size();
    const bool gated = mixer_ == RecallMixer::gated;
    const float decay = gated ? std::exp(p_[at_.decay]) : 0;
    strengths_.assign(n, 1.0f);
    d_strengths_.assign(n, 0.0f);
    float later = 0;
    for (std::size_t t = n; gated && t-- > 0;) {
      const float step = recall_softplus(p_[at_.gates + static_cast<std::size_t>(s.keys[t])]);
      strengths_[t] = step * std::exp(-decay * later);
      later += step;
    }
    double loss = 0;
    for (std::size_t q = 0; q < s.asked.size(); ++q) {
      const std::size_t row = static_cast<std::size_t>(s.asked[q]) * recall_token_count;
      RecallValues plain{}, d{};
      for (std::size_t t = 0; t < n; ++t)
        plain[static_cast<std::size_t>(s.values[t])] +=
            strengths_[t] * products_.asked[row + static_cast<std::size_t>(s.keys[t])];
      loss += static_cast<double>(judge(plain, static_cast<std::size_t>(s.answers[q]), d));
      for (std::size_t t = 0; t < n; ++t) {
        const std::size_t at = row + static_cast<std::size_t>(s.keys[t]);
        const float back = d[static_cast<std::size_t>(s.values[t])];
        products_.d_asked[at] += back * strengths_[t];
        d_strengths_[t] += back * products_.asked[at];
      }
    }
    if (!gated) return loss;
    // strength(t) = step(t) exp(-decay x the steps after t): a step weakens all before it.
    float before = 0;
    later = 0;
    for (std::size_t t = 0; t < n; ++t) later += recall_softplus(p_[at_.gates + static_cast<std::size_t>(s.keys[t])]);
    for (std::size_t t = 0; t < n; ++t) {
      const std::size_t gate = at_.gates + static_cast<std::size_t>(s.keys[t]);
      const float step = recall_softplus(p_[gate]), felt = d_strengths_[t] * strengths_[t];
      later -= step;
      g_[gate] += (felt / step - decay * before) * recall_sigmoid(p_[gate]);
      g_[at_.decay] -= felt * later * decay;
      before += felt;
    }
    return loss;
  }

  double learn_delta(const RecallStream& s) {
    const std::size_t n = s.keys.size();
    added_.assign(n, RecallValues{});
    d_added_.assign(n, RecallValues{});
    const auto token = [&](std::size_t t) { return static_cast<std::size_t>(s.keys[t]); };
    for (std::size_t t = 0; t < n; ++t) {
      RecallValues u{};
      u[static_cast<std::size_t>(s.values[t])] = 1;
      for (std::size_t e = 0; e < t; ++e) {
        const float x = products_.kept[token(t) * recall_token_count + token(e)];
        recall_add_scaled(u.data(), -x, added_[e].data(), recall_value_count);
      }
      const float strength = recall_sigmoid(p_[at_.gates + token(t)]);
      for (std::size_t v = 0; v < recall_value_count; ++v) added_[t][v] = strength * u[v];
    }
    double loss = 0;
    for (std::size_t q = 0; q < s.asked.size(); ++q) {
      const std::size_t row = static_cast<std::size_t>(s.asked[q]) * recall_token_count;
      RecallValues plain{}, d{};
      for (std::size_t t = 0; t < n; ++t) {
        const float x = products_.asked[row + token(t)];
        recall_add_scaled(plain.data(), x, added_[t].data(), recall_value_count);
      }
      loss += static_cast<double>(judge(plain, static_cast<std::size_t>(s.answers[q]), d));
      for (std::size_t t = 0; t < n; ++t) {
        const float x = products_.asked[row + token(t)];
        recall_add_scaled(d_added_[t].data(), x, d.data(), recall_value_count);
        products_.d_asked[row + token(t)] += recall_dot(d.data(), added_[t].data(), recall_value_count);
      }
    }
    for (std::size_t t = n; t-- > 0;) {
      const std::size_t gate = at_.gates + token(t);
      const float strength = recall_sigmoid(p_[gate]);
      const float felt = recall_dot(d_added_[t].data(), added_[t].data(), recall_value_count);
      g_[gate] += felt * (1 - strength);
      for (std::size_t e = 0; e < t; ++e) {
        const std::size_t at = token(t) * recall_token_count + token(e);
        const float x = products_.kept[at] * strength;
        products_.d_kept[at] -= strength * recall_dot(d_added_[t].data(), added_[e].data(), recall_value_count);
        recall_add_scaled(d_added_[e].data(), -x, d_added_[t].data(), recall_value_count);
      }
    }
    return loss;
  }

  void fill(RecallModel& out) {
    prepare();
    out.mixer = mixer_;
    out.width = training_.width;
    out.stride = static_cast<std::int64_t>(at_.width);
    out.written = keys_;
    out.asked.assign(p_.begin() + static_cast<std::ptrdiff_t>(at_.asked),
                     p_.begin() + static_cast<std::ptrdiff_t>(at_.gates));
    out.scale = std::exp(p_[at_.scale]);
    out.slope = mixer_ == RecallMixer::attention ? recall_softplus(p_[at_.slope] - 4) : 0;
    out.decay = mixer_ == RecallMixer::gated ? std::exp(p_[at_.decay]) : 0;
    for (std::size_t t = 0; t < recall_token_count; ++t) {
      const float gate = p_[at_.gates + t];
      out.gates.push_back(mixer_ == RecallMixer::gated   ? recall_softplus(gate)
                          : mixer_ == RecallMixer::delta ? recall_sigmoid(gate)
                                                         : 1.0f);
    }
  }

  RecallMixer mixer_;
  RecallTask task_;
  RecallTraining training_;
  RecallLayout at_;
  std::vector<float> p_, g_, keys_, lengths_, turned_, weights_, strengths_, d_strengths_;
  std::vector<RecallValues> added_, d_added_;
  RecallProducts products_;
};

}  // namespace

RecallModel train_recall(RecallMixer mixer, const RecallTask& task, const RecallTraining& training,
                         const std::atomic<bool>* stop) {
  return RecallTrainer(mixer, task, training).train(stop);
}

}  // namespace models::inference
