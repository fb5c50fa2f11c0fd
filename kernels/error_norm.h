#pragma once
#include <cmath>

namespace kernels {

/// Accumulates |out - reference| / |reference|.
class ErrorNorm {
 public:
  void add(double out, double reference) {
    difference_ += (out - reference) * (out - reference);
    norm_ += reference * reference;
  }
  double value() const { return std::sqrt(norm_ > 0 ? difference_ / norm_ : difference_); }

 private:
  double difference_ = 0, norm_ = 0;
};

}  // namespace kernels
