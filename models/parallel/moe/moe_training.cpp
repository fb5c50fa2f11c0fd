#include "models/parallel/moe/moe_training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/base/counter_random.h"
#include "models/base/lanes.h"

namespace models::parallel {
namespace {

using lanes::Four;
static_assert(moe_outputs == lanes::width);

constexpr std::size_t pool_tokens = 2048;
constexpr std::size_t expert_floats = moe_inputs * moe_outputs;

/// The inputs of a token.
std::array<Four, 2> moe_token(const float* x, std::size_t token) {
  return {lanes::load(x + token * moe_inputs), lanes::load(x + token * moe_inputs + lanes::width)};
}
static_assert(moe_inputs == 2 * lanes::width);

/// Weights of one kind and what Adam keeps of them.
struct MoeWeights {
  std::vector<float> value, gradient, mean, square;
  void size(std::size_t floats) {
    value.assign(floats, 0);
    gradient.assign(floats, 0);
    mean.assign(floats, 0);
    square.assign(floats, 0);
  }
  void clear() { std::fill(gradient.begin(), gradient.end(), 0.0f); }
  void update(double rate, std::int64_t step) {
    constexpr float b1 = 0.9f, b2 = 0.95f;
    const auto done = static_cast<double>(step + 1);
    const auto scale = static_cast<float>(rate * std::sqrt(1 - std::pow(0.95, done)) / (1 - std::pow(0.9, done)));
    // Experts and gate both have a multiple of four floats.
    for (std::size_t i = 0; i < value.size(); i += lanes::width) {
      const Four g = lanes::load(&gradient[i]);
      const Four m = lanes::splat(b1) * lanes::load(&mean[i]) + lanes::splat(1 - b1) * g;
      const Four s = lanes::splat(b2) * lanes::load(&square[i]) + lanes::splat(1 - b2) * g * g;
      lanes::store(&mean[i], m);
      lanes::store(&square[i], s);
      const Four step_of = lanes::splat(scale) * m / (lanes::root(s) + lanes::splat(1e-8f));
      lanes::store(&value[i], lanes::load(&value[i]) - step_of);
    }
  }
};

/// The layer, its tokens' probabilities, and what a backward pass needs.
class MoeLayer {
 public:
  explicit MoeLayer(const MoeTrainingSetting& s)
      : s_(s),
        experts_(static_cast<std::size_t>(s.routing.experts)),
        stride_(moe_score_stride(s.routing.experts)),
        gated_(s.routing.rule == MoeRule::top_k || s.routing.rule == MoeRule::expert_choice) {
    expert.size(experts_ * expert_floats);
    gate.size(moe_inputs * stride_);
    if (s.balance == MoeBalance::bias && s.routing.rule == MoeRule::top_k) bias.assign(experts_, 0.0f);
    const std::uint64_t gates = random_stream(s.task.seed, 31), maps = random_stream(s.task.seed, 32);
    for (std::size_t i = 0; i < moe_inputs; ++i)
      for (std::size_t e = 0; e < experts_; ++e)
        gate.value[i * stride_ + e] = 0.1f * static_cast<float>(normal_draw(gates, i * experts_ + e));
    for (std::size_t i = 0; i < expert.value.size(); ++i)
      expert.value[i] = 0.1f * static_cast<float>(normal_draw(maps, i));
  }

