#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

// Whose rows are a device's work: by their category, by their stream, or by the names of their process and thread.

using namespace models::trace;
using trace_test::opened_trace;

namespace {

const DeviceMetrics& only_device(const Metrics& m) {
  REQUIRE(m.devices.size() == 1);
  return m.devices.front();
}

}  // namespace

TEST_CASE("a row with a stream is work of a device whatever its category, and only such a row", "[trace]") {
  const Trace t = opened_trace(trace_test::own_trace("mtia.json"));
  const Metrics m = measure(t);
  const DeviceMetrics& d = only_device(m);
  CHECK(d.device == 1);
  CHECK(d.events == 2);  // not the operation of the host with a stream, the wait without one or the profiler's overhead
  CHECK(d.busy_ns == 25'000);
  CHECK(d.comp_ns == 20'000);
  CHECK(d.mem_ns == 5'000);
  CHECK(d.launch.linked == 2);
  REQUIRE(d.streams.size() == 1);
  CHECK(d.streams[0].stream == 4);
  for (const char* category : {"xpu_kernel", "privateuse1_kernel", "concurrent_kernel", "something_new"}) {
    INFO(category);
    const Trace one = opened_trace(R"([{"ph":"X","cat":")" + std::string(category) +
                                   R"(","name":"k","pid":3,"tid":1,"ts":5,"dur":7,"args":{"device":3,)"
                                   R"("stream":1}}])");
    CHECK(only_device(measure(one)).comp_ns == 7'000);
  }
}

TEST_CASE("a TensorFlow timeline: the numbered streams are the work, and what repeats them is left out", "[trace]") {
  const Trace t = opened_trace(trace_test::own_trace("tensorflow.json"));
  CHECK(t.losses.empty());
  const Metrics m = measure(t);
  const DeviceMetrics& d = only_device(m);
  CHECK(d.events == 3);
  CHECK(d.busy_ns == 70'000);  // 80 to 90 and 100 to 160 us
  CHECK(d.comp_ns == 60'000);
  CHECK(d.mem_ns == 10'000);
  REQUIRE(d.streams.size() == 2);  // the two rows of stream 18 are one
  CHECK(d.streams[0].stream == 14);
  CHECK(d.streams[1].stream == 18);
  CHECK(d.streams[1].overlaps == 1);
  const Metrics again = measure(opened_trace(to_chrome_json(t).value.value()));
  CHECK(only_device(again).events == 3);
  CHECK(only_device(again).busy_ns == 70'000);
}

TEST_CASE("a JAX recording: streams of the device, joined with the calls that launched them", "[trace]") {
  const Trace t = opened_trace(trace_test::own_trace("jax.json"));
  const Metrics m = measure(t);
  const DeviceMetrics& d = only_device(m);
  CHECK(d.device == 1);
  CHECK(d.events == 2);
  CHECK(d.comp_ns == 30'500);
  CHECK(d.mem_ns == 10'000);
  CHECK(d.launch.linked == 2);
  CHECK(d.idle.host_wait_ns == 29'500);  // 50.5 to 80 us: the copy was called at 60
  REQUIRE(d.streams.size() == 1);
  CHECK(d.streams[0].stream == 16);
  const Metrics again = measure(opened_trace(to_chrome_json(t).value.value()));
  CHECK(only_device(again).idle.host_wait_ns == 29'500);
  CHECK(only_device(again).events == 2);
}

TEST_CASE("a TPU has no streams: its row of XLA operations is the work, collectives among it", "[trace]") {
  const Trace t = opened_trace(R"({"traceEvents": [
{"ph":"X","name":"fusion.3","pid":7,"tid":2,"ts":10,"dur":20},
{"ph":"X","name":"all-reduce.1","pid":7,"tid":2,"ts":30,"dur":5},
{"ph":"X","name":"jit_step","pid":7,"tid":1,"ts":10,"dur":25},
{"ph":"M","name":"process_name","pid":7,"args":{"name":"/device:TPU:3"}},
{"ph":"M","name":"thread_name","pid":7,"tid":1,"args":{"name":"XLA Modules"}},
{"ph":"M","name":"thread_name","pid":7,"tid":2,"args":{"name":"XLA Ops"}}]})");
  const Metrics m = measure(t);
  const DeviceMetrics& d = only_device(m);
  CHECK(d.device == 3);
  CHECK(d.events == 2);
  CHECK(d.comp_ns == 20'000);
  CHECK(d.comm_ns == 5'000);
}

TEST_CASE("where no device is recognised the finding counts what there is", "[trace]") {
  const Trace t = opened_trace(R"([{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5},
{"ph":"X","name":"g","pid":2,"tid":1,"ts":0,"dur":5},{"ph":"X","name":"h","pid":2,"tid":2,"ts":1,"dur":1},
{"ph":"i","name":"mark","pid":3,"tid":2,"ts":1}])");
  const Metrics m = measure(t);
  CHECK(m.devices.empty());
  REQUIRE(m.diagnosis.size() == 1);
  CHECK(m.diagnosis[0].kind == DiagnosisKind::no_device);
  CHECK(m.diagnosis[0].part == 3);   // processes
  CHECK(m.diagnosis[0].whole == 3);  // spans
}

TEST_CASE("tracks are shown devices first, then as the file sorts them, then by their numbers", "[trace]") {
  const auto shown = [](const Trace& t) {
    std::string out;
    for (const std::uint32_t i : display_order(t)) {
      const Track& track = t.tracks[i];
      out += (track.kind == TrackKind::stream ? "s" + std::to_string(track.stream) : track.pid + "." + track.tid) + " ";
    }
    return out;
  };
  const std::string rows = R"(
{"ph":"X","name":"f","pid":10,"tid":2,"ts":0,"dur":5},{"ph":"X","name":"f","pid":10,"tid":11,"ts":0,"dur":5},
{"ph":"X","name":"f","pid":9,"tid":1,"ts":3,"dur":5},{"ph":"X","name":"f","pid":100,"tid":1,"ts":0,"dur":5},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":20,"ts":0,"dur":5,"args":{"device":0,"stream":20}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":9,"dur":5,"args":{"device":0,"stream":7}})";
  CHECK(shown(opened_trace("[" + rows + "]")) == "s7 s20 9.1 10.2 10.11 100.1 ");
  const Trace sorted =
      opened_trace("[" + rows + R"(,{"ph":"M","name":"process_sort_index","pid":100,"args":{"sort_index":-5}},
{"ph":"M","name":"process_sort_index","pid":0,"args":{"sort_index":5000000}},
{"ph":"M","name":"thread_sort_index","pid":10,"tid":2,"args":{"sort_index":3}},
{"ph":"M","name":"process_name","pid":9,"args":{"name":"rank 10"}},
{"ph":"M","name":"process_name","pid":10,"args":{"name":"rank 9"}}])");
  CHECK(shown(sorted) == "s7 s20 100.1 10.11 10.2 9.1 ");
  CHECK(shown(opened_trace(to_chrome_json(sorted).value.value())) == "s7 s20 100.1 10.11 10.2 9.1 ");
}

// The figures are those of an independent reader of the public recordings: spans of the numbered streams alone.
TEST_CASE("public recordings of TensorFlow and JAX have their devices", "[trace]") {
  const auto folder = trace_test::real_traces();
  if (folder.empty()) SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  const auto tensorflow = folder / "tensorflow_kittibox_timeline.json.gz", jax = folder / "jax_mi300_xprof.json.gz";
  if (!std::filesystem::exists(tensorflow) || !std::filesystem::exists(jax)) SKIP("an older set of public traces");
  const Metrics tf = measure(opened_trace(support::read_text(tensorflow)));
  CHECK(only_device(tf).events == 4810);
  CHECK(only_device(tf).busy_ns == 1'850'188'000);
  CHECK(only_device(tf).span_ns == 4'351'454'000);
  CHECK(only_device(tf).mem_ns == 1'273'000);
  CHECK(only_device(tf).memories == 11);
  const Trace xprof = opened_trace(support::read_text(jax));
  CHECK(xprof.losses.empty());
  const Metrics m = measure(xprof);
  constexpr std::int64_t busy_ns[] = {3'995'965, 3'345'845, 3'524'285, 3'403'364,
                                      3'493'365, 3'464'884, 3'403'004, 3'502'165};
  REQUIRE(m.devices.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(m.devices[i].events == (i == 0 ? 60 : 25));
    CHECK(m.devices[i].launch.linked == m.devices[i].events);
    CHECK(m.devices[i].streams.size() == (i == 0 ? 4 : 1));
    CHECK(m.devices[i].busy_ns == busy_ns[i]);
  }
}
