// The SGEMM ladder beside the peak of multiply-adds, all in turns: what share of the peak each rung reaches on this
// machine. build/tests/bench/ridgeline_bench --benchmark_filter=sgemm
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/cpu/clock.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/operation.h"
#include "kernels/statistics.h"

namespace bench {
namespace {

using kernels::cpu::Buffer;
using kernels::cpu::Operation;

/// One kernel with operands of its own, called warm.
struct Contestant {
  Contestant(const Operation& of, const kernels::cpu::Version& v, std::int64_t size)
      : version(v),
        shape(of.shape(size)),
        a(shape.a),
        b(shape.b),
        c(shape.c),
        work(shape.work),
        flops(of.ladder.cost(size).flops) {
    of.fill(shape, 1, a.data(), b.data());
  }
  void sample() {
    const auto call = [&] { version.call(shape.n, a.data(), b.data(), c.data(), work.data()); };
    samples.push_back(kernels::cpu::timed_s(call));
  }
  double flops_per_s() const { return flops / kernels::summarize(samples).median; }

  kernels::cpu::Version version;
  kernels::cpu::Shape shape;
  Buffer a, b, c, work;
  double flops = 0;
  std::vector<double> samples;
};

/// Rungs of the ladder that take less than a second, each followed by both peaks; the counters are GFLOP/s and shares
/// of its own peak.
void sgemm(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  std::vector<Contestant> all;
  const auto add = [&](const Operation& operation, std::int64_t size) {
    for (const auto& v : operation.versions)
      if (v.call && kernels::cpu::has(v.needs) && v.rung.id != "naive" && v.rung.id != "ikj" && v.rung.id != "scalar")
        all.emplace_back(operation, v, size);
  };
  add(kernels::cpu::fma_operation(), 200000);
  add(kernels::cpu::sgemm_operation(), n);
  for (auto _ : state)
    for (Contestant& c : all) c.sample();
  std::map<std::string_view, double> peaks;
  for (const Contestant& c : all)
    if (c.shape.n != n) peaks[c.version.rung.roof] = std::max(peaks[c.version.rung.roof], c.flops_per_s());
  for (const Contestant& c : all) {
    const std::string name(c.version.rung.id);
    state.counters[(c.shape.n == n ? "" : "fma_") + name + "_GFLOP/s"] = c.flops_per_s() * 1e-9;
    if (c.shape.n == n) state.counters[name + "_%_of_peak"] = 100 * c.flops_per_s() / peaks[c.version.rung.roof];
  }
}
BENCHMARK(sgemm)->Arg(768)->Arg(1152)->Unit(benchmark::kMillisecond)->Iterations(15);

}  // namespace
}  // namespace bench
