#include "models/trace/measure/rank_calls.h"

#include <catch2/catch_test_macros.hpp>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/written.h"

// Who waits for whom in a job's collectives, and what it would win if one rank came on time.

using namespace models::trace;

namespace {

RankBlame blame(const RankCalls& calls) {
  auto made = rank_blame_of(calls);
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("DLRM: rank 7 is to blame, to the microsecond, and not the rank that computes longest", "[trace]") {
  const RankBlame b = blame(recorded_dlrm());
  using Times = std::vector<std::int64_t>;
  CHECK(b.waited_ns == Times{5'580'000, 11'125'000, 3'280'000, 9'571'000, 6'370'000, 6'041'000, 3'342'000, 1'534'000});
  CHECK(b.caused_ns == Times{0, 0, 0, 0, 5'009'000, 6'282'000, 0, 35'552'000});
  CHECK(b.won_ns == Times{0, 0, 0, 0, 98'000, 707'000, 0, 9'163'000});
  CHECK(b.culprit == 7);
  CHECK(b.computes_longest == 1);
  CHECK(b.waits_longest == 1);
  CHECK(b.times_last[7] == 5);
  // Late by 1.309 ms in all, a seventh of what is saved. Its own work shortened until it comes with the second to last,
  // it begins what follows earlier too, and the job ends with ranks 4 and 5: the replay of the whole recording says
  // 0.505 ms as well (planted_test).
  CHECK(b.sooner_ns[7] == 505'000);
  CHECK(b.total_ns == 46'843'000);
}

TEST_CASE("a rank that is moved earlier empties its column until the next takes it", "[trace]") {
  const RankBlame half = blame(with_rank_earlier(recorded_dlrm(), 7, 500'000));
  CHECK(half.culprit == 7);
  CHECK(half.caused_ns[7] == 25'666'000);
  const RankBlame more = blame(with_rank_earlier(recorded_dlrm(), 7, 1'000'000));
  CHECK(more.culprit == 6);
  CHECK(more.caused_ns[7] == 0);
  // Nobody comes to a collective before its last one has ended.
  const RankCalls far = with_rank_earlier(recorded_dlrm(), 7, 1'000'000'000);
  for (std::size_t k = 1; k < far.calls.size(); ++k) CHECK(far.start_ns[far.at(7, k)] >= far.end_ns[far.at(7, k - 1)]);
}

TEST_CASE("recordings give the arrivals that their collectives have", "[trace]") {
  const auto rank = [](double first_us, double second_us) {
    const char* name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    return trace_test::opened_made(trace_test::made_recording(
        {trace_test::made_kernel("gemm", 10, 50, 1), trace_test::made_kernel(name, first_us, 1000 - first_us, 2),
         trace_test::made_kernel(name, second_us, 2000 - second_us, 3)}));
  };
  const std::vector<Trace> traces{rank(100, 1500), rank(900, 1100)};
  std::vector<RankWork> work;
  for (const Trace& t : traces) work.push_back({&t, measure(t).devices.at(0).device});
  const RankCalls c = rank_calls_of(work, waits_of(work));
  REQUIRE(c.calls == std::vector<std::string>{"all-reduce", "all-reduce"});
  CHECK(c.computing_ns == std::vector<std::int64_t>{50'000, 50'000});
  CHECK(c.start_ns[c.at(0, 0)] == 90'000);  // since the first kernel
  const RankBlame b = blame(c);
  CHECK(b.matrix_ns == std::vector<std::int64_t>{0, 800'000, 400'000, 0});
  CHECK(b.culprit == 1);
}

TEST_CASE("one rank alone is nobody's straggler", "[trace]") { CHECK_FALSE(rank_blame_of(RankCalls{})); }
