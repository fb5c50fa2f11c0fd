#include <array>
#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "models/trace/measure/window.h"
#include "models/trace/writers/sample.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"
#include "tests/support/base/files.h"

// Which part of a wait for a launch lies before the launching call, which inside it, and which after it.

using namespace models::trace;
using trace_test::made_call;
using trace_test::made_kernel;
using trace_test::made_recording;
using trace_test::opened_made;

namespace {

bool found(const Metrics& m, DiagnosisKind kind) {
  for (const Diagnosis& d : m.diagnosis)
    if (d.kind == kind) return true;
  return false;
}

/// `n` kernels of 5 us, one every `interval_us`, each launched 2 us before it by a call of 1 us.
std::vector<std::string> steady(int n, double from_us, double interval_us, int correlation) {
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i) {
    const double at = from_us + i * interval_us;
    out.push_back(made_call(at - 2, 1, correlation + i));
    out.push_back(made_kernel("k", at, 5, correlation + i));
  }
  return out;
}

}  // namespace

TEST_CASE("a gap is what came before the launching call, what passed inside it, and what came after", "[trace]") {
  // The device ends at 100; the call runs from 140 to 170; the work begins at 200. The second gap, 210 to 250, is
  // launched from 180 to 230; the third, 260 to 300, by nothing in the file.
  const Trace t = opened_made(made_recording({made_call(0, 1, 1), made_kernel("a", 2, 98, 1), made_call(140, 30, 2),
                                              made_kernel("b", 200, 10, 2), made_call(180, 50, 3),
                                              made_kernel("c", 250, 10, 3), made_kernel("d", 300, 10, 4)}));
  const Idle& idle = measure(t).devices.at(0).idle;
  CHECK(idle.late.gaps == 1);
  CHECK(idle.late.before_ns == 40'000);
  CHECK(idle.late.inside_ns == 30'000);
  CHECK(idle.late.after_ns == 30'000);
  CHECK(idle.in_time.gaps == 1);
  CHECK(idle.in_time.before_ns == 0);
  CHECK(idle.in_time.inside_ns == 20'000);
  CHECK(idle.in_time.after_ns == 20'000);
  CHECK(idle.unknown_ns == 40'000);
  CHECK(idle.late.total_ns() == idle.host_wait_ns);
  CHECK(idle.late.total_ns() + idle.in_time.total_ns() + idle.unknown_ns == idle.total_ns());
}

TEST_CASE("a window cuts each part of a gap where the window ends", "[trace]") {
  const Trace t = opened_made(made_recording(
      {made_call(0, 1, 1), made_kernel("a", 2, 98, 1), made_call(140, 30, 2), made_kernel("b", 200, 10, 2)}));
  const auto parts = [&](std::int64_t from, std::int64_t to) {
    const LaunchSplit s = measure_window(t, 0, from * 1000, to * 1000).idle.late;
    return std::array{s.before_ns / 1000, s.inside_ns / 1000, s.after_ns / 1000};
  };
  CHECK(parts(0, 210) == std::array<std::int64_t, 3>{40, 30, 30});
  CHECK(parts(120, 210) == std::array<std::int64_t, 3>{20, 30, 30});
  CHECK(parts(0, 150) == std::array<std::int64_t, 3>{40, 10, 0});
  CHECK(parts(150, 180) == std::array<std::int64_t, 3>{0, 20, 10});
  CHECK(parts(175, 205) == std::array<std::int64_t, 3>{0, 0, 25});
}

TEST_CASE("a first launch that takes long is named, and not blamed on the pace of launching", "[trace]") {
  auto events = steady(120, 10, 20, 100);  // gaps of 15 us, all of the pace of launching
  events.push_back(made_call(2500, 300'000, 1));
  events.push_back(made_kernel("first", 302'510, 5, 1));
  const Metrics m = measure(opened_made(made_recording(events)));
  const DeviceMetrics& d = m.devices.at(0);
  CHECK(found(m, DiagnosisKind::launch_slow));
  CHECK(d.slow.long_calls == 1);
  CHECK(d.slow.long_ns == 300'000'000);
  CHECK(d.slow.call_ns == 300'000'000);
  CHECK(d.pace.call_ns == 1'000);
  CHECK(d.pace.interval_ns == 20'000);
  CHECK_FALSE(found(m, DiagnosisKind::launches_set_pace));
  CHECK_FALSE(found(m, DiagnosisKind::started_late));
}

TEST_CASE("launches set the pace where gaps of their length make up the waiting", "[trace]") {
  const Metrics m = measure(opened_made(made_recording(steady(120, 10, 20, 100))));
  CHECK(found(m, DiagnosisKind::launches_set_pace));
  CHECK_FALSE(found(m, DiagnosisKind::launch_slow));
  const LaunchPace& p = m.devices.at(0).pace;
  CHECK(p.task_ns == 5'000);
  CHECK(p.gap_ns == 15'000);
  CHECK(p.ordinary_ns == 119 * 15'000);
}

TEST_CASE("the latency of every launch is no late device", "[trace]") {
  const Metrics m = measure(opened_made(models::sample_traces({.fault = models::SampleFault::launch_bound}).front()));
  CHECK(m.devices.at(0).idle.late.after_ns > m.devices[0].span_ns / 20);
  CHECK(m.devices[0].slow.late_ns == 0);
  CHECK_FALSE(found(m, DiagnosisKind::started_late));
  CHECK(found(m, DiagnosisKind::launches_set_pace));
}

TEST_CASE("work that begins long after its launch is the device's delay, with what the host was in meanwhile",
          "[trace]") {
  auto events = steady(20, 10, 6, 100);
  events.push_back(made_call(200, 5, 1));
  events.push_back(trace_test::made_span("cuda_runtime", "hipMemcpyWithStream", 9, 1, 206, 400'000, ""));
  events.push_back(made_kernel("prefill", 400'205, 50'000, 1));
  const Trace t = opened_made(made_recording(events));
  const Metrics m = measure(t);
  const DeviceMetrics& d = m.devices.at(0);
  CHECK(found(m, DiagnosisKind::started_late));
  CHECK_FALSE(found(m, DiagnosisKind::launch_slow));
  CHECK_FALSE(found(m, DiagnosisKind::launches_set_pace));
  CHECK(d.slow.started_late.after_ns() == 400'000'000);
  REQUIRE(d.slow.meanwhile != none);
  CHECK(t.name(t.events[d.slow.meanwhile]) == "hipMemcpyWithStream");
}

TEST_CASE("launches inside a stream capture run nothing and are not lost", "[trace]") {
  const auto capture = [](bool with_end, bool with_begin) {
    auto events = steady(5, 10, 20, 100);
    if (with_begin) events.push_back(made_call(1000, 2, 500, "cudaStreamBeginCapture"));
    for (int i = 0; i < 40; ++i) events.push_back(made_call(1010 + i * 2, 1, 600 + i));
    if (with_end) events.push_back(made_call(1200, 2, 501, "cudaStreamEndCapture"));
    return measure(opened_made(made_recording(events)));
  };
  for (const auto& [end, begin] : {std::pair{true, true}, {false, true}, {true, false}}) {
    const Metrics m = capture(end, begin);
    CHECK(m.launch.calls_captured == 40);
    CHECK(m.launch.calls == 5);
    CHECK(m.launch.calls_without_work == 0);
    CHECK_FALSE(found(m, DiagnosisKind::kernels_missing));
  }
  const Metrics lost = capture(false, false);
  CHECK(lost.launch.calls_captured == 0);
  CHECK(lost.launch.calls_without_work == 40);
  CHECK(found(lost, DiagnosisKind::kernels_missing));
}

TEST_CASE("a deep queue is full only where launching is slow in it", "[trace]") {
  const auto deep = [](double late_call_us) {
    std::vector<std::string> events;
    double at = 0;
    for (int i = 0; i < 1200; ++i) {
      const double took = i < 1000 ? 2 : late_call_us;
      events.push_back(made_call(at, took, i + 1));
      at += took + 1;
      events.push_back(made_kernel("k", 200'000 + i * 10, 9, i + 1));
    }
    return measure(opened_made(made_recording(events)));
  };
  const Metrics slow = deep(20), fast = deep(3);
  CHECK(slow.devices.at(0).streams.at(0).queue_max == 1200);
  CHECK(slow.devices.at(0).streams.at(0).deep_calls == 200);
  CHECK(slow.devices.at(0).streams.at(0).shallow_call_ns == 2'000);
  CHECK(slow.devices.at(0).streams.at(0).deep_call_ns == 20'000);
  CHECK(found(slow, DiagnosisKind::queue_full));
  CHECK(fast.devices.at(0).streams.at(0).deep_call_ns == 3'000);
  CHECK_FALSE(found(fast, DiagnosisKind::queue_full));
}

TEST_CASE("a loader that takes longer than what follows a synchronisation is the cause, not that", "[trace]") {
  // Two gaps of 1000 us, the first of which begins inside a synchronisation; the loader fills `loads_us` of each.
  const auto blamed = [](double loads_us) {
    std::vector<std::string> events;
    for (int i = 0; i < 3; ++i) {
      const double at = 1100.0 * i;
      events.push_back(made_call(at + 1, 1, i + 1));
      events.push_back(made_kernel("k", at + 3, 97, i + 1));
      if (i == 0) events.push_back(made_call(at + 50, 51, 90, "cudaStreamSynchronize"));
      events.push_back(trace_test::made_span("user_annotation", "enumerate(DataLoader)", 9, 1, at + 110, loads_us, ""));
    }
    return measure(opened_made(made_recording(events)));
  };
  CHECK(found(blamed(980), DiagnosisKind::data_loader_late));
  CHECK_FALSE(found(blamed(980), DiagnosisKind::sync_drains_queue));
}

// Found by an independent reader of the same files.
TEST_CASE("the three parts of the real recordings, to the nanosecond", "[trace]") {
  const auto folder = trace_test::real_traces();
  if (folder.empty()) SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  struct Expected {
    const char* file;
    std::int64_t gaps, before_ns, inside_ns, after_ns, longest_inside_ns;
  };
  constexpr std::array<Expected, 7> all{{
      {"mi300_norm_test_slow_first_launch", 124, 87'216'039, 979'466'547, 956'385, 331'626'739},
      {"mi300_sglang_prefill_decode", 18, 994'121, 162'120, 493'325'255, -1},
      {"param_resnet_loader_bound", 112, 8'933'247'000, 844'250'000, 77'000, -1},
      {"param_linear", 7430, 503'194'000, 123'011'000, 4'119'000, -1},
      {"h100_timesformer_healthy", 5, 653'941, 64'111, 6'521, -1},
      {"mi300_xdit_flux_run_ahead", 330, 20'634'266, 1'751'108, 1'617'020, -1},
      {"vllm_piecewise_graph", 0, 0, 0, 0, -1},
  }};
  for (const Expected& e : all) {
    const auto path = folder / (std::string(e.file) + ".json.gz");
    if (!std::filesystem::exists(path)) continue;
    INFO(e.file);
    const Trace t = opened_made(support::read_text(path));
    const Metrics m = measure(t);
    const DeviceMetrics& d = m.devices.at(0);
    CHECK(d.idle.late.gaps == e.gaps);
    CHECK(d.idle.late.before_ns == e.before_ns);
    CHECK(d.idle.late.inside_ns == e.inside_ns);
    CHECK(d.idle.late.after_ns == e.after_ns);
    CHECK(d.idle.late.total_ns() == d.idle.host_wait_ns);
    CHECK(d.idle.late.total_ns() + d.idle.in_time.total_ns() + d.idle.unknown_ns == d.idle.total_ns());
    if (e.longest_inside_ns >= 0) CHECK(d.slow.call_ns == e.longest_inside_ns);
    const std::string_view file = e.file;
    CHECK(found(m, DiagnosisKind::launch_slow) == file.starts_with("mi300_norm"));
    if (file == "h100_timesformer_healthy") {
      CHECK(m.diagnosis.front().kind == DiagnosisKind::starts_late);
      REQUIRE(d.head.meanwhile != none);
      CHECK(t.name(t.events[d.head.meanwhile]).ends_with("preprocess"));
    }
    CHECK(found(m, DiagnosisKind::started_late) == (file == "mi300_sglang_prefill_decode"));
    CHECK(found(m, DiagnosisKind::data_loader_late) == (file == "param_resnet_loader_bound"));
    CHECK(found(m, DiagnosisKind::launches_set_pace) == (file == "param_linear"));
  }
}
