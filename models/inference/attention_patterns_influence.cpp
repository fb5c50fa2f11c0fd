#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/base/integer_math.h"
#include "models/inference/attention_patterns_reach.h"

namespace models::inference {
namespace {

/// A layer from above to below: `above` is what each token's state counts for, `below` becomes the same of the states
/// that enter the layer. Each token keeps a part and hands the rest, `given` of it to each key that it sees.
struct InfluenceLayer {
  const PatternShape& s;
  double residual;
  const std::vector<double>& above;
  std::vector<double>& given;
  std::vector<double>& below;
  std::int64_t lo;  ///< nothing counts before it

  std::int64_t n() const { return s.sequence; }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  double part(std::int64_t i) const { return (1 - residual) * above[at(i)]; }
  double kept(std::int64_t i) const { return residual * above[at(i)]; }

  /// From `first` to `last`, each sees those from `first` on.
  void triangle(std::int64_t first, std::int64_t last) {
    double sum = 0;
    for (std::int64_t j = last; j >= first; --j) {
      sum += part(j) / as_double(j - first + 1);
      below[at(j)] = kept(j) + sum;
    }
  }
  /// A window over the newest tokens, and the first `front` ones for all. Between those and the window's end nothing
  /// arrives: it stays exactly 0.
  void window(std::int64_t front) {
    const std::int64_t w = s.window;
    if (front > 0 && lo - w < front) lo = 0;  // the window has come to them
    const std::int64_t from = std::max<std::int64_t>(0, lo - w + 1);
    const double whole = as_double(w + front);
    for (std::int64_t i = lo; i < n(); ++i) given[at(i)] = part(i) / std::min(as_double(i + 1), whole);
    double sum = 0, all = 0;
    for (std::int64_t j = n() - 1; j >= from; --j) {
      const double own = j >= lo ? given[at(j)] : 0;
      const double gone = j + w < n() ? given[at(j + w)] : 0;
      sum += own - gone;
      all += own;
      below[at(j)] = (j >= lo ? kept(j) : 0) + (j < front ? all : std::max(0.0, sum));
    }
    // First tokens that stand apart from the window: they hear all above, and hand on to those before them.
    for (std::int64_t j = std::min(front, from) - 1; j >= 0; --j) {
      all += part(j) / as_double(j + 1);
      below[at(j)] = kept(j) + all;
    }
  }
  /// From the last token's class alone: only tokens of it have any.
  void dilated() {
    const std::int64_t d = s.dilation, w = s.window, end = std::max<std::int64_t>(0, lo - (w - 1) * d);
    for (std::int64_t i = n() - 1; i >= lo; i -= d)
      given[at(i)] = part(i) / std::min(as_double(i / d + 1), as_double(w));
    double sum = 0;
    for (std::int64_t j = n() - 1; j >= end; j -= d) {
      sum += (j >= lo ? given[at(j)] : 0) - (w <= (n() - 1 - j) / d ? given[at(j + w * d)] : 0);
      below[at(j)] = (j >= lo ? kept(j) : 0) + std::max(0.0, sum);
    }
  }
  /// The same where all classes may have some, after a full layer.
  void dilated_all() {
    const std::int64_t d = s.dilation, w = s.window;
    for (std::int64_t i = 0; i < n(); ++i) given[at(i)] = part(i) / std::min(as_double(i / d + 1), as_double(w));
    std::vector<double> sums(at(std::min(d, n())), 0);
    for (std::int64_t j = n() - 1; j >= 0; --j) {
      double& sum = sums[at(j % d)];
      sum += given[at(j)] - (w <= (n() - 1 - j) / d ? given[at(j + w * d)] : 0);
      below[at(j)] = kept(j) + std::max(0.0, sum);
    }
  }
  /// `shares`: 1 over the keys of each row.
  void global(const std::vector<double>& shares) {
    const std::int64_t g = s.global_every, w = s.window;
    for (std::int64_t i = 0; i < n(); ++i) given[at(i)] = part(i) * shares[at(i)];
    double globals = 0;  // handed out by global tokens: all before them get it
    double sum = 0, all = 0;
    // Places within the stride of global tokens, of j and of the token that leaves the window at j.
    std::int64_t place = (n() - 1) % g, gone = (n() - 1 + w) % g;
    for (std::int64_t j = n() - 1; j >= 0; --j) {
      const double own = given[at(j)];
      (place == 0 ? globals : sum) += own;
      all += own;
      if (j + w < n() && gone != 0) sum -= given[at(j + w)];
      below[at(j)] = kept(j) + (place == 0 ? all : globals + std::max(0.0, sum));
      place = place == 0 ? g - 1 : place - 1;
      gone = gone == 0 ? g - 1 : gone - 1;
    }
  }
  void blocks(const AttentionMask& m) {
    const std::int64_t w = s.window, blocks = m.block_count();
    std::vector<double> handed(at(blocks), 0), change(at(blocks) + 1, 0);  // to each token of a block
    double front = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t near = std::max<std::int64_t>(0, b - s.blocks_back), first = std::min(s.blocks_first, near);
      const auto drawn = m.random_blocks(b);
      const double others = as_double((b - near + first + static_cast<std::int64_t>(drawn.size())) * w);
      double sum = 0;
      const std::int64_t end = std::min(n(), (b + 1) * w);
      for (std::int64_t i = b * w; i < end; ++i) sum += given[at(i)] = part(i) / (others + as_double(i - b * w + 1));
      change[at(near)] += sum;
      change[at(b)] -= sum;
      if (first > 0) change[0] += sum, change[at(first)] -= sum;
      for (const std::int64_t k : drawn) handed[at(k)] += sum;
    }
    for (std::int64_t b = 0; b < blocks; ++b) {
      front += change[at(b)];
      double sum = std::max(0.0, front) + handed[at(b)];
      for (std::int64_t j = std::min(n(), (b + 1) * w) - 1; j >= b * w; --j) {
        sum += given[at(j)];
        below[at(j)] = kept(j) + sum;
      }
    }
  }
};

/// The scratch of a walk down the stack.
struct InfluenceWalk {
  const PatternStack& stack;
  double residual;
  std::vector<double> above, given, below;
  std::vector<double> shares;  ///< 1 over the keys of each row, where tokens are global
  std::int64_t lo;             ///< nothing counts before it
  std::int64_t window_lo;      ///< the same without first tokens that all see
  bool mixed = false;          ///< a full layer was passed

