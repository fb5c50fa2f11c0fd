// The CUDA ladders that memory bounds: histogram, softmax, LayerNorm and GELU, decode GEMV, paged decode, FP8.
#include <algorithm>
#include <bit>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/deviation.h"
#include "kernels/cuda/fp8_quantize.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/run.h"
#include "tests/kernels/cuda_emulator.h"
#include "tests/kernels/cuda_fake.h"

using namespace kernels;
using namespace kernels::cuda;
using Catch::Approx;

namespace {

/// No power of two, rows of more than one step, sequences of less than a page.
const std::vector<std::pair<std::string, std::int64_t>>& emulated_sizes() {
  static const std::vector<std::pair<std::string, std::int64_t>> all{
      {"cuda-histogram", 16 * 1003}, {"cuda-softmax", 260},     {"cuda-layernorm-gelu", 260}, {"cuda-gemv", 384},
      {"cuda-paged-decode", 389},    {"cuda-fp8-quantize", 272}};
  return all;
}

/// What a rung left, as it is or after a change, held against the reference.
bool accepted(const Operation& o, const Rung& rung, std::int64_t size, const std::vector<std::byte>& out) {
  const Deviation d = o.compare({o, rung.id, size, out, 7});
  INFO(rung.id << " " << d.error << " of " << d.bound << ", never written: " << d.never_written);
  return d.never_written == 0 && d.error <= d.bound;
}

float float_at(const std::vector<std::byte>& bytes, std::int64_t index) {
  float value = 0;
  std::memcpy(&value, bytes.data() + 4 * index, sizeof value);
  return value;
}

std::vector<std::byte> with_float(std::vector<std::byte> bytes, std::int64_t index, float value) {
  std::memcpy(bytes.data() + 4 * index, &value, sizeof value);
  return bytes;
}

const Rung& rung_of(const Operation& o, std::string_view id) {
  const Rung* rung = find_rung(*o.ladder, id);
  REQUIRE(rung);
  return *rung;
}

}  // namespace

TEST_CASE("every rung that memory bounds is right on its own launch geometry, and a fault in one number is seen") {
  for (const auto& [ladder, size] : emulated_sizes()) {
    const Operation& o = *find_operation(ladder);
    for (const Rung& rung : o.ladder->rungs) {
      INFO(ladder << " " << rung.id);
      const auto out = cuda_emulator::output_of(o, rung, size, 7);
      CHECK(accepted(o, rung, size, out));
      auto wrong = out;
      if (ladder == "cuda-histogram") {  // one count less, of about 2,000
        wrong[4 * 126] = static_cast<std::byte>(std::to_integer<unsigned>(wrong[4 * 126]) - 1);
      } else if (ladder == "cuda-fp8-quantize") {  // one bit of one number, then of one scale
        wrong[100] ^= std::byte{1};
        CHECK_FALSE(accepted(o, rung, size, wrong));
        wrong = out;
        wrong[static_cast<std::size_t>(size * size)] ^= std::byte{1};
      } else {  // the last number is that of another place
        const auto last = static_cast<std::int64_t>(out.size() / 4) - 1;
        wrong = with_float(out, last, float_at(out, last - 7));
        CHECK_FALSE(accepted(o, rung, size, with_float(out, last, __builtin_nanf(""))));
      }
      CHECK_FALSE(accepted(o, rung, size, wrong));
    }
  }
}

TEST_CASE("the shared helper of comparisons: the largest error counts, and NaN is never accepted") {
  PeakError peak;
  for (int i = 0; i < 1000; ++i) peak.add(2, 2);
  peak.add(2.1, 2);
  CHECK(peak.value() == Approx(0.05));
  peak.add(std::nan(""), 2);
  peak.add(2, 2);
  CHECK_FALSE(peak.value() <= 1e9);
  CHECK(chosen_lines(5, 8, 1) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  const auto few = chosen_lines(1000, 10, 3);
  REQUIRE(few.size() == 10);
  for (std::size_t i = 0; i < few.size(); ++i) CHECK(few[i] / 100 == static_cast<std::int64_t>(i));
}

// What a learner gets wrong first must not pass by luck of the inputs.
TEST_CASE("inputs show a maximum that is not subtracted and a variance that cancels") {
  const Operation& softmax = softmax_operation();
  float sum = 0;
  for (std::int64_t i = 0; i < 1000; ++i) sum += std::exp(static_cast<float>(input_value(softmax, 3, 0, i)));
  CHECK(sum == 0);

  const Operation& norm = layernorm_gelu_operation();
  const std::int64_t n = 260;
  std::vector<std::byte> out(static_cast<std::size_t>(4 * n * n));
  for (std::int64_t r = 0; r < n; ++r) {
    float sums = 0, squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<float>(input_value(norm, 7, 0, r * n + i));
      sums += x;
      squares += x * x;
    }
    const float mean = sums / 260, scale = 1 / std::sqrt(std::max(squares / 260 - mean * mean, 0.0f) + 1e-5f);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = [&](int which, std::int64_t k) { return static_cast<float>(input_value(norm, 7, which, k)); };
      const float y = (at(0, r * n + i) - mean) * scale * at(1, i) + at(2, i);
      const float gelu = 0.5f * y * (1 + std::erf(y * 0.70710678f));
      std::memcpy(out.data() + 4 * (r * n + i), &gelu, sizeof gelu);
    }
  }
  CHECK_FALSE(accepted(norm, norm.ladder->rungs[0], n, out));

  // The score of a token in paged decode: exp() of it without its maximum is 0.
  const Operation& decode = decode_operation();
  double dot = 0;
  for (std::int64_t d = 0; d < 128; ++d) dot += input_value(decode, 7, 0, d) * input_value(decode, 7, 1, d);
  CHECK(std::exp(static_cast<float>(dot / std::sqrt(128.0))) == 0);
}

