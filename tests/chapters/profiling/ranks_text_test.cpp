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

TEST_CASE("a rank or a file given twice is left out with a sentence, and the rest is judged") {
  std::vector<RecordingPtr> all{rank_of(0, 50, 60, 1000), rank_of(1, 50, 900, 1000), rank_of(1, 50, 70, 1000)};
  CHECK(said_of(all).starts_with("Two recordings are of the same rank"));
  CHECK(drop_repeated(all) == std::vector<std::string>{"Rank 1 was given twice; the second is left out."});
  REQUIRE(all.size() == 2);
  CHECK(said_of(all).starts_with("Rank 1 arrives last in 1 of 1 collective"));
  const auto file = trace_test::made_recording({trace_test::made_kernel("gemm", 0, 10, 1)});
  std::vector<RecordingPtr> same{recorded_as(file), recorded_as(file)};
  CHECK(drop_repeated(same, false) == std::vector<std::string>{"made up was given twice; the second is left out."});
  CHECK(same.size() == 1);
  std::vector<RecordingPtr> runs{rank_of(1, 50, 60, 1000), rank_of(1, 50, 900, 1000)};
  CHECK(drop_repeated(runs, false).empty());
  CHECK(runs.size() == 2);
}

TEST_CASE("recordings of different jobs stand side by side and no rank of them is judged") {
  const auto of_size = [](int rank, int size, double compute_us) {
    return recorded_as(trace_test::made_recording(
        {trace_test::made_span("kernel", "gemm", 0, 8, 0, compute_us, R"("device":0,"stream":8)"),
         trace_test::made_kernel(reduce_kernel, compute_us, 100, 1)},
        R"("distributedInfo": {"rank": )" + std::to_string(rank) + R"(, "world_size": )" + std::to_string(size) +
            "}, "));
  };
  const std::vector<RecordingPtr> apart{of_size(0, 8, 50), of_size(1, 128, 90)};
  const auto rows = rows_of(apart);
  CHECK(job_waits(rows).collectives.empty());
  CHECK(said_of(apart) == "These recordings are not of one job: rank 0 of 8, rank 1 of 128; they stand side by side.");
  CHECK(not_one_job(rows_of({of_size(0, 8, 50), of_size(1, 8, 90)}), {}).empty());
  // Nothing names a rank, and nothing is shared.
  const auto alone = [](double us) {
    return recorded_as(trace_test::made_recording({trace_test::made_kernel("gemm", 0, us, 1)}));
  };
  CHECK(said_of({alone(10), alone(20)}).starts_with("Nothing says that these recordings are of one job"));
}

TEST_CASE("a culprit whose recorded step began late is said to have been late before, with what is left without that") {
  // Two collectives end at 1000 and 2000 us. Rank 2's step begins 500 us after the others' and it comes at 700.
  const auto stepping = [](int rank, double step_us, double first_us, double second_us) {
    using namespace trace_test;
    return recorded_as(
        made_recording({made_span("user_annotation", "ProfilerStep#1", 9, 1, step_us, 2100 - step_us, ""),
                        made_kernel(reduce_kernel, first_us, 1000 - first_us, 1),
                        made_kernel(reduce_kernel, second_us, 2000 - second_us, 2)},
                       R"("distributedInfo": {"rank": )" + std::to_string(rank) + R"(, "world_size": 3}, )"));
  };
  const auto rows = rows_of({stepping(0, 0, 100, 1900), stepping(1, 0, 100, 1920), stepping(2, 500, 700, 1960)});
  const auto waits = job_waits(rows);
  const LateStart l = late_start(rows, waits);
  CHECK(l.late_ns == 500'000);
  CHECK(l.first_cost_ns == 1'200'000);  // 600 us of each other
  CHECK(l.share_without == 1);          // of 60 + 40 us
  const std::string said = waits_sentences(rows, waits, rank_steps(rows));
  INFO(said);
  CHECK(said.find("1.2 ms of it is the first collective: its step begins 500 µs after the median of the others', so it "
                  "was late before the recorded step. Without that one it causes 100 %.") != std::string::npos);
  // A step that begins 200 us later explains a third of 600 us, which is not it.
  const auto little = rows_of({stepping(0, 0, 100, 1900), stepping(1, 0, 100, 1920), stepping(2, 200, 700, 1960)});
  CHECK(late_start(little, job_waits(little)).late_ns == 0);
}

TEST_CASE("with two ranks the median of the others is the other one") {
  const auto rows = rows_of({rank_of(0, 105, 110, 200), rank_of(1, 136, 140, 200)});
  const auto slowest = models::trace::slowest_rank(rank_steps(rows));
  CHECK(slowest.row == 1);
  CHECK(std::abs(slowest.excess - (136.0 / 105 - 1)) <= 1e-9);
  CHECK(slowest_sentence(rows, slowest) == "Rank 1 computes 29.5 % longer a step than rank 0 (136 µs against 105 µs).");
}
