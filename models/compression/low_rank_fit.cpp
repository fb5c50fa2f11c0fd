#include "models/compression/low_rank_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "models/base/adam.h"
#include "models/base/lanes.h"
#include "models/base/linear_algebra.h"

namespace models::adapters {
namespace {

constexpr std::size_t first_training = 400, second_training = 320, held_out_digits = 400, batch_digits = 16;
constexpr std::size_t first_epochs = 8;

/// The pair of one layer: A is inputs x rank, B rank x stride of the layer.
struct ThinPair {
  std::size_t rank = 0;
  std::vector<float> a, b;
};

ThinPair thin_pair(const DenseLayer& layer, std::size_t rank, SeededRandom& random) {
  ThinPair p;
  p.rank = std::min({rank, layer.inputs, layer.outputs});
  p.a.resize(layer.inputs * p.rank);
  p.b.resize(p.rank * layer.stride);
  const double spread = 1 / std::sqrt(static_cast<double>(layer.inputs));
  for (float& v : p.a) v = static_cast<float>(spread * random.normal());
  return p;
}

/// merged = base + A B.
void merge(const DenseLayer& base, const ThinPair& pair, DenseLayer& merged) {
  for (std::size_t i = 0; i < base.inputs; ++i) {
    float* to = merged.weights.data() + i * base.stride;
    std::copy_n(base.weights.data() + i * base.stride, base.stride, to);
    for (std::size_t k = 0; k < pair.rank; ++k) {
      const lanes::Four a = lanes::splat(pair.a[i * pair.rank + k]);
      const float* b = pair.b.data() + k * base.stride;
      for (std::size_t o = 0; o < base.stride; o += lanes::width)
        lanes::store(to + o, lanes::load(to + o) + a * lanes::load(b + o));
    }
  }
}

/// Gradients of A and B from that of the whole matrix.
void split_gradient(const DenseLayer& whole, const ThinPair& pair, ThinPair& gradient) {
  std::fill(gradient.b.begin(), gradient.b.end(), 0.0f);
  for (std::size_t i = 0; i < whole.inputs; ++i) {
    const float* g = whole.weights.data() + i * whole.stride;
    for (std::size_t k = 0; k < pair.rank; ++k) {
      const float* b = pair.b.data() + k * whole.stride;
      float* gb = gradient.b.data() + k * whole.stride;
      const lanes::Four a = lanes::splat(pair.a[i * pair.rank + k]);
      lanes::Four sum = lanes::splat(0);
      for (std::size_t o = 0; o < whole.stride; o += lanes::width) {
        const lanes::Four slope = lanes::load(g + o);
        sum += slope * lanes::load(b + o);
        lanes::store(gb + o, lanes::load(gb + o) + a * slope);
      }
      gradient.a[i * pair.rank + k] = lanes::sum(sum);
    }
  }
}

/// Digits in an order of their own for each epoch, sixteen at a time.
class Batches {
 public:
  Batches(const DigitSet& digits, std::uint64_t seed)
      : digits_(digits), order_(digits.size()), random_(seed ^ 0x66696E65u) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  void shuffle() {
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
  }
  std::size_t count() const { return (digits_.size() + batch_digits - 1) / batch_digits; }
  const DigitSet& batch(std::size_t index) {
    now_.pixels.clear();
    now_.labels.clear();
    const std::size_t end = std::min(digits_.size(), (index + 1) * batch_digits);
    for (std::size_t i = index * batch_digits; i < end; ++i) {
      const auto picture = digits_.picture(order_[i]);
      now_.pixels.insert(now_.pixels.end(), picture.begin(), picture.end());
      now_.labels.push_back(digits_.labels[order_[i]]);
    }
    return now_;
  }

 private:
  const DigitSet& digits_;
  std::vector<std::size_t> order_;
  SeededRandom random_;
  DigitSet now_;
};

/// What is trained: the layers themselves, or a pair beside each.
struct Tuned {
  std::vector<ThinPair> pairs, gradients;
  std::vector<Adam> states;  ///< two a layer: weights and biases, or A and B
};

Tuned tuned_of(const SmallNetwork& base, const FineTune& how) {
  Tuned t;
  SeededRandom random(how.seed ^ 0x70616972u);
  random = SeededRandom(random.next());
  for (const DenseLayer& layer : base.layers) {
    if (how.rank == 0) {
      t.states.emplace_back(layer.weights.size());
      t.states.emplace_back(layer.biases.size());
      continue;
    }
    t.pairs.push_back(thin_pair(layer, how.rank, random));
    t.gradients.push_back(t.pairs.back());
    t.states.emplace_back(t.pairs.back().a.size());
    t.states.emplace_back(t.pairs.back().b.size());
  }
  return t;
}

void step(const SmallNetwork& base, const SmallNetwork& gradient, float rate, Tuned& t, SmallNetwork& network) {
  for (std::size_t l = 0; l < base.layers.size(); ++l) {
    const DenseLayer& g = gradient.layers[l];
    Adam &first = t.states[2 * l], &second = t.states[2 * l + 1];
    if (t.pairs.empty()) {
      first.step(network.layers[l].weights, g.weights, rate);
      second.step(network.layers[l].biases, g.biases, rate);
      continue;
    }
    split_gradient(g, t.pairs[l], t.gradients[l]);
    first.step(t.pairs[l].a, t.gradients[l].a, rate);
    second.step(t.pairs[l].b, t.gradients[l].b, rate);
    merge(base.layers[l], t.pairs[l], network.layers[l]);
  }
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations, largest first.
std::vector<double> eigenvalues(Matrix m) {
  const std::size_t n = m.rows;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double apq = m.at(p, q);
        off += apq * apq;
        if (std::abs(apq) < 1e-300) continue;
        const double theta = (m.at(q, q) - m.at(p, p)) / (2 * apq);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = m.at(k, p), kq = m.at(k, q);
          m.at(k, p) = c * kp - s * kq;
          m.at(k, q) = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = m.at(p, k), qk = m.at(q, k);
          m.at(p, k) = c * pk - s * qk;
          m.at(q, k) = s * pk + c * qk;
        }
      }
    if (off < 1e-24) break;
  }
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::max(0.0, m.at(i, i)));
  std::sort(out.rbegin(), out.rend());
  return out;
}

}  // namespace