  InfluenceWalk(const PatternStack& of, double kept) : stack(of), residual(kept) {
    const auto n = static_cast<std::size_t>(stack.mask.sequence());
    above.assign(n, 0);
    given.assign(n, 0);
    below.assign(n, 0);
    above.back() = 1;
    const PatternShape& s = stack.mask.shape();
    for (std::int64_t i = 0; s.pattern == AttentionPattern::global && i < s.sequence; ++i) {
      const std::int64_t far = std::max<std::int64_t>(0, i - s.window + 1), near = i + 1 - far;
      shares.push_back(1 / as_double(i % s.global_every == 0 ? i + 1 : near + ceil_div(far, s.global_every)));
    }
    lo = window_lo = stack.mask.sequence() - 1;
  }

  void step(bool full) {
    const PatternShape& s = stack.mask.shape();
    InfluenceLayer layer{s, residual, above, given, below, lo};
    const std::int64_t n = s.sequence;
    if (full || s.pattern == AttentionPattern::causal) {
      layer.triangle(0, n - 1);
      lo = window_lo = 0;
      mixed = true;
    } else {
      masked(layer);
    }
    std::swap(above, below);
  }

 private:
  void masked(InfluenceLayer& layer) {
    const PatternShape& s = layer.s;
    if (s.pattern == AttentionPattern::window) {
      layer.window(0);
      lo = std::max<std::int64_t>(0, lo - s.window + 1);
      return;
    }
    if (s.pattern == AttentionPattern::dilated && !mixed) {
      layer.dilated();
      lo = std::max<std::int64_t>(0, lo - (s.window - 1) * s.dilation);
      return;
    }
    if (s.pattern == AttentionPattern::sinks) {
      layer.lo = window_lo;
      layer.window(std::min(s.sinks, s.sequence));
      window_lo = std::max<std::int64_t>(0, window_lo - s.window + 1);
      lo = 0;
      return;
    }
    lo = layer.lo = 0;
    switch (s.pattern) {
      case AttentionPattern::causal:
      case AttentionPattern::window:
        break;
      case AttentionPattern::sinks:
        break;
      case AttentionPattern::dilated:
        layer.dilated_all();
        break;
      case AttentionPattern::global:
        layer.global(shares);
        break;
      case AttentionPattern::block:
        layer.blocks(stack.mask);
        break;
      case AttentionPattern::document: {
        const auto& starts = stack.mask.document_starts();
        for (std::size_t d = starts.size() - 1; d-- > 0 && (mixed || d + 2 == starts.size());)
          layer.triangle(starts[d], starts[d + 1] - 1);
        break;
      }
    }
  }
};

void bin_row(const std::vector<double>& above, std::int64_t lo, std::int64_t columns, std::vector<float>& bins) {
  const auto n = static_cast<std::int64_t>(above.size());
  bins.assign(static_cast<std::size_t>(columns), 0);
  for (std::int64_t c = 0; c < columns; ++c) {
    const std::int64_t from = std::max(lo, c * n / columns), to = (c + 1) * n / columns;
    double sum = 0;
    for (std::int64_t i = from; i < to; ++i) sum += above[static_cast<std::size_t>(i)];
    bins[static_cast<std::size_t>(c)] = static_cast<float>(sum);
  }
}

}  // namespace

Influence influence_of(const PatternStack& stack, const InfluenceSetup& setup) {
  Influence out;
  InfluenceWalk walk(stack, setup.residual);
  const std::int64_t n = stack.mask.sequence(), layers = static_cast<std::int64_t>(stack.full.size());
  const std::int64_t columns = std::min(setup.columns, n);
  if (columns > 0) bin_row(walk.above, walk.lo, columns, out.bins.emplace_back());
  for (std::int64_t l = layers; l-- > 0;) {
    if (setup.go_on && !setup.go_on(1 - as_double(l + 1) / as_double(layers))) {
      out.ended = true;
      return out;
    }
    walk.step(stack.full[static_cast<std::size_t>(l)]);
    if (columns > 0) bin_row(walk.above, walk.lo, columns, out.bins.emplace_back());
  }
  double sum = 0, mean = 0;
  const double all = std::accumulate(walk.above.begin(), walk.above.end(), 0.0);
  for (std::int64_t i = n - 1; i >= walk.lo; --i) {
    const double back = as_double(n - 1 - i), own = walk.above[static_cast<std::size_t>(i)];
    mean += own * back;
    sum += own;
    if (out.near_tokens == 0 && sum >= setup.share * all) out.near_tokens = back + 1;
    if (n - 1 - i == std::min(n, stack.mask.shape().window) - 1) out.window_share = sum / all;
  }
  if (out.window_share == 0) out.window_share = sum / all;
  out.mean_back = mean / all;
  return out;
}

}  // namespace models::inference
