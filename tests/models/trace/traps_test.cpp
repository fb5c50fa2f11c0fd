#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/written.h"

// What real recorders and their bugs do to a file, one at a time; what each costs the reader, and what is said.

using namespace models::trace;

namespace {

std::string kernel(const std::string& name, double ts_us, double dur_us, int stream = 7, int correlation = -1) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":)" + std::to_string(stream) + R"(,"ts":)" +
         std::to_string(ts_us) + R"(,"dur":)" + std::to_string(dur_us) + R"(,"args":{"device":0,"stream":)" +
         std::to_string(stream) + (correlation >= 0 ? R"(,"correlation":)" + std::to_string(correlation) : "") + "}}";
}
std::string launch(double ts_us, int correlation, const std::string& name = "cudaLaunchKernel") {
  return R"({"ph":"X","cat":"cuda_runtime","name":")" + name + R"(","pid":9,"tid":9,"ts":)" + std::to_string(ts_us) +
         R"(,"dur":1,"args":{"correlation":)" + std::to_string(correlation) + "}}";
}
std::string span(const std::string& name, double ts_us, double dur_us) {
  return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":1,"ts":)" + std::to_string(ts_us) +
         R"(,"dur":)" + std::to_string(dur_us) + "}";
}

Trace opened_traps(const std::vector<std::string>& events, const std::string& after = "") {
  std::string text = "{\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i ? ",\n" : "\n") + events[i];
  return trace_test::opened_trace(text + "\n]" + after + "}");
}
const Event& event(const Trace& t, std::string_view name) {
  for (const Event& e : t.events)
    if (t.name(e) == name) return e;
  FAIL("no event " << name);
  return t.events.front();
}
/// The finding of this kind, or one of no_device that covers nothing.
Diagnosis finding(const Metrics& m, DiagnosisKind kind) {
  for (const Diagnosis& d : m.diagnosis)
    if (d.kind == kind) return d;
  return {};
}

}  // namespace

TEST_CASE("commas after the last member or the last event cost nothing", "[trace]") {
  const Trace t = opened_traps({R"({"ph":"X","cat":"kernel","name":"a, }",)"
                                R"("pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7,"list":[1,2, ],},})",
                                kernel("b", 10, 2) + ","});
  CHECK(t.events.size() == 2);
  CHECK(event(t, "a, }").duration_ns == 2000);  // the comma in the name is a letter
  CHECK(argument(t, event(t, "a, }"), "stream") == "7");
  REQUIRE(t.losses.size() == 1);
  CHECK(t.losses[0] == "1 event has a mistake in the JSON that could be mended: nothing of it is lost.");
}

TEST_CASE("a duration that is no number is not taken for none", "[trace]") {
  const Trace t = opened_traps(
      {R"({"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"ts":100,"dur":NaN,"args":{"device":0,"stream":7}})",
       kernel("good", 200, 10), R"({"ph":"X","name":"none given","pid":1,"tid":1,"ts":5})"});
  CHECK(t.events.size() == 2);
  CHECK(measure(t).devices.at(0).span_ns == 10'000);
  REQUIRE(t.losses.size() == 1);
  CHECK(t.losses[0] == "1 event has a duration that is no number and was left out.");
}

