#include "models/base/adam.h"

#include <cmath>

#include "models/base/lanes.h"

namespace models {

Adam::Adam(std::size_t count, const AdamRule& rule) : rule_(rule), mean_(count), square_(count) {}

void Adam::step(std::span<float> weights, std::span<const float> gradient, double rate) {
  constexpr float tiny = 1e-8f;
  const auto t = static_cast<double>(++steps_);
  const auto kept = [t](float of) { return 1 - std::pow(static_cast<double>(of), t); };
  const auto by = static_cast<float>(rate / kept(rule_.mean)), spread = static_cast<float>(1 / kept(rule_.square)),
             left = static_cast<float>(1 - rule_.decay * rate);
  const float m = rule_.mean, s = rule_.square;
  std::size_t i = 0;
  for (; i + lanes::width <= weights.size(); i += lanes::width) {
    const lanes::Four slope = lanes::load(&gradient[i]);
    const lanes::Four mean = lanes::splat(m) * lanes::load(&mean_[i]) + lanes::splat(1 - m) * slope;
    const lanes::Four square = lanes::splat(s) * lanes::load(&square_[i]) + lanes::splat(1 - s) * slope * slope;
    lanes::store(&mean_[i], mean);
    lanes::store(&square_[i], square);
    const lanes::Four moved =
        lanes::splat(by) * mean / (lanes::root(square * lanes::splat(spread)) + lanes::splat(tiny));
    lanes::store(&weights[i], lanes::splat(left) * lanes::load(&weights[i]) - moved);
  }
  for (; i < weights.size(); ++i) {
    mean_[i] = m * mean_[i] + (1 - m) * gradient[i];
    square_[i] = s * square_[i] + (1 - s) * gradient[i] * gradient[i];
    weights[i] = left * weights[i] - by * mean_[i] / (std::sqrt(square_[i] * spread) + tiny);
  }
}

}  // namespace models