  /// Probabilities, choices and outputs of `tokens` tokens at `x`; errors against `y` are kept in `error`.
  double forward(const float* x, const float* y, const std::uint16_t* words, std::size_t tokens) {
    if (gated_) probabilities(x, tokens);
    route_tokens(s_.routing, tokens, scores, bias, words, routed);
    error.assign(tokens * moe_outputs, 0.0f);
    parts_.resize(routed.copies.size() * moe_outputs);
    for (std::size_t c = 0; c < routed.copies.size(); ++c) {
      const MoeCopy& copy = routed.copies[c];
      if (!copy.kept) continue;
      const float* w = &expert.value[copy.expert * expert_floats];
      const std::array<Four, 2> in = moe_token(x, copy.token);
      Four out = lanes::splat(0);
      for (std::size_t i = 0; i < moe_inputs; ++i)
        out += lanes::splat(in[i / 4][i % 4]) * lanes::load(w + i * moe_outputs);
      lanes::store(&parts_[c * moe_outputs], out);
      float* sum = &error[copy.token * moe_outputs];
      lanes::store(sum, lanes::load(sum) + lanes::splat(copy.weight) * out);
    }
    double total = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      const Four e = lanes::load(&error[t * moe_outputs]) - lanes::load(y + t * moe_outputs);
      lanes::store(&error[t * moe_outputs], e);
      total += static_cast<double>(lanes::sum(e * e));
    }
    return total / static_cast<double>(tokens * moe_outputs);
  }

  /// Gradients of loss, auxiliary loss and z-loss of the last forward pass.
  void backward(const float* x, std::size_t tokens) {
    expert.clear();
    gate.clear();
    const float scale = 2.0f / static_cast<float>(tokens * moe_outputs);
    to_score_.assign(gated_ ? tokens * stride_ : 0, 0.0f);
    mean_.assign(tokens, 0.0f);
    gain_.resize(routed.copies.size());
    const bool over_sum = s_.routing.rule == MoeRule::top_k && s_.routing.top_k > 1;
    for (std::size_t c = 0; c < routed.copies.size(); ++c) {
      const MoeCopy& copy = routed.copies[c];
      gain_[c] = 0;
      if (!copy.kept) continue;
      const Four g = lanes::splat(scale) * lanes::load(&error[copy.token * moe_outputs]);
      gain_[c] = lanes::sum(g * lanes::load(&parts_[c * moe_outputs]));
      mean_[copy.token] += copy.weight * gain_[c];
      const Four to_part = lanes::splat(copy.weight) * g;
      float* w = &expert.gradient[copy.expert * expert_floats];
      const std::array<Four, 2> in = moe_token(x, copy.token);
      for (std::size_t i = 0; i < moe_inputs; ++i, w += moe_outputs)
        lanes::store(w, lanes::load(w) + lanes::splat(in[i / 4][i % 4]) * to_part);
    }
    if (!gated_) return;
    for (std::size_t c = 0; c < routed.copies.size(); ++c) {
      const MoeCopy& copy = routed.copies[c];
      const std::size_t at = copy.token * stride_ + copy.expert;
      // w = p / sum of the chosen p: dw/dp = (1 - w) / sum for its own, -w / sum for the others, and sum = p / w.
      if (over_sum)
        to_score_[at] += (gain_[c] - mean_[copy.token]) * copy.weight / std::max(scores[at], 1e-20f);
      else
        to_score_[at] += gain_[c];
    }
    backward_gate(x, tokens);
  }

  /// Moves the bias by gamma against the load's error.
  double move_bias() {
    double largest = 0;
    if (bias.empty()) return largest;
    double mean = 0;
    for (const std::int64_t asked : routed.asked) mean += static_cast<double>(asked);
    mean /= static_cast<double>(experts_);
    for (std::size_t e = 0; e < experts_; ++e) {
      const double wrong = mean - static_cast<double>(routed.asked[e]);
      const double move = wrong > 0 ? s_.gamma : wrong < 0 ? -s_.gamma : 0;
      bias[e] += static_cast<float>(move);
      largest = std::max(largest, std::abs(move));
    }
    return largest;
  }

  /// Mean probability of each expert, of the last forward pass.
  std::vector<double> mean_probability(std::size_t tokens) const {
    std::vector<double> mean(experts_, 0.0);
    for (std::size_t t = 0; t < tokens; ++t)
      for (std::size_t e = 0; e < experts_; ++e) mean[e] += static_cast<double>(scores[t * stride_ + e]);
    for (double& m : mean) m /= static_cast<double>(tokens);
    return mean;
  }
  bool gated() const { return gated_; }
  std::size_t stride() const { return stride_; }

  MoeWeights expert, gate;
  std::vector<float> scores, bias, error;
  MoeRouted routed;

