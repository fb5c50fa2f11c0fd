#pragma once
#include <cstdint>
#include <vector>

namespace models {

/// Times between one token of a request and its next: what a reader of the answer sees as its pace, and as its stalls.
/// A mean per request (time per output token) hides a stall of one second among a hundred quick tokens; these do not.
/// Counted in bins 1 % apart from 1 us on, so that a run of any length takes the same memory; count, sum and longest
/// are exact.
class TokenGaps {
 public:
  void add(double gap_s, std::int64_t count = 1);
  /// `count` times each of the `steps` gaps first_s, first_s + more_s, first_s + 2 more_s, ...
  void add_ramp(double first_s, double more_s, std::int64_t steps, std::int64_t count);

  std::int64_t count() const { return count_; }
  double sum_s() const { return sum_s_; }
  double longest_s() const { return longest_s_; }
  /// Nearest rank, within 0.5 %; 0 of nothing.
  double percentile_s(double share) const;

 private:
  static std::size_t bin_of(double gap_s);
  static double upper_edge_s(std::size_t bin);
  void put(std::size_t bin, std::int64_t count);

  std::vector<std::int64_t> bins_;
  std::int64_t count_ = 0;
  double sum_s_ = 0, longest_s_ = 0;
  double last_s_ = -1;  ///< the gap binned last: most gaps of a run are alike
  std::size_t last_bin_ = 0;
};

}  // namespace models
