// c[0] = the sum of n floats, by all threads of the machine, a piece each.
//
// cpu-sum:
//   one-thread  one sum in a register, on one thread
//   one-line    a trap: each thread adds to its own sum in memory, and sixteen sums lie in a cache line
//   padded      the same with two lines for each sum
//   local       each thread adds in a register and writes its sum once
//   local-simd  the same with eight vectors of 8 floats
//
//   ridgeline kernels run cpu-sum --size 4MiB
#include <algorithm>
#include <cmath>

#include "kernels/cpu/operation.h"
#include "kernels/cpu/team.h"

namespace kernels::cpu {
namespace {

constexpr int max_threads = 64, far_apart = 32;  // floats: two lines, since a core may fetch a line with its neighbour

int sum_threads() { return std::min(hardware_threads(), max_threads); }

/// The sum of the threads' sums, which lie `apart` floats from each other.
float sum_up(const float* sums, int threads, int apart) {
  float sum = 0;
  for (int i = 0; i < threads; ++i) sum += sums[i * apart];
  return sum;
}

// rung: one-thread
void sum_one_thread(std::int64_t n, const float* a, const float*, float* c, float*) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i];
  c[0] = sum;
}
// end rung

// rung: one-line
void sum_one_line(std::int64_t n, const float* a, const float*, float* c, float* sums) {
  const int threads = sum_threads();
  on_threads(threads, [&](int thread) {
    volatile float& mine = sums[thread];  // volatile: in memory for each addition, as a counter in an array often is
    mine = 0;
    const Piece piece = piece_of(n, thread, threads);
    for (std::int64_t i = piece.from; i < piece.to; ++i) mine = mine + a[i];
  });
  c[0] = sum_up(sums, threads, 1);
}
// end rung

// rung: padded
void sum_padded(std::int64_t n, const float* a, const float*, float* c, float* sums) {
  const int threads = sum_threads();
  on_threads(threads, [&](int thread) {
    volatile float& mine = sums[thread * far_apart];  // no line has two owners
    mine = 0;
    const Piece piece = piece_of(n, thread, threads);
    for (std::int64_t i = piece.from; i < piece.to; ++i) mine = mine + a[i];
  });
  c[0] = sum_up(sums, threads, far_apart);
}
// end rung

// rung: local
void sum_local(std::int64_t n, const float* a, const float*, float* c, float* sums) {
  const int threads = sum_threads();
  on_threads(threads, [&](int thread) {
    float mine = 0;  // in a register
    const Piece piece = piece_of(n, thread, threads);
    for (std::int64_t i = piece.from; i < piece.to; ++i) mine += a[i];
    sums[thread] = mine;  // once: that they share a line costs nothing now
  });
  c[0] = sum_up(sums, threads, 1);
}
// end rung

#if RIDGELINE_X86
// rung: local-simd
AVX2 float sum_piece(const float* a, std::int64_t n) {
  __m256 sum[8];
  UNROLLED
  for (int j = 0; j < 8; ++j) sum[j] = _mm256_setzero_ps();
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    UNROLLED
    for (int j = 0; j < 8; ++j) sum[j] = _mm256_add_ps(sum[j], _mm256_loadu_ps(a + i + 8 * j));
  }
  for (int j = 1; j < 8; ++j) sum[0] = _mm256_add_ps(sum[0], sum[j]);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, sum[0]);
  float all = 0;
  for (const float lane : lanes) all += lane;
  for (; i < n; ++i) all += a[i];
  return all;
}

void sum_local_simd(std::int64_t n, const float* a, const float*, float* c, float* sums) {
  const int threads = sum_threads();
  on_threads(threads, [&](int thread) {
    const Piece piece = piece_of(n, thread, threads);
    sums[thread] = sum_piece(a + piece.from, piece.to - piece.from);
  });
  c[0] = sum_up(sums, threads, 1);
}
// end rung
#endif

constexpr int all_threads = 0;
constexpr Version sum_versions[] = {
    make_version("one-thread", "one thread", "One sum in a register: each addition waits for the one before.",
                 "cpu/sum.cpp:one-thread", "dram_read_all", sum_one_thread),
    on(all_threads,
       make_version("one-line", "sums in one line",
                    "A trap, false sharing: no thread needs the sum of another, but sixteen lie in a cache line, which "
                    "goes from core to core with the additions. More threads, and slower than one.",
                    "cpu/sum.cpp:one-line", "dram_read_all", sum_one_line)),
    on(all_threads,
       make_version("padded", "sums two lines apart",
                    "Each sum has its lines for itself, which stay with their core. An addition still stores its sum "
                    "and loads it again.",
                    "cpu/sum.cpp:padded", "dram_read_all", sum_padded)),
    on(all_threads, make_version("local", "sums in registers",
                                 "Each thread writes its sum once, at the end: no store and load between additions, "
                                 "and nothing to keep apart.",
                                 "cpu/sum.cpp:local", "dram_read_all", sum_local)),
    on(all_threads, make_version("local-simd", "8 x 8 floats at a time",
                                 "Sixty-four sums a thread, which do not wait for each other: the memory is the limit.",
                                 "cpu/sum.cpp:local-simd", "dram_read_all", X86_ONLY(sum_local_simd), Isa::avx2)),
};

double sum_error(const Shape& s, const float* a, const float*, const float* c) {
  ErrorNorm norm;
  double sum = 0;
  for (std::int64_t i = 0; i < s.n; ++i) sum += static_cast<double>(a[i]);
  norm.add(static_cast<double>(c[0]), sum);
  return norm.value();
}

}  // namespace

const Operation& sum_operation() {
  static const Operation operation = {
      .ladder =
          {
              .id = "cpu-sum",
              .title = "Sum by all threads (false sharing)",
              .device = Device::cpu,
              .measure = Measure::bytes_per_s,
              .size_label = "Bytes summed",
              .size_unit = "B",
              .size_lo = 4,
              .size_default = 4 << 20,
              .size_hi = 32 << 20,  // a float that has grown to 2^24 no longer takes up numbers below 1
              .cost =
                  [](std::int64_t size) {
                    const auto n = static_cast<double>(size / 4);
                    return models::OpCost{.flops = n, .read_bytes = 4 * n};
                  },
          },
      .versions = sum_versions,
      .shape =
          [](std::int64_t size) {
            return Shape{.n = size / 4, .a = size / 4, .c = 1, .work = max_threads * far_apart};
          },
      .fill = [](const Shape& s, std::uint64_t seed, float* a, float*) { fill_uniform(seed, 0, 1, a, s.a); },
      .error = sum_error,
      // Each addition rounds the sum so far: a random walk.
      .error_bound = [](const Shape& s) { return 2 * float_epsilon * (1 + std::sqrt(static_cast<double>(s.n))); },
  };
  return operation;
}

}  // namespace kernels::cpu
