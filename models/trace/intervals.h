#pragma once
#include <algorithm>
#include <cstdint>
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
