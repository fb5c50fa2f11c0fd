#include "kernels/cuda/sums.h"

#include <algorithm>

#include "kernels/error_norm.h"

namespace kernels::cuda {
namespace {

/// What the threads of `blocks` blocks should write.
std::vector<std::uint32_t> sums_of(const Outcome& outcome, const ThreadSums& s, std::int64_t blocks) {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(blocks * s.block_threads));
  for (std::int64_t thread = 0; thread < blocks * s.block_threads; ++thread) {
    const std::int64_t first = s.first + thread / s.block_threads * s.block_words + thread % s.block_threads * s.apart;
    double sum = 0;
    for (std::int64_t i = 0; i < s.terms; ++i)
      sum += input_value(outcome.operation, outcome.seed, 0, first + i * s.term_apart);
    all[static_cast<std::size_t>(thread)] = static_cast<std::uint32_t>(sum);
  }
  return all;
}

}  // namespace

Deviation compare_words(const Outcome& outcome, std::span<const std::uint32_t> expected) {
  const std::span<const std::uint32_t> out = words_of(outcome);
  Deviation d;
  ErrorNorm norm;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == poison_word) ++d.never_written;
    norm.add(static_cast<double>(out[i]), static_cast<double>(expected[i % expected.size()]));
  }
  d.error = norm.value();
  return d;
}

Deviation compare_sums(const Outcome& outcome, const ThreadSums& s) {
  const std::span<const std::uint32_t> out = words_of(outcome);
  const std::int64_t blocks = static_cast<std::int64_t>(out.size()) / s.block_threads;
  const std::int64_t different = s.chunks > 0 ? std::min(blocks, s.chunks) : blocks;
  ExpectedSums own;
  ExpectedSums& expected = outcome.expected != nullptr ? *outcome.expected : own;
  if (expected.seed != outcome.seed || expected.sums != s ||
      expected.words.size() != static_cast<std::size_t>(different * s.block_threads))
    expected = {outcome.seed, s, sums_of(outcome, s, different)};
  return compare_words(outcome, expected.words);
}

}  // namespace kernels::cuda
