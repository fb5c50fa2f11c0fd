#include "models/compression/batch_study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/compression/small_network_train.h"

namespace models {
namespace {

constexpr std::size_t pool = 2048, hidden_units = 16, held_out_digits = 96, max_examples = 16'384;
constexpr double too_much_nats = 20;

SmallNetwork fresh_network(std::uint64_t seed) {
  const std::array<std::size_t, 1> hidden{hidden_units};
  return make_network(hidden, seed);
}

/// Digits in an order of their own for each time through the pool.
class DigitStream {
 public:
  explicit DigitStream(const BatchTask& task) : digits_(task.training), random_(task.seed ^ 77) {
    order_.resize(pool);
    std::iota(order_.begin(), order_.end(), 0u);
  }
  /// The next `count` digits.
  const DigitSet& take(std::size_t count) {
    part_.pixels.clear();
    part_.labels.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (at_ % pool == 0)
        for (std::size_t k = pool; k > 1; --k) std::swap(order_[k - 1], order_[random_.below(k)]);
      const std::size_t d = order_[at_++ % pool];
      const auto picture = digits_.picture(d);
      part_.pixels.insert(part_.pixels.end(), picture.begin(), picture.end());
      part_.labels.push_back(digits_.labels[d]);
    }
    return part_;
  }

 private:
  const DigitSet& digits_;
  DigitSet part_;
  SeededRandom random_;
  std::vector<std::uint32_t> order_;
  std::size_t at_ = 0;
};

template <class Two>
void each_pair(SmallNetwork& a, const SmallNetwork& b, const Two& two) {
  for (std::size_t l = 0; l < a.layers.size(); ++l) {
    for (std::size_t i = 0; i < a.layers[l].weights.size(); ++i) two(a.layers[l].weights[i], b.layers[l].weights[i]);
    for (std::size_t i = 0; i < a.layers[l].biases.size(); ++i) two(a.layers[l].biases[i], b.layers[l].biases[i]);
  }
}

double network_square(const SmallNetwork& a) {
  double s = 0;
  for (const DenseLayer& l : a.layers) {
    for (const float w : l.weights) s += static_cast<double>(w) * static_cast<double>(w);
    for (const float b : l.biases) s += static_cast<double>(b) * static_cast<double>(b);
  }
  return s;
}

void add_network(SmallNetwork& to, const SmallNetwork& from, double factor) {
  const auto f = static_cast<float>(factor);
  each_pair(to, from, [f](float& a, float b) { a += f * b; });
}

/// Sizes of the micro-batches: they sum to the batch, and none is empty.
std::vector<std::size_t> micro_sizes(const BatchRunSetup& s) {
  const std::size_t n = std::clamp<std::size_t>(s.micro_batches, 1, s.batch);
  std::vector<std::size_t> sizes;
  std::size_t left = s.batch;
  double parts = 0;
  for (std::size_t i = 0; i < n; ++i) parts += s.uneven ? (i % 2 == 0 ? 1 : 3) : 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double part = s.uneven ? (i % 2 == 0 ? 1 : 3) : 1;
    const std::size_t rest = n - i - 1;
    const auto wanted = static_cast<std::size_t>(std::llround(static_cast<double>(s.batch) * part / parts));
    sizes.push_back(rest == 0 ? left : std::clamp<std::size_t>(wanted, 1, left - rest));
    left -= sizes.back();
  }
  return sizes;
}

}  // namespace

