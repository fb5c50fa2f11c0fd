#include "models/trace/replay/recorded_job.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/models/trace/written.h"

// Recordings as jobs: made-up ones whose gains are worked out by hand.

using namespace models::trace;
using trace_test::made_call;
using trace_test::made_kernel;
using trace_test::made_recording;
using trace_test::made_span;
using trace_test::opened_made;

namespace {

RecordedJob job_of(const Trace& trace, const Metrics& metrics = {}) {
  const RecordedRank rank[] = {{&trace, 0, metrics.steps}};
  models::Result<RecordedJob> made = recorded_job(rank);
  INFO(made.error);
  REQUIRE(made);
  return std::move(*made);
}

std::uint32_t event_named(const Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.events.size(); ++i)
    if (trace.name(trace.events[i]) == name) return i;
  return none;
}

std::int64_t won_without(const RecordedJob& job, const Trace& trace, std::string_view name) {
  const std::uint32_t event[] = {event_named(trace, name)};
  return job.replay->won_ns(without_events(job, 0, event));
}

/// The host launches a and b at 0 and 10 us, is in the loader until 200, launches c, and waits for it until 305.
Trace starved() {
  return opened_made(made_recording({made_call(0, 10, 1), made_kernel("a", 15, 40, 1), made_call(10, 10, 2),
                                     made_kernel("b", 55, 20, 2), made_span("cpu_op", "loader", 9, 1, 20, 180, ""),
                                     made_call(200, 10, 3), made_kernel("c", 215, 85, 3),
                                     made_call(210, 95, 4, "cudaStreamSynchronize")}));
}

}  // namespace

