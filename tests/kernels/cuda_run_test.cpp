#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/run.h"
#include "tests/kernels/cuda_fake.h"

using namespace kernels;
using namespace kernels::cuda;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;
using Fault = FakeGpu::Fault;

namespace {

const Ladder& copy_ladder() { return *copy_operation().ladder; }

/// A short run of the smallest copy.
Request small_copy(std::vector<std::string> rungs = {}) {
  return {
      .ladder = "cuda-copy",
      .rungs = std::move(rungs),
      .size = 1 << 20,
      .seconds_per_rung = 0.003,
  };
}

struct Ran {
  std::string refused;
  std::vector<Result> results;
  const Result& of(const std::string& rung) const {
    for (const auto& r : results)
      if (r.rung == rung) return r;
    FAIL("no result of " << rung);
    return results.front();
  }
};

Ran run_all(FakeGpu& gpu, const Request& request, const Ladder& ladder = copy_ladder()) {
  Ran ran;
  const Machine machine = gpu.machine();
  ran.refused = run_on(machine, request, ladder,
                       {.result =
                            [&](const Result& r) {
                              ran.results.push_back(r);
                              return true;
                            },
                        .progress = {}})
                    .error;
  return ran;
}

void check_everything_given_back(const FakeGpu& gpu) {
  for (const auto& [what, count] : gpu.open) {
    INFO(what);
    CHECK(count == 0);
  }
}

}  // namespace

TEST_CASE("a rung is compiled, loaded, checked, warmed and timed, in this order") {
  FakeGpu gpu;
  gpu.run_s["copy_float4"] = 80e-6;
  const Ran ran = run_all(gpu, small_copy({"float4"}));
  CHECK(ran.refused.empty());
  const Result& r = ran.of("float4");
  CHECK(r.failure.empty());
  CHECK(r.compiled);
  CHECK(r.ladder == "cuda-copy");
  CHECK(r.size == 1 << 20);
  CHECK_THAT(r.time_s, WithinRel(80e-6, 1e-5));
  CHECK_THAT(r.spread_s, WithinRel(0.0, 1e-12) || Catch::Matchers::WithinAbs(0.0, 1e-9));
  CHECK(r.samples >= 30);
  CHECK(r.bytes == 2.0 * (1 << 20));
  CHECK(r.error == 0);
  CHECK(r.report.arch == "sm_90");
  CHECK(r.report.registers_per_thread == 32);
  CHECK(r.report.shared_bytes == 128);
  CHECK(r.report.block_threads == 256);
  CHECK(gpu.options[0] == "-arch=sm_90");

  const std::size_t compiled = gpu.first("compile copy_float4.cu"), launched = gpu.first("launch copy_float4"),
                    recorded = gpu.first("record");
  const std::size_t last_record = gpu.last("record"), last_download = gpu.last("download");
  CHECK(compiled < launched);
  CHECK(launched < gpu.first("download"));
  CHECK(gpu.first("download") < recorded);
  CHECK(recorded < gpu.first("launch spin"));  // warm-up is not behind a spin
  CHECK(last_record < last_download);          // checked again on new numbers after the last sample
  check_everything_given_back(gpu);
}

TEST_CASE(
    "a result that is wrong, not a number, outside its array or different each time is refused before it is timed") {
  struct Case {
    Fault fault;
    const char* says;
  };
  for (const Case& c :
       {Case{Fault::wrong, "The result is wrong"}, Case{Fault::not_a_number, "never written or are not numbers"},
        Case{Fault::outside, "wrote outside its output array"}, Case{Fault::race, "threads race"}}) {
    FakeGpu gpu;
    gpu.faults["copy_scalar"] = c.fault;
    const Ran ran = run_all(gpu, small_copy({"scalar"}));
    const Result& r = ran.of("scalar");
    CHECK_THAT(r.failure, ContainsSubstring(c.says));
    CHECK(r.failure.ends_with('.'));
    CHECK(r.time_s == 0);
    CHECK(r.samples == 0);
    CHECK(gpu.count("record") == 0);
    check_everything_given_back(gpu);
  }
}

TEST_CASE("a kernel that is right only until the clock starts is found out") {
  FakeGpu gpu;
  gpu.faults["copy_scalar"] = Fault::stale;
  const Ran ran = run_all(gpu, small_copy({"scalar"}));
  CHECK_THAT(ran.of("scalar").failure, StartsWith("The result is wrong"));
  CHECK(ran.of("scalar").time_s == 0);
  CHECK(gpu.count("record") > 0);
}

TEST_CASE("one rung that is wrong leaves the others be") {
  FakeGpu gpu;
  gpu.faults["copy_float4"] = Fault::wrong;
  const Ran ran = run_all(gpu, small_copy());
  CHECK(ran.results.size() == copy_ladder().rungs.size());
  CHECK_FALSE(ran.of("float4").failure.empty());
  CHECK(ran.of("scalar").failure.empty());
  CHECK(ran.of("grid_stride").samples > 0);
}

