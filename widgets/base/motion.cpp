#include "widgets/base/motion.h"

#include <algorithm>
#include <cmath>

namespace widgets {

Motion& motion() {
  static Motion the;
  return the;
}

void begin_motion(bool on, bool held, float seconds) {
  constexpr float longest = 1.0f / 30;  // after a sleep the first frame shows the start of the way, not its end
  motion() = {.on = on, .held = held, .seconds = std::clamp(seconds, 0.0f, longest)};
}

void Ease::change() { at_ = motion().on && !motion().held && at_ >= 1 ? 0.0f : 1.0f; }

float Ease::step() {
  if (at_ >= 1) return 1;
  at_ = motion().on ? std::min(at_ + motion().seconds / Motion::duration, 1.0f) : 1.0f;
  if (at_ < 1) motion().moving = true;
  const float left = 1 - at_;
  return 1 - left * left * left;
}

std::span<const double> EasedValues::towards(std::span<const double> targets) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (to_.size() != targets.size()) {
    to_.assign(targets.begin(), targets.end());
    from_ = shown_ = to_;
    ease_ = {};
  } else if (!std::equal(to_.begin(), to_.end(), targets.begin(), same)) {
    from_.assign(shown_.begin(), shown_.end());
    to_.assign(targets.begin(), targets.end());
    ease_.change();
  }
  const auto share = static_cast<double>(ease_.step());
  for (std::size_t i = 0; i < to_.size(); ++i) {
    const bool on_the_way = share < 1 && std::isfinite(from_[i]) && std::isfinite(to_[i]);
    shown_[i] = on_the_way ? from_[i] + share * (to_[i] - from_[i]) : to_[i];
  }
  return shown_;
}

}  // namespace widgets
