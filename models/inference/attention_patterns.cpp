#include "models/inference/attention_patterns.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/base/counter_random.h"
#include "models/base/integer_math.h"

namespace models::inference {
namespace {

/// 1 + 2 + ... + n
double triangle(std::int64_t n) { return as_double(n) * as_double(n + 1) / 2; }

/// The sum of m / step, each rounded up, for m from 1 to n.
double sum_of_steps(std::int64_t n, std::int64_t step) {
  if (n <= 0) return 0;
  return as_double(step) * triangle(n / step) + as_double(n % step) * as_double(n / step + 1);
}

/// Pairs of a causal window of `width` keys over n tokens.
double band(std::int64_t n, std::int64_t width) {
  return n <= width ? triangle(n) : triangle(width) + as_double(n - width) * as_double(width);
}

/// Lengths one after the other: those given, again and again, or drawn ones.
std::vector<std::int64_t> pattern_documents(const PatternShape& s) {
  std::vector<std::int64_t> starts{0};
  const std::uint64_t stream = random_stream(s.seed, 1);
  while (starts.back() < s.sequence) {
    const std::size_t at = starts.size() - 1;
    std::int64_t length = 0;
    if (!s.documents.empty()) {
      length = s.documents[at % s.documents.size()];
    } else {
      const double drawn = -std::log(open_draw(stream, at)) * as_double(s.document_tokens);
      length = std::max<std::int64_t>(1, std::llround(std::min(drawn, as_double(s.sequence))));
    }
    starts.push_back(std::min(s.sequence, starts.back() + length));
  }
  return starts;
}

/// `wanted` different numbers of [lo, hi), all of them where there are no more, sorted. Floyd's sampling (Bentley and
/// Floyd, 1987).
void draw_blocks(std::uint64_t stream, std::int64_t lo, std::int64_t hi, std::int64_t wanted,
                 std::vector<std::int64_t>& out) {
  const std::int64_t n = std::max<std::int64_t>(0, hi - lo), count = std::min(wanted, n);
  const auto from = static_cast<std::ptrdiff_t>(out.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t top = n - count + i;
    const std::int64_t drawn =
        lo +
        std::min(top, static_cast<std::int64_t>(unit_draw(stream, static_cast<std::uint64_t>(i)) * as_double(top + 1)));
    const bool taken = std::find(out.begin() + from, out.end(), drawn) != out.end();
    out.push_back(taken ? lo + top : drawn);
  }
  std::sort(out.begin() + from, out.end());
}

std::string range_problem(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return std::string(what) + " is " + std::to_string(value) + "; it is from " + std::to_string(least) + " to " +
         std::to_string(most) + ".";
}

std::string pattern_problem(const PatternShape& s) {
  constexpr std::int64_t most = max_pattern_tokens;
  if (auto p = range_problem("The sequence", s.sequence, 1, most); !p.empty()) return p;
  if (auto p = range_problem("The window", s.window, 1, most); !p.empty()) return p;
  if (auto p = range_problem("The distance of global tokens", s.global_every, 1, most); !p.empty()) return p;
  if (auto p = range_problem("The dilation", s.dilation, 1, most); !p.empty()) return p;
  if (auto p = range_problem("The number of sinks", s.sinks, 0, most); !p.empty()) return p;
  if (auto p = range_problem("The number of blocks before", s.blocks_back, 0, most); !p.empty()) return p;
  if (auto p = range_problem("The number of first blocks", s.blocks_first, 0, most); !p.empty()) return p;
  if (auto p = range_problem("The number of random blocks", s.blocks_random, 0, 64); !p.empty()) return p;
  if (auto p = range_problem("The mean length of documents", s.document_tokens, 1, most); !p.empty()) return p;
  if (const std::int64_t blocks = ceil_div(s.sequence, s.window);
      s.pattern == AttentionPattern::block && s.blocks_random > 0 && blocks > max_random_blocks)
    return "With random blocks a sequence has at most " + std::to_string(max_random_blocks) + " blocks and not " +
           std::to_string(blocks) + ": take larger blocks or a shorter sequence.";
  for (const std::int64_t length : s.documents)
    if (auto p = range_problem("The length of a document", length, 1, most); !p.empty()) return p;
  return {};
}

}  // namespace

Result<AttentionMask> AttentionMask::make(const PatternShape& shape) {
  if (std::string problem = pattern_problem(shape); !problem.empty())
    return Result<AttentionMask>::fail(std::move(problem));
  AttentionMask m;
  m.shape_ = shape;
  if (shape.pattern == AttentionPattern::document) m.starts_ = pattern_documents(shape);
  if (shape.pattern == AttentionPattern::block && shape.blocks_random > 0) {
    const std::int64_t blocks = m.block_count();
    m.random_end_.reserve(static_cast<std::size_t>(blocks));
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::uint64_t stream = counter_hash(random_stream(shape.seed, 2), static_cast<std::uint64_t>(b));
      draw_blocks(stream, shape.blocks_first, b - shape.blocks_back, shape.blocks_random, m.random_);
      m.random_end_.push_back(static_cast<std::int64_t>(m.random_.size()));
    }
  }
  return Result<AttentionMask>::ok(std::move(m));
}

