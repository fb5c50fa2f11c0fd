#pragma once

namespace models {

/// The depth K from which on a product of [m, K] and [K, n] is compute-bound, when operands are read once and the
/// result is written once, `element_bytes` each: K = r b m n / (2 m n - r b (m + n)) with the ridge r in FLOP/B, from
/// 2 m n K = r b (m K + K n + m n). NaN where m and n are too small for any depth.
double gemm_depth_at(double ridge, double m, double n, double element_bytes);

}  // namespace models
