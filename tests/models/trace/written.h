#pragma once
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "models/trace/measure/metrics.h"

/// Recordings made up event by event, in microseconds.
namespace trace_test {

/// A span as PyTorch's profiler writes it.
inline std::string made_span(const std::string& category, const std::string& name, int pid, int tid, double ts_us,
                             double dur_us, const std::string& args) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":)" + std::to_string(pid) +
         R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(ts_us) + R"(,"dur":)" +
         std::to_string(dur_us) + R"(,"args":{)" + args + "}}";
}
/// A kernel on stream 7 of device 0.
inline std::string made_kernel(const std::string& name, double ts_us, double dur_us, int correlation,
                               const std::string& more = "") {
  return made_span("kernel", name, 0, 7, ts_us, dur_us,
                   R"("device":0,"stream":7,"correlation":)" + std::to_string(correlation) + more);
}
inline std::string made_call(double ts_us, double dur_us, int correlation,
                             const std::string& name = "cudaLaunchKernel") {
  return made_span("cuda_runtime", name, 9, 1, ts_us, dur_us, R"("correlation":)" + std::to_string(correlation));
}
/// `head` stands before the events: "\"baseTimeNanoseconds\": 5, " for example.
inline std::string made_recording(const std::vector<std::string>& events, const std::string& head = "") {
  std::string text = "{" + head + "\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i ? ",\n" : "\n") + events[i];
  return text + "\n]}";
}
/// The text as a trace; fails the test where it cannot be read.
inline models::trace::Trace opened_trace(std::string text, const std::string& name = "t.json") {
  auto read = models::trace::read_trace(std::move(text), name);
  INFO(read.error);
  REQUIRE(read);
  return std::move(*read);
}
/// The time of each class of work and of each cause of idleness, of a device or of a window.
template <class Found, class Expected>
void check_same_times(const Found& found, const Expected& expected) {
  CHECK(found.busy_ns == expected.busy_ns);
  CHECK(found.comp_ns == expected.comp_ns);
  CHECK(found.comm_ns == expected.comm_ns);
  CHECK(found.mem_ns == expected.mem_ns);
  CHECK(found.exposed_comm_ns == expected.exposed_comm_ns);
  CHECK(found.idle.host_wait_ns == expected.idle.host_wait_ns);
  CHECK(found.idle.kernel_wait_ns == expected.idle.kernel_wait_ns);
  CHECK(found.idle.other_ns == expected.idle.other_ns);
}
inline models::trace::Trace opened_made(const std::string& text) { return opened_trace(text, "made up"); }

}  // namespace trace_test
