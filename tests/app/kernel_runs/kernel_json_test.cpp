#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "app/kernel_runs/kernel_json.h"
#include "app/kernel_runs/this_machine.h"

namespace {

using app::KernelEvent;
using Kind = KernelEvent::Kind;

KernelEvent full_result() {
  KernelEvent e{.kind = Kind::result};
  e.result = {
      .ladder = "cuda-sgemm",
      .rung = "tile",
      .size = 1 << 30,
      .time_s = 1.0 / 3,
      .spread_s = 1e-9,
      .samples = 31,
      .flops = 2e12,
      .bytes = 3e9,
      .error = 1e-7,
      .error_bound = 2e-6,
      .compiled = true,
      .failure = "a \"quoted\"\nsentence",
      .diagnostics = {{.line = 4, .text = "expected a \";\"", .error = true},
                      {.line = 0, .text = "unused", .error = false}},
      .report =
          {
              .arch = "sm_90",
              .registers_per_thread = 128,
              .spill_store_bytes = 8,
              .spill_load_bytes = 16,
              .shared_bytes = 32768,
              .block_threads = 256,
          },
  };
  return e;
}

}  // namespace

TEST_CASE("every kernel event is one line and comes back equal") {
  KernelEvent roof{.kind = Kind::roof};
  roof.roof = {
      .id = "dram_copy",
      .title = "copy",
      .unit = "B/s",
      .value = 1.25e10,
  };
  KernelEvent checked = full_result();
  checked.result.checked = true;
  for (const KernelEvent& e : {KernelEvent{.kind = Kind::progress, .fraction = 0.1}, full_result(), roof,
                               KernelEvent{.kind = Kind::device, .device = kernels::Device::cuda, .name = "H200"},
                               KernelEvent{.kind = Kind::device, .device = kernels::Device::opengl, .name = "GPU"},
                               checked, KernelEvent{.kind = Kind::note, .note = "Other work ran."},
                               KernelEvent{.kind = Kind::turn, .turn = {.place = 39, .is_b = true, .time_s = 1.0 / 3}},
                               KernelEvent{.kind = Kind::done, .failure = "No."}}) {
    const std::string line = to_line(e);
    INFO(line);
    CHECK(line.find('\n') == std::string::npos);
    const auto back = app::parse_kernel_event(line);
    REQUIRE(back);
    CHECK(*back == e);
  }
  CHECK(to_line(KernelEvent{.kind = Kind::done}) == R"({"event":"done","failure":""})");
}

TEST_CASE("an error of NaN goes as null and comes back as NaN, bytes that are not UTF-8 do not break the line") {
  KernelEvent e = full_result();
  e.result.error = std::numeric_limits<double>::quiet_NaN();
  e.result.failure = "\xff\xfe";
  const auto back = app::parse_kernel_event(to_line(e));
  REQUIRE(back);
  CHECK(std::isnan(back->result.error));
  CHECK(back->result.failure == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("a line that the kernel process should not have written is one sentence") {
  const auto error = [](std::string_view line) { return app::parse_kernel_event(line).error; };
  CHECK(error("") == "What the kernel process said cannot be read (it is not JSON): .");
  CHECK(error("Segmentation fault") ==
        "What the kernel process said cannot be read (it is not JSON): Segmentation fault.");
  CHECK(error(R"({"event":"progress"})") ==
        R"(What the kernel process said cannot be read (fraction is not a number): {"event":"progress"}.)");
  CHECK(error(R"({"event":"party"})").find("event is not one that is known") != std::string::npos);
  CHECK(error(R"([1,2])").find("the line is not an object") != std::string::npos);
  CHECK(error(R"({"event":7})").find("event is not a text") != std::string::npos);
  CHECK(error(R"({"event":"device","device":"tpu","name":""})").find("device is not one that is known") !=
        std::string::npos);
  CHECK(error(std::string(100, '[')).find("nests too deep") != std::string::npos);
  CHECK(error(std::string(app::max_kernel_line_bytes + 1, ' ')).find("longer than 1 MiB") != std::string::npos);
  const std::string good = to_line(full_result());
  for (std::size_t cut = 0; cut < good.size(); ++cut) CHECK_FALSE(app::parse_kernel_event(good.substr(0, cut)));
}

TEST_CASE("numbers of an event must fit where they go") {
  const auto with = [](const std::string& size) {
    std::string line = to_line(full_result());
    line.replace(line.find("1073741824"), 10, size);
    return app::parse_kernel_event(line).error;
  };
  CHECK(with("-5").empty());
  CHECK(with("9223372036854775807").empty());
  for (const char* bad : {"1.5", "9223372036854775808", "1e30", "\"7\"", "null", "[]"})
    CHECK(with(bad).find("size is not a whole number") != std::string::npos);
}

TEST_CASE("a request goes to another process and comes back equal in every member") {
  const kernels::Request r{
      .ladder = "cuda-copy",
      .rungs = {"scalar", "float4"},
      .size = 1 << 28,
      .cold = false,
      .seed = ~std::uint64_t{0},
      .seconds_per_rung = 0.25,
      .edited_rung = "float4",
      .edited_source = "__global__ void copy() {\n}\n",
  };
  const auto back = app::parse_kernel_request(app::to_line(r));
  REQUIRE(back);
  CHECK(back->ladder == r.ladder);
  CHECK(back->rungs == r.rungs);
  CHECK(back->size == r.size);
  CHECK(back->cold == r.cold);
  CHECK(back->seed == r.seed);
  CHECK(back->seconds_per_rung == r.seconds_per_rung);
  CHECK(back->edited_rung == r.edited_rung);
  CHECK(back->edited_source == r.edited_source);
  CHECK(app::parse_kernel_request(R"({"ladder":3})").error.find("ladder is not a text") != std::string::npos);
  CHECK(app::parse_kernel_request(R"({"ladder":"a","rungs":[1]})").error.find("rungs is not a list of texts") !=
        std::string::npos);
}

TEST_CASE("a measurement that had its core for a part of the time says so") {
  CHECK(app::busy_machine(10, 3) ==
        "Other work ran on this machine: the measurement had its core for 30 % of 10 s, and its figures are too low. "
        "Measure again while it is quiet.");
  CHECK(app::busy_machine(10, 9.5).empty());
  CHECK(app::busy_machine(10, 12).empty());  // several threads
  CHECK(app::busy_machine(0, 0).empty());
}
