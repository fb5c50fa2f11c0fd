#include "models/inference/flash_attention_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "models/base/counter_random.h"
#include "models/base/integer_math.h"

namespace models::inference {
namespace {

/// To the nearest BF16, ties to even; finite numbers of ordinary size alone.
float to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
}

struct InFp64 {
  using Real = double;
  static double store(double x) { return x; }
};
struct InFp32 {
  using Real = float;
  static float store(float x) { return x; }
};
struct InBf16 {
  using Real = float;
  static float store(float x) { return to_bf16(x); }
};

/// Rows of numbers, one token each.
template <class Real>
struct Rows {
  std::size_t count = 0, width = 0;
  std::vector<Real> values;

  Rows() = default;
  Rows(std::size_t n, std::size_t d) : count(n), width(d), values(n * d) {}
  Real* row(std::size_t i) { return values.data() + i * width; }
  const Real* row(std::size_t i) const { return values.data() + i * width; }
};

template <class Real>
struct Head {
  Rows<Real> q, k, v, d_out;
};
template <class Real>
struct Gradients {
  Rows<Real> dq, dk, dv;
};

/// Queries and keys lean to the topic of their stretch of the sequence.
Head<double> draw_head(const FlashRunSetup& s) {
  const auto n = static_cast<std::size_t>(s.tokens), d = static_cast<std::size_t>(s.width);
  constexpr std::size_t topics = 5, stretch = 11;
  const auto draw = [&](std::uint64_t use, double lean) {
    Rows<double> out(n, d);
    const std::uint64_t noise = random_stream(s.seed, use), centre = random_stream(s.seed, 20);
    const std::uint64_t choice = random_stream(s.seed, 30 + use % 2);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t topic = counter_hash(choice, i / stretch) % topics;
      for (std::size_t j = 0; j < d; ++j)
        out.row(i)[j] = normal_draw(noise, i * d + j) * 0.7 + lean * normal_draw(centre, topic * d + j);
    }
    return out;
  };
  return {draw(11, 1.2), draw(12, 1.2), draw(13, 0), draw(14, 0)};
}

template <class Arithmetic>
Rows<typename Arithmetic::Real> stored(const Rows<double>& from) {
  Rows<typename Arithmetic::Real> out(from.count, from.width);
  for (std::size_t i = 0; i < from.values.size(); ++i)
    out.values[i] = Arithmetic::store(static_cast<typename Arithmetic::Real>(from.values[i]));
  return out;
}
template <class Real>
Rows<double> as_fp64(const Rows<Real>& from) {
  Rows<double> out(from.count, from.width);
  for (std::size_t i = 0; i < from.values.size(); ++i) out.values[i] = static_cast<double>(from.values[i]);
  return out;
}

template <class Real>
Real dot_of(const Real* a, const Real* b, std::size_t d) {
  Real sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum += a[j] * b[j];
  return sum;
}
template <class Real>
void add_rows(Real factor, const Real* from, Real* to, std::size_t d) {
  for (std::size_t j = 0; j < d; ++j) to[j] += factor * from[j];
}

template <class Real>
double error_of(const Rows<Real>& a, const Rows<double>& exact) {
  double most = 0, gap = 0;
  for (std::size_t i = 0; i < exact.values.size(); ++i) {
    most = std::max(most, std::abs(exact.values[i]));
    gap = std::max(gap, std::abs(static_cast<double>(a.values[i]) - exact.values[i]));
  }
  return gap / most;
}
template <class Real>
double error_of(const Gradients<Real>& a, const Gradients<double>& exact) {
  return std::max({error_of(a.dq, exact.dq), error_of(a.dk, exact.dk), error_of(a.dv, exact.dv)});
}

template <class Arithmetic>
class SmallHead {
 public:
  using Real = typename Arithmetic::Real;

  SmallHead(const FlashRunSetup& s, const Head<Real>& x)
      : s_(s),
        x_(x),
        n_(x.q.count),
        d_(x.q.width),
        rows_(static_cast<std::size_t>(s.rows)),
        columns_(static_cast<std::size_t>(s.columns)),
        scale_(1 / std::sqrt(static_cast<Real>(s.width))) {}

