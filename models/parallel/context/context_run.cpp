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

}  // namespace

Result<ContextRun> run_context_attention(const ContextRunSetup& s) {
  using Out = Result<ContextRun>;
  if (s.ranks < 1 || s.ranks > 16 || s.sequence < 1 || s.sequence > 256 || s.heads < 1 || s.heads > 32)
    return Out::fail("The small attention has 1 to 16 ranks, up to 256 tokens and up to 32 heads.");
  if (std::string problem = context_problem(s.order, s.sequence, s.ranks); !problem.empty()) return Out::fail(problem);
  if (s.heads % s.ranks != 0) return Out::fail("The small attention's heads must divide over its ranks.");
  const auto tokens = static_cast<std::size_t>(s.sequence), heads = static_cast<std::size_t>(s.heads),
             ranks = static_cast<std::size_t>(s.ranks), width = heads * context_head_dim;
  const ContextNumbers x{context_random(tokens, width, random_stream(s.seed, 11)),
                         context_random(tokens, width, random_stream(s.seed, 12)),
                         context_random(tokens, width, random_stream(s.seed, 13))};
  ContextRun run;
  run.whole = run.ring = run.all_to_all = Matrix(tokens, width);
  Matrix averaged(tokens, width);
  for (std::size_t q = 0; q < tokens; ++q)
    for (std::size_t h = 0; h < heads; ++h) attend(x, q, h, s.causal, run.whole);

  std::vector<std::vector<std::size_t>> held(ranks);
  for (std::size_t t = 0; t < tokens; ++t)
    held[static_cast<std::size_t>(token_rank(s.order, s.sequence, s.ranks, static_cast<std::int64_t>(t)))].push_back(t);
  std::vector<OnlineState> states(tokens * heads);
  std::vector<std::size_t> seen;
  for (std::size_t step = 0; step < ranks; ++step) {
    std::vector<double> pairs(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto owner = static_cast<std::size_t>(
          key_owner(s.ranks, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(step)));
      for (const std::size_t q : held[rank]) {
        seen.clear();
        for (const std::size_t key : held[owner])
          if (!s.causal || key <= q) seen.push_back(key);
        pairs[rank] += static_cast<double>(seen.size());
        for (std::size_t h = 0; h < heads; ++h) states[q * heads + h].take(x, q, h, seen);
      }
    }
    run.pairs.push_back(std::move(pairs));
    const OnlineState& last = states[(tokens - 1) * heads];
    run.last_query.push_back({last.blocks > 0 ? last.largest : 0, last.sum,
                              last.blocks > 0 ? last.result[0] / last.sum : 0, last.blocks > 0});
  }
  for (std::size_t q = 0; q < tokens; ++q)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t d = 0; d < context_head_dim; ++d) {
        const OnlineState& state = states[q * heads + h];
        run.ring.at(q, h * context_head_dim + d) = state.result[d] / state.sum;
        averaged.at(q, h * context_head_dim + d) = state.plain[d] / state.blocks;
      }
  // Dealt out: each rank has all tokens of its heads, in the order in which ranks sent them, so that the mask has to go
  // by their places in the sequence.
  std::vector<std::size_t> arrived;
  for (const auto& tokens_of_rank : held) arrived.insert(arrived.end(), tokens_of_rank.begin(), tokens_of_rank.end());
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t h = rank * heads / ranks; h < (rank + 1) * heads / ranks; ++h)
      for (const std::size_t q : arrived) {
        seen.clear();
        for (const std::size_t key : arrived)
          if (!s.causal || key <= q) seen.push_back(key);
        OnlineState state;
        state.take(x, q, h, seen);
        for (std::size_t d = 0; d < context_head_dim; ++d)
          run.all_to_all.at(q, h * context_head_dim + d) = state.result[d] / state.sum;
      }
  run.ring_error = largest_difference(run.ring, run.whole);
  run.all_to_all_error = largest_difference(run.all_to_all, run.whole);
  run.forgotten_error = largest_difference(averaged, run.whole);
  return Out::ok(std::move(run));
}

}  // namespace models::parallel