namespace {

/// A training that goes on update by update.
class BatchTraining {
 public:
  BatchTraining(const BatchTask& task, const BatchRunSetup& setup)
      : setup_(setup),
        stream_(task),
        whole_(fresh_network(task.seed)),
        speed_(whole_),
        sizes_(micro_sizes(setup)),
        run_{.loss = {}, .network = whole_} {
    add_network(speed_, run_.network, -1);
  }
  bool goes_on() const { return run_.loss.size() < setup_.steps && !run_.diverged; }
  void update() {
    const auto n = static_cast<double>(sizes_.size());
    double loss = 0;
    for (std::size_t m = 0; m < sizes_.size(); ++m) {
      const double share = static_cast<double>(sizes_[m]) / static_cast<double>(setup_.batch),
                   weight = setup_.rule == AccumulationRule::by_count        ? share
                            : setup_.rule == AccumulationRule::mean_of_means ? 1 / n
                                                                             : 1;
      loss += share * loss_and_gradient(run_.network, stream_.take(sizes_[m]), sizes_[m], {}, gradient_);
      if (m == 0)
        each_pair(whole_, gradient_, [&](float& a, float b) { a = static_cast<float>(weight) * b; });
      else
        add_network(whole_, gradient_, weight);
    }
    const auto step = static_cast<double>(run_.loss.size() + 1);
    run_.loss.push_back(std::isfinite(loss) ? std::min(loss, 2 * too_much_nats) : 2 * too_much_nats);
    run_.diverged = !(loss <= too_much_nats);
    const double ramp = setup_.warm_up > 0 ? std::min(1.0, step / static_cast<double>(setup_.warm_up)) : 1;
    const auto momentum = static_cast<float>(setup_.momentum), rate = static_cast<float>(setup_.rate * ramp);
    each_pair(speed_, whole_, [&](float& v, float g) { v = momentum * v - rate * g; });
    add_network(run_.network, speed_, 1);
  }
  const BatchRun& run() const { return run_; }

 private:
  BatchRunSetup setup_;
  DigitStream stream_;
  SmallNetwork gradient_, whole_, speed_;
  std::vector<std::size_t> sizes_;
  BatchRun run_;
};

}  // namespace

BatchTask batch_task(std::uint64_t seed) {
  return {.seed = seed,
          .training = make_digits(seed, DigitSplit::training, pool),
          .held_out = make_digits(seed, DigitSplit::held_out, held_out_digits)};
}

BatchRun run_batches(const BatchTask& task, const BatchRunSetup& setup) {
  BatchTraining training(task, setup);
  while (training.goes_on()) training.update();
  return training.run();
}

BatchPair train_pair(const BatchTask& task, const BatchRunSetup& setup) {
  BatchRunSetup at_once = setup;
  at_once.micro_batches = 1;
  at_once.rule = AccumulationRule::by_count;
  BatchTraining whole(task, at_once), pieces(task, setup);
  BatchPair out;
  Pass pass(pieces.run().network);
  while (whole.goes_on() || pieces.goes_on()) {
    const bool both = whole.goes_on() && pieces.goes_on();
    if (whole.goes_on()) whole.update();
    if (pieces.goes_on()) {
      pieces.update();
      out.held_out.push_back(mean_loss(pieces.run().network, task.held_out, pass));
    }
    if (both) out.apart.push_back(weight_distance(whole.run().network, pieces.run().network));
  }
  out.whole = whole.run();
  out.pieces = pieces.run();
  return out;
}

double weight_distance(const SmallNetwork& a, const SmallNetwork& b) {
  SmallNetwork difference = a;
  add_network(difference, b, -1);
  return std::sqrt(network_square(difference) / network_square(a));
}

double noise_scale(const SmallNetwork& network, const BatchTask& task, std::size_t examples) {
  DigitStream stream(task);
  SmallNetwork gradient, mean = network;
  add_network(mean, network, -1);
  double squares = 0;
  for (std::size_t i = 0; i < examples; ++i) {
    loss_and_gradient(network, stream.take(1), 1, {}, gradient);
    squares += network_square(gradient);
    add_network(mean, gradient, 1 / static_cast<double>(examples));
  }
  const auto n = static_cast<double>(examples);
  const double covariance = (squares / n - network_square(mean)) * n / (n - 1),
               signal = network_square(mean) - covariance / n;
  return signal > 0 ? covariance / signal : 0;
}

namespace {

/// Trains small networks until their loss on digits held out falls to a target.
class TargetSearch {
 public:
  TargetSearch(const BatchTask& task, double target_loss, const std::atomic<bool>* cancelled)
      : task_(task), target_loss_(target_loss), cancelled_(cancelled), pass_(fresh_network(task.seed)) {}

