#include <benchmark/benchmark.h>

#include "tests/bench/allocations.h"
#include "tests/bench/lab_benchmarks.h"

int main(int argc, char** argv) {
  bench::count_imgui();
  bench::register_labs();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