TEST_CASE("work at time 0 in a recording that counts from 1970 is left out; a recording that begins at 0 keeps it",
          "[trace]") {
  const Trace epoch = opened_traps({kernel("lost", 0, 5), kernel("a", 1.7e15, 10), kernel("b", 1.7e15 + 20, 10)});
  CHECK(measure(epoch).devices.at(0).span_ns == 30'000);
  REQUIRE(epoch.losses.size() == 1);
  CHECK(epoch.losses[0] ==
        "1 event stands at time 0, long before all others and was left out: the recorder did not know when they ran.");
  const Trace relative = opened_traps({kernel("first", 0, 5), kernel("b", 20, 10)});
  CHECK(relative.losses.empty());
  CHECK(measure(relative).devices.at(0).span_ns == 30'000);
}

TEST_CASE("spans that overlap without nesting take rows again, and a child lies under what contains it", "[trace]") {
  std::vector<std::string> chain;
  for (int i = 0; i < 100; ++i)
    chain.push_back(span("s" + std::to_string(i), 6 * i, 10));  // each overlaps the next alone
  const Trace t = opened_traps(chain);
  CHECK(t.tracks.at(0).depths == 2);
  for (std::size_t i = 1; i < t.events.size(); ++i) CHECK(t.events[i].depth != t.events[i - 1].depth);
  const Trace mixed = opened_traps({span("a", 0, 10), span("b", 5, 10), span("in b", 11, 2), span("c", 12, 20)});
  CHECK(event(mixed, "a").depth == 0);
  CHECK(event(mixed, "b").depth == 1);
  CHECK(event(mixed, "in b").depth == 2);
  CHECK(event(mixed, "c").depth == 0);  // a has ended
  std::string async;
  for (int i = 0; i < 50; ++i)
    async += std::string(i ? "," : "") + R"({"ph":"b","cat":"n","id":)" + std::to_string(i) +
             R"(,"name":"x","pid":1,"tid":1,"ts":)" + std::to_string(6 * i) + R"(},{"ph":"e","cat":"n","id":)" +
             std::to_string(i) + R"(,"name":"x","pid":1,"tid":1,"ts":)" + std::to_string(6 * i + 10) + "}";
  CHECK(opened_traps({async}).tracks.at(0).depths == 2);
}

TEST_CASE("a file in any order reads as one in order, and counts what stood out of it", "[trace]") {
  const Trace t =
      opened_traps({kernel("late", 30, 5), span("child", 2, 3), kernel("early", 10, 5), span("parent", 1, 10)});
  CHECK(t.out_of_order == 2);  // child after late, parent after early
  CHECK(event(t, "child").depth == 1);
  const auto d = measure(t).devices.at(0);
  CHECK(d.span_ns == 25'000);
  CHECK(d.idle_ns == 15'000);
}

TEST_CASE("a process with a GPU's number, pids that are words, negative threads and records without time stay apart",
          "[trace]") {
  const Trace t = opened_traps(
      {R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}})",
       R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":7,"ts":1,"dur":50})",
       R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":10,"dur":5,"args":{"device":1,"stream":7}})",
       R"({"ph":"X","cat":"Trace","name":"PyTorch Profiler 0","pid":"Spans","tid":"PyTorch Profiler",)"
       R"("ts":0,"dur":500})",
       R"({"ph":"i","name":"Iteration Start","pid":"Traces","tid":"Trace","ts":"3.5","s":"g"})",
       R"({"ph":"X","cat":"cpu_op","name":"y","pid":"","tid":-5,"ts":95,"dur":3})"});
  CHECK(t.losses.empty());
  const Event &op = event(t, "aten::mm"), &k = event(t, "k");
  CHECK(op.track != k.track);
  CHECK(t.tracks[op.track].device == -1);
  CHECK(t.tracks[op.track].process_name == "python");
  CHECK(t.tracks[k.track].device == 1);
  CHECK(t.tracks[event(t, "y").track].tid == "-5");
  CHECK(event(t, "Iteration Start").start_ns == 3'500);
  const Metrics m = measure(t);
  REQUIRE(m.devices.size() == 1);
  CHECK(m.devices[0].busy_ns == 5'000);
  CHECK(t.last_ns == 98'000);  // the recorder's own span is no part of the recording
}

TEST_CASE("a header after the events counts as one before them", "[trace]") {
  const Trace t =
      opened_traps({kernel("a", 1, 2)},
                   R"(, "baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {"backend": "nccl", "rank": 3, )"
                   R"("world_size": 8})");
  CHECK(t.base_ns == 1700000000000000000);
  CHECK(t.rank == 3);
  CHECK(t.world_size == 8);
  CHECK(t.backend == "nccl");
}

TEST_CASE("one graph launch leads to all of its kernels", "[trace]") {
  const Trace t = opened_traps(
      {launch(1, 5, "cudaGraphLaunch"), kernel("b", 30, 5, 7, 5), kernel("a", 10, 5, 7, 5), kernel("c", 40, 5, 8, 5)});
  for (const char* name : {"a", "b", "c"}) CHECK(t.name(t.events[event(t, name).link]) == "cudaGraphLaunch");
  CHECK(t.name(t.events[event(t, "cudaGraphLaunch").link]) == "a");  // the first
  const Metrics m = measure(t);
  CHECK(m.launch.linked == 3);
  CHECK(m.launch.calls == 1);
  CHECK(m.launch.calls_without_work == 0);
}

TEST_CASE("durations that run into the next task of a stream, and calls whose kernels were lost, are doubted",
          "[trace]") {
  std::vector<std::string> events{kernel("runs on", 10, 500)};
  for (int i = 1; i < 10; ++i) events.push_back(kernel("k", 10 + 20 * i, 10));
  events.push_back(kernel("elsewhere", 15, 30, 8));  // another stream may
  for (int i = 0; i < 40; ++i) events.push_back(launch(i, 100 + i));
  const Metrics m = measure(opened_traps(events));
  CHECK(m.devices.at(0).streams.at(0).overlaps == 9);
  CHECK(m.devices[0].streams.at(1).overlaps == 0);
  CHECK(m.launch.calls_without_work == 40);
  const Diagnosis doubtful = finding(m, DiagnosisKind::durations_doubtful);
  CHECK(doubtful.part == 9);
  CHECK(doubtful.whole == 10);
  CHECK(doubtful.stream == 0);
  const Diagnosis missing = finding(m, DiagnosisKind::kernels_missing);
  CHECK(missing.part == 40);
  CHECK(missing.whole == 40);
}

TEST_CASE("the first kernel's share is of the kernels' time, also where they run at once", "[trace]") {
  const Metrics m =
      measure(opened_traps({kernel("a", 0, 30, 7), kernel("b", 0, 10, 8)}));  // busy for 30 us, 40 us of kernels
  const Diagnosis leads = finding(m, DiagnosisKind::one_kernel_leads);
  CHECK(leads.part == 30'000);
  CHECK(leads.whole == 40'000);
}
