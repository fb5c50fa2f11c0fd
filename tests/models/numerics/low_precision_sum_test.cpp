#include "models/numerics/low_precision_sum.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/base/counter_random.h"

using Catch::Approx;
using models::find_float_format;
using models::SumMethod;
using models::SumTerms;
using models::UpdateMethod;

namespace {

template <class Run>
Run done(const models::Result<Run>& run) {
  REQUIRE(run);
  return *run;
}
models::SumRun sum_of(const char* format, SumTerms terms = SumTerms::ones, std::int64_t count = 16384,
                      std::int64_t block = 128) {
  return done(models::run_low_precision_sum(
      {.format = find_float_format(format), .terms = terms, .count = count, .block = block}));
}
const models::SumTrace& method(const models::SumRun& run, SumMethod m) {
  return run.methods[static_cast<std::size_t>(m)];
}
models::UpdateRun updates_of(const char* format, double weight, double update, std::int64_t steps,
                             std::int64_t replicas = 256) {
  return done(models::run_weight_updates(
      {.format = find_float_format(format), .weight = weight, .update = update, .steps = steps, .replicas = replicas}));
}
double last(const models::UpdateRun& run, UpdateMethod m) { return run.weight[static_cast<std::size_t>(m)].back(); }

}  // namespace

TEST_CASE("the quick rounder agrees with encode and decode, subnormals, ties and overflow in") {
  for (const char* id : {"fp32", "tf32", "fp16", "bf16", "e4m3fn", "e5m2", "e3m2", "e2m1", "e4m3fnuz"}) {
    const auto& f = *find_float_format(id);
    models::FormatRounder r(f);
    std::size_t differ = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      double x = std::ldexp(models::normal_draw(3, i), static_cast<int>(models::counter_hash(5, i) % 60) - 30);
      if (i % 4 == 0) x = std::ldexp(std::round(x * 64), -6);  // many ties
      const std::uint64_t luck = models::counter_hash(9, i);
      differ += r.nearest(x) !=
                models::decode(f, models::encode(f, x, models::Rounding::nearest_even, models::Overflow::saturate));
      differ += r.stochastic(x, luck) !=
                models::decode(f, models::encode(f, x, models::Rounding::stochastic, models::Overflow::saturate, luck));
    }
    INFO(id);
    CHECK(differ == 0);
  }
}

// The first integer whose spacing is 2 is 2^p for p bits of significand; adding 1 there is a tie, and 2^p is even.
TEST_CASE("adding ones stops at 2,048 in FP16 and TF32, 256 in BF16, 16 in E4M3, 8 in E5M2") {
  const std::pair<const char*, double> stops[] = {
      {"fp16", 2048}, {"tf32", 2048}, {"bf16", 256}, {"e4m3fn", 16}, {"e5m2", 8}};
  for (const auto& [id, stop] : stops) {
    INFO(id);
    const auto run = sum_of(id);
    CHECK(method(run, SumMethod::naive).final == stop);
    CHECK(method(run, SumMethod::naive).moved_last == static_cast<std::int64_t>(stop));
    CHECK(models::ones_stop_at(*find_float_format(id)) == stop);
    CHECK(method(run, SumMethod::wide).final == 16384);
  }
  CHECK(models::ones_stop_at(*find_float_format("fp32")) == 16777216);
}

TEST_CASE("trees, compensation and short blocks bring the ones back") {
  const auto bf16 = sum_of("bf16");
  CHECK(method(bf16, SumMethod::pairwise).final == 16384);
  CHECK(method(bf16, SumMethod::kahan).final == 16384);
  CHECK(method(bf16, SumMethod::blocked).final == 16384);
  CHECK(method(sum_of("e4m3fn", SumTerms::ones, 16384, 16), SumMethod::blocked).final == 16384);
  CHECK(method(sum_of("e4m3fn", SumTerms::ones, 16384, 128), SumMethod::blocked).final ==
        2048);  // 128 blocks that stop at 16
  // Two E4M3 numbers hold about 8 bits together: compensation stops at 2^8.
  CHECK(method(sum_of("e4m3fn"), SumMethod::kahan).final == 256);
}

TEST_CASE("FP32 here is the processor's float") {
  const std::int64_t n = 3000;
  const auto run = sum_of("fp32", SumTerms::uniform, n);
  const auto stream = models::random_stream(1, 11);
  float sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += static_cast<float>(models::open_draw(stream, i));
  CHECK(method(run, SumMethod::naive).final == static_cast<double>(sum));
  CHECK(method(run, SumMethod::wide).final == static_cast<double>(sum));
}