  /// The whole square, row by row: scores and probabilities are stored in the arithmetic's format. `scores` and
  /// `weights`, where given, take them.
  Rows<Real> square(Rows<Real>* scores, Rows<Real>* weights) const {
    Rows<Real> out(n_, d_);
    std::vector<Real> p(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t keys = keys_of(i);
      Real most = -std::numeric_limits<Real>::infinity(), sum = 0;
      for (std::size_t k = 0; k < keys; ++k) most = std::max(most, p[k] = Arithmetic::store(score(i, k)));
      for (std::size_t k = 0; k < n_ && scores; ++k)
        scores->row(i)[k] = k < keys ? p[k] : -std::numeric_limits<Real>::infinity();
      for (std::size_t k = 0; k < keys; ++k) sum += p[k] = std::exp(p[k] - most);
      for (std::size_t k = 0; k < keys; ++k) {
        p[k] = Arithmetic::store(p[k] / sum);
        add_rows(p[k], x_.v.row(k), out.row(i), d_);
        if (weights) weights->row(i)[k] = p[k];
      }
      store_row(out.row(i));
    }
    return out;
  }

  /// A tile of queries at a time, over all tiles of keys that it may see.
  Rows<Real> tiles(FlashRun& run, bool turned) const {
    Rows<Real> out(n_, d_);
    std::vector<Real> p(columns_);
    for (std::size_t i = 0; i < n_; ++i) {
      Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
      const std::size_t last = static_cast<std::size_t>(run.visited(static_cast<std::int64_t>(i / rows_)));
      for (std::size_t tile = 0; tile < last; ++tile) {
        const std::size_t first = tile * columns_, keys = std::min(keys_of(i), std::min(n_, first + columns_));
        if (first < keys) {
          Real most = largest;
          for (std::size_t k = first; k < keys; ++k) most = std::max(most, p[k - first] = score(i, k));
          const Real turn = turned ? std::exp(largest - most) : Real(1);
          sum *= turn;
          for (std::size_t j = 0; j < d_; ++j) out.row(i)[j] *= turn;
          for (std::size_t k = first; k < keys; ++k) {
            const Real weight = std::exp(p[k - first] - most);
            sum += weight;
            add_rows(Arithmetic::store(weight), x_.v.row(k), out.row(i), d_);
          }
          if (turned && tile > 0) {
            ++run.later_tiles;
            run.new_maxima += most > largest;
          }
          largest = most;
        }
        if (!turned) continue;
        run.largest.at(i, tile) = static_cast<double>(largest);
        run.sum.at(i, tile) = static_cast<double>(sum);
      }
      for (std::size_t j = 0; j < d_; ++j) out.row(i)[j] /= sum;
      if (turned) run.log_sum[i] = static_cast<double>(largest + std::log(sum));
      store_row(out.row(i));
    }
    return out;
  }

  /// Gradients with P kept as a square.
  Gradients<Real> square_back(const Rows<Real>& weights) const {
    Gradients<Real> g{Rows<Real>(n_, d_), Rows<Real>(n_, d_), Rows<Real>(n_, d_)};
    std::vector<Real> dp(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t keys = keys_of(i);
      Real sum = 0;
      for (std::size_t k = 0; k < keys; ++k) {
        dp[k] = Arithmetic::store(dot_of(x_.d_out.row(i), x_.v.row(k), d_));
        sum += weights.row(i)[k] * dp[k];
      }
      for (std::size_t k = 0; k < keys; ++k)
        take_back(g, i, k, weights.row(i)[k], weights.row(i)[k] * (dp[k] - sum) * scale_);
    }
    return g;
  }

  /// Tiles of keys stay, tiles of queries pass, and P is made anew from the log-sum-exp.
  Gradients<Real> tiles_back(FlashRun& run, const Rows<Real>& out) const {
    Gradients<Real> g{Rows<Real>(n_, d_), Rows<Real>(n_, d_), Rows<Real>(n_, d_)};
    std::vector<Real> sums(n_);
    for (std::size_t i = 0; i < n_; ++i) sums[i] = dot_of(x_.d_out.row(i), out.row(i), d_);
    run.weight_sum.assign(sums.begin(), sums.end());
    for (std::size_t first = 0; first < n_; first += columns_)
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t k = first; k < std::min(keys_of(i), std::min(n_, first + columns_)); ++k) {
          const Real p = std::exp(score(i, k) - static_cast<Real>(run.log_sum[i]));
          const Real dp = dot_of(x_.d_out.row(i), x_.v.row(k), d_);
          take_back(g, i, k, Arithmetic::store(p), p * (dp - sums[i]) * scale_);
        }
    return g;
  }

 private:
  std::size_t keys_of(std::size_t query) const { return s_.causal ? query + 1 : n_; }
  Real score(std::size_t query, std::size_t key) const { return dot_of(x_.q.row(query), x_.k.row(key), d_) * scale_; }
  void store_row(Real* row) const {
    for (std::size_t j = 0; j < d_; ++j) row[j] = Arithmetic::store(row[j]);
  }
  void take_back(Gradients<Real>& g, std::size_t i, std::size_t k, Real p, Real ds) const {
    const Real kept = Arithmetic::store(ds);
    add_rows(p, x_.d_out.row(i), g.dv.row(k), d_);
    add_rows(kept, x_.k.row(k), g.dq.row(i), d_);
    add_rows(kept, x_.q.row(i), g.dk.row(k), d_);
  }

  const FlashRunSetup& s_;
  const Head<Real>& x_;
  std::size_t n_, d_, rows_, columns_;
  Real scale_;
};