TEST_CASE("a run without changes is the recording, and without its culprit it is shorter by what that held up",
          "[trace]") {
  const Trace trace = starved();
  const RecordedJob job = job_of(trace);
  CHECK(job.fit.explained == Catch::Approx(1).epsilon(1e-12));
  CHECK(job.fit.recorded_ns == 305'000);
  CHECK(job.fit.replayed_ns == 305'000);
  CHECK(job.fit.work == 3);
  CHECK(job.fit.launched == 3);
  // Without the loader c is launched 180 us earlier, at 20 to 30, and waits for b, which ends at 75: it begins 140
  // earlier.
  CHECK(won_without(job, trace, "loader") == 140'000);
  // a ends before anybody waits for it; b too.
  CHECK(won_without(job, trace, "a") == 0);
  CHECK(won_without(job, trace, "b") == 0);
  CHECK(won_without(job, trace, "c") == 85'000);
  // The synchronising call is what the recording ends with: without it c ends last, 5 us earlier.
  CHECK(won_without(job, trace, "cudaStreamSynchronize") == 5'000);
  const auto chain = by_lane(job.replay->graph(), job.replay->critical_path(job.replay->unchanged()));
  REQUIRE(chain.size() == 3);
  CHECK(chain[0].holds == JobHold::launch);
  CHECK(chain[0].to_ns == 210'000);
  CHECK(chain[1].holds == JobHold::sync);
  CHECK(chain[1].from_ns == 215'000);
  CHECK(chain[2].to_ns == 305'000);
}

TEST_CASE("what nobody explains is not in the replay, and is told", "[trace]") {
  // The second kernel begins 500 us after its call returned, on a stream that was free: 100 us of it are a delay.
  const Trace late = opened_made(made_recording(
      {made_call(0, 10, 1), made_kernel("a", 15, 85, 1), made_call(90, 10, 2), made_kernel("b", 600, 100, 2)}));
  const RecordedJob job = job_of(late);
  CHECK(job.fit.recorded_ns == 700'000);
  CHECK(job.fit.replayed_ns == 205'000);  // b begins 5 us after its call, as a did after its own
  CHECK(job.fit.explained == Catch::Approx(205.0 / 700));
  // Without launching calls only the work itself and short gaps come out.
  const Trace alone = opened_made(
      made_recording({made_kernel("a", 0, 100, -1), made_kernel("b", 120, 100, -1), made_kernel("c", 400, 100, -1)}));
  const RecordedJob streams = job_of(alone);
  CHECK(streams.fit.launched == 0);
  CHECK(streams.fit.replayed_ns == 340'000);  // 20 us before b are the device's own; of 180 before c the usual 20
  CHECK(streams.fit.explained == Catch::Approx(340.0 / 500));
}

TEST_CASE("autograd's thread and the main thread take turns in one lane; threads at once are two", "[trace]") {
  const auto call = [](int tid, double at, int n) {
    return made_span("cuda_runtime", "cudaLaunchKernel", 9, tid, at, 10, R"("correlation":)" + std::to_string(n));
  };
  // backward() of thread 1 lasts while thread 2 launches; forward work of 50 us on thread 1 comes before it.
  const Trace turns = opened_made(
      made_recording({made_span("cpu_op", "forward", 9, 1, 10, 50, ""), call(1, 0, 1), made_kernel("a", 12, 10, 1),
                      call(2, 60, 2), made_kernel("b", 72, 10, 2), call(1, 100, 3), made_kernel("c", 112, 10, 3)}));
  const RecordedJob one = job_of(turns);
  CHECK(one.hosts.size() == 1);
  CHECK(one.fit.recorded_ns == 122'000);
  // The time between two calls is that of the thread which calls next, so thread 1's span takes out nothing before
  // thread 2's call.
  CHECK(won_without(one, turns, "forward") == 0);
  const Trace both = opened_made(
      made_recording({call(1, 0, 1), made_kernel("a", 12, 10, 1), call(2, 3, 2), made_kernel("b", 40, 10, 2)}));
  CHECK(job_of(both).hosts.size() == 2);
}

TEST_CASE("a copy that holds up its call is waited for, and what launches from a graph is launched once", "[trace]") {
  const Trace copied = opened_made(
      made_recording({made_call(0, 10, 1), made_kernel("a", 12, 200, 1), made_call(10, 220, 2, "cudaMemcpyAsync"),
                      made_span("gpu_memcpy", "Memcpy DtoH", 0, 7, 212, 10, R"("device":0,"stream":7,"correlation":2)"),
                      made_call(240, 10, 3), made_kernel("b", 252, 10, 3)}));
  const RecordedJob job = job_of(copied);
  CHECK(job.fit.explained == Catch::Approx(1).epsilon(1e-12));
  CHECK(job.fit.recorded_ns == 262'000);
  CHECK(won_without(job, copied, "a") == 200'000);  // the copy begins 2 us after its call does, as a did after its own
  const Trace graph = opened_made(made_recording({made_call(0, 10, 1, "cudaGraphLaunch"), made_kernel("a", 15, 40, 1),
                                                  made_kernel("b", 57, 20, 1), made_kernel("c", 79, 20, 1)}));
  const RecordedJob launched = job_of(graph);
  CHECK(launched.replay->graph().edges.size() == 1);
  CHECK(launched.fit.explained == Catch::Approx(1).epsilon(1e-12));
  CHECK(won_without(launched, graph, "b") == 20'000);
}

TEST_CASE("the rank that comes last is blamed for all waiting, and wins what it is later than the one before",
          "[trace]") {
  // Three ranks, one collective: they come at 100, 150 and 160 us, and all end at 180.
  std::vector<Trace> traces;
  for (const int at : {100, 150, 160}) {
    const std::string launch = made_call(0, at - 30, 1), communicate = made_call(at - 30, 10, 2);
    traces.push_back(opened_made(made_recording({launch, made_kernel("a", at - 25, 20, 1), communicate,
                                                 made_span("kernel", "ncclDevKernel_AllReduce", 0, 8, at, 180 - at,
                                                           R"("device":0,"stream":8,"correlation":2)")})));
  }
  std::vector<RecordedRank> ranks;
  for (const Trace& t : traces) ranks.push_back({&t, 0, {}});
  const auto made = recorded_job(ranks);
  INFO(made.error);
  REQUIRE(made);
  CHECK(made->fit.collectives == 1);
  CHECK(made->fit.explained == Catch::Approx(1).epsilon(1e-12));
  const JobGraph& graph = made->replay->graph();
  const JobBlame blame = blame_of(graph, made->replay->unchanged());
  CHECK(blame.caused_ns == std::vector<std::int64_t>{0, 0, 70'000});
  CHECK(blame.late_ns == std::vector<std::int64_t>{0, 0, 10'000});
  CHECK(blame.spared_ns == std::vector<std::int64_t>{0, 0, 20'000});
  const std::int64_t won_ns = made->replay->won_ns(rank_on_time(*made->replay, 2));
  CHECK(won_ns > 9'000);
  CHECK(won_ns <= 10'000);
  // Its part in the collective lasts longest on the rank that waits, and wins nothing there.
  const std::uint32_t own[] = {event_named(traces[0], "ncclDevKernel_AllReduce")};
  CHECK(made->replay->won_ns(without_events(*made, 0, own)) == 0);
}

TEST_CASE("findings of the diagnosis say what would be won without them", "[trace]") {
  const Trace trace = starved();
  const Metrics metrics = measure(trace);
  const RecordedJob job = job_of(trace, metrics);
  const auto won = won_by_diagnosis(job, trace, metrics);
  REQUIRE(won.size() == metrics.diagnosis.size());
  int replayed = 0;
  for (std::size_t i = 0; i < won.size(); ++i) {
    if (metrics.diagnosis[i].kind == DiagnosisKind::idle) CHECK(won[i] == not_replayed);
    if (metrics.diagnosis[i].kind == DiagnosisKind::host_busy) {
      CHECK(won[i] == 140'000);
      ++replayed;
    }
  }
  CHECK(replayed == 1);
}

TEST_CASE("recordings that no stream could have made are replayed loosened, or refused", "[trace]") {
  // The synchronising call returned before the kernel that it waited for was called, by the file's own times.
  const Trace odd = opened_made(made_recording(
      {made_kernel("a", 0, 10, 1), made_call(500, 10, 1), made_kernel("b", 2, 30, 2), made_call(10, 10, 2),
       made_call(25, 10, 3, "cudaDeviceSynchronize"), made_kernel("c", 5, 600, 4), made_call(300, 10, 4)}));
  const RecordedJob job = job_of(odd);
  CHECK(job.fit.work == 3);
  CHECK(job.fit.explained >= 0);
  CHECK(job.fit.explained <= 1);
  const Trace host = opened_made(made_recording({made_span("cpu_op", "alone", 9, 1, 0, 10, "")}));
  const RecordedRank no_device[] = {{&host, -1, {}}};
  CHECK(recorded_job(no_device).error.find("nothing to replay") != std::string::npos);
  CHECK(recorded_job({}).error.find("nothing to replay") != std::string::npos);
}