// Higham, section 4.2: |error| <= (n - 1) u sum |x| for any order, log2(n) u for a tree, 2u + O(n u^2) for Kahan.
TEST_CASE("errors stay under their bounds") {
  for (const char* id : {"fp16", "bf16", "tf32"}) {
    const double u = models::limits(*find_float_format(id)).unit_roundoff;
    for (const SumTerms terms : {SumTerms::uniform, SumTerms::normal, SumTerms::cancelling}) {
      const auto run = sum_of(id, terms, 4096);
      INFO(id << ", terms " << static_cast<int>(terms));
      for (std::size_t i = 0; i < run.count.size(); ++i) {
        const double n = run.count[i];
        CHECK(method(run, SumMethod::naive).error[i] <= (n - 1) * u * 1.05);
        CHECK(method(run, SumMethod::pairwise).error[i] <= (std::log2(n) + 1) * u * 1.05);
        CHECK(method(run, SumMethod::wide).error[i] <= 1e-6 + n * 0x1p-24);
      }
      CHECK(method(run, SumMethod::kahan).final_error <= 2 * u + 2 * 4096 * u * u);
    }
  }
}

TEST_CASE("what is too large becomes the largest value and is said to") {
  const auto run = models::run_low_precision_sum({
      .format = find_float_format("fp16"),
      .terms = SumTerms::ones,
      .count = 4096,
      .size = 1024,
  });
  REQUIRE(run);
  CHECK(method(*run, SumMethod::pairwise).final == 65504);
  CHECK(method(*run, SumMethod::pairwise).overflows > 0);
  CHECK(method(*run, SumMethod::wide).final == 4096.0 * 1024);
}

// 1 + 2^-9 lies a quarter of the way to the next BF16 number, 1 + 2^-7.
TEST_CASE("a BF16 weight of 1 never sees updates of 2^-9, its master shows them from the third on") {
  const auto run = updates_of("bf16", 1, 0x1p-9, 512);
  CHECK_FALSE(run.first_seen);
  CHECK(run.smallest_visible == 0x1p-8);
  CHECK(last(run, UpdateMethod::plain) == 1);
  CHECK(run.first_move[static_cast<std::size_t>(UpdateMethod::plain)] == 0);
  CHECK(last(run, UpdateMethod::master) == 2);
  CHECK(run.first_move[static_cast<std::size_t>(UpdateMethod::master)] ==
        3);  // 2 x 2^-9 is a tie that stays at the even 1
  CHECK(last(run, UpdateMethod::kahan) == 2);
  CHECK(run.exact_final == 2);
}

TEST_CASE("exactly half the gap is a tie: it stays at an even weight and leaves an odd one") {
  CHECK_FALSE(updates_of("bf16", 1, 0x1p-8, 1, 1).first_seen);
  CHECK(updates_of("bf16", 1 + 0x1p-7, 0x1p-8, 1, 1).first_seen);
  CHECK(updates_of("bf16", 1, 0x1p-8 * 1.0001, 1, 1).first_seen);
  // Downwards the gap below a power of two is half as wide.
  CHECK(updates_of("bf16", 1, -0x1p-9, 1, 1).smallest_visible == 0x1p-9);
  CHECK(updates_of("fp16", 1, 0x1p-9, 1, 1).first_seen);
}

TEST_CASE("stochastic rounding moves up with exactly the probability of the distance") {
  models::FormatRounder r(*find_float_format("bf16"));
  int up = 0;
  for (std::uint64_t k = 0; k < 1024; ++k) {
    const double y = r.stochastic(1 + 0x1p-9, k << 54);  // 1,024 evenly spaced draws
    CHECK((y == 1 || y == 1 + 0x1p-7));
    up += y > 1;
  }
  CHECK(up == 256);
}

TEST_CASE("the mean of stochastic weights is the exact weight within its standard error") {
  const auto run = updates_of("bf16", 1, 0x1p-9, 512);
  CHECK(std::abs(run.stochastic_mean - 2) <= 4 * run.stochastic_deviation / std::sqrt(256.0));
  // Each step below 2 moves by 2^-7 with probability 1/4: variance 512 x 3/16 x 2^-14.
  CHECK(run.stochastic_deviation == Approx(std::sqrt(512 * 3.0 / 16) * 0x1p-7).epsilon(0.15));
}

TEST_CASE("what cannot accumulate is refused in a sentence") {
  CHECK(models::run_low_precision_sum({.format = nullptr}).error == "There is no such number format.");
  CHECK(models::run_low_precision_sum({.format = find_float_format("nf4")}).error.find("cannot accumulate here") !=
        std::string::npos);
  CHECK(models::run_low_precision_sum({.format = find_float_format("fp64")}).error.find("up to 32 bits") !=
        std::string::npos);
  CHECK(models::run_weight_updates({.format = find_float_format("bf16"), .steps = 0}).error ==
        "A run has from 1 to 8,192 updates.");
}
