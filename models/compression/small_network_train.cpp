#include "models/compression/small_network_train.h"

#include "models/base/lanes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models {
namespace {

using Ten = std::array<float, digit_classes>;

/// Softmax of x / T; returns log of the sum of exp((x - largest) / T), from which log p = (x - largest) / T - that.
float softmax(const float* x, float temperature, Ten& p, float& largest) {
  largest = *std::max_element(x, x + digit_classes);
  float sum = 0;
  for (std::size_t k = 0; k < digit_classes; ++k) sum += p[k] = std::exp((x[k] - largest) / temperature);
  for (float& v : p) v /= sum;
  return std::log(sum);
}

/// What the teacher says, softened: the same in every epoch, so worked out once.
struct SoftTargets {
  std::vector<float> chances;  ///< digits x 10
  std::vector<double> self;    ///< sum p log p of each digit, nats
};
SoftTargets soft_targets(const Distillation& d) {
  SoftTargets out;
  const float t = static_cast<float>(d.temperature);
  out.chances.resize(d.teacher_logits.size());
  for (std::size_t i = 0; i < d.teacher_logits.size() / digit_classes; ++i) {
    const float* logits = d.teacher_logits.data() + i * digit_classes;
    Ten q{};
    float largest = 0;
    const float log_sum = softmax(logits, t, q, largest);
    double self = 0;
    for (std::size_t k = 0; k < digit_classes; ++k)
      self += static_cast<double>(q[k] * ((logits[k] - largest) / t - log_sum));
    std::copy(q.begin(), q.end(), out.chances.begin() + static_cast<std::ptrdiff_t>(i * digit_classes));
    out.self.push_back(self);
  }
  return out;
}

/// Loss of digit `i`; `slope` takes its derivative by the logits.
double loss_of(const float* logits, std::size_t label, const SoftTargets& teacher, std::size_t i, const Distillation& d,
               float* slope) {
  Ten p{};
  float largest = 0;
  const float hard = teacher.self.empty() ? 1.0f : static_cast<float>(d.alpha);
  double loss = 0;
  std::fill_n(slope, digit_classes, 0.0f);
  if (hard > 0) {
    const float log_sum = softmax(logits, 1, p, largest);
    loss = static_cast<double>(hard * (log_sum - (logits[label] - largest)));
    for (std::size_t k = 0; k < digit_classes; ++k) slope[k] = hard * (p[k] - (k == label ? 1.0f : 0.0f));
  }
  if (hard >= 1) return loss;
  const float t = static_cast<float>(d.temperature), soft = 1 - hard;
  const float* q = teacher.chances.data() + i * digit_classes;
  const float log_sum = softmax(logits, t, p, largest);
  double divergence = teacher.self[i];
  for (std::size_t k = 0; k < digit_classes; ++k) {
    divergence -= static_cast<double>(q[k] * ((logits[k] - largest) / t - log_sum));
    slope[k] += soft * t * (p[k] - q[k]);  // T^2 from the loss, 1/T from the softmax
  }
  return loss + static_cast<double>(soft * t * t) * divergence;
}

/// Adds the gradient of one digit, whose activations are in `pass` and whose slope by the logits is `slope`.
void backward(const SmallNetwork& network, const Pass& pass, std::vector<std::vector<float>>& slopes,
              SmallNetwork& gradient, const ActivationGrid& grid) {
  using namespace lanes;
  for (std::size_t l = network.layers.size(); l-- > 0;) {
    const DenseLayer& layer = network.layers[l];
    DenseLayer& g = gradient.layers[l];
    const float* dy = slopes[l].data();
    const float* x = pass.inputs[l].data();
    for (std::size_t o = 0; o < layer.stride; o += width)
      store(g.biases.data() + o, load(g.biases.data() + o) + load(dy + o));
    float* dx = l > 0 ? slopes[l - 1].data() : nullptr;
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      float* gw = g.weights.data() + i * layer.stride;
      const float* w = layer.weights.data() + i * layer.stride;
      const Four xi = splat(x[i]);
      for (std::size_t o = 0; o < layer.stride; o += width) store(gw + o, load(gw + o) + xi * load(dy + o));
      if (!dx) continue;
      Four s = splat(0);
      for (std::size_t o = 0; o < layer.stride; o += width) s += load(w + o) * load(dy + o);
      // ReLU lets a slope through where it let a value through; a clipped activation (straight-through estimator) lets
      // none.
      const bool passes = x[i] > 0 && !(grid.bits > 0 && pass.cut[l][i]);
      dx[i] = passes ? sum(s) : 0.0f;
    }
  }
}

/// One digit forward and backward; returns its loss.
double learn(const SmallNetwork& network, const DigitSet& digits, std::size_t i, const Training& how,
             const SoftTargets& teacher, Pass& pass, std::vector<std::vector<float>>& slopes, SmallNetwork& gradient) {
  forward(network, digits.picture(i), pass, how.activations);
  const double loss = loss_of(pass.logits.data(), digits.labels[i], teacher, i, how.teacher, slopes.back().data());
  backward(network, pass, slopes, gradient, how.activations);
  return loss;
}

std::vector<std::vector<float>> slopes_for(const SmallNetwork& network) {
  std::vector<std::vector<float>> out;
  for (const DenseLayer& l : network.layers) out.emplace_back(l.stride);
  return out;
}

void clear(SmallNetwork& n) {
  for (DenseLayer& l : n.layers) {
    std::fill(l.weights.begin(), l.weights.end(), 0.0f);
    std::fill(l.biases.begin(), l.biases.end(), 0.0f);
  }
}