 private:
  void probabilities(const float* x, std::size_t tokens) {
    scores.resize(tokens * stride_);
    log_sum_.resize(tokens);
    // Four experts at a time over all tokens, so that their weights stay in registers.
    for (std::size_t e = 0; e < stride_; e += lanes::width) {
      std::array<Four, moe_inputs> w;
      for (std::size_t i = 0; i < moe_inputs; ++i) w[i] = lanes::load(&gate.value[i * stride_ + e]);
      for (std::size_t t = 0; t < tokens; ++t) {
        const std::array<Four, 2> in = moe_token(x, t);
        Four z = lanes::splat(0);
        for (std::size_t i = 0; i < moe_inputs; ++i) z += lanes::splat(in[i / 4][i % 4]) * w[i];
        lanes::store(&scores[t * stride_ + e], z);
      }
    }
    for (std::size_t t = 0; t < tokens; ++t) {
      float* row = &scores[t * stride_];
      Four highest = lanes::splat(-1e30f);
      for (std::size_t e = experts_; e < stride_; ++e) row[e] = -1e30f;
      for (std::size_t e = 0; e < stride_; e += lanes::width) highest = lanes::larger(highest, lanes::load(row + e));
      const float top = std::max(std::max(highest[0], highest[1]), std::max(highest[2], highest[3]));
      Four total = lanes::splat(0);
      for (std::size_t e = 0; e < stride_; e += lanes::width) {
        const Four p = lanes::exp_negative(lanes::load(row + e) - lanes::splat(top));
        lanes::store(row + e, p);
        total += p;
      }
      const float sum = lanes::sum(total);
      for (std::size_t e = 0; e < stride_; e += lanes::width)
        lanes::store(row + e, lanes::load(row + e) * lanes::splat(1 / sum));
      log_sum_[t] = s_.z_loss > 0 ? top + std::log(sum) : 0;
    }
  }

  void backward_gate(const float* x, std::size_t tokens) {
    std::vector<float> even(stride_, 0.0f);
    if (s_.balance == MoeBalance::auxiliary && s_.routing.rule == MoeRule::top_k)
      for (std::size_t e = 0; e < experts_; ++e)
        even[e] = static_cast<float>(s_.alpha * static_cast<double>(experts_) * static_cast<double>(routed.asked[e]) /
                                     static_cast<double>(routed.copies.size() * tokens));
    // A softmax takes the mean of the gradients away; what z-loss adds is the same for all experts of a token.
    for (std::size_t t = 0; t < tokens; ++t) {
      const float* p = &scores[t * stride_];
      float* to = &to_score_[t * stride_];
      Four dot = lanes::splat(0);
      for (std::size_t e = 0; e < stride_; e += lanes::width) {
        const Four g = lanes::load(to + e) + lanes::load(&even[e]);
        lanes::store(to + e, g);
        dot += g * lanes::load(p + e);
      }
      mean_[t] = lanes::sum(dot);
      log_sum_[t] *= static_cast<float>(2 * s_.z_loss) / static_cast<float>(tokens);
    }
    for (std::size_t e = 0; e < stride_; e += lanes::width) {
      std::array<Four, moe_inputs> gradient{};
      for (std::size_t t = 0; t < tokens; ++t) {
        const std::array<Four, 2> in = moe_token(x, t);
        const Four to_logit =
            lanes::load(&scores[t * stride_ + e]) *
            (lanes::load(&to_score_[t * stride_ + e]) - lanes::splat(mean_[t]) + lanes::splat(log_sum_[t]));
        for (std::size_t i = 0; i < moe_inputs; ++i) gradient[i] += lanes::splat(in[i / 4][i % 4]) * to_logit;
      }
      for (std::size_t i = 0; i < moe_inputs; ++i) lanes::store(&gate.gradient[i * stride_ + e], gradient[i]);
    }
  }

