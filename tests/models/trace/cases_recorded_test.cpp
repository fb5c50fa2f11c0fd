#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "models/trace/cases/detect.h"
#include "models/trace/measure/rank_calls.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"
#include "tests/support/base/files.h"

// The diagnosis of a case, asked about recordings that nobody dealt: real ones, extracts of them, and small ones made
// up of one fact each.

using namespace models::trace;
using trace_test::made_call;
using trace_test::made_kernel;
using trace_test::made_recording;
using trace_test::made_span;
using trace_test::opened_made;

namespace {

JobDiagnosis diagnosed(const std::vector<Trace>& traces) {
  std::vector<const Trace*> ranks;
  for (const Trace& t : traces) ranks.push_back(&t);
  return diagnose_job(ranks);
}

std::int64_t cost_of(const JobDiagnosis& d, Cause cause) {
  return d.witnesses[static_cast<std::size_t>(cause)].cost_ns;
}

double us(std::int64_t ns) { return static_cast<double>(ns) * 1e-3; }

/// A rank as the published figures have it: when it computed, and its part in each collective.
Trace rank_of(const RankCalls& job, std::size_t rank) {
  std::vector<std::string> events;
  for (const BusyPart& p : job.computes[rank])
    events.push_back(made_kernel("embedding", us(p.start_ns), us(p.end_ns - p.start_ns), 0));
  for (std::size_t call = 0; call < job.calls.size(); ++call) {
    const std::int64_t start_ns = job.start_ns[job.at(rank, call)], end_ns = job.end_ns[job.at(rank, call)];
    events.push_back(made_span("kernel", "ncclKernel_" + job.calls[call] + "_Sum_float", 0, 8, us(start_ns),
                               us(end_ns - start_ns), R"("device":0,"stream":8)"));
  }
  return opened_made(made_recording(events));
}

/// Launches each `interval_us`, of kernels of which each takes `kernel_us` and follows the one before it on the stream.
class MadeStream {
 public:
  void launch(const std::string& kernel, double call_us, double interval_us, double kernel_us) {
    ++number_;
    events_.push_back(
        made_span("cpu_op", "aten::mul", 9, 1, at_us_, std::max(interval_us, call_us + 1), R"("External id":1)"));
    events_.push_back(made_call(at_us_, call_us, number_));
    free_us_ = std::max(free_us_, at_us_ + call_us + 2);
    events_.push_back(made_kernel(kernel, free_us_, kernel_us, number_));
    free_us_ += kernel_us;
    at_us_ += std::max(interval_us, call_us + 1);
  }
  Trace trace() const { return opened_made(made_recording(events_)); }

 private:
  std::vector<std::string> events_;
  int number_ = 0;
  double at_us_ = 0, free_us_ = 0;
};

}  // namespace

TEST_CASE("the rank that comes last to the collectives is named, not what the others' hosts did meanwhile", "[trace]") {
  const RankCalls& job = recorded_dlrm();
  std::vector<Trace> ranks;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) ranks.push_back(rank_of(job, r));
  const JobDiagnosis d = diagnosed(ranks);
  CHECK(d.cause == Cause::late_rank);
  CHECK(d.row == 7);
  // 35.552 ms are waited for it by seven, nearly all of them with nothing to compute.
  CHECK(cost_of(d, Cause::late_rank) > 34'000'000 / 7);
  CHECK(cost_of(d, Cause::late_rank) <= 35'552'000 / 7);
  // Of ranks that are all alike none is late.
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = rank_of(job, 7);
  CHECK(cost_of(diagnosed(ranks), Cause::late_rank) == 0);
}

