#include "models/parallel/context/context_run.h"

#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"

namespace models::parallel {
namespace {

constexpr std::size_t context_head_dim = 4;

struct ContextNumbers {
  Matrix q, k, v;  ///< [sequence, heads x dim]
};

Matrix context_random(std::size_t rows, std::size_t cols, std::uint64_t stream) {
  Matrix m(rows, cols);
  for (std::size_t i = 0; i < m.values.size(); ++i) m.values[i] = normal_draw(stream, i);
  return m;
}

double score_of(const ContextNumbers& x, std::size_t query, std::size_t key, std::size_t head) {
  double sum = 0;
  for (std::size_t d = 0; d < context_head_dim; ++d)
    sum += x.q.at(query, head * context_head_dim + d) * x.k.at(key, head * context_head_dim + d);
  return sum / std::sqrt(static_cast<double>(context_head_dim));
}

/// Attention of one query and head over all keys that it may see, in one piece.
void attend(const ContextNumbers& x, std::size_t query, std::size_t head, bool causal, Matrix& out) {
  const std::size_t keys = causal ? query + 1 : x.k.rows;
  std::vector<double> score(keys);
  for (std::size_t key = 0; key < keys; ++key) score[key] = score_of(x, query, key, head);
  const double most = *std::ranges::max_element(score);
  double sum = 0;
  for (double& s : score) {
    s = std::exp(s - most);
    sum += s;
  }
  for (std::size_t key = 0; key < keys; ++key)
    for (std::size_t d = 0; d < context_head_dim; ++d)
      out.at(query, head * context_head_dim + d) += score[key] / sum * x.v.at(key, head * context_head_dim + d);
}

double largest_difference(const Matrix& a, const Matrix& whole) {
  double most = 0, gap = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    most = std::max(most, std::abs(whole.values[i]));
    gap = std::max(gap, std::abs(a.values[i] - whole.values[i]));
  }
  return gap / most;
}

/// One query and head on its way round: what blocks have left so far.
struct OnlineState {
  double largest = -HUGE_VAL, sum = 0;
  double result[context_head_dim] = {}, plain[context_head_dim] = {};
  int blocks = 0;

  void take(const ContextNumbers& x, std::size_t query, std::size_t head, const std::vector<std::size_t>& keys) {
    if (keys.empty()) return;
    double block_most = -HUGE_VAL;
    for (const std::size_t key : keys) block_most = std::max(block_most, score_of(x, query, key, head));
    const double most = std::max(largest, block_most), turn = std::exp(largest - most);
    double block_sum = 0, block[context_head_dim] = {};
    sum *= turn;
    for (double& r : result) r *= turn;
    for (const std::size_t key : keys) {
      const double weight = std::exp(score_of(x, query, key, head) - most);
      sum += weight;
      block_sum += weight;
      for (std::size_t d = 0; d < context_head_dim; ++d) {
        const double part = weight * x.v.at(key, head * context_head_dim + d);
        result[d] += part;
        block[d] += part;
      }
    }
    for (std::size_t d = 0; d < context_head_dim; ++d) plain[d] += block[d] / block_sum;
    largest = most;
    ++blocks;
  }
};

/// The small attention of a setup, which each method computes anew. Sizes are checked before it is made.
class SmallAttention {
 public:
  explicit SmallAttention(const ContextRunSetup& s)
      : s_(s),
        tokens_(static_cast<std::size_t>(s.sequence)),
        heads_(static_cast<std::size_t>(s.heads)),
        ranks_(static_cast<std::size_t>(s.ranks)),
        held_(ranks_) {
    const std::size_t width = heads_ * context_head_dim;
    x_ = {context_random(tokens_, width, random_stream(s.seed, 11)),
          context_random(tokens_, width, random_stream(s.seed, 12)),
          context_random(tokens_, width, random_stream(s.seed, 13))};
    for (std::size_t t = 0; t < tokens_; ++t)
      held_[static_cast<std::size_t>(token_rank(s.order, s.sequence, s.ranks, static_cast<std::int64_t>(t)))].push_back(
          t);
  }

