#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "models/trace/readers/number.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"
#include "tests/support/base/effort.h"

using namespace models::trace;
using trace_test::opened_trace;
using trace_test::own_trace;

namespace {

std::string list(const std::string& events) { return "{\"traceEvents\": [" + events + "]}"; }
const Event* find(const Trace& t, std::string_view name) {
  for (const Event& e : t.events)
    if (t.name(e) == name) return &e;
  return nullptr;
}

}  // namespace

TEST_CASE("decimal microseconds become exact nanoseconds", "[trace]") {
  const auto ns = [](std::string_view text) {
    std::int64_t value = -1;
    return parse_us(text, value) ? value : -1;
  };
  CHECK(ns("1711964646123456.789") == 1711964646123456789);  // 19 digits: a double would lose the last three
  CHECK(ns("0.001") == 1);
  CHECK(ns("7") == 7000);
  CHECK(ns("2.5") == 2500);
  CHECK(ns("1.0004") == 1000);
  CHECK(ns("1.0005") == 1001);
  CHECK(ns("1e3") == 1000000);
  CHECK(ns("-2.5") == -2500);
  for (const char* bad : {"", "-", "inf", "NaN", "1.2.3", "12x", "99999999999999999999"}) CHECK(ns(bad) == -1);
}

// Expected by hand from tests/data/traces/small.json: gemm 20-60.001, nccl 50-80, gemm 160-210, copy 220-230, tail
// 330-340 us.
TEST_CASE("a small trace: busy, idle by cause, communication that computation hides", "[trace]") {
  const Trace t = opened_trace(own_trace("small.json"));
  CHECK(t.losses.empty());
  CHECK(t.records == 28);
  CHECK(t.rank == 1);
  CHECK(t.world_size == 4);
  CHECK(t.base_ns == 1700000000000000000);
  CHECK(t.device_names == std::vector<std::string>{"Toy GPU"});
  const Metrics m = measure(t);
  REQUIRE(m.devices.size() == 1);
  const DeviceMetrics& d = m.devices[0];
  CHECK(d.span_ns == 320'000);
  CHECK(d.busy_ns == 60'000 + 50'000 + 10'000 + 10'000);
  CHECK(d.idle_ns == 190'000);
  CHECK(d.comp_ns == 100'001);
  CHECK(d.comm_ns == 30'000);
  CHECK(d.mem_ns == 10'000);
  CHECK(d.comp_and_comm_ns == 10'001);
  CHECK(d.exposed_comm_ns == 19'999);
  CHECK(d.overlap_pct_of_comm == Catch::Approx(100.0 * 10'001 / 30'000));
  // 80-160 launched at 150: the host; 210-220 launched at 200, 10 us: between kernels; 230-330 without a launch:
  // unknown.
  CHECK(d.idle.host_wait_ns == 80'000);
  CHECK(d.idle.kernel_wait_ns == 10'000);
  CHECK(d.idle.other_ns == 100'000);
  REQUIRE(d.longest_gaps.size() == 3);
  CHECK(t.name(t.events[d.longest_gaps[0].next]) == "tail");
  CHECK(d.kernels[0].total_ns == 90'001);
  CHECK(d.launch.linked == 4);
  CHECK(d.launch.unlinked == 1);
  CHECK(d.launch.max_delay_ns == 33'000);  // nccl: launched by 17, started at 50
  CHECK(d.streams[0].queue_max == 1);
  REQUIRE(m.steps.size() == 2);
  CHECK(m.step_devices[0].busy_ns == 60'000);
  CHECK(m.step_devices[0].idle_ns == 40'000);
  CHECK(m.step_devices[1].busy_ns == 70'000);
  REQUIRE_FALSE(m.diagnosis.empty());
  CHECK(m.diagnosis[0].kind == DiagnosisKind::idle);
  CHECK(m.diagnosis[0].part == 190'000);
  CHECK(m.diagnosis[0].whole == 320'000);
  CHECK(t.name(t.events[m.diagnosis[0].event]) == "tail");
}

TEST_CASE("tracks, counters, begin and end, asynchronous spans and arguments of a small trace", "[trace]") {
  const Trace t = opened_trace(own_trace("small.json"));
  // Python functions with the pid and tid of the GPU's stream are no work of the GPU.
  const Event* python = find(t, "f.py(1): main");
  REQUIRE(python);
  CHECK(t.tracks[python->track].kind == TrackKind::python);
  CHECK(find(t, "load")->duration_ns == 6'500);
  CHECK(find(t, "send")->duration_ns == 3'000);
  CHECK(find(t, "receive")->duration_ns == 6'000);
  const Event* gemm = find(t, "gemm");
  CHECK(t.tracks[gemm->track].name == "stream 7 ");
  REQUIRE(gemm->link != none);
  CHECK(t.events[gemm->link].start_ns == 8'000);
  CHECK(argument(t, *gemm, "grid") == "[1, 2, 3]");
  CHECK(argument(t, *gemm, "absent").empty());
  const Event& second = t.events[static_cast<std::size_t>(gemm - t.events.data()) + 1];
  CHECK(argument(t, second, "bandwidth") == "inf");
  const Event* launch = find(t, "cudaLaunchKernel");
  CHECK(launch->depth == 2);  // in aten::mm in ProfilerStep#1
  REQUIRE(t.counters.size() == 2);
  const Counter& clock = t.counters[0];
  CHECK(clock.name == "clock: MHz");
  CHECK(clock.samples[1].time_ns == 20'500);
  CHECK(clock.samples[1].value == 1300.5);
  CHECK(t.counters[1].samples[0].value == 1536);
  CHECK(t.memory[0].max_bytes == 512);
  CHECK(t.memory[0].max_allocated_bytes == 1536);
  const Shape s = shape(t);
  CHECK(s.flow_ids == 2);
  CHECK(s.flow_both_ends == 1);
  CHECK(s.flow_end_only == 1);
}

TEST_CASE("gz, several gz in one, and a bare array with string thread ids read alike", "[trace]") {
  const std::string plain = own_trace("small.json");
  CHECK(measure(opened_trace(trace_test::gzipped(plain))).devices[0].busy_ns == 130'000);
  CHECK(measure(opened_trace(trace_test::gzipped(plain.substr(0, 1000)) + trace_test::gzipped(plain.substr(1000))))
            .devices[0]
            .busy_ns == 130'000);
  const Trace array = opened_trace(own_trace("array.json"));
  CHECK(array.records == 2);
  CHECK(array.losses.empty());
  const Metrics m = measure(array);
  CHECK(m.devices.at(0).comm_ns == 1000);
  CHECK(m.devices[0].streams.at(0).stream == 7);
}

TEST_CASE("an Nsight Systems export joins by process, and a synchronization belongs to its process's device",
          "[trace]") {
  const Trace t = opened_trace(own_trace("small.sqlite"));
  CHECK(t.format == "Nsight Systems SQLite");
  const Metrics m = measure(t);
  REQUIRE(m.devices.size() == 1);
  const DeviceMetrics& d = m.devices[0];
  CHECK(d.device == 1);
  CHECK(d.busy_ns == 6000);
  CHECK(d.exposed_comm_ns == 2000);
  CHECK(d.launch.linked == 2);
  const Event* sync = find(t, "Synchronize");
  REQUIRE(sync);
  CHECK(t.tracks[sync->track].device == 1);
  CHECK(t.tracks[sync->track].stream == -1);
  CHECK(measure(opened_trace(to_chrome_json(t).value.value())).devices.at(0).exposed_comm_ns == 2000);
}

TEST_CASE("damage costs the damaged events alone, and is said", "[trace]") {
  const std::string good = R"({"ph": "X", "name": "good", "ts": 1, "dur": 1, "pid": 1, "tid": 1})";
  const auto with = [&](const std::string& bad) { return opened_trace(list(good + ",\n" + bad + ",\n" + good)); };
  SECTION("bare quotes") {
    const Trace t = with(R"({"ph": "X", "name": "a "b" c", "ts": 1, "dur": 1})");
    CHECK(t.events.size() == 2);
    REQUIRE(t.losses.size() == 1);
    CHECK(t.losses[0].find("1 event is not valid JSON and was left out") == 0);
  }
  SECTION("an odd quote does not swallow what follows") {
    CHECK(with(R"({"ph": "X", "name": "a " c", "ts": 1, "dur": 1})").events.size() == 2);
    const Trace one_line = opened_trace(list(good + ", {\"ph\": \"X\", \"name\": \"a \" c\", \"ts\": 1}, " + good));
    CHECK(one_line.events.size() == 2);
  }
  SECTION("control characters and broken UTF-8 are shown, not lost") {
    const Trace t = with("{\"ph\": \"X\", \"name\": \"a\x01\xff\n\", \"ts\": 1, \"dur\": 1}");
    CHECK(t.events.size() == 3);
    CHECK(find(t, "a ? ") != nullptr);
    REQUIRE(t.losses.size() == 1);
    CHECK(t.losses[0].find("1 event has control characters") == 0);
  }
  SECTION("a backslash after a number is no part of it: the event is left out, and the export opens") {
    const Trace t = with(R"({"ph": "X", "name": "bad", "ts": 1, "dur": 1, "pid": 11\, "tid": 1})");
    CHECK(t.events.size() == 2);
    CHECK(opened_trace(to_chrome_json(t).value.value()).events.size() == 2);
  }
  SECTION("times that are none, and durations of centuries") {
    const Trace t =
        with(R"({"ph": "X", "name": "no time", "ts": NaN}, {"ph": "X", "name": "long", "ts": 1, "dur": 3e15}, )"
             R"({"ph": "X", "name": "back", "ts": 1, "dur": -5})");
    CHECK(t.events.size() == 2);
    CHECK(t.losses.size() == 2);
  }
}

TEST_CASE("cut at every byte: no crash, whole events kept, the loss said", "[trace]") {
  const std::string plain = own_trace("small.json");
  const std::string packed = trace_test::gzipped(plain), rows = own_trace("small.sqlite");
  const auto events_at = plain.find("\"traceEvents\""), end = plain.rfind(']');
  // Under sanitizers at every fifth byte, from the end, so that the last cut is among them.
  const std::size_t step = support::sanitized() && !support::full() ? 5 : 1;
  std::int64_t before = 0;
  for (std::size_t n = (plain.size() - 2) % step; n < plain.size() - 1; n += step) {
    const auto read = read_trace(plain.substr(0, n), "t.json");
    if (!read) {
      CHECK_FALSE(read.error.empty());
      CHECK(before == 0);
      continue;
    }
    CHECK(n > events_at);
    CHECK(read->records >= before);
    before = read->records;
    if (n < end) CHECK_FALSE(read->losses.empty());
  }
  CHECK(before == 28);
  for (std::size_t n = 0; n < packed.size(); n += step) {
    const auto read = read_trace(packed.substr(0, n), "t.json.gz");
    CHECK((read ? !read->losses.empty() : !read.error.empty()));
  }
  for (std::size_t n = 0; n < rows.size(); n += 7 * step) {
    const auto read = read_trace(rows.substr(0, n), "t.sqlite");
    if (!read) CHECK_FALSE(read.error.empty());
  }
}

TEST_CASE("what is no trace is refused in one sentence", "[trace]") {
  CHECK(read_trace("", "f").error == "f: The file is empty.");
  CHECK(read_trace("hello", "f").error.find("neither JSON nor an Nsight Systems SQLite export") != std::string::npos);
  CHECK(read_trace("{\"a\": 1}", "f").error.find("has no \"traceEvents\"") != std::string::npos);
  CHECK(read_trace("[[1, 2], [3, 4]]", "f").error.find("list of 2 values, not of trace events") != std::string::npos);
  CHECK(read_trace("{\"traceEvents\": []}", "f").error == "f: This trace has no events.");
  Progress stop;
  stop.cancelled = [] { return true; };
  CHECK(read_trace(own_trace("small.json"), "f", stop).error == "f: Reading was stopped.");
}

TEST_CASE("an export opens to the same events, arguments and metrics", "[trace]") {
  const Trace t = opened_trace(own_trace("small.json"));
  const Trace again = opened_trace(to_chrome_json(t).value.value());
  CHECK(again.losses.empty());
  CHECK(again.events.size() == t.events.size());
  CHECK(again.base_ns == t.base_ns);
  CHECK(again.rank == 1);
  CHECK(argument(again, *find(again, "gemm"), "grid") == "[1, 2, 3]");
  const DeviceMetrics a = measure(t).devices[0], b = measure(again).devices[0];
  CHECK(a.busy_ns == b.busy_ns);
  CHECK(a.idle.host_wait_ns == b.idle.host_wait_ns);
  CHECK(a.exposed_comm_ns == b.exposed_comm_ns);
  CHECK(again.counters.size() == 2);
}

TEST_CASE("steps that a profiler of 2021 wrote as operators are steps") {
  auto read = read_trace(std::string(R"({"traceEvents":[
{"ph":"X","cat":"Operator","name":"ProfilerStep#5","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"X","cat":"Operator","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":500},
{"ph":"X","cat":"Operator","name":"ProfilerStep#6","pid":1,"tid":1,"ts":1000,"dur":1000},
{"ph":"X","cat":"Kernel","name":"gemm","pid":0,"tid":"stream 7","ts":100,"dur":600,"args":{"device":0,"stream":7}}]})"),
                         "test");
  REQUIRE(read);
  const Metrics m = measure(*read);
  REQUIRE(m.steps.size() == 2);
  CHECK(m.steps[0].name == "ProfilerStep#5");
  CHECK(m.steps[0].end_ns - m.steps[0].start_ns == 1'000'000);
}
