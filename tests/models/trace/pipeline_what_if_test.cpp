#include "models/trace/measure/pipeline_what_if.h"

#include <catch2/catch_test_macros.hpp>

#include "models/trace/recorded/pipeline_jobs.h"
#include "tests/models/trace/written.h"
#include "tests/support/base/near.h"

// How much a pipeline loses to stragglers, by ByteDance's what-if analysis, and whose fault it is.

using namespace models::trace;
using support::near;

namespace {

std::string op(const char* name, int replica, int stage, int sequence, double ts_us, double dur_us) {
  return trace_test::made_span(name, name, replica, stage, ts_us, dur_us,
                               R"("step": 1, "seq_id": )" + std::to_string(sequence));
}
std::string thread(int replica, int stage) {
  return R"({"ph":"M","name":"thread_name","pid":)" + std::to_string(replica) + R"(,"tid":)" + std::to_string(stage) +
         R"(,"args":{"name":"PP rank )" + std::to_string(stage) + R"(, TP rank 0, compute"}})";
}

/// One stage, two replicas: one micro-batch, then all replicas meet, then the optimizer.
std::vector<std::string> two_replicas(double forward_us) {
  std::vector<std::string> e;
  for (int r = 0; r < 2; ++r) {
    e.push_back(thread(r, 0));
    e.push_back(op("forward-compute", r, 0, 0, 0, r == 0 ? 100 : forward_us));
    e.push_back(op("backward-compute", r, 0, 0, 1000, 200));
    e.push_back(op("grads-reduce-scatter", r, 0, 0, 2000, 30));
    e.push_back(op("optimizer", r, 0, 0, 3000, 10));
  }
  return e;
}

}  // namespace

TEST_CASE("the recorded jobs lose what was published, for the published reason", "[trace]") {
  for (const RecordedPipeline which : {RecordedPipeline::lengths, RecordedPipeline::stages}) {
    const auto w = pipeline_what_if(recorded_pipeline(which), recorded_usual_times(which));
    REQUIRE(w);
    const PublishedWhatIf published = published_what_if(which);
    CHECK(near(w->slowdown, published.slowdown, 0.01));
    CHECK(near(w->step_s, published.step_s, 0.01));
    CHECK(near(w->ideal_s, published.ideal_s, 0.01));
    CHECK(near(w->last_stage_share, published.last_stage_share, 0.06));
    CHECK(w->cause ==
          (which == RecordedPipeline::lengths ? StragglerCause::sequence_lengths : StragglerCause::stage_split));
  }
}

TEST_CASE("what waits for a slow replica is what the graph makes wait", "[trace]") {
  const Trace trace = trace_test::opened_made(trace_test::made_recording(two_replicas(160)));
  CHECK(holds_pipeline(trace));
  const auto job = pipeline_job_of(trace);
  INFO(job.error);
  REQUIRE(job);
  CHECK(job->replicas == 2);
  CHECK(job->stages == 1);
  // Both replicas wait until the slow one has computed: 160 + 200 + 30 + 10 us; the ideal forward takes the mean, 130.
  const auto w = pipeline_what_if(*job, usual_times(*job));
  REQUIRE(w);
  CHECK(near(w->step_s, 400e-6, 1e-9));
  CHECK(near(w->ideal_s, 370e-6, 1e-9));
  CHECK(near(w->slowdown, 400.0 / 370, 1e-9));
  CHECK(near(w->by_replica[1], 400.0 / 370, 1e-9));
  CHECK(near(w->by_replica[0], 1, 1e-9));  // its own forward is shorter than the usual one of the other
  CHECK(w->cause == StragglerCause::healthy);
}

TEST_CASE("a recording that names no stage, or whose steps are not whole, is refused in words", "[trace]") {
  std::vector<std::string> events = two_replicas(160);
  events.pop_back();
  const auto uneven = pipeline_job_of(trace_test::opened_made(trace_test::made_recording(events)));
  CHECK_FALSE(uneven);
  CHECK(uneven.error == "No step of made up has every operation on every replica.");
  const auto stageless = pipeline_job_of(trace_test::opened_made(
      trace_test::made_recording({op("forward-compute", 0, 0, 0, 0, 1), op("optimizer", 0, 0, 0, 2, 1)})));
  CHECK_FALSE(stageless);
  CHECK(stageless.error.find("names no operations of a pipeline") != std::string::npos);
}

TEST_CASE("a timeline cut at any byte is read as far as it is whole, or refused in words", "[trace]") {
  const std::string text = trace_test::made_recording(two_replicas(160));
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto trace = read_trace(text.substr(0, n), "cut");
    if (!trace || !holds_pipeline(*trace)) continue;
    const auto job = pipeline_job_of(*trace);
    CHECK(job.error.empty() == job.value.has_value());
    if (job) CHECK(pipeline_what_if(*job, usual_times(*job)));
  }
}
