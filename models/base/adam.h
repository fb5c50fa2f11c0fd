#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace models {

/// Constants of Adam; with a decay it is AdamW.
struct AdamRule {
  float mean = 0.9f;      ///< how much of the mean of slopes is kept in a step
  float square = 0.999f;  ///< how much of the mean of squared slopes is kept
  double decay = 0;       ///< weight decay, times the rate of the step
};

/// Adam (Kingma and Ba 2015), with decoupled decay AdamW (Loshchilov and Hutter 2019), over one list of weights: the
/// two means with their correction of the first steps, and 1e-8 under the root's fraction.
class Adam {
 public:
  /// `count`: how many weights there are.
  explicit Adam(std::size_t count, const AdamRule& rule = {});
  /// Moves the weights against the gradient; both hold `count` numbers.
  void step(std::span<float> weights, std::span<const float> gradient, double rate);

 private:
  AdamRule rule_;
  std::vector<float> mean_, square_;
  std::size_t steps_ = 0;
};

}  // namespace models
