#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

/// What comparisons of outputs share.
namespace kernels::cuda {

/// The largest |out - reference|, over the root mean square of the references: one element that is wrong shows however
/// many are right.
class PeakError {
 public:
  void add(double out, double reference) {
    const double difference = std::abs(out - reference);
    if (!std::isnan(largest_) && !(difference <= largest_)) largest_ = difference;
    squares_ += reference * reference;
    ++count_;
  }
  double value() const {
    return squares_ > 0 ? largest_ / std::sqrt(squares_ / static_cast<double>(count_)) : largest_;
  }

 private:
  double largest_ = 0, squares_ = 0;
  std::int64_t count_ = 0;
};

/// `count` different numbers below n in order: all when n is no larger, otherwise one from each of `count` equal parts.
std::vector<std::int64_t> chosen_lines(std::int64_t n, std::int64_t count, std::uint32_t seed);

}  // namespace kernels::cuda