TEST_CASE("a launch that loses the context is one sentence, and the rungs that are left say why they were not run") {
  FakeGpu gpu;
  gpu.faults["copy_float4"] = Fault::illegal_address;
  const Ran ran = run_all(gpu, small_copy());
  CHECK(ran.refused.empty());
  CHECK_THAT(ran.of("float4").failure, StartsWith("The kernel read or wrote outside its arrays (error 700, "
                                                  "CUDA_ERROR_ILLEGAL_ADDRESS, while running copy_float4"));
  for (const char* rung : {"scalar", "in_flight", "grid_stride"}) {
    CHECK_THAT(ran.of(rung).failure, StartsWith("Not run: copy_float4 has taken the GPU's context with it"));
    CHECK(ran.of(rung).compiled);
  }
  CHECK(gpu.count("launch copy_in_flight") == 0);
  check_everything_given_back(gpu);
}

TEST_CASE("an edited rung that loses the context costs the other rungs nothing") {
  FakeGpu gpu;
  gpu.faults["copy_scalar"] = Fault::illegal_address;
  Request request = small_copy();
  request.edited_rung = "scalar";
  request.edited_source = std::string(copy_ladder().rungs[0].source);
  const Ran ran = run_all(gpu, request);
  CHECK_THAT(ran.of("scalar").failure, ContainsSubstring("error 700"));
  for (const char* rung : {"float4", "in_flight", "grid_stride"}) CHECK(ran.of(rung).samples > 0);
}

TEST_CASE("a launch that a multiprocessor cannot hold fails alone") {
  FakeGpu gpu;
  gpu.faults["copy_scalar"] = Fault::too_many_registers;
  const Ran ran = run_all(gpu, small_copy({"scalar", "float4"}));
  CHECK_THAT(ran.of("scalar").failure,
             StartsWith("A block asks for more registers, threads or shared memory than a multiprocessor has"));
  CHECK(ran.of("float4").failure.empty());
}

TEST_CASE("too little memory says what is needed and what is free") {
  FakeGpu gpu;
  gpu.memory_bytes = 4 << 20;
  const Ran ran = run_all(gpu, {
                                   .ladder = "cuda-copy",
                                   .rungs = {"scalar", "float4"},
                                   .size = 8 << 20,
                                   .cold = false,
                               });
  for (const auto& r : ran.results)
    CHECK_THAT(r.failure, StartsWith("The GPU has too little free memory for cuda-copy at size 8388608: 16.0 MiB are "
                                     "needed and 3.7 MiB are free. Choose a smaller size"));
  CHECK(ran.results.size() == 2);
  check_everything_given_back(gpu);
}

TEST_CASE("an edited source replaces its own rung alone, and its mistakes are at their lines") {
  FakeGpu gpu;
  Request request = small_copy({"scalar", "float4"});
  request.edited_rung = "scalar";
  request.edited_source =
      "extern \"C\" __global__ void copy_scalar(const float* in, float* out, unsigned n) {\n  mistake;\n}\n";
  const Ran ran = run_all(gpu, request);
  const Result& r = ran.of("scalar");
  CHECK_FALSE(r.compiled);
  CHECK(r.failure == "The kernel does not compile: line 2: identifier \"mistake\" is undefined.");
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0] == Diagnostic{2, "identifier \"mistake\" is undefined", true});
  CHECK(ran.of("float4").failure.empty());
  CHECK(gpu.count("launch copy_scalar") == 0);
  CHECK(ran.results.front().rung == "scalar");  // a mistake is told at once, before the others are timed
}

TEST_CASE("an edited source without the entry says which name it must keep") {
  FakeGpu gpu;
  Request request = small_copy({"scalar"});
  request.edited_rung = "scalar";
  request.edited_source = "extern \"C\" __global__ void mine(const float* in, float* out, unsigned n) {}\n";
  CHECK_THAT(run_all(gpu, request).of("scalar").failure, StartsWith("The source has no kernel named copy_scalar"));
}

TEST_CASE("cold runs go round operands of three times L2 together; warm runs use one set") {
  FakeGpu gpu;  // L2 of 4 MiB, a set of 2 MiB: six sets
  run_all(gpu, small_copy({"scalar"}));
  CHECK(std::set<std::uint64_t>(gpu.timed_inputs.begin(), gpu.timed_inputs.end()).size() == 6);
  CHECK(gpu.timed_inputs[0] != gpu.timed_inputs[1]);

  FakeGpu warm;
  Request request = small_copy({"scalar"});
  request.cold = false;
  run_all(warm, request);
  CHECK(std::set<std::uint64_t>(warm.timed_inputs.begin(), warm.timed_inputs.end()).size() == 1);
}

TEST_CASE("runs under 20 us are replayed as a graph, or launched in a row where capture fails") {
  for (const bool works : {true, false}) {
    FakeGpu gpu;
    gpu.run_s["copy_scalar"] = 4e-6;
    gpu.capture_works = works;
    const Ran ran = run_all(gpu, small_copy({"scalar"}));
    CHECK_THAT(ran.of("scalar").time_s, WithinRel(4e-6, 1e-4));
    CHECK((gpu.count("graph") > 0) == works);
    check_everything_given_back(gpu);
  }
}

