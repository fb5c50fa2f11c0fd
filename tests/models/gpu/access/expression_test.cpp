#include "models/gpu/access/expression.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace gpu = models::gpu;

namespace {

constexpr gpu::BlockShape shape{.width = 16, .height = 8};

std::optional<std::int64_t> index_at(const std::string& text, std::int64_t tid = 0, std::int64_t block = 0) {
  const auto index = gpu::read_index(text);
  INFO(text << ": " << index.error);
  REQUIRE(index);
  const auto value = index->at(gpu::thread_place(shape, block, tid));
  INFO(value.error);
  REQUIRE(value);
  return *value;
}
std::string refusal(const std::string& text, std::int64_t tid = 3) {
  const auto index = gpu::read_index(text);
  return index ? index->at(gpu::thread_place(shape, 0, tid)).error : index.error;
}

}  // namespace

TEST_CASE("index expression: C's precedence and division") {
  struct Row {
    const char* text;
    std::int64_t value;
  };
  for (const Row& r : {Row{"2 + 3 * 4", 14},
                       {"(2 + 3) * 4", 20},
                       {"20 - 5 - 3", 12},
                       {"-7 / 2", -3},
                       {"-7 % 2", -1},
                       {"1 << 4 + 1", 32},
                       {"7 & 3 == 3", 1},
                       {"6 ^ 3 & 1", 7},
                       {"1 | 6 ^ 2", 5},
                       {"~0", -1},
                       {"!5 + !0", 1},
                       {"3 < 4 ? 10 : 20", 10},
                       {"0 ? 1 : 0 ? 2 : 3", 3},
                       {"1 || 1 / 0", 1},
                       {"0 && 1 / 0", 0},
                       {"0x40u + 64UL + 0b11", 131},
                       {"(int)5 + (unsigned long)(2)", 7},
                       {"min(4, 9) + max(4, 9)", 13},
                       {"-(-3)", 3},
                       {"2 - -3", 5},
                       {"-16 >> 2", -4},
                       {"swizzle(3, 4, 3, 128)", 144},
                       {"swizzle(2, 0, -2, 1)", 5},
                       {"warpSize", 32}}) {
    CAPTURE(r.text);
    CHECK(index_at(r.text) == r.value);
  }
}

TEST_CASE("index expression: names of a thread in a block of 16 x 8") {
  CHECK(index_at("1000000*warp + 10000*lane + 100*row + col", 53) == 1000000 + 21 * 10000 + 300 + 5);
  CHECK(index_at("threadIdx.y * blockDim.x + threadIdx.x", 53) == 53);
  CHECK(index_at("blockIdx.x * blockDim.x * blockDim.y + tid", 53, 2) == 2 * 128 + 53);
  CHECK(index_at("height * width", 0) == 128);
  CHECK(index_at("lane < 16 ? lane : off", 15) == 15);
  CHECK(index_at("lane < 16 ? lane : off", 16) == std::nullopt);
  CHECK(index_at("4 * (off + 1)", 0) == std::nullopt);
  const std::vector<gpu::NamedValue> own{{"N", 100}};
  CHECK(*gpu::read_index("N * lane", own)->at(gpu::thread_place(shape, 0, 3)) == 300);
}

TEST_CASE("index expression: lines of a kernel") {
  CHECK(index_at("a[blockIdx.x*blockDim.x+threadIdx.x*2+1]", 5, 3) == 3 * 16 + 11);
  CHECK(index_at("float v = __ldg(&a[2*tid]);", 5) == 10);
  CHECK(index_at("int n = 260;\nint i = blockIdx.x * 256 + threadIdx.x;\nif (i < n) c[i] = a[i] + b[i]; // sum", 3,
                 1) == 259);
  CHECK(index_at("n = 260; i = block * 256 + tid; if (i < n) c[i] = 0;", 4, 1) == std::nullopt);
  CHECK(index_at("n = 3; if (tid >= n) return; c[tid] = 0;", 3) == std::nullopt);
  CHECK(index_at("if (lane < 3)\n{\n  int k = lane * 4;\n  c[k] = 1.0f;\n}", 2) == 8);
  CHECK(index_at("if (lane < 3)\n{\n  int k = lane * 4;\n  c[k] = 1.0f;\n}", 3) == std::nullopt);
  CHECK(index_at("if (lane < 9) if (lane > 3) c[lane] = 1;", 3) == std::nullopt);
  CHECK(index_at("if (lane < 9) if (lane > 3) c[lane] = 1;", 4) == 4);
  CHECK(index_at("if (lane < 9) { x = 1; } c[lane + x] = 1;", 20) == 21);
  CHECK(index_at("int tid = blockIdx.x * blockDim.x + threadIdx.x; out[tid] = 2.5f * in[tid];", 3, 2) == 35);
  CHECK(index_at("reinterpret_cast<float4*>(x)[lane +\n 1]", 3) == 4);
  CHECK(index_at("__shared__ float tile[32][33];\n__syncthreads();\ny = tile[threadIdx.x][threadIdx.y];", 18) ==
        2 * 33 + 1);
  CHECK(index_at("N = 1024; const int row2 = lane; row2 * N", 3) == 3072);
  CHECK(index_at("N = 64;\ni = N * lane", 3) == 192);
  CHECK(gpu::read_index("y[0] = x[0]")->array == "y");
  CHECK(gpu::read_index("x[2 * lane]")->uses(gpu::ThreadName::lane));
}