AttentionMask AttentionMask::causal(std::int64_t sequence) {
  AttentionMask m;
  m.shape_.pattern = AttentionPattern::causal;
  m.shape_.sequence = sequence;
  return m;
}

std::int64_t AttentionMask::block_count() const { return ceil_div(shape_.sequence, shape_.window); }

std::span<const std::int64_t> AttentionMask::random_blocks(std::int64_t block) const {
  if (random_end_.empty()) return {};
  const auto b = static_cast<std::size_t>(block);
  const std::int64_t from = b == 0 ? 0 : random_end_[b - 1];
  return std::span(random_).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(random_end_[b] - from));
}

bool AttentionMask::sees(std::int64_t q, std::int64_t k) const {
  const PatternShape& s = shape_;
  if (k > q) return false;
  switch (s.pattern) {
    case AttentionPattern::causal:
      return true;
    case AttentionPattern::window:
      return q - k < s.window;
    case AttentionPattern::global:
      return q - k < s.window || k % s.global_every == 0 || q % s.global_every == 0;
    case AttentionPattern::dilated:
      return (q - k) % s.dilation == 0 && (q - k) / s.dilation < s.window;
    case AttentionPattern::sinks:
      return q - k < s.window || k < s.sinks;
    case AttentionPattern::block: {
      const std::int64_t from = q / s.window, to = k / s.window;
      const auto drawn = random_blocks(from);
      return from - to <= s.blocks_back || to < s.blocks_first || std::binary_search(drawn.begin(), drawn.end(), to);
    }
    case AttentionPattern::document:
      return *std::prev(std::upper_bound(starts_.begin(), starts_.end(), q)) <= k;
  }
  return false;
}

void AttentionMask::row(std::int64_t q, std::vector<KeySpan>& spans) const {
  const PatternShape& s = shape_;
  spans.clear();
  const std::int64_t lo = std::max<std::int64_t>(0, q - s.window + 1);
  switch (s.pattern) {
    case AttentionPattern::causal:
      spans.push_back({0, q + 1});
      break;
    case AttentionPattern::window:
      spans.push_back({lo, q + 1});
      break;
    case AttentionPattern::global:
      if (q % s.global_every == 0) {
        spans.push_back({0, q + 1});
      } else {
        spans.push_back({lo, q + 1});
        spans.push_back({0, lo, s.global_every});
      }
      break;
    case AttentionPattern::dilated:
      spans.push_back({q - std::min(s.window - 1, q / s.dilation) * s.dilation, q + 1, s.dilation});
      break;
    case AttentionPattern::sinks:
      spans.push_back({lo, q + 1});
      spans.push_back({0, std::min(lo, s.sinks)});
      break;
    case AttentionPattern::block: {
      const std::int64_t b = q / s.window, near = std::max<std::int64_t>(0, b - s.blocks_back);
      spans.push_back({near * s.window, q + 1});
      spans.push_back({0, std::min(s.blocks_first, near) * s.window});
      for (const std::int64_t k : random_blocks(b)) spans.push_back({k * s.window, (k + 1) * s.window});
      break;
    }
    case AttentionPattern::document:
      spans.push_back({*std::prev(std::upper_bound(starts_.begin(), starts_.end(), q)), q + 1});
      break;
  }
  std::erase_if(spans, [](const KeySpan& k) { return k.count() == 0; });
}

double AttentionMask::row_entries(std::int64_t query) const {
  std::vector<KeySpan> spans;
  row(query, spans);
  std::int64_t n = 0;
  for (const KeySpan& k : spans) n += k.count();
  return as_double(n);
}

