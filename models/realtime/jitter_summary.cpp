#include "models/realtime/jitter_summary.h"

#include <algorithm>
#include <cmath>

namespace models {
std::size_t percentile_rank(std::size_t n, double share) {
  const double r = std::ceil(share * static_cast<double>(n) - 1e-9);
  return static_cast<std::size_t>(std::clamp(r, 1.0, static_cast<double>(n))) - 1;
}

double percentile_in_place(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(percentile_rank(values.size(), share));
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

namespace {

/// Responses of the frames that were not skipped, and their sum.
std::pair<std::vector<float>, double> answered_responses(const JitterRun& run) {
  std::vector<float> v;
  v.reserve(run.response_s.size());
  double sum = 0;
  for (std::size_t i = 0; i < run.response_s.size(); ++i)
    if (run.fate[i] != FrameFate::skipped) {
      v.push_back(run.response_s[i]);
      sum += static_cast<double>(run.response_s[i]);
    }
  return {std::move(v), sum};
}

/// The histogram and, from finer bins, the share of frames above each time, both up to `hi`.
void add_bins(const std::vector<float>& v, double lo, double hi, JitterDistribution& out) {
  constexpr std::size_t bins = 120, fine = 1200;
  const double count = static_cast<double>(v.size()), width = (hi - lo) / static_cast<double>(fine);
  std::vector<std::int64_t> counts(fine + 1, 0);
  const double per_s = 1 / width;
  for (const float x : v)
    counts[std::min(fine, static_cast<std::size_t>(std::max(0.0, (static_cast<double>(x) - lo) * per_s)))]++;
  std::int64_t above = out.answered;
  for (std::size_t b = 0; b < bins; ++b) {
    std::int64_t inside = 0;
    for (std::size_t k = 0; k < fine / bins; ++k) {
      const std::size_t i = b * (fine / bins) + k;
      inside += counts[i];
      out.tail_s.push_back(lo + width * static_cast<double>(i));
      out.tail_share.push_back(100 * static_cast<double>(above) / count);
      above -= counts[i];
    }
    out.bin_s.push_back(lo + width * (static_cast<double>(b) + 0.5) * static_cast<double>(fine / bins));
    out.bin_share.push_back(100 * static_cast<double>(inside) / count);
  }
}

/// Beyond `hi` the values themselves: the last `tail` of `v`, which are sorted, thinned to some hundred.
void add_tail(const std::vector<float>& v, std::size_t tail, double hi, JitterDistribution& out) {
  const std::size_t step = std::max<std::size_t>(1, tail / 200);
  for (std::size_t left = tail; left >= 1; left = left > step ? left - step : left - 1) {
    const double x = static_cast<double>(v[v.size() - left]);
    if (x < hi) continue;
    out.tail_s.push_back(x);
    out.tail_share.push_back(100 * static_cast<double>(left) / static_cast<double>(v.size()));
  }
}

}  // namespace

JitterDistribution summarize(const JitterRun& run) {
  JitterDistribution out;
  auto [v, sum] = answered_responses(run);
  if (v.empty()) return out;
  const std::size_t n = v.size();
  out.answered = static_cast<std::int64_t>(n);
  out.mean_s = sum / static_cast<double>(n);
  // Each selection works on what the one before left above it.
  std::size_t from = 0;
  for (const auto& [share, value_s] :
       {std::pair{0.5, &out.p50_s}, std::pair{0.99, &out.p99_s}, std::pair{0.999, &out.p999_s}}) {
    const std::size_t at = percentile_rank(n, share);
    std::nth_element(v.begin() + static_cast<std::ptrdiff_t>(from), v.begin() + static_cast<std::ptrdiff_t>(at),
                     v.end());
    from = at;
    *value_s = static_cast<double>(v[at]);
  }
  std::sort(v.begin() + static_cast<std::ptrdiff_t>(from), v.end());
  out.worst_s = static_cast<double>(v.back());
  out.best_s = static_cast<double>(
      *std::min_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(percentile_rank(n, 0.5)) + 1));
  const double hi = std::max(out.p999_s, out.best_s * 1.001) * 1.0001;
  add_bins(v, out.best_s, hi, out);
  add_tail(v, n - from, hi, out);
  return out;
}

JitterEnvelope envelope_of(const JitterRun& run, std::size_t most) {
  JitterEnvelope out;
  const std::size_t n = run.response_s.size(),
                    step = std::max<std::size_t>(1, (n + most - 1) / std::max<std::size_t>(1, most));
  for (std::size_t first = 0; first < n; first += step) {
    float low = 0, high = 0;
    bool any = false;
    for (std::size_t i = first; i < std::min(n, first + step); ++i) {
      if (run.fate[i] == FrameFate::skipped) continue;
      low = any ? std::min(low, run.response_s[i]) : run.response_s[i];
      high = any ? std::max(high, run.response_s[i]) : run.response_s[i];
      any = true;
    }
    if (!any) continue;
    out.frame.push_back(static_cast<double>(first));
    out.low_s.push_back(static_cast<double>(low));
    out.high_s.push_back(static_cast<double>(high));
  }
  return out;
}

}  // namespace models
