#include "models/rare/rare_training.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "models/base/adam.h"
#include "models/compression/small_network_train.h"
#include "models/rare/gradient_code.h"

namespace models::rare {
namespace {

constexpr std::size_t pool_digits = 512, held_out_digits = 60, steps_per_look = 4;
constexpr double too_much_nats = 20;

SmallNetwork first_network(std::uint64_t seed) {
  const std::array<std::size_t, 1> hidden{rare_hidden};
  return make_network(hidden, seed);
}

/// Which digits a worker reads.
class WorkerDigits {
 public:
  WorkerDigits(const DigitSet& all, const RareSetup& setup, std::size_t worker)
      : all_(all),
        setup_(setup),
        worker_(worker),
        random_(random_stream(static_cast<std::int64_t>(setup.seed), 100 + worker)) {}
  const DigitSet& next() {
    part_.pixels.clear();
    part_.labels.clear();
    for (std::size_t i = 0; i < rare_worker_batch; ++i) {
      const std::size_t d = draw();
      const auto picture = all_.picture(d);
      part_.pixels.insert(part_.pixels.end(), picture.begin(), picture.end());
      part_.labels.push_back(all_.labels[d]);
    }
    return part_;
  }

 private:
  /// Digits come in turn, 0 to 9; worker w's own classes are those of w, w + workers, ... among the ten.
  std::size_t draw() {
    const bool own = random_.unit() < setup_.skew;
    const std::size_t rows = pool_digits / digit_classes;
    std::size_t digit = random_.below(digit_classes);
    if (own) {
      const std::size_t first = worker_ % digit_classes, many = (digit_classes - 1 - first) / setup_.workers + 1;
      digit = first + setup_.workers * (digit % many);
    }
    return random_.below(rows) * digit_classes + digit;
  }
  const DigitSet& all_;
  const RareSetup& setup_;
  std::size_t worker_;
  SeededRandom random_;
  DigitSet part_;
};

/// Numbers of a network in one row, without the padding of its layers.
void flatten(const SmallNetwork& n, std::vector<float>& to) {
  to.resize(n.weight_count() + n.bias_count());
  float* at = to.data();
  for (const DenseLayer& l : n.layers) {
    for (std::size_t i = 0; i < l.inputs; ++i) at = std::copy_n(l.weights.data() + i * l.stride, l.outputs, at);
    at = std::copy_n(l.biases.data(), l.outputs, at);
  }
}
void unflatten(std::span<const float> from, SmallNetwork& n) {
  const float* at = from.data();
  for (DenseLayer& l : n.layers) {
    for (std::size_t i = 0; i < l.inputs; ++i, at += l.outputs)
      std::copy_n(at, l.outputs, l.weights.data() + i * l.stride);
    std::copy_n(at, l.outputs, l.biases.data());
    at += l.outputs;
  }
}

class RareTraining {
 public:
  RareTraining(const RareSetup& s, const RareDigits& digits)
      : setup_(s), held_out_(digits.held_out), network_(first_network(s.seed)), pass_(network_) {
    flatten(network_, shared_);
    const std::size_t n = shared_.size();
    out_.parameters = n;
    workers_.reserve(s.workers);
    for (std::size_t w = 0; w < s.workers; ++w) workers_.emplace_back(digits.training, s, w, n, shared_);
    code_ = std::make_unique<GradientCode>(network_, s);
    look(0);
  }
  RareRun run(const std::atomic<bool>* cancelled) {
    const bool local = rare_method_is_local(setup_.method);
    for (std::size_t step = 1; step <= setup_.steps && !out_.diverged; ++step) {
      if (cancelled && cancelled->load(std::memory_order_relaxed)) {
        out_.stopped = true;
        break;
      }
      out_.steps = step;
      if (local)
        step_alone(step);
      else
        step_together(step);
    }
    return std::move(out_);
  }

 private:
  struct Worker {
    Worker(const DigitSet& all, const RareSetup& s, std::size_t w, std::size_t n, const std::vector<float>& start)
        : digits(all, s, w), optimizer(n, {.square = 0.99f, .decay = 0.01}), weights(start) {}
    WorkerDigits digits;
    Adam optimizer;
    std::vector<float> weights, gradient;
  };

