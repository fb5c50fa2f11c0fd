#include "models/measure/two_samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/counter_random.h"
#include "models/measure/students_t.h"

namespace models::measure {
namespace {

using Samples = std::span<const double>;

double as_real(std::size_t n) { return static_cast<double>(n); }

Comparison t_of(double difference, double standard_error, double degrees, double alpha) {
  Comparison out{.difference = difference, .standard_error = standard_error, .degrees = degrees};
  const double reach = student_t_critical(alpha, degrees) * standard_error;
  out.lo = difference - reach;
  out.hi = difference + reach;
  if (standard_error > 0)
    out.p = student_t_p(difference / standard_error, degrees);
  else
    out.p = difference == 0 ? 1 : 0;
  return out;
}

Comparison paired_t(Samples d, double alpha) {
  return t_of(mean_of(d), std::sqrt(variance_of(d) / as_real(d.size())), as_real(d.size()) - 1, alpha);
}

/// Welch, 1947.
Comparison welch_t(Samples a, Samples b, double alpha) {
  const double n = as_real(a.size()), m = as_real(b.size());
  const double va = variance_of(a) / n, vb = variance_of(b) / m;
  const double squares = va * va / (n - 1) + vb * vb / (m - 1);
  const double degrees = squares > 0 ? (va + vb) * (va + vb) / squares : n + m - 2;
  return t_of(mean_of(a) - mean_of(b), std::sqrt(va + vb), degrees, alpha);
}

/// The places of x in order, and for ties the sum of t^3 - t.
struct Ranks {
  std::vector<double> of;
  double ties = 0;
};
Ranks ranks_of(Samples x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return x[i] < x[j]; });
  Ranks out;
  out.of.resize(x.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && x[order[end]] == x[order[i]]) ++end;
    const double tied = as_real(end - i), rank = (as_real(i) + 1 + as_real(end)) / 2;
    for (; i < end; ++i) out.of[order[i]] = rank;
    out.ties += tied * tied * tied - tied;
  }
  return out;
}

/// With the half by which a count is corrected for being whole.
double rank_p(double count, double expected, double variance) {
  if (!(variance > 0)) return 1;
  const double far = std::max(0.0, std::abs(count - expected) - 0.5);
  return std::min(1.0, 2 * normal_share(-far / std::sqrt(variance)));
}

/// Median of all estimates and the ends of its interval, which leaves out `outside` of them at either end.
void take_estimates(std::vector<double>& estimates, double outside, Comparison& out) {
  out.difference = median_of(estimates);
  const auto at = [&](std::size_t i) {
    std::nth_element(estimates.begin(), estimates.begin() + static_cast<std::ptrdiff_t>(i), estimates.end());
    return estimates[i];
  };
  const std::size_t most = (estimates.size() - 1) / 2;
  const std::size_t cut = std::min(most, static_cast<std::size_t>(std::max(0.0, std::floor(outside))));
  out.lo = at(cut);
  out.hi = at(estimates.size() - 1 - cut);
}

double normal_critical(double alpha) { return upper_normal_quantile(alpha / 2); }

/// Mann and Whitney, 1947; Hodges and Lehmann, 1963.
Comparison mann_whitney(Samples a, Samples b, double alpha) {
  const double n = as_real(a.size()), m = as_real(b.size()), all = n + m;
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  const Ranks ranks = ranks_of(both);
  double u = -n * (n + 1) / 2;
  for (std::size_t i = 0; i < a.size(); ++i) u += ranks.of[i];
  const double variance = n * m / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  Comparison out{.p = rank_p(u, n * m / 2, variance)};
  std::vector<double> shifts;
  shifts.reserve(a.size() * b.size());
  for (const double x : a)
    for (const double y : b) shifts.push_back(x - y);
  take_estimates(shifts, n * m / 2 - normal_critical(alpha) * std::sqrt(n * m * (all + 1) / 12), out);
  return out;
}