namespace {

std::int64_t two_rows(std::int64_t n) { return 2 * n; }
std::int64_t two_rows_out(std::int64_t n) { return 8 * n; }
std::vector<Launch> first_two(const Operation& o, std::string_view rung, std::int64_t n) {
  auto launches = o.launches(rung, n, 4);
  for (Launch& l : launches) l.grid_x = 2;
  return launches;
}

}  // namespace

// The longest row that the registers of a block hold, less four: 256 threads, 16 float4 each, the last one not whole.
TEST_CASE("long rows: softmax of 16,380 numbers sums to one, and each is right") {
  Operation rows = softmax_operation();
  rows.inputs[0].count = two_rows;
  rows.output_bytes = two_rows_out;
  rows.launches = [](std::string_view rung, std::int64_t n, int) { return first_two(softmax_operation(), rung, n); };
  const std::int64_t n = 16380;
  double largest = -1e9, sum = 0;
  std::vector<double> expected;
  for (std::int64_t i = 0; i < n; ++i) {
    expected.push_back(input_value(rows, 7, 0, n + i));
    largest = std::max(largest, expected.back());
  }
  for (double& x : expected) sum += x = std::exp(x - largest);
  for (const Rung& rung : rows.ladder->rungs) {
    INFO(rung.id);
    const auto out = cuda_emulator::output_of(rows, rung, n, 7);
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double reference = expected[static_cast<std::size_t>(i)] / sum;
      worst = std::max(worst, std::abs(static_cast<double>(float_at(out, n + i)) / reference - 1));
    }
    CHECK(worst < 1e-5);
  }
}

namespace {

/// Every finite BF16 up to 448 of both signs, and a 448 at the start of each row, so that each row's scale is 1.
void every_bf16(std::int64_t n, std::uint32_t, std::byte* out) {
  std::uint16_t next = 0;
  for (std::int64_t at = 0; at < n * n; ++at) {
    std::uint16_t bits = 0x43e0;
    if (at % n != 0) {
      bits = static_cast<std::uint16_t>(next / 2 <= 0x43e0 ? next / 2 | (next % 2) << 15 : 0);
      ++next;
    }
    std::memcpy(out + 2 * at, &bits, sizeof bits);
  }
}
std::int64_t bytes_of_bf16(std::int64_t n) { return 2 * n * n; }
void zeros(std::int64_t n, std::uint32_t, std::byte* out) { std::fill_n(out, 2 * n * n, std::byte{}); }

}  // namespace

// e4m3: 448 is 0x7e; below 2^-6 steps of 2^-9; ties go to the even one: 17 lies between 16 (0x58) and 18 (0x59).
TEST_CASE("FP8: the reference is the format's, and every BF16 is rounded to the same bits") {
  CHECK(e4m3_nearest(448) == 0x7e);
  CHECK(e4m3_nearest(-1e6f) == 0xfe);
  CHECK(e4m3_nearest(1) == 0x38);
  CHECK(e4m3_nearest(17) == 0x58);
  CHECK(e4m3_nearest(19) == 0x5a);
  CHECK(e4m3_nearest(0x1p-9f) == 1);
  CHECK(e4m3_nearest(0x1p-10f) == 0);
  CHECK(e4m3_nearest(0x1.8p-9f) == 2);
  CHECK(e4m3_nearest(0x1.fp-7f) == 0x08);
  CHECK(e4m3_nearest(-0.0f) == 0x80);
  const std::int64_t n = 192;
  REQUIRE(n * (n - 1) > 2 * 0x43e1);
  Operation all = fp8_quantize_operation();
  all.inputs[0] = {.element = Element::made, .count = bytes_of_bf16, .make = every_bf16};
  std::vector<std::byte> values(static_cast<std::size_t>(2 * n * n));
  every_bf16(n, 0, values.data());
  for (const Rung& rung : all.ladder->rungs) {
    INFO(rung.id);
    const auto out = cuda_emulator::output_of(all, rung, n, 7);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n * n; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, values.data() + 2 * i, sizeof bits);
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
      if (std::to_integer<std::uint8_t>(out[static_cast<std::size_t>(i)]) != e4m3_nearest(value)) ++wrong;
    }
    CHECK(wrong == 0);
    for (std::int64_t r = 0; r < n; ++r) CHECK(float_at(out, n * n / 4 + r) == 1);
  }
  all.inputs[0].make = zeros;
  const auto nothing = cuda_emulator::output_of(all, all.ladder->rungs.back(), 32, 7);
  CHECK(std::all_of(nothing.begin(), nothing.begin() + 1024, [](std::byte b) { return b == std::byte{}; }));
}

