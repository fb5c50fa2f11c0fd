// Our packed product and OpenBLAS's in turns, where its library is installed: ratios of neighbours in time, since a
// machine that others use changes from second to second. One thread and all of them.
//   build/tests/bench/ridgeline_bench --benchmark_filter=openblas
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cpu/clock.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/operation.h"
#include "kernels/cpu/sgemm_packed.h"
#include "kernels/cpu/team.h"
#include "kernels/statistics.h"

#if RIDGELINE_X86
namespace bench {
namespace {

using kernels::cpu::Buffer;

/// OpenBLAS, opened when it is asked for. Its core's name tells whether it knows this CPU: 0.3.21 takes newer ones for
/// older.
struct OpenBlas {
  using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  Gemm gemm = nullptr;
  void (*set_threads)(int) = nullptr;
  std::string core;

  OpenBlas() {
    void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const auto name = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
    gemm = reinterpret_cast<Gemm>(dlsym(library, "cblas_sgemm"));
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    core = name ? name() : "unknown";
  }
};

void against_openblas(benchmark::State& state) {
  static const OpenBlas theirs;
  if (!theirs.gemm || !theirs.set_threads || !kernels::cpu::has(kernels::cpu::Isa::avx2)) {
    state.SkipWithError("No libopenblas.so.0, or no AVX2: nothing to compare.");
    return;
  }
  const std::int64_t n = state.range(0);
  const int threads = state.range(1) == 1 ? 1 : kernels::cpu::hardware_threads();
  theirs.set_threads(threads);
  Buffer a(n * n), b(n * n), c(n * n), work(kernels::cpu::sgemm_work_floats(n, threads));
  kernels::cpu::fill_uniform(1, -1, 1, a.data(), n * n);
  kernels::cpu::fill_uniform(2, -1, 1, b.data(), n * n);
  const auto ours = [&] {
    if (kernels::cpu::has(kernels::cpu::Isa::avx512))
      kernels::cpu::sgemm_avx512(n, a.data(), b.data(), c.data(), work.data(), threads);
    else
      kernels::cpu::sgemm_packed(n, a.data(), b.data(), c.data(), work.data(), threads);
  };
  const auto blas = [&] {  // row-major, neither transposed
    const int size = static_cast<int>(n);
    theirs.gemm(101, 111, 111, size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(), size);
  };
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const int calls = std::max(1, static_cast<int>(1e9 / flops));
  // The other's threads look for work for a while after a call: each side waits for them to sleep and warms its own.
  const auto time_of = [&](const auto& product) {
    if (threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    product();
    return kernels::cpu::timed_s(
               [&] {
                 for (int i = 0; i < calls; ++i) product();
               },
               threads > 1) /
           calls;
  };
  std::vector<double> ratios, own, other;
  for (auto _ : state) {
    const bool first = ratios.size() % 2 == 0;
    const double before = first ? time_of(ours) : time_of(blas), after = first ? time_of(blas) : time_of(ours);
    own.push_back(first ? before : after);
    other.push_back(first ? after : before);
    ratios.push_back(other.back() / own.back());
  }
  state.counters["ours_GFLOP/s"] = flops / kernels::summarize(own).median * 1e-9;
  state.counters["OpenBLAS_GFLOP/s"] = flops / kernels::summarize(other).median * 1e-9;
  state.counters["times_as_fast"] = kernels::summarize(ratios).median;
  state.SetLabel("OpenBLAS for " + theirs.core + ", threads: " + std::to_string(threads));
}
BENCHMARK(against_openblas)
    ->ArgsProduct({{256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096}, {1, 0}})
    ->ArgNames({"n", "one_thread"})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(15);

}  // namespace
}  // namespace bench
#endif
