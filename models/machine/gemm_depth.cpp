#include "models/machine/gemm_depth.h"

#include <limits>

namespace models {

double gemm_depth_at(double ridge, double m, double n, double element_bytes) {
  const double left = 2 * m * n - ridge * element_bytes * (m + n);
  return left > 0 ? ridge * element_bytes * m * n / left : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace models
