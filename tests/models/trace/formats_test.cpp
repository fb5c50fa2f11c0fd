#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

// What other programs write: read where it is a recording, and named with the way out where it is not.

using namespace models::trace;
using trace_test::opened_trace;
using namespace std::string_literals;

namespace {

std::string refusal(const std::string& bytes, std::string_view name = "f") {
  const auto read = read_trace(bytes, name);
  CHECK_FALSE(read);
  return read.error.substr(std::min(read.error.size(), name.size() + 2));
}

std::string tar_of(const std::string& name) {
  std::string header(1024, '\0');
  header.replace(0, name.size(), name);
  header.replace(257, 5, "ustar");
  return header;
}

}  // namespace

TEST_CASE("foreign formats are named, each with the way out", "[trace]") {
  CHECK(refusal("PK\x03\x04\x14\0\0\0"s) == "This is a zip archive: unpack it and open the recording inside.");
  CHECK(refusal("\x28\xB5\x2F\xFD\x04"s) ==
        "This file is compressed with Zstandard: unpack it with zstd -d and open what comes out.");
  CHECK(refusal(tar_of("rank0.json")) ==
        "This is a tar archive: unpack it with tar -xf and open the recordings inside, one for each rank.");
  CHECK(refusal(trace_test::gzipped(tar_of("rank0.json"))) ==
        "This is a tar archive in a gz: unpack it with tar -xf and open the recordings inside, one for each rank.");
  CHECK(refusal("NVR\0\x10\0\0\0"s) ==
        "This is a report of Nsight Compute, which has counters of single kernels and no timeline: record the run with "
        "Nsight Systems and open what nsys export --type sqlite writes.");
  CHECK(refusal("\x01\x02\0\0"s, "run.nsys-rep") ==
        "This is a report of Nsight Systems in its own format: nsys export --type sqlite writes a file that can be "
        "opened.");
  const std::string pickle =
      "This is a pickle of Python, which is a program and is not run here. A recording is written as JSON by "
      "export_chrome_trace of the PyTorch profiler; a memory snapshot or a flight recorder's dump is no recording.";
  CHECK(refusal(R"({"version": "2.10", "pg_config": {}, "pg_status": {}, "entries": [{"record_id": 0}]})") ==
        "This is a dump of PyTorch's flight recorder, which says which collectives a rank began and has no timeline of "
        "the device: fr_trace reads it.");
  CHECK(refusal(R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})") ==
        "This is an execution trace of PyTorch, which lists operations and has no times: open the profiler's trace of "
        "the same run.");
  CHECK(refusal(R"({"shared": {"frames": []}, "profiles": []})") ==
        "This is a profile of speedscope, which samples call stacks: open a trace with spans.");
  CHECK(refusal("\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94."s) == pickle);
  CHECK(refusal("\x80\x02}q\0."s) == pickle);
  const std::string plane =
      "This is an XPlane of TensorFlow or JAX: open the .trace.json.gz next to it, or have xprof convert it to the "
      "trace "
      "viewer's JSON.";
  CHECK(refusal("\n\x11\x08\x02\x12\x0D/device:GPU:0"s) == plane);
  CHECK(refusal("\n\x0B\x12\x09/host:CPU"s) == plane);
  CHECK(refusal(trace_test::gzipped("\n\x0B\x12\x09/host:CPU"s)) == plane);
  const std::string perfetto =
      "This is a recording in Perfetto's own format: traceconv json writes it as JSON that can be opened.";
  CHECK(refusal("\n\x08\x40\x80\x80\x80\x01\x50\x01\x58"s) == perfetto);  // a packet with a time and a sequence
  CHECK(refusal("\n\x7B\x32\x79\x0A\x03\x08\x06\x10\x01"s) == perfetto);  // of 123 bytes, which are a brace in JSON
  CHECK(refusal("hello") == "This is neither JSON nor an Nsight Systems SQLite export: a trace begins with { or [.");
  CHECK(refusal("\n\n") == "The file is empty.");
}

TEST_CASE("a JSON that begins with a line end, or whose name says otherwise, is JSON", "[trace]") {
  const std::string event = R"([{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5}])";
  for (const char* name : {"a.nsys-rep", "a.xplane.pb", "a.pftrace", "a.ncu-rep"})
    CHECK(read_trace("\n" + event, name));
}

