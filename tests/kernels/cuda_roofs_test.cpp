#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>

#include "kernels/cuda/run.h"
#include "tests/kernels/cuda_fake.h"

using namespace kernels;
using namespace kernels::cuda;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

// Fake rates: copies at 1 TB/s, SGEMM 50 TFLOP/s, bf16 700 TFLOP/s.
TEST_CASE("roofs are rates of what was launched") {
  FakeGpu gpu;
  gpu.computes = false;
  const Machine machine = gpu.machine();
  const Roofs roofs = measure_roofs_on(machine, 0.05, {});
  CHECK(roofs.failure.empty());
  CHECK(roofs.device_name == "Fake GPU");
  std::map<std::string, double> value;
  for (const auto& r : roofs.roofs) value[r.id] = r.value;
  CHECK_THAT(value["gpu_copy"], WithinRel(1e12, 1e-3));
  CHECK_THAT(value["gpu_sgemm"], WithinRel(50e12, 1e-3));
  CHECK_THAT(value["gpu_bf16"], WithinRel(700e12, 1e-3));
  CHECK(value["gpu_read"] > 0);
  CHECK(value["gpu_l2_read"] > 0);
  CHECK(value["gpu_shared"] > 0);
  // A call of 4 us; a graph is one call, a wait of 3 us and a thousand kernels of 50 us; the fake's link is 25 GB/s and
  // does one way at a time.
  CHECK_THAT(value["gpu_call"], WithinRel(4e-6, 1e-6));
  CHECK_THAT(value["gpu_launch"], WithinRel((7e-6 + 1000 * 50e-6) / 1000, 1e-6));
  CHECK_THAT(value["gpu_host"], WithinRel(25e9, 1e-2));
  CHECK(value["gpu_fma"] > 0);
  CHECK(value["gpu_memory"] == static_cast<double>(gpu.memory_bytes));
  CHECK(value["gpu_l2"] == static_cast<double>(gpu.l2_bytes));
  for (const auto& [what, count] : gpu.open) {
    INFO(what);
    CHECK(count == 0);
  }
}

TEST_CASE("roofs without cuBLAS leave its roofs out; without a device they say why") {
  FakeGpu gpu;
  gpu.computes = false;
  Machine machine = gpu.machine();
  machine.no_blas = "cuBLAS was not found.";
  for (const auto& r : measure_roofs_on(machine, 0.02, {}).roofs) {
    CHECK(r.id != "gpu_sgemm");
    CHECK(r.id != "gpu_bf16");
  }
  gpu.devices = 0;
  CHECK_THAT(measure_roofs_on(machine, 0.02, {}).failure, ContainsSubstring("sees no device"));
}

TEST_CASE("roofs without a driver name the driver, not the compiler") {
  FakeGpu gpu;
  Machine machine = gpu.machine();
  machine.no_driver = "No driver.";
  machine.no_nvrtc = "No compiler.";
  CHECK(measure_roofs_on(machine, 0.02, {}).failure == "No driver.");
}
