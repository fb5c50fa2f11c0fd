// Ladders whose runs the host makes: launches and copies, on the fake.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>

#include "kernels/cuda/run.h"
#include "tests/kernels/cuda_fake.h"

using namespace kernels;
using namespace kernels::cuda;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;

namespace {

std::map<std::string, Result> run_host_ladder(FakeGpu& gpu, const Operation& o, Request request) {
  std::map<std::string, Result> results;
  request.ladder = o.ladder->id;
  request.seconds_per_rung = 0.002;
  const Machine machine = gpu.machine();
  CHECK(run_on(machine, request, *o.ladder,
               {.result =
                    [&](const Result& r) {
                      results[r.rung] = r;
                      return true;
                    },
                .progress = {}})
            .error == "");
  for (const auto& [what, count] : gpu.open) {
    INFO(what);
    CHECK(count == 0);
  }
  return results;
}

}  // namespace

// The fake: a call takes 4 us, a wait 3 us more, a kernel of a graph 1 us.
TEST_CASE("launches are counted one by one, in each of the three ways") {
  FakeGpu gpu;
  gpu.run_s["count_up"] = 1e-6;
  auto results = run_host_ladder(gpu, launch_operation(), {.size = 50});
  REQUIRE(results.size() == 3);
  for (const auto& [id, r] : results) {
    INFO(id << " " << r.failure);
    CHECK(r.failure.empty());
    CHECK(r.error == 0);
    CHECK(r.samples >= 3);
    CHECK(r.size == 50);
    CHECK(r.bytes == 8);
  }
  CHECK_THAT(results["sync"].time_s, WithinRel(7e-6, 1e-9));
  CHECK_THAT(results["stream"].time_s, WithinRel((50 * 4e-6 + 3e-6) / 50, 1e-9));
  CHECK_THAT(results["graph"].time_s, WithinRel((4e-6 + 50 * 1e-6 + 3e-6) / 50, 1e-9));
  CHECK(gpu.count("capture") == 2);  // once at the edge size, once at the size asked for
}

TEST_CASE("a launch that does nothing, and a device that refuses, end their rung with a sentence") {
  FakeGpu lazy;
  lazy.faults["count_up"] = FakeGpu::Fault::stale;
  CHECK_THAT(run_host_ladder(lazy, launch_operation(), {.rungs = {"stream"}, .size = 50})["stream"].failure,
             ContainsSubstring("were never written"));
  FakeGpu broken;
  broken.faults["count_up"] = FakeGpu::Fault::illegal_address;
  auto results = run_host_ladder(broken, launch_operation(), {.size = 50});
  CHECK_THAT(results["sync"].failure, ContainsSubstring("error 700"));
  CHECK_THAT(results["graph"].failure, StartsWith("Not run: sync has taken the GPU's context with it"));
  FakeGpu plain;
  plain.capture_works = false;
  results = run_host_ladder(plain, launch_operation(), {.size = 50});
  CHECK_THAT(results["graph"].failure, ContainsSubstring("recording launches as a graph"));
  CHECK(results["stream"].failure.empty());
}

// The fake's link: 25 GB/s a way from pinned memory, 5 GB/s from pageable; it does one way at a time.
TEST_CASE("copies bring every byte, each way, and their rate is that of the link") {
  FakeGpu gpu;
  constexpr std::int64_t bytes = 3 << 20;
  auto results = run_host_ladder(gpu, host_copy_operation(), {.size = bytes});
  REQUIRE(results.size() == 3);
  for (const auto& [id, r] : results) {
    INFO(id << " " << r.failure);
    CHECK(r.failure.empty());
    CHECK(r.error == 0);
    CHECK(r.bytes == 2.0 * bytes);
  }
  const double waits_s = 2 * gpu.wake_s;  // two streams
  CHECK_THAT(results["pageable"].time_s, WithinRel(2 * bytes / 5e9 + waits_s, 1e-9));
  CHECK_THAT(results["pinned"].time_s, WithinRel(2 * bytes / 25e9 + waits_s, 1e-9));
  CHECK_THAT(results["chunked"].time_s, WithinRel(2 * bytes / 25e9 + waits_s, 1e-9));
}

TEST_CASE("a driver that cannot pin memory fails the rungs that ask for it, and no other") {
  FakeGpu gpu;
  gpu.has_pinned_memory = false;
  auto results = run_host_ladder(gpu, host_copy_operation(), {.size = 1 << 20});
  CHECK(results["pinned"].failure == "This CUDA driver has no cuMemAllocHost_v2: install a newer one.");
  CHECK(results["pageable"].failure.empty());
}

TEST_CASE("without a device, what the host does is not timed and says so; its rungs cannot be edited") {
  FakeGpu gpu;
  gpu.devices = 0;
  for (const auto& [id, r] : run_host_ladder(gpu, launch_operation(), {}))
    CHECK_THAT(r.failure, StartsWith("Not timed: The CUDA driver is there, but it sees no device"));
  CHECK(check({.ladder = "cuda-launch", .edited_rung = "sync", .edited_source = "x"}).error ==
        "The rung \"sync\" of cuda-launch is what the host does, a part of the program: it has no kernel to edit.");
}

TEST_CASE("asked to check alone, every ladder is right at its small size and nothing is timed") {
  for (const char* ladder : {"cuda-copy", "cuda-stride", "cuda-launch", "cuda-host-copy"}) {
    INFO(ladder);
    FakeGpu gpu;
    const auto results = run_host_ladder(gpu, *find_operation(ladder), {.check_only = true});
    CHECK(results.size() == find_operation(ladder)->ladder->rungs.size());
    for (const auto& [id, r] : results) {
      INFO(id << " " << r.failure);
      CHECK(r.failure.empty());
      CHECK(r.samples == 0);
      CHECK(r.time_s == 0);
      CHECK(r.error <= r.error_bound);
      CHECK(r.size == find_operation(ladder)->edge_size);
    }
    CHECK(gpu.count("record") == 0);
  }
  FakeGpu wrong;
  wrong.faults["copy_float4"] = FakeGpu::Fault::wrong;
  CHECK_THAT(run_host_ladder(wrong, copy_operation(), {.check_only = true})["float4"].failure,
             StartsWith("The result is wrong"));
  CHECK(check({.ladder = "cpu-copy", .check_only = true}).error ==
        "Only CUDA ladders are checked alone: a CPU's are checked whenever they run.");
}
