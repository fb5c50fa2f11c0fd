#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/written.h"

// What passes before the device's first task, and which causes of a wait can be named at all.

using namespace models::trace;
using trace_test::made_call;
using trace_test::made_kernel;
using trace_test::made_recording;
using trace_test::made_span;
using trace_test::opened_made;

namespace {

const Diagnosis* finding_of(const Metrics& m, DiagnosisKind kind) {
  for (const Diagnosis& d : m.diagnosis)
    if (d.kind == kind) return &d;
  return nullptr;
}

std::string step_of(double ts_us, double dur_us, int number = 1) {
  return made_span("user_annotation", "ProfilerStep#" + std::to_string(number), 9, 1, ts_us, dur_us, "");
}

/// A kernel of 600 us after `head_us` of a step of 1000 us, of which the host is in preprocess for all but 10 us.
std::vector<std::string> late_step(double head_us) {
  return {step_of(0, 1000), made_span("user_annotation", "preprocess", 9, 1, 5, head_us - 10, ""),
          made_call(head_us - 4, 2, 1), made_kernel("k", head_us, 600, 1)};
}

/// Two kernels with `what` filling `from_us` to `to_us` of the gap from 100 to 1100 between them.
Metrics with_gap(const std::string& what, double from_us, double to_us) {
  std::vector<std::string> events{made_call(0, 1, 1), made_kernel("a", 2, 98, 1)};
  if (!what.empty()) events.push_back(made_span("cpu_op", what, 9, 1, from_us, to_us - from_us, ""));
  events.push_back(made_call(1099, 1, 2));
  events.push_back(made_kernel("b", 1101, 99, 2));
  return measure(opened_made(made_recording(events)));
}

}  // namespace

TEST_CASE("a device that begins late in its step is a finding with the host's span and the step's length", "[trace]") {
  const Trace t = opened_made(made_recording(late_step(300)));
  const Metrics m = measure(t);
  const Head& h = m.devices.at(0).head;
  CHECK(h.ns == 300'000);
  CHECK(h.whole_ns == 1'000'000);
  CHECK(h.of_step);
  REQUIRE(h.meanwhile != none);
  CHECK(t.name(t.events[h.meanwhile]) == "preprocess");
  CHECK(h.meanwhile_ns == 290'000);
  REQUIRE(finding_of(m, DiagnosisKind::starts_late));
  CHECK(finding_of(m, DiagnosisKind::starts_late)->part == 300'000);
  // It weighs more than the one kernel that is all of the device's time.
  CHECK(m.diagnosis.front().kind == DiagnosisKind::starts_late);
  CHECK_FALSE(finding_of(measure(opened_made(made_recording(late_step(90)))), DiagnosisKind::starts_late));
}

TEST_CASE("without steps the head begins with the host's first span and is a part of the recording", "[trace]") {
  const Metrics m = measure(opened_made(made_recording(
      {made_span("cpu_op", "load", 9, 1, 100, 450, ""), made_call(590, 2, 1), made_kernel("k", 600, 500, 1)})));
  const Head& h = m.devices.at(0).head;
  CHECK(h.ns == 500'000);
  CHECK(h.whole_ns == 1'000'000);
  CHECK_FALSE(h.of_step);
  CHECK(h.meanwhile_ns == 450'000);
  // Work from before the first step on has no head.
  CHECK(measure(opened_made(made_recording({step_of(50, 500), made_kernel("k", 0, 500, 1)}))).devices.at(0).head.ns ==
        0);
}

TEST_CASE("a host that was not recorded or only waited was not busy", "[trace]") {
  CHECK(finding_of(with_gap("", 0, 0), DiagnosisKind::host_unrecorded));
  CHECK(finding_of(with_gap("execute_diffusion", 0, 1200), DiagnosisKind::host_unrecorded));
  CHECK(finding_of(with_gap("PjRtBuffer block_until_ready", 110, 1000), DiagnosisKind::host_blocked));
  CHECK(finding_of(with_gap("threading.py(295): wait", 110, 1000), DiagnosisKind::host_blocked));
  CHECK(finding_of(with_gap("prepare", 110, 1000), DiagnosisKind::host_busy));
  CHECK(blocks_host("hipDeviceSynchronize"));
  CHECK(blocks_host("try_to_block"));
  CHECK_FALSE(blocks_host("cudaStreamWaitEvent"));
  CHECK_FALSE(blocks_host("awaiting"));
}

TEST_CASE("a recording without launching calls has none missing", "[trace]") {
  const Metrics none_at_all = measure(opened_made(made_recording({made_kernel("a", 0, 10, 1)})));
  CHECK(finding_of(none_at_all, DiagnosisKind::launches_none));
  CHECK_FALSE(finding_of(none_at_all, DiagnosisKind::launches_missing));
  const Metrics some = measure(
      opened_made(made_recording({made_call(0, 1, 2), made_kernel("a", 5, 10, 1), made_kernel("b", 20, 10, 2)})));
  CHECK(finding_of(some, DiagnosisKind::launches_missing));
  CHECK_FALSE(finding_of(some, DiagnosisKind::launches_none));
}

TEST_CASE("launching calls are slow only where a fifth of the late gaps passes inside them", "[trace]") {
  // A gap of 1000 us: 990 us before the call or in part inside it.
  const auto inside = [](double call_us) {
    return measure(
        opened_made(made_recording({made_call(0, 1, 1), made_kernel("a", 2, 98, 1),
                                    made_call(1098 - call_us, call_us, 2), made_kernel("b", 1100, 100, 2)})));
  };
  CHECK_FALSE(finding_of(inside(150), DiagnosisKind::launch_slow));
  CHECK(finding_of(inside(250), DiagnosisKind::launch_slow));
}

TEST_CASE("long gaps before tasks launched in time are a finding with the longest of them", "[trace]") {
  const Metrics m = measure(
      opened_made(made_recording({made_call(0, 1, 1), made_kernel("a", 2, 98, 1), made_call(50, 1, 2),
                                  made_kernel("b", 400, 100, 2), made_call(60, 1, 3), made_kernel("c", 600, 400, 3)})));
  const Diagnosis* d = finding_of(m, DiagnosisKind::launched_in_time);
  REQUIRE(d);
  CHECK(d->part == 400'000);
  CHECK(d->whole == 998'000);
  CHECK(d->end_ns - d->start_ns == 300'000);
}
