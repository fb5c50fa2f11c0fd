#include "models/compression/sparsity.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

Chip chip(std::string vendor, std::string architecture) {
  Chip c;
  c.id = "test";
  c.vendor = std::move(vendor);
  c.architecture = std::move(architecture);
  c.memory_bandwidth_bytes_per_s = 1e12;
  c.dense_peak_flops_per_s[static_cast<std::size_t>(Format::bf16)] = 200e12;
  c.dense_peak_flops_per_s[static_cast<std::size_t>(Format::int8)] = 400e12;
  return c;
}

}  // namespace

TEST_CASE("sparsity: masks drop what they say they drop") {
  const std::vector<double> w{1, -4, 2, 3, 0.5, 0.1, -0.2, 8};  // 2 x 4
  CHECK(sparse_mask(w, 2, 4, SparsePattern::two_four, 0.9) == std::vector<std::uint8_t>{0, 1, 0, 1, 1, 0, 0, 1});
  CHECK(sparse_mask(w, 2, 4, SparsePattern::unstructured, 0.5) == std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 0, 1});
  CHECK(sparse_mask(w, 2, 4, SparsePattern::structured, 0.5) ==
        std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1, 1, 1});  // 30 against 64.3
  CHECK(near(mask_error(w, sparse_mask(w, 2, 4, SparsePattern::two_four, 0)),
             std::sqrt((1 + 4 + 0.01 + 0.04) / (30 + 64.3)), 1e-12));
  CHECK(sparse_mask({w.data(), 6}, 1, 6, SparsePattern::two_four, 0) ==
        std::vector<std::uint8_t>{0, 1, 0, 1, 1, 1});  // a short group stays
}

TEST_CASE("sparsity: half of normal weights by size costs 26.7 % of the norm") {
  // Energy under the median of |x|: 1/2 - 2 a phi(a) with a = 0.67449, phi(a) = 0.31778: 0.0713; its root 0.2671.
  const auto w = sparse_example(1, 256, 256, false, 0);
  const double unstructured = mask_error(w, sparse_mask(w, 256, 256, SparsePattern::unstructured, 0.5));
  CHECK(near(unstructured, 0.2671, 0.01));
  const double pairs = mask_error(w, sparse_mask(w, 256, 256, SparsePattern::two_four, 0.5)),
               rows = mask_error(w, sparse_mask(w, 256, 256, SparsePattern::structured, 0.5));
  CHECK(unstructured < pairs);
  CHECK(pairs < rows);
  CHECK((rows > 0.6 && rows < std::sqrt(0.5)));  // rows that are all alike: nearly half of the energy
  // Laplace: |x| is exponential with mean 1/sqrt2 and median ln 2 / sqrt2; the energy under it is 1 - 1/2 (1 + ln 2 +
  // ln^2 2 / 2) of 1.
  const auto heavy = sparse_example(1, 256, 256, true, 0);
  const double ln2 = std::log(2.0);
  CHECK(near(mask_error(heavy, sparse_mask(heavy, 256, 256, SparsePattern::unstructured, 0.5)),
             std::sqrt(1 - 0.5 * (1 + ln2 + ln2 * ln2 / 2)), 0.02));
}

TEST_CASE("sparsity: the error curve is the masks' error at every share") {
  const auto w = sparse_example(5, 32, 64, true, 0.5);
  const std::vector<double> shares{0, 0.1, 0.25, 0.5, 0.9, 0.95};
  for (const auto pattern : {SparsePattern::unstructured, SparsePattern::two_four, SparsePattern::structured}) {
    const auto curve = error_curve(w, 32, 64, pattern, shares);
    for (std::size_t i = 0; i < shares.size(); ++i)
      CHECK(std::abs(curve[i] - mask_error(w, sparse_mask(w, 32, 64, pattern, shares[i]))) <= 1e-12);
  }
}

TEST_CASE("sparsity: 2:4 takes 9/16 of 16-bit weights, 5/8 of 8-bit and 3/4 of 4-bit ones") {
  // Two values and two indices of two bits in every four: (2 b + 4) / 4 b.
  CHECK(sparse_bytes(1600, 16, SparsePattern::two_four, 0.5, true) / 3200 == 9.0 / 16);
  CHECK(sparse_bytes(1600, 8, SparsePattern::two_four, 0.5, true) / 1600 == 5.0 / 8);
  CHECK(sparse_bytes(1600, 4, SparsePattern::two_four, 0.5, true) / 800 == 3.0 / 4);
  // A bitmap pays from one zero in `bits` on.
  CHECK(sparse_bytes(1600, 16, SparsePattern::unstructured, 1.0 / 16, true) == 3200);
  CHECK(near(sparse_bytes(1600, 16, SparsePattern::unstructured, 0.9, true), 520, 1e-12));
  CHECK(sparse_bytes(1600, 16, SparsePattern::unstructured, 0.9, false) == 3200);
  CHECK(near(sparse_bytes(1600, 16, SparsePattern::structured, 0.9, false), 320, 1e-12));
}

