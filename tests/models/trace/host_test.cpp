#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "models/trace/writers/sample.h"
#include "tests/models/trace/written.h"

// What the host did while the device waited for it. Figures are worked out by hand from the intervals below, in
// microseconds.

using namespace models::trace;
using trace_test::opened_trace;

namespace {

/// Device: work 0-100, 150-160, 300-310, 400-410. The call for 150 comes at 140, that for 300 at 290, both on thread 1;
/// that for 400 at 390 on thread 2 (autograd's). Thread 1 waits in aten::item from 20 to 105, then logs until 130,
/// prepares until 200, then nothing is open on it until 250; its Python function 240-260 covers part. From 310 to 380
/// it is in loss.backward().
const char* const host_recording = R"trace({"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":9,"tid":1,"ts":0,"dur":500},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":0,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"cpu_op","name":"aten::item","pid":9,"tid":1,"ts":20,"dur":85},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize",)trace"
                                   R"trace("pid":9,"tid":1,"ts":25,"dur":79,"args":{"correlation":9}},
{"ph":"X","cat":"user_annotation","name":"log","pid":9,"tid":1,"ts":105,"dur":25},
{"ph":"X","cat":"cpu_op","name":"prepare","pid":9,"tid":1,"ts":130,"dur":70},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":140,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"python_function","name":"train.py(7): sleep","pid":9,"tid":1,"ts":240,"dur":20},
{"ph":"X","cat":"cpu_op","name":"late","pid":9,"tid":1,"ts":250,"dur":60},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":290,"dur":1,"args":{"correlation":3}},
{"ph":"X","cat":"cpu_op","name":"loss.backward()","pid":9,"tid":1,"ts":310,"dur":70},
{"ph":"X","cat":"cpu_op","name":"autograd::engine","pid":9,"tid":2,"ts":380,"dur":40},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":2,"ts":390,"dur":1,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":0,"dur":100,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":150,"dur":10,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"k3","pid":0,"tid":7,"ts":300,"dur":10,"args":{"device":0,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"k4","pid":0,"tid":7,"ts":400,"dur":10,"args":{"device":0,"stream":7,"correlation":4}}
]})trace";

std::int64_t in(const Trace& t, const HostWait& w, std::string_view name) {
  std::int64_t sum = 0;
  for (const HostTime& h : w.what)
    if (h.name == none ? name.empty() : t.strings[h.name] == name) sum += h.ns;
  return sum;
}

}  // namespace

TEST_CASE("each wait for the host is spent on what was innermost then, of the launching thread first", "[trace]") {
  const Trace t = opened_trace(host_recording);
  const Metrics m = measure(t);
  const HostWait& w = m.devices.at(0).host_wait;
  CHECK(w.gaps == 3);
  CHECK(w.total_ns == 40'000 + 130'000 + 80'000);  // 100-140, 160-290, 310-390
  CHECK(in(t, w, "aten::item") == 1'000);          // 104-105: the synchronisation inside it ends at 104
  CHECK(in(t, w, "cudaStreamSynchronize") == 4'000);
  CHECK(in(t, w, "log") == 25'000);
  CHECK(in(t, w, "prepare") == 10'000 + 40'000);    // 130-140, 160-200
  CHECK(in(t, w, "train.py(7): sleep") == 10'000);  // 240-250: from 250 an operation is open
  CHECK(in(t, w, "late") == 40'000);                // 250-290
  CHECK(in(t, w, "loss.backward()") == 70'000);     // the launching thread has nothing open until 380
  CHECK(in(t, w, "autograd::engine") == 10'000);
  CHECK(in(t, w, "") == 40'000);  // 200-240
  CHECK(in(t, w, "ProfilerStep#1") == 0);
  CHECK(t.strings[w.what.front().name] == "loss.backward()");
  CHECK(w.what.front().start_ns == 310'000);
  CHECK(w.what.front().end_ns == 380'000);
  std::int64_t sum = 0;
  for (const HostTime& h : w.what) sum += h.ns;
  CHECK(sum == w.total_ns);
}

TEST_CASE("a wait that begins inside a synchronising call was caused by it, once", "[trace]") {
  const Trace t = opened_trace(host_recording);
  const Metrics m = measure(t);
  const HostWait& w = m.devices.at(0).host_wait;
  CHECK(w.after_sync == 1);  // an operation and the call inside it are one
  CHECK(w.after_sync_ns == 40'000);
  REQUIRE(w.sync != none);
  CHECK(t.name(t.events[w.sync]) == "aten::item");
  CHECK(waits_for_device("cudaDeviceSynchronize"));
  CHECK(waits_for_device("aten::_local_scalar_dense"));
  CHECK_FALSE(waits_for_device("aten::itemsize_of"));
  CHECK_FALSE(waits_for_device("cudaMemcpyAsync"));
}

TEST_CASE("the diagnosis of a planted fault names the call that caused it", "[trace]") {
  const auto call_blamed = [](models::SampleFault fault, DiagnosisKind kind) {
    const Trace t = opened_trace(models::sample_traces({.fault = fault, .ranks = 1}).front());
    const Metrics m = measure(t);
    for (const Diagnosis& d : m.diagnosis)
      if (d.kind == kind && d.calls_that_stand_out > 0)
        return t.strings[m.devices.at(d.device).host_wait.what.front().name];
    return std::string();
  };
  CHECK(call_blamed(models::SampleFault::hidden_sync, DiagnosisKind::sync_drains_queue) == "log_metrics");
  CHECK(call_blamed(models::SampleFault::data_starved, DiagnosisKind::data_loader_late)
            .starts_with("enumerate(DataLoader)"));
  CHECK(call_blamed(models::SampleFault::none, DiagnosisKind::sync_drains_queue).empty());
}