  void look(std::size_t step) {
    unflatten(shared_, network_);
    const double loss = mean_loss(network_, held_out_, pass_);
    out_.diverged = !(loss <= too_much_nats);
    out_.looks.push_back({step, out_.syncs, out_.diverged ? too_much_nats : loss});
  }
  void differentiate(Worker& w, std::span<const float> at) {
    unflatten(at, network_);
    loss_and_gradient(network_, w.digits.next(), rare_worker_batch, {}, gradient_);
    flatten(gradient_, w.gradient);
  }
  /// The rate falls evenly to a tenth.
  double rate_at(std::size_t step) const {
    return setup_.rate * (1 - 0.9 * static_cast<double>(step - 1) / static_cast<double>(setup_.steps));
  }
  /// All differentiate at the shared weights, and one step is made with what the messages say.
  void step_together(std::size_t step) {
    gradients_.clear();
    for (Worker& w : workers_) {
      differentiate(w, shared_);
      gradients_.push_back(w.gradient);
    }
    out_.kept_norm += (code_->average(gradients_, mean_) - out_.kept_norm) / static_cast<double>(step);
    waiting_.push_back(mean_);
    ++out_.syncs;
    const std::size_t delay = setup_.method == RareMethod::stale ? setup_.stale_by : 0;
    if (waiting_.size() > delay) {
      workers_.front().optimizer.step(shared_, waiting_.front(), rate_at(step));
      waiting_.pop_front();
    }
    if (step % steps_per_look == 0 || step == setup_.steps) look(step);
  }
  void step_alone(std::size_t step) {
    for (Worker& w : workers_) {
      differentiate(w, w.weights);
      w.optimizer.step(w.weights, w.gradient, rate_at(step));
    }
    if (step % setup_.period == 0 || step == setup_.steps) sync(step);
  }
  void sync(std::size_t step) {
    const std::size_t n = shared_.size();
    mean_.assign(n, 0.0f);
    const float share = 1.0f / static_cast<float>(workers_.size());
    for (const Worker& w : workers_)
      for (std::size_t i = 0; i < n; ++i) mean_[i] += share * w.weights[i];
    double apart = 0;
    for (const Worker& w : workers_)
      for (std::size_t i = 0; i < n; ++i)
        apart += static_cast<double>(w.weights[i] - mean_[i]) * static_cast<double>(w.weights[i] - mean_[i]);
    out_.apart = std::sqrt(apart / static_cast<double>(workers_.size()) / square_sum(mean_));
    if (setup_.method == RareMethod::diloco) {
      outer_.resize(n);
      const auto rate = static_cast<float>(setup_.outer_rate), momentum = static_cast<float>(setup_.outer_momentum);
      for (std::size_t i = 0; i < n; ++i) {
        const float moved = shared_[i] - mean_[i];
        outer_[i] = momentum * outer_[i] + moved;
        shared_[i] -= rate * (moved + momentum * outer_[i]);
      }
    } else {
      shared_ = mean_;
    }
    for (Worker& w : workers_) w.weights = shared_;
    ++out_.syncs;
    look(step);
  }

  const RareSetup setup_;
  const DigitSet& held_out_;
  SmallNetwork network_, gradient_;
  Pass pass_;
  std::vector<float> shared_, mean_, outer_;
  std::vector<Worker> workers_;
  std::vector<std::vector<float>> gradients_;
  std::deque<std::vector<float>> waiting_;
  std::unique_ptr<GradientCode> code_;
  RareRun out_;
};

}  // namespace

std::string_view rare_method_id(RareMethod method) {
  static constexpr std::array<std::string_view, rare_method_count> ids{
      "all_reduce", "bits8", "bits4", "sign", "top_k", "power_sgd", "local_sgd", "diloco", "stale"};
  return ids[static_cast<std::size_t>(method)];
}

RareDigits rare_digits(std::uint64_t seed) {
  return {make_digits(seed, DigitSplit::training, pool_digits),
          make_digits(seed, DigitSplit::held_out, held_out_digits)};
}

RareRun train_rarely(const RareSetup& setup, const RareDigits& digits, const std::atomic<bool>* cancelled) {
  return RareTraining(setup, digits).run(cancelled);
}

}  // namespace models::rare
