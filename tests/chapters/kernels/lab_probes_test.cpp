// The ladders of the GPU that measure a part of the machine, in the kernel lab.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

using Catch::Approx;

// H100 SXM: 132 multiprocessors x 128 B x 1.98 GHz of shared memory, PCIe 5.0 x16 both ways, 50 MiB of L2; a graph's
// kernel in 1.69 us on the H100 that we measured.
TEST_CASE("kernel lab: a ladder that measures a part of the machine is held against that part") {
  const LabPtr lab = open_lab("kernels/lab");
  const auto at = [&](const char* ladder, int rung) -> chapters::Lab& {
    compute(set(*lab, {{"device", "cuda"}, {"cuda_ladder", ladder}, {"rung", rung}}));
    return *lab;
  };
  for (const auto& [rung, share] : {std::pair{1, 100.0}, {2, 50.0}, {3, 25.0}, {4, 12.5}, {5, 12.5}})
    CHECK(out(at("cuda-stride", rung), "predicted_share") == Approx(share));
  for (const auto& [rung, share] : {std::pair{1, 100.0}, {2, 50.0}, {5, 6.25}, {6, 3.125}, {7, 100.0}})
    CHECK(out(at("cuda-banks", rung), "predicted_share") == Approx(share));
  CHECK(out(at("cuda-banks", 1), "roof_bytes_per_s") == Approx(132 * 128 * out(*lab, "clock_now_hz")));
  // As many bytes under way: a quarter of the threads with four loads, all of them with one.
  CHECK(out(at("cuda-ilp", 3), "predicted_share") == Approx(out(at("cuda-ilp", 4), "predicted_share")));
  CHECK(out(at("cuda-ilp", 1), "predicted_share") == Approx(out(at("cuda-ilp", 3), "predicted_share") / 4));
  CHECK(out(at("cuda-l2", 5), "predicted_share") == Approx(100));  // 48 MiB
  CHECK(out(at("cuda-l2", 9), "predicted_share") < 100);
  CHECK(out(at("cuda-launch", 3), "floor_s") == Approx(1.69e-6));
  CHECK(out(at("cuda-launch", 2), "predicted_s") == Approx(4.19e-6));
  CHECK(out(at("cuda-launch", 1), "predicted_s") == Approx(4.19e-6 + 1.69e-6));
  CHECK(at("cuda-launch", 3).answer().starts_with("Rung 3 can reach its roof of `1.69 \xC2\xB5s` a launch."));
  CHECK(out(at("cuda-host-copy", 2), "predicted_share") == Approx(50));
  // A copy's bandwidth stands in for none of them; their own does.
  compute(
      set(*lab, {{"cuda_ladder", "cuda-banks"},
                 {"rung", 1},
                 {"roofs", app::Json::parse(
                               R"([{"device": "cuda", "id": "gpu_copy", "title": "copy", "unit": "B/s", "value": 1e12},
  {"device": "cuda", "id": "gpu_shared", "title": "shared memory", "unit": "B/s", "value": 2e13}])")}}));
  CHECK(out(*lab, "roof_bytes_per_s") == Approx(2e13));
  CHECK(out(at("cuda-host-copy", 2), "roof_bytes_per_s") > 1e11);
}