  /// The cheapest of three learning rates for `batch`, from that on which was best for the batch before: the best rate
  /// does not fall when the batch grows.
  BatchCost cost_of(std::size_t batch) {
    static constexpr std::array<double, 4> rates{0.03, 0.1, 0.3, 1.0};  // beyond 1 no batch trains
    BatchCost best{.batch = batch, .examples = static_cast<double>(max_examples)};
    const std::size_t first = slowest_;
    for (std::size_t r = first; r < std::min(rates.size(), first + 3) && !stopped(); ++r)
      if (train(rates[r], best)) slowest_ = r;
    return best;
  }
  bool stopped() const { return cancelled_ && cancelled_->load(std::memory_order_relaxed); }
  /// The network that reached the target last; without layers where none did.
  const SmallNetwork& at_target() const { return at_target_; }

 private:
  /// Trains with `rate` for fewer examples than `best`, and takes its place where the target is reached.
  bool train(double rate, BatchCost& best) {
    const std::size_t batch = best.batch, every = std::max<std::size_t>(1, 24 / batch);
    SmallNetwork network = fresh_network(task_.seed);
    DigitStream stream(task_);
    double before = mean_loss(network, task_.held_out, pass_);
    for (std::size_t step = 1; static_cast<double>(step * batch) < best.examples && !stopped(); ++step) {
      const double loss = loss_and_gradient(network, stream.take(batch), batch, {}, gradient_);
      if (!(loss <= too_much_nats)) return false;
      add_network(network, gradient_, -rate);
      if (step % every != 0) continue;
      const double now = mean_loss(network, task_.held_out, pass_);
      if (!(now <= too_much_nats)) return false;
      if (now > target_loss_) {
        before = now;
        continue;
      }
      // The target lies between the last two looks; the loss is taken as falling evenly.
      const double part = before > now ? (before - target_loss_) / (before - now) : 1;
      const double steps = static_cast<double>(step - every) + part * static_cast<double>(every);
      best = {.batch = batch,
              .steps = std::max(steps, 0.5),
              .examples = std::max(steps, 0.5) * static_cast<double>(batch),
              .rate = rate,
              .reached = true};
      at_target_ = network;
      return true;
    }
    return false;
  }

  const BatchTask& task_;
  double target_loss_;
  const std::atomic<bool>* cancelled_;
  Pass pass_;
  SmallNetwork gradient_, at_target_;
  std::size_t slowest_ = 0;  ///< index of the learning rate that was best for the batch before
};

/// examples = a + b batch, by relative least squares: both unknowns enter linearly.
void fit_examples(CriticalBatch& out) {
  double s11 = 0, s12 = 0, s22 = 0, y1 = 0, y2 = 0;
  for (const BatchCost& c : out.costs) {
    if (!c.reached) continue;
    const double u = 1 / c.examples, v = static_cast<double>(c.batch) / c.examples;
    s11 += u * u;
    s12 += u * v;
    s22 += v * v;
    y1 += u;
    y2 += v;
  }
  const double det = s11 * s22 - s12 * s12;
  if (det > 0) {
    out.examples_min = (y1 * s22 - y2 * s12) / det;
    out.steps_min = (y2 * s11 - y1 * s12) / det;
  }
  if (out.examples_min > 0 && out.steps_min > 0) out.batch = out.examples_min / out.steps_min;
}

}  // namespace

CriticalBatch find_critical_batch(const BatchTask& task, double target_loss, const std::atomic<bool>* cancelled) {
  CriticalBatch out;
  TargetSearch search(task, target_loss, cancelled);
  for (const std::size_t batch : std::array<std::size_t, 5>{1, 4, 16, 64, 256}) {
    const BatchCost cost = search.cost_of(batch);
    if (search.stopped()) return out;
    out.costs.push_back(cost);
  }
  fit_examples(out);
  const BatchRun early = run_batches(task, {.batch = 64, .steps = 10, .rate = 0.3});
  const BatchTask unread = batch_task(task.seed + 1000);
  out.noise_early = noise_scale(early.network, unread, 256);
  if (!search.at_target().layers.empty()) out.noise_late = noise_scale(search.at_target(), unread, 256);
  return out;
}

}  // namespace models