/// Wilcoxon, 1945: differences of zero are left out of the test.
Comparison signed_ranks(Samples d, double alpha) {
  std::vector<double> sizes, signs;
  for (const double x : d)
    if (x != 0) {
      sizes.push_back(std::abs(x));
      signs.push_back(x);
    }
  const Ranks ranks = ranks_of(sizes);
  double positive = 0;
  for (std::size_t i = 0; i < signs.size(); ++i)
    if (signs[i] > 0) positive += ranks.of[i];
  const double k = as_real(sizes.size());
  Comparison out{.p = rank_p(positive, k * (k + 1) / 4, k * (k + 1) * (2 * k + 1) / 24 - ranks.ties / 48)};
  std::vector<double> walsh;  // means of any two
  walsh.reserve(d.size() * (d.size() + 1) / 2);
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t j = i; j < d.size(); ++j) walsh.push_back((d[i] + d[j]) / 2);
  const double n = as_real(d.size());
  take_estimates(walsh, n * (n + 1) / 4 - normal_critical(alpha) * std::sqrt(n * (n + 1) * (2 * n + 1) / 24), out);
  return out;
}

std::size_t drawn_index(std::uint64_t stream, std::uint64_t i, std::size_t n) {
  return std::min(n - 1, static_cast<std::size_t>(unit_draw(stream, i) * as_real(n)));
}

/// Efron, 1979: the percentiles of what resampled lists say.
Comparison bootstrap(const Method& method, Samples a, Samples b, std::uint64_t stream) {
  std::vector<double> x(a.size()), y(b.size()), found;
  const auto resamples = static_cast<std::size_t>(std::max<std::int64_t>(2, method.resamples));
  found.reserve(resamples);
  std::uint64_t draw = 0;
  std::size_t not_above = 0, not_below = 0;
  for (std::size_t r = 0; r < resamples; ++r) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t from = drawn_index(stream, draw++, a.size());
      x[i] = a[from];
      if (method.paired) y[i] = b[from];
    }
    if (!method.paired)
      for (double& one : y) one = b[drawn_index(stream, draw++, b.size())];
    found.push_back(statistic_of(method.statistic, x) - statistic_of(method.statistic, y));
    not_above += found.back() <= 0;
    not_below += found.back() >= 0;
  }
  std::sort(found.begin(), found.end());
  const auto percentile = [&](double share) {
    const double at = share * as_real(found.size() - 1);
    const auto i = static_cast<std::size_t>(at);
    const double next = found[std::min(i + 1, found.size() - 1)];
    return found[i] + (at - as_real(i)) * (next - found[i]);
  };
  Comparison out{.difference = statistic_of(method.statistic, a) - statistic_of(method.statistic, b),
                 .lo = percentile(method.alpha / 2),
                 .hi = percentile(1 - method.alpha / 2)};
  // No share is below that of one resample.
  const double rare = as_real(std::max<std::size_t>(1, std::min(not_above, not_below)));
  out.p = std::min(1.0, 2 * rare / as_real(resamples));
  return out;
}

}  // namespace

double mean_of(Samples x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / as_real(x.size());
}

double variance_of(Samples x) {
  if (x.size() < 2) return 0;
  const double mean = mean_of(x);
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return squares / (as_real(x.size()) - 1);
}

double median_of(std::vector<double>& x) {
  const std::size_t half = x.size() / 2;
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(x.begin(), middle, x.end());
  if (x.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(x.begin(), middle)) / 2;
}

double statistic_of(Statistic which, Samples x) {
  if (which == Statistic::mean) return mean_of(x);
  if (which == Statistic::least) return *std::min_element(x.begin(), x.end());
  std::vector<double> copy(x.begin(), x.end());
  return median_of(copy);
}

double correlation_of(Samples x, Samples y) {
  const double mx = mean_of(x), my = mean_of(y);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Comparison compare(const Method& method, Samples a, Samples b, std::uint64_t stream) {
  if (method.paired) {
    const std::size_t n = std::min(a.size(), b.size());
    a = a.first(n);
    b = b.first(n);
  }
  if (method.test == Test::bootstrap) return bootstrap(method, a, b, stream);
  if (!method.paired) return method.test == Test::t ? welch_t(a, b, method.alpha) : mann_whitney(a, b, method.alpha);
  std::vector<double> d(a.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = a[i] - b[i];
  return method.test == Test::t ? paired_t(d, method.alpha) : signed_ranks(d, method.alpha);
}

}  // namespace models::measure
