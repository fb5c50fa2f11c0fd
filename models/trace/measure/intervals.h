#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace models::trace {

/// A union of intervals, added by start. What has no length is no interval.
struct Intervals {
  struct Part {
    std::int64_t start_ns, end_ns;
  };
  std::vector<Part> parts;  ///< apart from each other, by start; those that touch are one

  void add(std::int64_t start_ns, std::int64_t end_ns) {
    if (end_ns <= start_ns) return;
    if (!parts.empty() && start_ns <= parts.back().end_ns)
      parts.back().end_ns = std::max(parts.back().end_ns, end_ns);
    else
      parts.push_back({start_ns, end_ns});
  }
  std::int64_t length() const {
    std::int64_t sum = 0;
    for (const Part& p : parts) sum += p.end_ns - p.start_ns;
    return sum;
  }
  /// How much of a stretch of time lies outside.
  std::int64_t outside(std::int64_t from_ns, std::int64_t to_ns) const {
    std::int64_t out = to_ns - from_ns;
    auto part = std::lower_bound(parts.begin(), parts.end(), from_ns,
                                 [](const Part& p, std::int64_t at) { return p.end_ns <= at; });
    for (; part != parts.end() && part->start_ns < to_ns; ++part)
      out -= std::min(part->end_ns, to_ns) - std::max(part->start_ns, from_ns);
    return out;
  }
};

/// The share of each of equal parts of a time that intervals cover, which are added by start.
class CoveredShares {
 public:
  /// `bins` parts of the time from `from_ns` to `to_ns`; no interval counts where there is none of either.
  CoveredShares(std::int64_t from_ns, std::int64_t to_ns, std::size_t bins)
      : from_ns_(from_ns),
        to_ns_(to_ns),
        reached_ns_(from_ns),
        width_(bins > 0 ? static_cast<double>(to_ns - from_ns) / static_cast<double>(bins) : 0),
        shares_(bins, 0) {}

  void add(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t a = std::max(start_ns, reached_ns_), b = std::min(end_ns, to_ns_);
    if (b <= a || !(width_ > 0)) return;
    reached_ns_ = b;
    const double x = static_cast<double>(a - from_ns_) / width_, y = static_cast<double>(b - from_ns_) / width_;
    for (auto bin = static_cast<std::size_t>(x); bin < shares_.size() && static_cast<double>(bin) < y; ++bin)
      shares_[bin] += std::min(y, static_cast<double>(bin + 1)) - std::max(x, static_cast<double>(bin));
  }
  /// 0 to 1 each.
  std::vector<double> take() {
    for (double& share : shares_) share = std::min(share, 1.0);
    return std::move(shares_);
  }

 private:
  std::int64_t from_ns_, to_ns_, reached_ns_;
  double width_;
  std::vector<double> shares_;
};

/// The time that lies in both.
inline std::int64_t overlap(const Intervals& a, const Intervals& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, j = 0; i < a.parts.size() && j < b.parts.size();) {
    sum += std::max<std::int64_t>(
        0, std::min(a.parts[i].end_ns, b.parts[j].end_ns) - std::max(a.parts[i].start_ns, b.parts[j].start_ns));
    if (a.parts[i].end_ns < b.parts[j].end_ns)
      ++i;
    else
      ++j;
  }
  return sum;
}

}  // namespace models::trace