TEST_CASE("paged decode: lengths differ, pages are shuffled, and each has one place") {
  const Operation& o = decode_operation();
  const auto lengths = input_bytes(o, 1301, 7, 3), table = input_bytes(o, 1301, 7, 4);
  std::vector<std::uint32_t> words(16), pages(table.size() / 4);
  std::memcpy(words.data(), lengths.data(), lengths.size());
  std::memcpy(pages.data(), table.data(), table.size());
  std::uint32_t sum = 0;
  for (std::size_t s = 0; s < 8; ++s) sum += words[2 * s];
  CHECK(sum == 1301);
  CHECK(words[0] == 650);
  CHECK(words[12] == 10);  // shorter than a page
  CHECK_FALSE(std::is_sorted(pages.begin(), pages.end()));
  std::sort(pages.begin(), pages.end());
  for (std::size_t i = 0; i < pages.size(); ++i) CHECK(pages[i] == i);
  CHECK(pages.size() >= (1301 + 15) / 16);
}

// Oracles: 3 bytes an element for FP8; INT8 and INT4 in groups of 128 are 2 and 3.87 times less to read than FP16;
// softmax and LayerNorm move 1 GiB in and 1 GiB out at 16,384.
TEST_CASE("the algorithmic work of the ladders that memory bounds") {
  const Ladder& gemv = *gemv_operation().ladder;
  const auto bytes = [&](std::string_view rung) {
    return cost_of(gemv, rung_of(gemv_operation(), rung), 16384).read_bytes;
  };
  CHECK(bytes("fp16") == bytes("wide"));
  CHECK(bytes("fp16") / bytes("int8") == Approx(2).epsilon(0.001));
  CHECK(bytes("fp16") / bytes("int4") == Approx(3.87).epsilon(0.005));
  CHECK(gemv.cost(16384).flops == 2.0 * 16384 * 16384);
  CHECK(softmax_operation().ladder->cost(16384).bytes() == 2.0 * (1 << 30));
  CHECK(layernorm_gelu_operation().ladder->cost(16384).bytes() == Approx(2.0 * (1 << 30)).epsilon(1e-3));
  CHECK(fp8_quantize_operation().ladder->cost(16384).bytes() == Approx(3.0 * 16384 * 16384).epsilon(1e-3));
  CHECK(histogram_operation().ladder->cost(1 << 30).read_bytes == 1 << 30);
  CHECK(decode_operation().ladder->cost(131072).read_bytes == Approx(131072.0 * 2048).epsilon(1e-3));
}

// Three times the 4 MiB of L2 in the weights of the leanest rung, 546,816 bytes: the others' weights lie between them.
TEST_CASE("every rung of the GEMV starts with its own weights out of cache") {
  FakeGpu gpu;
  const Machine machine = gpu.machine();
  const Session session(machine);
  CHECK(cold_sets(session, gemv_operation(), 1024) == 24);
}

TEST_CASE("on a device paged decode goes through tables, scratch memory and a second kernel") {
  FakeGpu gpu;
  const Machine machine = gpu.machine();
  Result last;
  const models::Status ran =
      run_on(machine, {.ladder = "cuda-paged-decode", .rungs = {"gqa"}, .size = 512}, *decode_operation().ladder,
             {.result =
                  [&](const Result& r) {
                    last = r;
                    return true;
                  },
              .progress = {}});
  CHECK(ran.error == "");
  CHECK(last.failure == "");
  CHECK(last.samples > 0);
  CHECK(last.bytes == decode_operation().ladder->cost(512).bytes());
  CHECK(gpu.count("launch decode_gqa") > 0);
  CHECK(gpu.count("launch decode_gqa") == gpu.count("launch decode_gqa_join"));
}