template <class Arithmetic>
void run_in(const FlashRunSetup& s, FlashRun& run) {
  using Real = typename Arithmetic::Real;
  const Head<double> drawn = draw_head(s);
  const Head<Real> x{stored<Arithmetic>(drawn.q), stored<Arithmetic>(drawn.k), stored<Arithmetic>(drawn.v),
                     stored<Arithmetic>(drawn.d_out)};
  const Head<double> wide{as_fp64(x.q), as_fp64(x.k), as_fp64(x.v), as_fp64(x.d_out)};
  const std::size_t n = x.q.count;
  const SmallHead<InFp64> exact(s, wide);
  const std::size_t kept = s.backward ? n : 0;  // probabilities are kept for the backward pass alone
  Rows<double> scores(n, n), exact_weights(kept, kept);
  const Rows<double> whole = exact.square(&scores, s.backward ? &exact_weights : nullptr);
  run.scores.rows = run.scores.cols = n;
  run.scores.values = std::move(scores.values);
  const SmallHead<Arithmetic> head(s, x);
  const Rows<Real> tiled = head.tiles(run, true);
  run.tiles.forward = error_of(tiled, whole);
  run.unscaled_error = error_of(head.tiles(run, false), whole);
  const bool is_exact = std::is_same_v<Arithmetic, InFp64>;  // then the square is what the tiles are held to
  Rows<Real> weights(is_exact ? 0 : kept, is_exact ? 0 : kept);
  if (!is_exact) run.square.forward = error_of(head.square(nullptr, s.backward ? &weights : nullptr), whole);
  if (!s.backward) return;
  const Gradients<double> back = exact.square_back(exact_weights);
  run.tiles.backward = error_of(head.tiles_back(run, tiled), back);
  if (!is_exact) run.square.backward = error_of(head.square_back(weights), back);
}

}  // namespace

std::int64_t FlashRun::visited(std::int64_t row_tile) const {
  if (!setup.causal) return column_tiles;
  const std::int64_t last = std::min(setup.tokens, (row_tile + 1) * setup.rows) - 1;
  return last / setup.columns + 1;
}

double FlashRun::turn(std::int64_t row, std::int64_t column_tile) const {
  if (column_tile == 0) return 0;
  const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column_tile);
  return std::exp(largest.at(i, j - 1) - largest.at(i, j));
}

Result<FlashRun> run_flash_attention(const FlashRunSetup& s) {
  using Out = Result<FlashRun>;
  if (s.tokens < 1 || s.tokens > 256 || s.width < 1 || s.width > 64)
    return Out::fail("The small head has 1 to 256 tokens of 1 to 64 numbers each.");
  if (s.rows < 1 || s.columns < 1) return Out::fail("A tile has at least one row and one column.");
  FlashRun run;
  run.setup = s;
  run.row_tiles = ceil_div(s.tokens, s.rows);
  run.column_tiles = ceil_div(s.tokens, s.columns);
  const auto n = static_cast<std::size_t>(s.tokens), across = static_cast<std::size_t>(run.column_tiles);
  run.largest = Matrix(n, across);
  run.sum = Matrix(n, across);
  run.log_sum.assign(n, 0);
  if (s.arithmetic == FlashArithmetic::fp64)
    run_in<InFp64>(s, run);
  else if (s.arithmetic == FlashArithmetic::fp32)
    run_in<InFp32>(s, run);
  else
    run_in<InBf16>(s, run);
  return Out::ok(std::move(run));
}

}  // namespace models::inference
