#include "chapters/profiling/trace_viewer/ranks_text.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

// What is said of several recordings as one job.

using namespace chapters::profiling::trace_viewer;

namespace {

constexpr const char* reduce_kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

RecordingPtr recorded_as(const std::string& text) {
  auto out = std::make_shared<Recording>();
  out->trace = trace_test::opened_made(text);
  out->metrics = models::trace::measure(out->trace);
  return out;
}

/// A rank that computes for `compute_us` from 0 and reduces from `start_us` to `end_us` by its clock.
RecordingPtr rank_of(int rank, double compute_us, double start_us, double end_us) {
  using namespace trace_test;
  return recorded_as(
      made_recording({made_span("kernel", "gemm", 0, 8, 0, compute_us, R"("device":0,"stream":8)"),
                      made_kernel(reduce_kernel, start_us, end_us - start_us, 1)},
                     R"("distributedInfo": {"rank": )" + std::to_string(rank) + R"(, "world_size": 3}, )"));
}

std::string said_of(const std::vector<RecordingPtr>& recordings) {
  const auto rows = rows_of(recordings);
  return waits_sentences(rows, job_waits(rows), rank_steps(rows));
}

}  // namespace

TEST_CASE("the rank that comes last is named though another computes longest and waits longest") {
  const auto rows = rows_of({rank_of(0, 50, 60, 1000), rank_of(1, 55, 56, 1000), rank_of(2, 48, 900, 1000)});
  const auto waits = job_waits(rows);
  CHECK(waits_title(rows, waits) == "Rank 2 holds the others up");
  const std::string said = waits_sentences(rows, waits, rank_steps(rows));
  INFO(said);
  CHECK(
      said.starts_with("Rank 2 arrives last in 1 of 1 collective and costs the others 1.68 ms, 100 % of all waiting; "
                       "1.68 ms of it with nothing to compute meanwhile. Computation does not explain it"));
  CHECK(said.find("Rank 1 computes longest and waits longest, 844 µs.") != std::string::npos);
  CHECK(said.ends_with("The recordings share one clock: the ranks leave each collective together."));
}

TEST_CASE("without a common clock the sentence says by what the last was found") {
  const std::string said = said_of({rank_of(0, 50, 60, 1000), rank_of(1, 55, 5056, 6000), rank_of(2, 48, 900, 1000)});
  INFO(said);
  CHECK(said.starts_with("Rank 2 arrives last in 1 of 1 collective"));
  CHECK(said.find("The recordings have no common clock") != std::string::npos);
}

TEST_CASE("one rank twice, and ranks without a collective, are no job to judge") {
  CHECK(said_of({rank_of(1, 50, 60, 1000), rank_of(1, 50, 900, 1000)})
            .starts_with("Two recordings are of the same rank"));
  const auto alone = recorded_as(trace_test::made_recording({trace_test::made_kernel("gemm", 0, 10, 1)}));
  CHECK(said_of({alone, alone}).starts_with("No collective was recorded"));
}

TEST_CASE("with two ranks the median of the others is the other one") {
  const auto rows = rows_of({rank_of(0, 105, 110, 200), rank_of(1, 136, 140, 200)});
  const auto slowest = models::trace::slowest_rank(rank_steps(rows));
  CHECK(slowest.row == 1);
  CHECK(std::abs(slowest.excess - (136.0 / 105 - 1)) <= 1e-9);
  CHECK(slowest_sentence("rank 1", slowest) ==
        "Rank 1 computes 29.5 % longer a step than the median of the others (136 µs against 105 µs).");
}
