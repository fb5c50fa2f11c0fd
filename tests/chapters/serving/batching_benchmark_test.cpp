#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

/// 300 requests of 512 and 128 tokens, eight at a time, in 80 s.
constexpr std::string_view eight_at_a_time = R"(============ Serving Benchmark Result ============
Successful requests:                     300
Maximum request concurrency:             8
Benchmark duration (s):                  80.00
Total input tokens:                      153600
Total generated tokens:                  38400
Mean TTFT (ms):                          91.25
Mean TPOT (ms):                          15.00
P99 TPOT (ms):                           19.00
)";

LabPtr with_benchmark(std::string_view text) {
  LabPtr lab = open_lab("serving/batching", R"({"length_variation": 0, "requests": 1000})");
  input(*lab, "benchmark").file() = {"run.txt", std::string(text)};
  return lab;
}

}  // namespace

TEST_CASE("batching: a benchmark's own load goes through the chosen policy, and both stand side by side") {
  use_bundled_catalog();
  const LabPtr lab = with_benchmark(eight_at_a_time);
  lab->compute();
  CHECK(output(*lab, "benchmark_tokens_per_s").real() == 480);
  const double simulated = output(*lab, "benchmark_simulated_per_s").real();
  CHECK(simulated > 480);
  CHECK(output(*lab, "benchmark_reached").real() < 48000 / simulated);
  CHECK(output(*lab, "benchmark_times").table_size() == 3);
  CHECK(lab->answer().find("Your benchmark wrote `480` output tokens per second, the simulation `") !=
        std::string::npos);
  // Fewer at a time are slower in all, whatever the race is set to; slots beyond the limit change nothing.
  set(*lab, "slots", 64);
  lab->compute();
  CHECK(near(output(*lab, "benchmark_simulated_per_s").real(), simulated, 1e-12));
  set(*lab, "slots", 4);
  lab->compute();
  CHECK(output(*lab, "benchmark_simulated_per_s").real() < 0.7 * simulated);
  Canvas canvas(*lab, {1180, 760});
  canvas.ui.frames(2);
  CHECK(canvas.ui.text_present("Your benchmark"));
}

TEST_CASE("batching: a benchmark is used, or refused with a reason") {
  use_bundled_catalog();
  const auto problem = [](const LabPtr& lab) {
    lab->compute();
    return lab->reason();
  };
  CHECK(problem(with_benchmark("nothing")).starts_with("This is no output of a serving benchmark"));
  const LabPtr plain = with_benchmark(eight_at_a_time);
  input(*plain, "service").set_choice_id("exponential");
  CHECK(problem(plain).starts_with("A benchmark is of a language model, and this is a plain queue"));
  std::string turned(eight_at_a_time);
  turned.replace(turned.find("300"), 3, "600");
  const LabPtr several = with_benchmark(turned + std::string(eight_at_a_time) + "Serving Benchmark Result\n");
  CHECK(problem(several).empty());
  CHECK(output(*several, "benchmark_runs").table_size() == 2);
  CHECK(output(*several, "benchmark_left_out").text() ==
        "1 run is left out: The run that begins in line 19 does not say how many requests were answered.");
  CHECK(several->answer().find("Your benchmark's fastest run wrote `480` output tokens") != std::string::npos);
}
