// Threads, and the kernels that run on several.
#include "kernels/cpu/team.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sched.h>
#endif

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/operation.h"
#include "kernels/cpu/sgemm_packed.h"

using namespace kernels;
using cpu::Buffer;

TEST_CASE("pieces cover everything once, in order, and begin at a multiple of the grain") {
  for (const long n : {0L, 1L, 15L, 16L, 17L, 100L, 385L})
    for (const int count : {1, 2, 3, 7, 64})
      for (const long grain : {1L, 6L, 16L}) {
        INFO(n << " in " << count << " by " << grain);
        long at = 0;
        for (int i = 0; i < count; ++i) {
          const cpu::Piece piece = cpu::piece_of(n, i, count, grain);
          CHECK(piece.from == at);
          CHECK((piece.from % grain == 0 || piece.from == n));
          CHECK(piece.to - piece.from <= ((n + grain - 1) / grain + count - 1) / count * grain);
          at = piece.to;
        }
        CHECK(at == n);
      }
}

TEST_CASE("each index is called once, from call to call and from several callers, and what it wrote is seen") {
  std::vector<int> calls(9);
  for (int times = 1; times <= 50; ++times) {
    const int count = 1 + times % 9;
    std::fill(calls.begin(), calls.end(), 0);
    cpu::on_threads(count, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
    CHECK(std::count(calls.begin(), calls.end(), 1) == count);
  }
  std::vector<int> sums(2);
  const auto caller = [&](std::size_t own) {
    std::vector<int> parts(3);
    for (int times = 0; times < 20; ++times)
      cpu::on_threads(3, [&](int i) { parts[static_cast<std::size_t>(i)] += i; });
    for (const int part : parts) sums[own] += part;
  };
  std::thread other([&] { caller(0); });
  caller(1);
  other.join();
  CHECK(sums == std::vector<int>{60, 60});
  CHECK(cpu::hardware_threads() >= 1);
}

#if defined(__linux__)
TEST_CASE("where every CPU gets a thread, each worker has one of its own; with more threads none is bound") {
  const int cpus = cpu::hardware_threads();
  if (cpus < 2) SKIP("This machine lends one CPU.");
  const auto places_of = [](int threads) {
    std::vector<cpu_set_t> places(static_cast<std::size_t>(threads));
    cpu::on_threads(threads, [&](int i) {
      auto& own = places[static_cast<std::size_t>(i)];
      CPU_ZERO(&own);
      sched_getaffinity(0, sizeof own, &own);
    });
    places.erase(places.begin());  // the caller's
    return places;
  };
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (cpu_set_t& own : places_of(cpus)) {
    CHECK(CPU_COUNT(&own) == 1);
    CPU_OR(&taken, &taken, &own);
  }
  CHECK(CPU_COUNT(&taken) == cpus - 1);
  for (cpu_set_t& own : places_of(cpus + 1)) CHECK(CPU_COUNT(&own) == cpus);
}
#endif

// Any number of threads, more than there are tiles too, and sizes that no tile, panel or block divides.
TEST_CASE("the packed product is the same for any number of threads, bit by bit") {
#if RIDGELINE_X86
  if (!cpu::has(cpu::Isa::avx2)) return;
  const auto& operation = cpu::sgemm_operation();
  for (const std::int64_t n : {1, 7, 97, 331}) {
    const cpu::Shape shape = operation.shape(n);
    Buffer a(shape.a), b(shape.b), one(shape.c), several(shape.c);
    operation.fill(shape, 5, a.data(), b.data());
    Buffer work(cpu::sgemm_work_floats(n, 7));
    one.poison();
    cpu::sgemm_packed(n, a.data(), b.data(), one.data(), work.data(), 1);
    CHECK(operation.error(shape, a.data(), b.data(), one.data()) <= operation.error_bound(shape));
    for (const int threads : {2, 3, 4, 7}) {
      INFO(n << " on " << threads);
      several.poison();
      cpu::sgemm_packed(n, a.data(), b.data(), several.data(), work.data(), threads);
      CHECK(std::equal(one.data(), one.data() + shape.c, several.data()));
      CHECK(several.guards_whole());
      CHECK(work.guards_whole());
    }
  }
#endif
}

TEST_CASE("a rung that wants more threads than there are, or more room, says so in a sentence") {
  std::map<std::string, std::string> failures;
  const Request request{.ladder = "cpu-read-sets", .size = 8192, .cold = false, .seconds_per_rung = 1e-4};
  CHECK(run(request, {.result = [&](const Result& r) { return failures.emplace(r.rung, r.failure).second; }}));
  CHECK(failures.at("16k") ==
        "The rung 16k goes over 16384 bytes, and the size is 8192: choose a larger one, or leave this rung out.");
  if (cpu::has(cpu::Isa::avx2)) CHECK(failures.at("4k").empty());
  cpu::Version crowd = cpu::on(100000, cpu::copy_operation().versions[0]);
  cpu::Operation operation = cpu::copy_operation();
  operation.versions = {&crowd, 1};
  std::string failure;
  CHECK(cpu::run({.ladder = "cpu-copy", .size = 64, .seconds_per_rung = 1e-4}, operation,
                 {.result = [&](const Result& r) {
                   failure = r.failure;
                   return true;
                 }}));
  CHECK(failure.starts_with("The rung scalar needs 100000 hardware threads, which this CPU lacks: it has "));
}

// Whole numbers times a scale of few bits: the floats and the bytes hold the same matrix, so that all versions agree
// with float64 and nothing is lost to quantization. A row of 127s against 63s is the largest sum in 16 bits.
TEST_CASE("the weights of the GEMV are the same as floats and as bytes") {
  const auto& operation = cpu::gemv_operation();
  constexpr std::int64_t n = 100, row_bytes = 128, line = 16;
  const cpu::Shape shape = operation.shape(n);
  Buffer a(shape.a), b(shape.b);
  operation.fill(shape, 9, a.data(), b.data());
  const std::int64_t floats = (n * n + line - 1) / line * line;
  const auto* bytes = reinterpret_cast<const std::int8_t*>(a.data() + floats);
  const float* scales = a.data() + floats + n * row_bytes / 4;
  int least = 0, most = 0;
  bool same = true;
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t k = 0; k < row_bytes; ++k) {
      const int q = bytes[row * row_bytes + k];
      least = std::min(least, q);
      most = std::max(most, q);
      same = same && (k < n ? a.data()[row * n + k] == scales[row] * static_cast<float>(q) : q == 0);
    }
  CHECK(same);
  CHECK(least == -127);
  CHECK(most == 127);
}