  const MoeTrainingSetting& s_;
  std::size_t experts_, stride_;
  bool gated_;
  std::vector<float> parts_, to_score_, mean_, gain_, log_sum_;
};

/// What the trained layer does with tokens that it has not seen.
void test_moe(MoeLayer& layer, MoeTrained& out) {
  out.test_loss = layer.forward(out.test.x.data(), out.test.y.data(), out.test.words.data(), out.test.size());
  for (std::size_t t = 0; t < out.test.size(); ++t) {
    double square = 0;
    for (std::size_t o = 0; o < moe_outputs; ++o) {
      const double e = static_cast<double>(layer.error[t * moe_outputs + o]);
      square += e * e;
    }
    out.token_error.push_back(square / moe_outputs);
  }
  out.routed = layer.routed;
  out.bias = layer.bias;
  out.auxiliary = std::numeric_limits<double>::quiet_NaN();
  const std::size_t experts = out.routed.asked.size();
  if (!layer.gated() || experts < 2) return;
  const std::vector<double> mean = layer.mean_probability(out.test.size());
  out.auxiliary = 0;
  for (std::size_t e = 0; e < experts; ++e)
    out.auxiliary += static_cast<double>(experts) * mean[e] * static_cast<double>(out.routed.asked[e]) /
                     static_cast<double>(out.routed.copies.size());
  double entropy = 0;
  for (std::size_t t = 0; t < out.test.size(); ++t)
    for (std::size_t e = 0; e < experts; ++e) {
      const auto p = static_cast<double>(layer.scores[t * layer.stride() + e]);
      if (p > 1e-30) entropy -= p * std::log(p);
    }
  out.router_entropy = entropy / static_cast<double>(out.test.size()) / std::log(static_cast<double>(experts));
}

}  // namespace

MoeTrainingTokens draw_training_tokens(const MoeTaskSetting& task, std::int64_t step_tokens) {
  const auto tokens = static_cast<std::size_t>(step_tokens);
  const std::size_t pool = (pool_tokens + tokens - 1) / tokens * tokens;
  return {draw_moe_tokens(task, pool, 0), draw_moe_tokens(task, moe_test_tokens, 1)};
}

std::shared_ptr<const MoeTrained> train_moe(const MoeTrainingSetting& s, const std::atomic<bool>* cancelled) {
  return train_moe(s, draw_training_tokens(s.task, s.tokens), cancelled);
}

std::shared_ptr<const MoeTrained> train_moe(const MoeTrainingSetting& s, const MoeTrainingTokens& drawn,
                                            const std::atomic<bool>* cancelled) {
  auto out = std::make_shared<MoeTrained>();
  MoeLayer layer(s);
  const auto tokens = static_cast<std::size_t>(s.tokens);
  const MoeTokens& train = drawn.train;
  const std::size_t pool = train.size();
  out->trained_load.assign(static_cast<std::size_t>(s.routing.experts), 0.0);
  std::vector<double> asked;
  for (std::int64_t step = 0; step < s.steps; ++step) {
    if (cancelled && *cancelled) return nullptr;
    const std::size_t at = static_cast<std::size_t>(step) * tokens % pool;
    const float* x = &train.x[at * moe_inputs];
    MoeStepFacts facts;
    facts.loss = layer.forward(x, &train.y[at * moe_outputs], &train.words[at], tokens);
    asked.assign(layer.routed.asked.begin(), layer.routed.asked.end());
    facts.max_over_mean = max_over_mean(asked);
    facts.dropped = static_cast<double>(layer.routed.dropped) / static_cast<double>(layer.routed.copies.size());
    out->steps.push_back(facts);
    if (step >= s.steps - (s.steps + 9) / 10)
      for (std::size_t e = 0; e < asked.size(); ++e) out->trained_load[e] += asked[e];
    layer.backward(x, tokens);
    const double rate = s.rate * (1 - static_cast<double>(step) / static_cast<double>(s.steps));
    layer.expert.update(rate, step);
    if (layer.gated()) layer.gate.update(rate, step);
    out->bias_step = layer.move_bias();
  }
  out->test = drawn.test;
  test_moe(layer, *out);
  return out;
}

}  // namespace models::parallel