// Expected by hand from tests/data/traces/rocprof.json.
TEST_CASE("rocprofv3's JSON: dispatches, copies, calls and markers", "[trace]") {
  const Trace t = opened_trace(trace_test::own_trace("rocprof.json"));
  CHECK(t.format == "rocprofv3 JSON");
  CHECK(t.records == 8);
  CHECK(t.device_names == std::vector<std::string>{"Toy Instinct", "gfx942"});
  REQUIRE(t.losses.size() == 1);
  CHECK(t.losses[0] ==
        "1 record of rocprofv3 is of another kind than dispatches, copies, calls and markers and is not shown.");
  const Metrics m = measure(t);
  REQUIRE(m.devices.size() == 2);
  const DeviceMetrics& d = m.devices[0];
  CHECK(d.device == 0);
  CHECK(d.events == 3);
  CHECK(d.comp_ns == 500);
  CHECK(d.comm_ns == 300);
  CHECK(d.mem_ns == 200);
  CHECK(d.span_ns == 1300);
  CHECK(d.launch.linked == 3);
  CHECK(d.launch.median_delay_ns == 600);  // 600, 1100 and 100
  CHECK(d.idle.host_wait_ns == 200);       // 2900 to 3100: the copy was called at 2950
  CHECK(d.idle.kernel_wait_ns == 100);
  CHECK(t.strings[d.kernels.at(0).name] == "saxpy(float*)");
  CHECK(t.strings[d.kernels.at(1).name] == "ncclDevKernel_Generic");
  REQUIRE(d.streams.size() == 2);
  CHECK(d.streams[1].stream == 3);
  CHECK(m.devices[1].streams.at(0).stream == 2);
  CHECK(t.strings[m.devices[1].kernels.at(0).name] == "kernel 99");
  bool marker = false, call = false;
  for (const Event& e : t.events) {
    marker = marker || (t.name(e) == "step \"1\"" && t.tracks[e.track].pid == "4242" && e.duration_ns == 3010);
    call = call || (t.name(e) == "hipMemcpyAsync" && t.tracks[e.track].tid == "77");
    if (t.name(e) == "Memcpy HtoD") CHECK(argument(t, e, "bytes") == "4096");
  }
  CHECK(marker);
  CHECK(call);
  const Metrics again = measure(opened_trace(to_chrome_json(t).value.value()));
  REQUIRE(again.devices.size() == 2);
  CHECK(again.devices[0].idle.host_wait_ns == 200);
  CHECK(again.devices[0].comm_ns == 300);
}

TEST_CASE("rocprofv3's JSON of several processes keeps their calls apart, and a cut keeps what is whole", "[trace]") {
  const std::string process = R"({"metadata":{"pid":%},"agents":[{"id":{"handle":1},"type":2}],"buffer_records":{
"kernel_dispatch":[{"kind":3,"operation":2,"thread_id":1,"correlation_id":{"internal":1},"start_timestamp":2000,
"end_timestamp":2500,"dispatch_info":{"agent_id":{"handle":1},"queue_id":{"handle":1},"kernel_id":1}}],
"hip_api":[{"kind":1,"operation":0,"correlation_id":{"internal":1},"start_timestamp":%00,"end_timestamp":%50,
"thread_id":1}]}})";
  const auto of = [&](const char* pid) {
    std::string out;
    for (const char c : process) out += c == '%' ? pid : std::string(1, c);
    return out;
  };
  const std::string all = R"({"rocprofiler-sdk-tool":[)" + of("7") + "," + of("8") + "]}";
  const Trace t = opened_trace(all);
  CHECK(t.losses.empty());
  CHECK(t.records == 4);
  for (const Event& e : t.events)
    if (on_device(e.cls)) {
      REQUIRE(e.link != none);
      CHECK(t.events[e.link].start_ns == (t.tracks[e.track].pid == "7" ? 700 : 800));
    }
  for (std::size_t n = 0; n < all.size() - 1; ++n) {
    const auto read = read_trace(all.substr(0, n), "t.json");
    CHECK((read ? !read->losses.empty() : !read.error.empty()));
  }
  CHECK(opened_trace(R"({"rocprofiler-sdk-tool":)" + of("7") + "}").records == 2);  // an older one, without the list
}

TEST_CASE("a second recording behind the first is said, and so are samples of call stacks", "[trace]") {
  const std::string one = R"({"traceEvents":[{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5}]})";
  const std::string second =
      "A second recording follows the first in this file and was left out: give each a file of its own.";
  for (const std::string& bytes : {one + "\n" + one, trace_test::gzipped(one) + trace_test::gzipped(one), "[]" + one,
                                   trace_test::gzipped(one) + trace_test::gzipped("[1]")}) {
    const auto read = read_trace(bytes, "f");
    if (!read) continue;  // an empty list has no events
    REQUIRE(read->losses.size() == 1);
    CHECK(read->losses[0] == second);
    CHECK(read->records == 1);
  }
  CHECK(opened_trace(one + "\n\n").losses.empty());
  const Trace t = opened_trace(one.substr(0, one.size() - 1) +
                               R"(,"stackFrames":{"1":{"name":"main"}},"samples":[{"cpu":0,"ts":1,"sf":1}]})");
  REQUIRE(t.losses.size() == 1);
  CHECK(t.losses[0] == "The samples of call stacks next to the events are not shown.");
  CHECK(opened_trace(one.substr(0, one.size() - 1) + R"(,"stackFrames":{},"samples":[]})").losses.empty());
}

TEST_CASE("a list of whole events may end without its bracket; one that ends inside an event is cut", "[trace]") {
  const std::string one = R"({"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5})";
  CHECK(opened_trace("[" + one + ",\n").losses.empty());
  CHECK(opened_trace("[" + one + "," + one).losses.empty());
  const Trace cut = opened_trace("[" + one + ",{\"ph\":");
  REQUIRE(cut.losses.size() == 1);
  CHECK(cut.losses[0] == "The file ends in the middle: 1 whole event was kept.");
  CHECK(opened_trace("{\"traceEvents\":[" + one).losses.size() == 1);  // an object must end
  const Trace end_alone = opened_trace("[" + one + R"(,{"ph":"E","pid":1,"tid":1,"ts":9}])");
  REQUIRE(end_alone.losses.size() == 1);
  CHECK(end_alone.losses[0] == "1 span ends without a beginning in the file and was left out.");
}
