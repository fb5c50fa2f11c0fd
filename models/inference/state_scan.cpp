#include "models/inference/state_scan.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/counter_random.h"

namespace models::inference {
namespace {

/// What goes in (x, B, C, a step of each head) and comes out (y), once.
double scan_streamed_bytes(const ScanSize& s) {
  return s.tokens * s.element_bytes * (2 * s.heads * s.width + 2 * s.groups * s.state + s.heads);
}

ScanCost scan_timed(double flops, double bytes, double steps, double flops_per_s, double bytes_per_s) {
  const double arithmetic = flops / flops_per_s, traffic = bytes / bytes_per_s;
  return {.flops = flops,
          .bytes = bytes,
          .dependent_steps = steps,
          .time_s = std::max(arithmetic, traffic),
          .memory_bound = traffic > arithmetic};
}

/// h = a h + B x^T, y = C h, one token after the other. `x` is tokens x width, `b` and `c` tokens x state.
template <class Real>
std::vector<Real> scan_by_token(const std::vector<float>& x, const std::vector<float>& b, const std::vector<float>& c,
                                const std::vector<double>& log_decay, std::size_t width, std::size_t state) {
  const std::size_t tokens = log_decay.size();
  std::vector<Real> h(state * width, Real(0)), y(tokens * width, Real(0));
  for (std::size_t t = 0; t < tokens; ++t) {
    const Real keep = std::exp(static_cast<Real>(log_decay[t]));
    for (std::size_t n = 0; n < state; ++n)
      for (std::size_t p = 0; p < width; ++p) {
        Real& cell = h[n * width + p];
        cell = keep * cell + static_cast<Real>(b[t * state + n]) * static_cast<Real>(x[t * width + p]);
        y[t * width + p] += static_cast<Real>(c[t * state + n]) * cell;
      }
  }
  return y;
}

/// The same in blocks, in FP32: the sums of logarithms from the block's begin, their differences, and two products.
std::vector<float> scan_by_block(const std::vector<float>& x, const std::vector<float>& b, const std::vector<float>& c,
                                 const std::vector<double>& log_decay, std::size_t block, std::size_t width,
                                 std::size_t state) {
  const std::size_t tokens = log_decay.size();
  std::vector<float> h(state * width, 0.0f), y(tokens * width, 0.0f), sums(block);
  for (std::size_t begin = 0; begin < tokens; begin += block) {
    const std::size_t n = std::min(block, tokens - begin);
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) sums[i] = sum += static_cast<float>(log_decay[begin + i]);
    for (std::size_t i = 0; i < n; ++i) {
      float* out = &y[(begin + i) * width];
      const float* ci = &c[(begin + i) * state];
      const float reach = std::exp(sums[i]);
      for (std::size_t k = 0; k < state; ++k)
        for (std::size_t p = 0; p < width; ++p) out[p] += reach * ci[k] * h[k * width + p];
      for (std::size_t j = 0; j <= i; ++j) {
        float score = 0;
        for (std::size_t k = 0; k < state; ++k) score += ci[k] * b[(begin + j) * state + k];
        score *= std::exp(sums[i] - sums[j]);
        for (std::size_t p = 0; p < width; ++p) out[p] += score * x[(begin + j) * width + p];
      }
    }
    const float all = std::exp(sums[n - 1]);
    for (float& cell : h) cell *= all;
    for (std::size_t j = 0; j < n; ++j) {
      const float left = std::exp(sums[n - 1] - sums[j]);
      for (std::size_t k = 0; k < state; ++k)
        for (std::size_t p = 0; p < width; ++p)
          h[k * width + p] += left * b[(begin + j) * state + k] * x[(begin + j) * width + p];
    }
  }
  return y;
}

}  // namespace

ScanCost sequential_scan(const ScanSize& s, double vector_flops_per_s, double bytes_per_s) {
  return scan_timed(5 * s.tokens * s.heads * s.width * s.state, scan_streamed_bytes(s), s.tokens, vector_flops_per_s,
                    bytes_per_s);
}

ScanCost blocked_scan(const ScanSize& s, double block, double matrix_flops_per_s, double bytes_per_s) {
  const double q = std::min(block, s.tokens), blocks = std::ceil(s.tokens / q);
  const double cells = s.heads * s.width * s.state;
  const double flops = s.tokens * (2 * q * (s.groups * s.state + s.heads * s.width) + 4 * cells) + 2 * blocks * cells;
  // A state of each block in FP32: written, read and written where it is passed on, read at last.
  const double bytes = scan_streamed_bytes(s) + (blocks > 1 ? 4 * 4 * blocks * cells : 0);
  return scan_timed(flops, bytes, blocks, matrix_flops_per_s, bytes_per_s);
}

ScanRun run_scan(std::int64_t tokens, std::int64_t block, std::int64_t width, std::int64_t state, double slowest,
                 double fastest, std::int64_t seed) {
  const std::size_t n = static_cast<std::size_t>(tokens), p = static_cast<std::size_t>(width),
                    k = static_cast<std::size_t>(state);
  const auto draws = [&](std::uint64_t use, std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(2 * unit_draw(random_stream(seed, use), i) - 1);
    return out;
  };
  const std::vector<float> x = draws(21, n * p), b = draws(22, n * k), c = draws(23, n * k);
  std::vector<double> log_decay(n);
  for (std::size_t t = 0; t < n; ++t)
    log_decay[t] = -static_cast<double>(
        static_cast<float>(slowest * std::pow(fastest / slowest, unit_draw(random_stream(seed, 24), t))));
  const std::vector<double> right = scan_by_token<double>(x, b, c, log_decay, p, k);
  const std::vector<float> one = scan_by_token<float>(x, b, c, log_decay, p, k);
  const std::vector<float> blocked = scan_by_block(x, b, c, log_decay, static_cast<std::size_t>(block), p, k);
  double largest = 0;
  ScanRun out;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::abs(right[i]));
    out.sequential_error = std::max(out.sequential_error, std::abs(static_cast<double>(one[i]) - right[i]));
    out.blocked_error = std::max(out.blocked_error, std::abs(static_cast<double>(blocked[i]) - right[i]));
  }
  out.sequential_error /= largest;
  out.blocked_error /= largest;
  return out;
}

}  // namespace models::inference