TEST_CASE("index expression: what cannot be is refused with its place") {
  CHECK(refusal("10 / (lane - 3)") == "In lane 3 the division is by zero (character 4).");
  CHECK(refusal("10 % (lane - 3)") == "In lane 3 the remainder is by zero (character 4).");
  CHECK(refusal("9223372036854775807 + 1") == "In lane 3 the sum does not fit in 64 bits (character 21).");
  CHECK(refusal("(1 << 62) * 4") == "In lane 3 the product does not fit in 64 bits (character 11).");
  CHECK(refusal("1 << 64") == "In lane 3 the shift is by less than 0 or more than 63 (character 3).");
  CHECK(refusal("1 << 63") == "In lane 3 the shifted number does not fit in 64 bits (character 3).");
  CHECK(refusal("(-9223372036854775807 - 1) / -1") == "In lane 3 the number does not fit in 64 bits (character 28).");
  CHECK(refusal("2 * (lane + 1") == "The ( at character 5 is not closed at character 14.");
  CHECK(refusal("2 * ") == "A value is missing at character 4.");
  CHECK(refusal("2 lane") == "At character 3 \"lane\" is left over: an operator is missing before it.");
  CHECK(refusal("2 * k").starts_with("The name \"k\" at character 5 is not known: give it a value first"));
  CHECK(refusal("2.5 * lane") == "An index is made of whole numbers, and \"2.5\" at character 1 is none.");
  CHECK(refusal("99999999999999999999") ==
        "The number \"99999999999999999999\" at character 1 does not fit in 64 bits.");
  CHECK(refusal("a[idx[lane]]").find("itself read from memory") != std::string::npos);
  CHECK(refusal("a[lane][2]").find("need a declaration") != std::string::npos);
  CHECK(refusal("c[lane] = a[2*lane]").starts_with("There are two different indices, the second at character 12"));
  CHECK(refusal("for (int i = 0; i < 4; ++i) a[i] = 0;").find("is not followed here") != std::string::npos);
  CHECK(refusal("__global__ void f(float* a) { a[tid] = 0; }").find("a whole kernel begins") != std::string::npos);
  CHECK(refusal("i = lane; i += 2; a[i]").find("changes a name") != std::string::npos);
  CHECK(refusal("i = lane; i = 2; a[i]").find("a second value") != std::string::npos);
  CHECK(refusal("lane ? 2").find("has no :") != std::string::npos);
  CHECK(refusal("sin(lane)").find("only min, max and swizzle") != std::string::npos);
  CHECK(refusal("swizzle(3, 4, 2, lane)").find("is none") != std::string::npos);
  CHECK(refusal("").starts_with("There is no index here"));
  CHECK(refusal("a[").find("is not closed") != std::string::npos);
  CHECK(refusal("a[]").starts_with("An index is missing"));
  CHECK(refusal("/* a").find("is not closed") != std::string::npos);
  CHECK(refusal("lane @ 2").find("left over") != std::string::npos);
}

TEST_CASE("index expression: depth, length and names that double are bounded, and no cut of a text is lost") {
  CHECK(refusal(std::string(60, '(') + "1" + std::string(60, ')')).find("stand inside each other") !=
        std::string::npos);
  CHECK(refusal(std::string(200, '~') + "1").find("too many signs") != std::string::npos);
  CHECK(refusal(std::string(1001, '1')).starts_with("The text has 1001 letters"));
  std::string sum = "1";
  for (int i = 0; i < 400; ++i) sum += "+1";
  CHECK(refusal(sum).find("too many parts") != std::string::npos);
  std::string doubles = "a0 = 1;";
  for (int i = 1; i < 30; ++i)
    doubles += "a" + std::to_string(i) + "=a" + std::to_string(i - 1) + "+a" + std::to_string(i - 1) + "+tid;";
  CHECK(index_at(doubles) == std::int64_t{1} << 29);
  const std::string line =
      "__shared__ float t[8][9]; if (lane < 3) { int k = min(lane, 4) ? (int)lane << 2 : off; x = t[k][col % 9]; }";
  for (std::size_t n = 0; n <= line.size(); ++n)
    for (const char end : {' ', '\xff', '[', ')'}) {
      const std::string cut = line.substr(0, n) + end;
      CAPTURE(cut);
      const auto index = gpu::read_index(cut);
      CHECK(static_cast<bool>(index) == index.error.empty());
      if (!index) CHECK(index.error.back() == '.');
    }
}