TEST_CASE("rungs are timed in turns") {
  FakeGpu gpu;
  run_all(gpu, small_copy({"scalar", "float4"}));
  // After the first timed launch of the second rung comes another of the first.
  const auto after_spin = [&](const std::string& entry, std::size_t from) {
    for (std::size_t i = from; i + 2 < gpu.calls.size(); ++i)
      if (gpu.calls[i] == "launch spin" && gpu.calls[i + 2] == "launch " + entry) return i;
    return gpu.calls.size();
  };
  const std::size_t second = after_spin("copy_float4", 0);
  CHECK(after_spin("copy_scalar", 0) < second);
  CHECK(after_spin("copy_scalar", second) < gpu.calls.size());
}

TEST_CASE("a GPU with a display does not get launches of more than half a second") {
  FakeGpu gpu;
  gpu.watchdog = true;
  gpu.run_s["copy_scalar"] = 0.8;
  CHECK_THAT(run_all(gpu, small_copy({"scalar"})).of("scalar").failure,
             StartsWith("One run takes 0.80 s, and this GPU drives a display"));
}

TEST_CASE("without a device every rung is compiled for sm_90 and says that it was not timed") {
  FakeGpu gpu;
  gpu.devices = 0;
  const Ran ran = run_all(gpu, small_copy());
  CHECK(ran.refused.empty());
  REQUIRE(ran.results.size() == 4);
  for (const auto& r : ran.results) {
    CHECK(r.compiled);
    CHECK_THAT(r.failure,
               StartsWith("Compiled for sm_90 but not timed: The CUDA driver is there, but it sees no device"));
    CHECK(r.report.registers_per_thread == 32);
    CHECK(r.report.block_threads == 256);
  }
  CHECK(gpu.count("allocate") == 0);
}

TEST_CASE("without a driver and without a compiler the sentence names both") {
  FakeGpu gpu;
  Machine machine = gpu.machine();
  machine.no_driver = "No driver.";
  machine.no_nvrtc = "No compiler.";
  CHECK(run_on(machine, small_copy(), copy_ladder(), {}).error == "No driver. No compiler.");
}

TEST_CASE("a driver that does not start says its error") {
  FakeGpu gpu;
  gpu.init_status = 803;
  CHECK_THAT(run_all(gpu, small_copy({"scalar"})).of("scalar").failure,
             ContainsSubstring("The driver and its kernel module do not match: restart the machine (error 803"));
}

TEST_CASE("a GPU newer than the compiler gets PTX, one that is too old for it a sentence") {
  FakeGpu newer;
  newer.capability = 130;
  CHECK(run_all(newer, small_copy({"scalar"})).of("scalar").failure.empty());
  CHECK(newer.options[0] == "-arch=compute_120");
  FakeGpu older;
  older.capability = 70;
  CHECK_THAT(run_all(older, small_copy({"scalar"})).of("scalar").failure,
             ContainsSubstring("compiles for sm_75 and newer, and the GPU is sm_70"));
}

TEST_CASE("a size that does not divide by the ladder's tile is rounded up, and the result says so") {
  FakeGpu gpu;
  Request request = small_copy({"scalar"});
  request.size = (1 << 20) + 1;
  const Ran ran = run_all(gpu, request);
  CHECK(ran.of("scalar").size == (1 << 20) + 16);
  CHECK(ran.of("scalar").bytes == 2.0 * ((1 << 20) + 16));
}

TEST_CASE("a listener that says stop ends the run and everything is given back") {
  FakeGpu gpu;
  const Machine machine = gpu.machine();
  int results = 0;
  CHECK(run_on(machine, small_copy(), copy_ladder(),
               {.result =
                    [&](const Result&) {
                      ++results;
                      return true;
                    },
                .progress = [](double f) { return f < 0.4; }}));
  CHECK(results == 0);
  check_everything_given_back(gpu);
}

TEST_CASE("progress grows to one") {
  FakeGpu gpu;
  const Machine machine = gpu.machine();
  double last = 0;
  bool grows = true;
  CHECK(run_on(machine, small_copy(), copy_ladder(), {.result = {}, .progress = [&](double f) {
                                                        grows = grows && f >= last;
                                                        last = f;
                                                        return true;
                                                      }}));
  CHECK(grows);
  CHECK(last == 1.0);
}

// Seen on an H100 with NVRTC 13.0: the second compilation of a source came from the compiler's cache, with an empty
// log.
TEST_CASE("what a kernel uses is reported however often it is compiled, by an NVRTC with a cache and by one without") {
  for (const bool knows : {true, false}) {
    FakeGpu gpu;
    gpu.knows_no_cache = knows;
    for (int again = 0; again < 2; ++again) {
      const Ran ran = run_all(gpu, small_copy({"scalar"}));
      CHECK(ran.of("scalar").report.arch == "sm_90");
      CHECK(ran.of("scalar").report.registers_per_thread == 32);
    }
  }
}