DigitSet shifted_digits(std::uint64_t seed, DigitSplit split, std::size_t count, TaskShift shift) {
  DigitStyle style;
  if (shift == TaskShift::turned) style.turn = 0.9;
  DigitSet out = make_digits(seed, split, count, style);
  if (shift == TaskShift::relabelled)
    for (std::uint8_t& label : out.labels) label = static_cast<std::uint8_t>((label + 1) % digit_classes);
  if (shift == TaskShift::mirrored)
    for (std::size_t row = 0; row < out.pixels.size(); row += digit_side)
      std::reverse(out.pixels.begin() + static_cast<std::ptrdiff_t>(row),
                   out.pixels.begin() + static_cast<std::ptrdiff_t>(row + digit_side));
  return out;
}

FitTask make_fit_task(std::uint64_t seed, TaskShift shift) {
  constexpr std::array<std::size_t, 1> hidden{32};
  FitTask task;
  Training first;
  first.epochs = first_epochs;
  first.seed = seed;
  task.base = train(make_network(hidden, seed), make_digits(seed, DigitSplit::training, first_training), first).network;
  // A seed of its own: the second task's digits are other ones, not the first's turned.
  task.training = shifted_digits(seed + 1000, DigitSplit::training, second_training, shift);
  task.held_out = shifted_digits(seed + 1000, DigitSplit::held_out, held_out_digits, shift);
  task.first_held_out = make_digits(seed, DigitSplit::held_out, held_out_digits);
  Pass pass(task.base);
  task.base_loss = mean_loss(task.base, task.held_out, pass);
  task.base_accuracy = accuracy(task.base, task.held_out);
  task.first_accuracy = accuracy(task.base, task.first_held_out);
  return task;
}

FineTuned fine_tune(const FitTask& task, const FineTune& how) {
  FineTuned out;
  out.network = task.base;
  Tuned tuned = tuned_of(task.base, how);
  out.trained =
      how.rank == 0 ? task.base.weight_count() + task.base.bias_count() : low_rank_parameters(task.base, how.rank);
  Batches batches(task.training, how.seed);
  SmallNetwork gradient;
  const double all = static_cast<double>(how.epochs * batches.count());
  double done = 0;
  for (std::size_t epoch = 0; epoch < how.epochs; ++epoch) {
    batches.shuffle();
    for (std::size_t b = 0; b < batches.count(); ++b) {
      const DigitSet& batch = batches.batch(b);
      loss_and_gradient(out.network, batch, batch.size(), {}, gradient);
      step(task.base, gradient, static_cast<float>(how.rate * (1 - 0.9 * done / all)), tuned, out.network);
      done += 1;
    }
  }
  Pass pass(out.network);
  out.loss = mean_loss(out.network, task.held_out, pass);
  out.training_loss = mean_loss(out.network, task.training, pass);
  out.accuracy = accuracy(out.network, task.held_out);
  out.kept_accuracy = accuracy(out.network, task.first_held_out);
  return out;
}

std::size_t low_rank_parameters(const SmallNetwork& network, std::size_t rank) {
  std::size_t sum = 0;
  for (const DenseLayer& l : network.layers) sum += std::min({rank, l.inputs, l.outputs}) * (l.inputs + l.outputs);
  return sum;
}

double rank_share(const SmallNetwork& before, const SmallNetwork& after, std::size_t rank) {
  double kept = 0, all = 0;
  for (std::size_t l = 0; l < before.layers.size(); ++l) {
    const DenseLayer &x = before.layers[l], &y = after.layers[l];
    // X^T X of the change is as wide as the layer has outputs, here its smaller side.
    Matrix change(x.inputs, x.outputs);
    for (std::size_t i = 0; i < x.inputs; ++i)
      for (std::size_t o = 0; o < x.outputs; ++o)
        change.at(i, o) = static_cast<double>(y.at(i, o)) - static_cast<double>(x.at(i, o));
    const std::vector<double> squares = eigenvalues(gram(change));
    for (std::size_t k = 0; k < squares.size(); ++k) {
      all += squares[k];
      if (k < rank) kept += squares[k];
    }
  }
  return all > 0 ? kept / all : 1;
}

}  // namespace models::adapters
