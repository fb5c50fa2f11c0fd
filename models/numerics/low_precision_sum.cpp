#include "models/numerics/low_precision_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/counter_random.h"

namespace models {
namespace {

constexpr int double_mantissa = 52;

double round_fp32(double x) { return static_cast<double>(static_cast<float>(x)); }

std::string format_problem(const FloatFormat* f) {
  if (!f) return "There is no such number format.";
  if (f->family != FormatFamily::binary || !f->sign_bits || f->exponent_bits < 1 || f->mantissa_bits > 23)
    return std::string(f->name) + " cannot accumulate here: a floating-point format of up to 32 bits is expected.";
  return {};
}

/// Sum with its rounding error carried along (Neumaier 1974): right to about 1e-16 of the sum of magnitudes.
class Reference {
 public:
  void add(double x) {
    const double t = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

double term_of(const SumInputs& in, std::uint64_t stream, std::int64_t i) {
  const auto at = static_cast<std::uint64_t>(i);
  switch (in.terms) {
    case SumTerms::ones:
      return 1;
    case SumTerms::uniform:
      return open_draw(stream, at);
    case SumTerms::skewed:
      return std::exp2(3 * normal_draw(stream, at));
    case SumTerms::normal:
      return normal_draw(stream, at);
    case SumTerms::cancelling: {
      const double x = normal_draw(stream, at / 2);
      return at % 2 == 0 ? x : -0.999 * x;
    }
  }
  return 0;
}

/// One accumulator of each method, fed term by term. Kahan's and the tree's results are made when asked for.
class Accumulators {
 public:
  Accumulators(const FloatFormat& format, std::int64_t block, std::uint64_t stream)
      : naive_(format),
        stochastic_(format),
        kahan_(format),
        tree_(format),
        blocked_(format),
        block_(block),
        stream_(stream) {}

  void add(double x) {
    sum_[0] = naive_.nearest(sum_[0] + x);
    sum_[1] = stochastic_.stochastic(sum_[1] + x, counter_hash(stream_, static_cast<std::uint64_t>(n_)));
    const double y = kahan_.nearest(x - carried_), t = kahan_.nearest(sum_[2] + y);
    carried_ = kahan_.nearest(kahan_.nearest(t - sum_[2]) - y);
    sum_[2] = t;
    double carry = x;
    for (std::uint64_t bit = 1, i = 0; (static_cast<std::uint64_t>(n_) & bit) != 0; bit <<= 1, ++i)
      carry = tree_.nearest(level_[i] + carry);
    level_[static_cast<std::size_t>(std::countr_one(static_cast<std::uint64_t>(n_)))] = carry;
    partial_ = blocked_.nearest(partial_ + x);
    if (++in_block_ == block_) {
      promoted_ = round_fp32(promoted_ + partial_);
      partial_ = 0;
      in_block_ = 0;
    }
    sum_[5] = round_fp32(sum_[5] + x);
    ++n_;
    for (const std::size_t m : {0u, 1u, 2u, 5u})
      if (sum_[m] != last_[m]) last_[m] = sum_[m], moved_[m] = n_;
  }

  double value(SumMethod method) {
    if (method == SumMethod::pairwise) {
      // What is left of the tree, smallest branches first.
      double sum = 0;
      bool any = false;
      for (std::size_t i = 0; i < level_.size(); ++i)
        if ((static_cast<std::uint64_t>(n_) >> i) & 1) {
          sum = any ? tree_.nearest(level_[i] + sum) : level_[i];
          any = true;
        }
      return sum;
    }
    if (method == SumMethod::blocked) return round_fp32(promoted_ + partial_);
    return sum_[static_cast<std::size_t>(method)];
  }
  std::int64_t moved_last(SumMethod method) const {
    return method == SumMethod::pairwise || method == SumMethod::blocked ? n_
                                                                         : moved_[static_cast<std::size_t>(method)];
  }
  std::int64_t overflows(SumMethod method) const {
    switch (method) {
      case SumMethod::naive:
        return naive_.overflows();
      case SumMethod::stochastic:
        return stochastic_.overflows();
      case SumMethod::kahan:
        return kahan_.overflows();
      case SumMethod::pairwise:
        return tree_.overflows();
      case SumMethod::blocked:
        return blocked_.overflows();
      case SumMethod::wide:
        break;
    }
    return 0;
  }

 private:
  FormatRounder naive_, stochastic_, kahan_, tree_, blocked_;
  std::int64_t block_, in_block_ = 0, n_ = 0;
  std::uint64_t stream_;
  std::array<double, sum_method_count> sum_{}, last_{};
  std::array<std::int64_t, sum_method_count> moved_{};
  std::array<double, 24> level_{};  ///< sums of 2^i terms that wait for their neighbour
  double carried_ = 0, partial_ = 0, promoted_ = 0;
};

}  // namespace

FormatRounder::FormatRounder(const FloatFormat& format)
    : format_(&format), dropped_(double_mantissa - format.mantissa_bits) {
  const FormatLimits l = limits(format);
  half_ = std::uint64_t{1} << (dropped_ - 1);
  kept_ = ~((std::uint64_t{1} << dropped_) - 1);
  min_normal_ = std::ldexp(1.0, format.emin());
  largest_ = l.max_finite;
}

double FormatRounder::slow(double x, Rounding rounding, std::uint64_t random) {
  if (x == 0) return x;
  const double y = decode(*format_, encode(*format_, x, rounding, Overflow::saturate, random));
  if (std::abs(x) > largest_) {
    // Too large only if it does not round down to the largest value.
    const double away = decode(*format_, encode(*format_, x, rounding, Overflow::ieee, random));
    if (!std::isfinite(away) || !(format_->has_inf() || format_->has_nan())) ++overflows_;
  }
  return y;
}

double FormatRounder::nearest(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const double y = std::bit_cast<double>((bits + (half_ - 1) + ((bits >> dropped_) & 1)) & kept_);
  if (std::abs(x) >= min_normal_ && std::abs(y) <= largest_) [[likely]]
    return y;
  return slow(x, Rounding::nearest_even, 0);
}

double FormatRounder::stochastic(double x, std::uint64_t random) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const double y = std::bit_cast<double>((bits + (~random >> (64 - dropped_))) & kept_);
  if (std::abs(x) >= min_normal_ && std::abs(y) <= largest_) [[likely]]
    return y;
  return slow(x, Rounding::stochastic, random);
}

double ones_stop_at(const FloatFormat& format) {
  return std::min(std::ldexp(1.0, format.mantissa_bits + 1), limits(format).max_finite);
}

std::vector<double> low_precision_terms(const SumInputs& in) {
  std::vector<double> out;
  if (!format_problem(in.format).empty() || !(in.count >= 1 && in.count <= 1048576)) return out;
  FormatRounder terms(*in.format);
  const std::uint64_t stream = random_stream(in.seed, 11);
  out.reserve(static_cast<std::size_t>(in.count));
  for (std::int64_t n = 0; n < in.count; ++n) out.push_back(terms.nearest(in.size * term_of(in, stream, n)));
  return out;
}

Result<SumRun> run_low_precision_sum(const SumInputs& in) {
  using Outcome = Result<SumRun>;
  if (std::string problem = format_problem(in.format); !problem.empty()) return Outcome::fail(std::move(problem));
  if (!(in.count >= 1 && in.count <= 1048576)) return Outcome::fail("A sum has from 1 to 1,048,576 terms.");
  if (!(in.block >= 1 && in.block <= 65536)) return Outcome::fail("A block has from 1 to 65,536 terms.");
  if (!(in.size > 0 && in.size <= 1e30)) return Outcome::fail("The size of the terms is a positive number up to 1e30.");
  SumRun run;
  FormatRounder terms(*in.format);
  Accumulators sums(*in.format, in.block, random_stream(in.seed, 12));
  Reference exact;
  const std::uint64_t stream = random_stream(in.seed, 11);
  const double unit_roundoff = limits(*in.format).unit_roundoff;
  std::int64_t next = 1;
  for (std::int64_t n = 1; n <= in.count; ++n) {
    const double x = terms.nearest(in.size * term_of(in, stream, n - 1));
    sums.add(x);
    exact.add(x);
    run.magnitudes += std::abs(x);
    if (n != next && n != in.count) continue;
    next = std::max(n + 1,
                    static_cast<std::int64_t>(std::llround(static_cast<double>(n) * 1.189207115002721)));  // 2^(1/4)
    run.count.push_back(static_cast<double>(n));
    run.exact.push_back(exact.value());
    run.first_order.push_back(std::min(1.0, static_cast<double>(n - 1) * unit_roundoff));
    for (std::size_t m = 0; m < sum_method_count; ++m) {
      SumTrace& trace = run.methods[m];
      trace.final = sums.value(static_cast<SumMethod>(m));
      trace.final_error = run.magnitudes > 0 ? std::abs(trace.final - exact.value()) / run.magnitudes : 0;
      trace.sum.push_back(trace.final);
      trace.error.push_back(trace.final_error);
    }
  }
  for (std::size_t m = 0; m < sum_method_count; ++m) {
    run.methods[m].moved_last = sums.moved_last(static_cast<SumMethod>(m));
    run.methods[m].overflows = sums.overflows(static_cast<SumMethod>(m));
  }
  run.term_mean = run.magnitudes / static_cast<double>(in.count);
  return Outcome::ok(std::move(run));
}

Result<UpdateRun> run_weight_updates(const UpdateInputs& in) {
  using Outcome = Result<UpdateRun>;
  if (std::string problem = format_problem(in.format); !problem.empty()) return Outcome::fail(std::move(problem));
  if (!(in.steps >= 1 && in.steps <= 8192)) return Outcome::fail("A run has from 1 to 8,192 updates.");
  if (!(in.replicas >= 1 && in.replicas <= 256)) return Outcome::fail("There are from 1 to 256 replicas.");
  if (!(std::abs(in.weight) <= 1e30 && std::abs(in.update) <= 1e30))
    return Outcome::fail("Weight and update are numbers up to 1e30.");
  UpdateRun run;
  FormatRounder r(*in.format);
  run.start = r.nearest(in.weight);
  const auto at = encode(*in.format, run.start, Rounding::nearest_even, Overflow::saturate);
  const auto beside = in.update < 0 ? next_down(*in.format, at) : next_up(*in.format, at);
  const double neighbour = beside ? decode(*in.format, *beside) : run.start;
  run.smallest_visible = std::isfinite(neighbour) ? std::abs(neighbour - run.start) / 2 : 0;
  run.first_seen = r.nearest(run.start + in.update) != run.start;
  double plain = run.start, kahan = run.start, carried = 0, master = round_fp32(in.weight);
  std::vector<double> replica(static_cast<std::size_t>(in.replicas), run.start);
  const std::uint64_t stream = random_stream(in.seed, 21);
  const auto method = [&](UpdateMethod m) -> auto& { return run.weight[static_cast<std::size_t>(m)]; };
  const auto keep = [&](std::int64_t step, double mean) {
    run.step.push_back(static_cast<double>(step));
    run.exact.push_back(run.start + static_cast<double>(step) * in.update);
    run.stochastic_one.push_back(replica.front());
    method(UpdateMethod::plain).push_back(plain);
    method(UpdateMethod::stochastic).push_back(mean);
    method(UpdateMethod::kahan).push_back(kahan);
    method(UpdateMethod::master).push_back(r.nearest(master));
    const std::array<double, update_method_count> now{plain, replica.front(), kahan,
                                                      method(UpdateMethod::master).back()};
    for (std::size_t m = 0; m < update_method_count; ++m)
      if (run.first_move[m] == 0 && now[m] != run.start) run.first_move[m] = step;
  };
  keep(0, run.start);
  for (std::int64_t step = 1; step <= in.steps; ++step) {
    plain = r.nearest(plain + in.update);
    master = round_fp32(master + in.update);
    const double y = r.nearest(in.update - carried), t = r.nearest(kahan + y);
    carried = r.nearest(r.nearest(t - kahan) - y);
    kahan = t;
    double total = 0;
    for (std::size_t i = 0; i < replica.size(); ++i)
      total += replica[i] =
          r.stochastic(replica[i] + in.update, counter_hash(stream, static_cast<std::uint64_t>(step) * 256 + i));
    keep(step, total / static_cast<double>(in.replicas));
  }
  run.exact_final = run.exact.back();
  run.stochastic_mean = method(UpdateMethod::stochastic).back();
  double squares = 0;
  for (const double w : replica) squares += (w - run.stochastic_mean) * (w - run.stochastic_mean);
  run.stochastic_deviation = std::sqrt(squares / static_cast<double>(in.replicas));
  return Outcome::ok(std::move(run));
}

}  // namespace models
