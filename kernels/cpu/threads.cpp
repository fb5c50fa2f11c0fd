// One thread to all: the triad and the matrix product, unchanged, on 1, 2, 4, ... threads. What a core has for itself
// (multiply-add units, first and second cache) grows with the threads; what they share (memory, last cache) does not.
//
// cpu-triad-threads:
//   1    one thread draws what one core can ask for
//   2    two: up to twice as much, if the memory has it
//   4    four
//   8    eight
//   16   sixteen
//   32   thirty-two
//   all  every hardware thread
//
// cpu-sgemm-threads:
//   1    one core's multiply-add units
//   2    two, each with a part of C
//   4    four
//   8    eight
//   16   sixteen
//   32   thirty-two
//   all  every hardware thread
//
//   ridgeline kernels run cpu-triad-threads
//   ridgeline kernels run cpu-sgemm-threads --size 2048
#include <cmath>

#include "kernels/cpu/operation.h"
#include "kernels/cpu/sgemm_packed.h"
#include "kernels/cpu/team.h"

namespace kernels::cpu {
namespace {

constexpr int every_thread = 0, max_sgemm_threads = 256;

#if RIDGELINE_X86
// rung: triad
/// c = a + 3 b over a piece whose start is aligned to a line.
AVX2 void triad_piece(Piece piece, const float* a, const float* b, float* c) {
  const __m256 s = _mm256_set1_ps(3);
  std::int64_t i = piece.from;
  for (; i + 16 <= piece.to; i += 16) {
    const __m256 v0 = _mm256_fmadd_ps(s, _mm256_loadu_ps(b + i), _mm256_loadu_ps(a + i));
    const __m256 v1 = _mm256_fmadd_ps(s, _mm256_loadu_ps(b + i + 8), _mm256_loadu_ps(a + i + 8));
    _mm256_stream_ps(c + i, v0);
    _mm256_stream_ps(c + i + 8, v1);
  }
  for (; i < piece.to; ++i) c[i] = a[i] + 3 * b[i];
  _mm_sfence();
}

template <int threads>
void triad_on(std::int64_t n, const float* a, const float* b, float* c, float*) {
  const int count = threads == every_thread ? hardware_threads() : threads;
  on_threads(count, [&](int thread) { triad_piece(piece_of(n, thread, count, 16), a, b, c); });
}
// end rung

// rung: sgemm
template <int threads>
void sgemm_on(std::int64_t n, const float* a, const float* b, float* c, float* work) {
  // The packed product (sgemm_packed.cpp): C is cut into a grid of parts, one a thread, and each thread packs the rows
  // of A and the columns of B that its part needs. No thread waits for another before the end.
  const int count = threads == every_thread
                        ? hardware_threads() < max_sgemm_threads ? hardware_threads() : max_sgemm_threads
                        : threads;
  if (has(Isa::avx512))
    sgemm_avx512(n, a, b, c, work, count);
  else
    sgemm_packed(n, a, b, c, work, count);
}
// end rung
#define TRIAD_ON(threads) triad_on<threads>
#define SGEMM_ON(threads) sgemm_on<threads>
#else
#define TRIAD_ON(threads) nullptr
#define SGEMM_ON(threads) nullptr
#endif

constexpr Version triad_version(std::string_view id, std::string_view title, std::string_view change, int threads,
                                Kernel call) {
  return on(threads, make_version(id, title, change, "cpu/threads.cpp:triad", "dram_copy_all", call, Isa::avx2));
}
constexpr Version triad_thread_versions[] = {
    triad_version("1", "1 thread", "One thread: a core has only so many misses under way, and so much bandwidth.", 1,
                  TRIAD_ON(1)),
    triad_version("2", "2 threads", "Twice the misses under way: up to twice the bandwidth, if the memory has it.", 2,
                  TRIAD_ON(2)),
    triad_version("4", "4 threads", "Four threads fill the memory of many a desktop.", 4, TRIAD_ON(4)),
    triad_version("8", "8 threads", "Eight: on a server the memory still has more.", 8, TRIAD_ON(8)),
    triad_version("16", "16 threads", "Sixteen: where the rate no longer grows, the memory is full.", 16, TRIAD_ON(16)),
    triad_version("32", "32 threads", "Thirty-two threads ask for more than most sockets give.", 32, TRIAD_ON(32)),
    triad_version("all", "all threads",
                  "Every hardware thread; two on one core share its misses, so that the second adds little.",
                  every_thread, TRIAD_ON(every_thread)),
};

constexpr Version sgemm_version(std::string_view id, std::string_view title, std::string_view change, int threads,
                                Kernel call) {
  return on(threads, make_version(id, title, change, "cpu/threads.cpp:sgemm", "fma_all", call, Isa::avx2));
}
constexpr Version sgemm_thread_versions[] = {
    sgemm_version("1", "1 thread", "One core's multiply-add units, as in the ladder of one thread.", 1, SGEMM_ON(1)),
    sgemm_version("2", "2 threads", "C in two parts: twice the units, and nothing that the two wait for.", 2,
                  SGEMM_ON(2)),
    sgemm_version("4", "4 threads", "Four parts: each packs half of A and half of B, which is work done twice.", 4,
                  SGEMM_ON(4)),
    sgemm_version("8", "8 threads", "Eight: the parts get smaller, and packing weighs more.", 8, SGEMM_ON(8)),
    sgemm_version("16", "16 threads", "Sixteen: a small product has too few tiles to share them evenly.", 16,
                  SGEMM_ON(16)),
    sgemm_version("32", "32 threads", "Thirty-two: all cores at work also lower the clock.", 32, SGEMM_ON(32)),
    sgemm_version("all", "all threads",
                  "Every hardware thread; two on one core share its multiply-add units, so that the second adds "
                  "nothing.",
                  every_thread, SGEMM_ON(every_thread)),
};

}  // namespace

const Operation& triad_threads_operation() {
  static const Operation operation = [] {
    Operation own = triad_operation();
    own.ladder.id = "cpu-triad-threads";
    own.ladder.title = "Triad, 1 to all threads";
    own.versions = triad_thread_versions;
    return own;
  }();
  return operation;
}

const Operation& sgemm_threads_operation() {
  static const Operation operation = [] {
    Operation own = sgemm_operation();
    own.ladder.id = "cpu-sgemm-threads";
    own.ladder.title = "Matmul, 1 to all threads";
    own.ladder.size_default = 1536;
    own.ladder.size_hi = 4096;
    own.versions = sgemm_thread_versions;
    own.shape = [](std::int64_t n) {
      const int threads = hardware_threads() < max_sgemm_threads ? hardware_threads() : max_sgemm_threads;
      return Shape{.n = n, .a = n * n, .b = n * n, .c = n * n, .work = sgemm_work_floats(n, threads)};
    };
    return own;
  }();
  return operation;
}

}  // namespace kernels::cpu