  ContextRun run() {
    ContextRun out;
    out.whole = out.ring = out.all_to_all = Matrix(tokens_, heads_ * context_head_dim);
    Matrix averaged = out.whole;
    for (std::size_t q = 0; q < tokens_; ++q)
      for (std::size_t h = 0; h < heads_; ++h) attend(x_, q, h, s_.causal, out.whole);
    go_round(out, averaged);
    deal_heads(out);
    out.ring_error = largest_difference(out.ring, out.whole);
    out.all_to_all_error = largest_difference(out.all_to_all, out.whole);
    out.forgotten_error = largest_difference(averaged, out.whole);
    return out;
  }

 private:
  /// Those of `keys` that a query may see.
  const std::vector<std::size_t>& seen_by(std::size_t query, const std::vector<std::size_t>& keys) {
    seen_.clear();
    for (const std::size_t key : keys)
      if (!s_.causal || key <= query) seen_.push_back(key);
    return seen_;
  }

  /// The ring: in each step every rank takes the keys of another. `averaged` is what forgets the softmax's sums.
  void go_round(ContextRun& out, Matrix& averaged) {
    std::vector<OnlineState> states(tokens_ * heads_);
    for (std::size_t step = 0; step < ranks_; ++step) {
      std::vector<double> pairs(ranks_);
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        const auto owner = static_cast<std::size_t>(
            key_owner(s_.ranks, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(step)));
        for (const std::size_t q : held_[rank]) {
          const std::vector<std::size_t>& seen = seen_by(q, held_[owner]);
          pairs[rank] += static_cast<double>(seen.size());
          for (std::size_t h = 0; h < heads_; ++h) states[q * heads_ + h].take(x_, q, h, seen);
        }
      }
      out.pairs.push_back(std::move(pairs));
      const OnlineState& last = states[(tokens_ - 1) * heads_];
      out.last_query.push_back({last.blocks > 0 ? last.largest : 0, last.sum,
                                last.blocks > 0 ? last.result[0] / last.sum : 0, last.blocks > 0});
    }
    for (std::size_t q = 0; q < tokens_; ++q)
      for (std::size_t h = 0; h < heads_; ++h)
        for (std::size_t d = 0; d < context_head_dim; ++d) {
          const OnlineState& state = states[q * heads_ + h];
          out.ring.at(q, h * context_head_dim + d) = state.result[d] / state.sum;
          averaged.at(q, h * context_head_dim + d) = state.plain[d] / state.blocks;
        }
  }

  /// The all-to-all: each rank has all tokens of its heads, in the order in which ranks sent them, so that the mask has
  /// to go by their places in the sequence.
  void deal_heads(ContextRun& out) {
    std::vector<std::size_t> arrived;
    for (const auto& of_rank : held_) arrived.insert(arrived.end(), of_rank.begin(), of_rank.end());
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      for (std::size_t h = rank * heads_ / ranks_; h < (rank + 1) * heads_ / ranks_; ++h)
        for (const std::size_t q : arrived) {
          OnlineState state;
          state.take(x_, q, h, seen_by(q, arrived));
          for (std::size_t d = 0; d < context_head_dim; ++d)
            out.all_to_all.at(q, h * context_head_dim + d) = state.result[d] / state.sum;
        }
  }

  const ContextRunSetup& s_;
  std::size_t tokens_, heads_, ranks_;
  ContextNumbers x_;
  std::vector<std::vector<std::size_t>> held_;  ///< tokens by rank
  std::vector<std::size_t> seen_;               ///< what seen_by gives, kept for its room
};

}  // namespace

Result<ContextRun> run_context_attention(const ContextRunSetup& s) {
  using Out = Result<ContextRun>;
  if (s.ranks < 1 || s.ranks > 16 || s.sequence < 1 || s.sequence > 256 || s.heads < 1 || s.heads > 32)
    return Out::fail("The small attention has 1 to 16 ranks, up to 256 tokens and up to 32 heads.");
  if (std::string problem = context_problem(s.order, s.sequence, s.ranks); !problem.empty()) return Out::fail(problem);
  if (s.heads % s.ranks != 0) return Out::fail("The small attention's heads must divide over its ranks.");
  return Out::ok(SmallAttention(s).run());
}

}  // namespace models::parallel