TEST_CASE("launches that are slow once for each kernel load its code; slow again and again somebody interrupts them") {
  MadeStream first, again;
  for (int round = 0; round < 30; ++round)
    for (int kernel = 0; kernel < 4; ++kernel) {
      const std::string name = "k" + std::to_string(kernel);
      first.launch(name, round == 0 ? 20'000 : 5, 30, 25);
      again.launch(name, round % 8 == 0 ? 20'000 : 5, 30, 25);
    }
  const JobDiagnosis d = diagnosed({first.trace()});
  CHECK(d.cause == Cause::slow_first_launch);
  CHECK(cost_of(d, Cause::slow_first_launch) > 59'000'000);
  CHECK(cost_of(d, Cause::contention) == 0);
  CHECK(diagnosed({again.trace()}).cause == Cause::contention);
}

TEST_CASE("gaps before the host has run ahead are a start; gaps that go on are kernels shorter than their launches") {
  MadeStream ahead, behind;
  for (int i = 0; i < 60; ++i) ahead.launch("small", 5, 30, 10);
  for (int i = 0; i < 300; ++i) ahead.launch("large", 5, 30, 100);
  for (int i = 0; i < 360; ++i) behind.launch("small", 5, 30, 10);
  CHECK(diagnosed({ahead.trace()}).cause == Cause::nothing);
  CHECK(diagnosed({behind.trace()}).cause == Cause::small_kernels);
}

TEST_CASE("real recordings: what each of them is published for comes first", "[trace]") {
  const auto folder = trace_test::real_traces();
  if (folder.empty()) SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  const auto open = [&](const std::string& name) {
    auto read = read_trace(support::read_text(folder / (name + ".json.gz")), name);
    REQUIRE(read);
    return std::move(*read);
  };
  struct Expected {
    const char* name;
    Cause cause;
  };
  for (const Expected& e :
       {Expected{"param_resnet_loader_bound", Cause::slow_loader},
        Expected{"mi300_norm_test_slow_first_launch", Cause::slow_first_launch},
        Expected{"h100_timesformer_healthy", Cause::nothing}, Expected{"mi300_xdit_flux_run_ahead", Cause::nothing},
        Expected{"param_linear", Cause::small_kernels}}) {
    INFO(e.name);
    std::vector<Trace> one;
    one.push_back(open(e.name));
    CHECK(diagnosed(one).cause == e.cause);
  }
  std::vector<Trace> ranks;
  for (int r = 0; r < 8; ++r) ranks.push_back(open("ranks/dlrm_param_worker" + std::to_string(r)));
  const JobDiagnosis d = diagnosed(ranks);
  CHECK(d.cause == Cause::late_rank);
  CHECK(d.row == 7);
  CHECK(cost_of(d, Cause::late_rank) > cost_of(d, Cause::small_kernels));
}

// The thresholds for recordings were chosen on the six of the case before, which are right for that reason. These were
// held out: nothing was chosen on them, and they are right too (3 of 3 that have a published cause; of the tenth of a
// second that no choice of cause covers, a launch that begins late, the right answer accuses nobody). Recordings
// without a published cause are not counted.
TEST_CASE("real recordings that were held out: the published cause comes first", "[trace]") {
  const auto folder = trace_test::real_traces();
  if (folder.empty()) SKIP("the public traces are not beside the source; RIDGELINE_TRACES may name their folder");
  struct Expected {
    const char* name;
    Cause cause;
  };
  for (const Expected& e : {Expected{"k2021_resnet50_v100_mem.pt.trace", Cause::slow_loader},
                            Expected{"k2020_resnet50_array_toplevel.pt.trace", Cause::slow_loader},
                            Expected{"mi300_sglang_prefill_decode", Cause::nothing}}) {
    INFO(e.name);
    auto read = read_trace(support::read_text(folder / (std::string(e.name) + ".json.gz")), e.name);
    REQUIRE(read);
    std::vector<Trace> one;
    one.push_back(std::move(*read));
    CHECK(diagnosed(one).cause == e.cause);
  }
}

TEST_CASE("three kernels that wait for their launches are not many") {
  MadeStream few;
  for (int i = 0; i < 4; ++i) few.launch("alone", 5, 3'000, 10);
  CHECK(diagnosed({few.trace()}).cause == Cause::nothing);
}
