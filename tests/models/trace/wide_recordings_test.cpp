#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/trace/measure/metrics.h"
#include "models/trace/trace.h"
#include "tests/support/base/effort.h"

/// Recordings with very many rows: read in a time that grows with them and no faster, or refused with a sentence.
/// A test here that takes minutes has met a loop over all rows inside another.

namespace {

std::string event(const char* category, const char* name, int pid, int tid, int start_us,
                  const std::string& arguments) {
  return std::string(R"({"ph":"X","cat":")") + category + R"(","name":")" + name + R"(","pid":)" + std::to_string(pid) +
         R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(start_us) + R"(,"dur":5,"args":{)" +
         arguments + "}},\n";
}

/// Each device runs two kernels, and waits in between until a thread of its own has launched the second.
std::string waiting_devices(int devices) {
  std::string json = R"({"traceEvents":[)";
  for (int d = 0; d < devices; ++d)
    for (int i = 0; i < 2; ++i) {
      const int at = 100 * d + 50 * i;
      const std::string correlation = R"("correlation":)" + std::to_string(2 * d + i);
      json += event("cuda_runtime", "cudaLaunchKernel", 1, d, at + 20, correlation);
      json += event("kernel", "k", d, 7, at + 30, R"("device":)" + std::to_string(d) + R"(,"stream":7,)" + correlation);
    }
  json.resize(json.size() - 2);
  return json + "]}";
}

std::string many_threads(int threads) {
  std::string json = R"({"traceEvents":[)";
  for (int t = 0; t < threads; ++t) json += event("cpu_op", "op", 1, t, 10 * t, "");
  json.resize(json.size() - 2);
  return json + "]}";
}

}  // namespace

TEST_CASE("a thousand devices are measured each on its own, and one beyond the limit is refused with a sentence") {
  const auto read = models::trace::read_trace(waiting_devices(1024), "wide.json");
  REQUIRE(read);
  const auto metrics = models::trace::measure(*read);
  REQUIRE(metrics.devices.size() == 1024);
  for (const auto& d : metrics.devices) {
    REQUIRE(d.events == 2);
    REQUIRE(d.host_wait.gaps == 1);
    REQUIRE(d.host_wait.total_ns == 35'000);  // from the first kernel's end at 35 us to the call at 70 us
  }
  if (support::sanitized()) return;  // the number is what the plain run asks about
  const auto refused = models::trace::read_trace(waiting_devices(1025), "wide.json");
  REQUIRE_FALSE(refused);
  CHECK(refused.error ==
        "wide.json: This recording has 1,025 devices, of which at most 1,024 are read: record one rank a file.");
}

TEST_CASE("fifty thousand threads are read, each as its own track, and a quarter of a million too many are refused") {
  const int many = support::sanitized() ? 5'000 : 50'000;
  const auto read = models::trace::read_trace(many_threads(many), "threads.json");
  REQUIRE(read);
  CHECK(read->tracks.size() == static_cast<std::size_t>(many));
  CHECK(models::trace::measure(*read).devices.empty());
  const auto refused = models::trace::read_trace(many_threads(250'001), "threads.json");
  REQUIRE_FALSE(refused);
  CHECK(refused.error.find("has 250,001 tracks, of which at most 250,000 are read") != std::string::npos);
  CHECK(refused.error.back() == '.');
}