double AttentionMask::entries() const {
  const PatternShape& s = shape_;
  const std::int64_t n = s.sequence;
  switch (s.pattern) {
    case AttentionPattern::causal:
      return triangle(n);
    case AttentionPattern::window:
      return band(n, s.window);
    case AttentionPattern::sinks:
      return band(n, std::min(n, s.window + s.sinks));
    case AttentionPattern::dilated: {
      const std::int64_t growing = std::min(n, (s.window - 1) * s.dilation);
      return sum_of_steps(growing, s.dilation) + as_double(n - growing) * as_double(s.window);
    }
    case AttentionPattern::global: {
      double sum = band(n, s.window) + sum_of_steps(n - s.window, s.global_every);
      for (std::int64_t q = 0; q < n; q += s.global_every) {
        const std::int64_t far = std::max<std::int64_t>(0, q - s.window + 1);
        sum += as_double(far - ceil_div(far, s.global_every));  // seen by a global token alone
      }
      return sum;
    }
    case AttentionPattern::block: {
      double sum = 0;
      for (std::int64_t b = 0, blocks = block_count(); b < blocks; ++b) {
        const std::int64_t near = std::max<std::int64_t>(0, b - s.blocks_back),
                           size = std::min(s.window, n - b * s.window);
        const std::int64_t others =
            b - near + std::min(near, s.blocks_first) + static_cast<std::int64_t>(random_blocks(b).size());
        sum += triangle(size) + as_double(size) * as_double(s.window) * as_double(others);
      }
      return sum;
    }
    case AttentionPattern::document: {
      double sum = 0;
      for (std::size_t d = 0; d + 1 < starts_.size(); ++d) sum += triangle(starts_[d + 1] - starts_[d]);
      return sum;
    }
  }
  return 0;
}

namespace {

/// With `dilation`, at a token with `before` tokens before it and `after` behind: those that it or a later one reads.
double kept_dilated(const PatternShape& s, std::int64_t before, std::int64_t after) {
  const std::int64_t d = s.dilation, last = std::min(before, (s.window - 1) * d), slack = std::min(after, d - 1);
  return as_double(1 + last / d * (slack + 1) + std::max<std::int64_t>(0, last % d - (d - slack) + 1));
}

/// Block by block: at a block's end those of its tokens and of earlier ones that it or a later block reads.
double kept_blocks(const AttentionMask& m) {
  const PatternShape& s = m.shape();
  const std::int64_t blocks = m.block_count();
  std::vector<std::int64_t> last(static_cast<std::size_t>(blocks));
  for (std::int64_t k = 0; k < blocks; ++k)
    last[static_cast<std::size_t>(k)] = k < s.blocks_first ? blocks - 1 : std::min(blocks - 1, k + s.blocks_back);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (const std::int64_t k : m.random_blocks(b))
      last[static_cast<std::size_t>(k)] = std::max(last[static_cast<std::size_t>(k)], b);
  // Blocks that end their use at each block.
  std::vector<std::int64_t> ending(static_cast<std::size_t>(blocks), 0);
  for (const std::int64_t b : last) ++ending[static_cast<std::size_t>(b)];
  std::int64_t held = 0;
  double most = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    ++held;
    const std::int64_t size = std::min(s.window, s.sequence - b * s.window);
    most = std::max(most, as_double((held - 1) * s.window + size));
    held -= ending[static_cast<std::size_t>(b)];
  }
  return most;
}

}  // namespace

double AttentionMask::kept_tokens() const {
  const PatternShape& s = shape_;
  const std::int64_t n = s.sequence;
  switch (s.pattern) {
    case AttentionPattern::causal:
      return as_double(n);
    case AttentionPattern::window:
      return as_double(std::min(n, s.window));
    case AttentionPattern::sinks:
      return as_double(std::min(n, s.window + s.sinks));
    case AttentionPattern::global: {
      // The last global token reads all before it: until then nothing is dropped.
      const std::int64_t last = (n - 1) / s.global_every * s.global_every,
                         far = std::max<std::int64_t>(0, n - s.window);
      return as_double(std::max(last + 1, std::min(n, s.window) + ceil_div(far, s.global_every)));
    }
    case AttentionPattern::dilated: {
      double most = 0;
      for (std::int64_t after = 0; after < std::min(n, s.dilation); ++after)
        most = std::max(most, kept_dilated(s, n - 1 - after, after));
      return most;
    }
    case AttentionPattern::block:
      return kept_blocks(*this);
    case AttentionPattern::document: {
      std::int64_t most = 0;
      for (std::size_t d = 0; d + 1 < starts_.size(); ++d) most = std::max(most, starts_[d + 1] - starts_[d]);
      return as_double(most);
    }
  }
  return 0;
}

}  // namespace models::inference