/// v = momentum v - rate g; w += v, where the mask (if any) is 1. Speeds that fade away become 0 and not denormal
/// numbers, which are slow.
void step(std::vector<float>& w, std::vector<float>& v, const std::vector<float>& g, const float* mask, float rate,
          float momentum) {
  using namespace lanes;
  for (std::size_t i = 0; i < w.size(); i += width) {
    Four next = splat(momentum) * load(v.data() + i) - splat(rate) * load(g.data() + i);
    if (mask) next *= load(mask + i);
    next = (next + splat(1e-18f)) - splat(1e-18f);
    store(v.data() + i, next);
    store(w.data() + i, load(w.data() + i) + next);
  }
}

void quantize_into(const SmallNetwork& from, const WeightGrid& grid, SmallNetwork& to) {
  using namespace lanes;
  const float top = static_cast<float>((1 << (grid.bits - 1)) - 1);
  std::vector<float> scale;
  for (std::size_t l = 0; l < from.layers.size(); ++l) {
    const DenseLayer& a = from.layers[l];
    DenseLayer& b = to.layers[l];
    scale.assign(a.stride, 0.0f);
    for (std::size_t i = 0; i < a.inputs; ++i)
      for (std::size_t o = 0; o < a.outputs; ++o) scale[o] = std::max(scale[o], std::abs(a.at(i, o)));
    if (!grid.per_channel) std::fill(scale.begin(), scale.end(), *std::max_element(scale.begin(), scale.end()));
    for (float& s : scale) s = s > 0 ? s / top : 1.0f;
    for (std::size_t i = 0; i < a.inputs; ++i)
      for (std::size_t o = 0; o < a.stride; o += width) {
        const Four s = load(scale.data() + o);
        store(b.weights.data() + i * a.stride + o, round(load(a.weights.data() + i * a.stride + o) / s) * s);
      }
    b.biases = a.biases;
  }
}

}  // namespace

SmallNetwork quantize_weights(const SmallNetwork& network, const WeightGrid& grid) {
  SmallNetwork out = network;
  if (grid.bits >= 2) quantize_into(network, grid, out);
  return out;
}

double loss_and_gradient(const SmallNetwork& network, const DigitSet& digits, std::size_t count, const Training& how,
                         SmallNetwork& gradient) {
  gradient = network;
  clear(gradient);
  Pass pass(network);
  auto slopes = slopes_for(network);
  const SoftTargets teacher = soft_targets(how.teacher);
  double loss = 0;
  for (std::size_t i = 0; i < count; ++i) loss += learn(network, digits, i, how, teacher, pass, slopes, gradient);
  const float share = 1.0f / static_cast<float>(count);
  for (DenseLayer& l : gradient.layers) {
    for (float& v : l.weights) v *= share;
    for (float& v : l.biases) v *= share;
  }
  return loss / static_cast<double>(count);
}

Trained train(SmallNetwork network, const DigitSet& digits, const Training& how) {
  Trained out;
  SmallNetwork speed = network, gradient = network, rounded = network;
  clear(speed);
  std::vector<std::vector<float>> masks;
  if (how.keep_zeros)
    for (const DenseLayer& l : network.layers) {
      masks.emplace_back(l.weights.size());
      std::transform(l.weights.begin(), l.weights.end(), masks.back().begin(),
                     [](float w) { return w != 0.0f ? 1.0f : 0.0f; });
    }
  const bool straight_through = how.weights.bits >= 2;
  const SmallNetwork& seen = straight_through ? rounded : network;
  Pass pass(network);
  auto slopes = slopes_for(network);
  const SoftTargets teacher = soft_targets(how.teacher);
  std::vector<std::uint32_t> order(digits.size());
  std::iota(order.begin(), order.end(), 0u);
  SeededRandom random(how.seed ^ 0x6F726465u);
  const std::size_t batches = (digits.size() + how.batch - 1) / how.batch;
  for (std::size_t epoch = 0; epoch < how.epochs; ++epoch) {
    if (how.go_on && !how.go_on(static_cast<double>(epoch) / static_cast<double>(how.epochs))) {
      out.stopped = true;
      break;
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    double loss = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      const std::size_t first = b * how.batch, end = std::min(first + how.batch, digits.size());
      if (straight_through) quantize_into(network, how.weights, rounded);
      clear(gradient);
      for (std::size_t i = first; i < end; ++i)
        loss += learn(seen, digits, order[i], how, teacher, pass, slopes, gradient);
      const double done = (static_cast<double>(epoch) + static_cast<double>(b) / static_cast<double>(batches)) /
                          static_cast<double>(how.epochs);
      const float rate = static_cast<float>(how.rate * (1 - 0.9 * done) / static_cast<double>(end - first)),
                  momentum = static_cast<float>(how.momentum);
      for (std::size_t l = 0; l < network.layers.size(); ++l) {
        step(network.layers[l].weights, speed.layers[l].weights, gradient.layers[l].weights,
             masks.empty() ? nullptr : masks[l].data(), rate, momentum);
        step(network.layers[l].biases, speed.layers[l].biases, gradient.layers[l].biases, nullptr, rate, momentum);
      }
    }
    out.epoch_loss.push_back(digits.size() > 0 ? loss / static_cast<double>(digits.size()) : 0);
  }
  out.network = std::move(network);
  return out;
}

}  // namespace models