TEST_CASE("sparsity: matrix units know 2:4 on NVIDIA from Ampere and AMD from CDNA 3") {
  CHECK(two_four_rate(chip("NVIDIA", "Volta sm_70"), Format::bf16) == 1);
  CHECK(two_four_rate(chip("NVIDIA", "Ampere sm_80"), Format::bf16) == 2);
  CHECK(two_four_rate(chip("NVIDIA", "Blackwell sm_120"), Format::fp8) == 2);
  CHECK(two_four_rate(chip("NVIDIA", "Blackwell"), Format::int8) == 2);
  CHECK(two_four_rate(chip("NVIDIA", "Hopper sm_90"), Format::fp32) == 1);
  CHECK(two_four_rate(chip("AMD", "CDNA2 gfx90a"), Format::bf16) == 1);
  CHECK(two_four_rate(chip("AMD", "CDNA3 gfx942"), Format::fp8) == 2);
  CHECK(two_four_rate(chip("Google", "TPU v5p"), Format::bf16) == 1);
}

TEST_CASE("sparsity: what the hardware makes of the zeros, by roofline") {
  const Chip a100 = chip("NVIDIA", "Ampere sm_80");
  const auto speedup = [&](SparsePattern pattern, double tokens, double share, bool packed = false) {
    const auto t = sparse_time(a100, {
                                         .tokens = tokens,
                                         .inputs = 8192,
                                         .outputs = 8192,
                                         .format = Format::bf16,
                                         .pattern = pattern,
                                         .share = share,
                                         .packed = packed,
                                     });
    REQUIRE(t);
    return t->speedup;
  };
  // Compute bound: zeros anywhere bring nothing, 2:4 brings two, half of the rows two.
  CHECK(speedup(SparsePattern::unstructured, 16384, 0.9) == 1);
  CHECK(near(speedup(SparsePattern::unstructured, 16384, 0.9, true), 1, 1e-9));
  CHECK(near(speedup(SparsePattern::two_four, 16384, 0.5), 2, 1e-9));
  CHECK(near(speedup(SparsePattern::structured, 16384, 0.5), 2, 1e-9));
  // Memory bound, one token: weights are all there is, less the two vectors of 16 KB.
  CHECK(speedup(SparsePattern::unstructured, 1, 0.9) == 1);
  CHECK(near(speedup(SparsePattern::two_four, 1, 0.5), 16.0 / 9, 0.001));
  CHECK(near(speedup(SparsePattern::unstructured, 1, 0.9, true), 16 / 2.6, 0.002));  // 1.6 + 1 bits of 16
  CHECK(near(speedup(SparsePattern::structured, 1, 0.5), 2, 0.001));
  // A chip without the units stores and multiplies the zeros.
  const auto volta = sparse_time(chip("NVIDIA", "Volta sm_70"), {.pattern = SparsePattern::two_four});
  REQUIRE(volta);
  CHECK(volta->speedup == 1);
  CHECK(volta->weight_bytes == volta->dense_weight_bytes);
  CHECK_FALSE(sparse_time(a100, {.format = Format::fp8}));
}

// PTX ISA, mma.sp: 4-bit operands are sparse pair by pair, 4:8; cuSPARSELt: "paired 4:8 for e2m1".
TEST_CASE("zeros of FP4 come in pairs: two of four pairs stay, 20 of 32 bits, and the error is larger than 2:4's") {
  const std::vector<double> w{3, 0, 1, 1, 2, 2, 0, 1};
  CHECK(sparse_mask(w, 1, 8, SparsePattern::two_four, 0.5, true) == std::vector<std::uint8_t>{1, 1, 0, 0, 1, 1, 0, 0});
  CHECK(sparse_bytes(8, 4, SparsePattern::two_four, 0.5, true, true) == 20.0 / 8);
  CHECK(sparse_bytes(8, 4, SparsePattern::two_four, 0.5, true) == 24.0 / 8);
  CHECK(sparse_bytes(8, 16, SparsePattern::two_four, 0.5, true) == 72.0 / 8);
  const auto many = sparse_example(1, 256, 256, false, 0);
  const auto error = [&](bool pairs) {
    return mask_error(many, sparse_mask(many, 256, 256, SparsePattern::two_four, 0.5, pairs));
  };
  CHECK(error(true) > error(false) * 1.15);
  CHECK(in_pairs(Format::fp4));
  CHECK_FALSE(in_pairs(Format::fp8));
}
