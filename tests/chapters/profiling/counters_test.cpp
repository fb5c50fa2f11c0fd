#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "chapters/profiling/counters/lab.h"
#include "chapters/profiling/counters/words.h"
#include "models/gpu/counters/measured_reports.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace counters = chapters::profiling::counters;

namespace {

LabPtr counters_lab(const std::string& kernel) {
  return open_lab("profiling/counters", R"({"kernel": ")" + kernel + "\"}");
}

/// A file that came with a scenario.
std::string with_report(const std::string& text, const std::string& more = "") {
  std::string quoted;
  for (const char c : text)
    quoted += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
  return R"({"source": "file", "report": {"name": "mine.txt", "text": ")" + quoted + "\"}" + more + "}";
}

std::string report_text(const char* name) { return read_text(data_file(std::string("kernel_reports/") + name)); }

}  // namespace

TEST_CASE("counters: the contract's keys, of a report in each form") {
  for (const char* name : {"details.txt", "details.csv", "raw.csv"}) {
    INFO(name);
    const LabPtr lab = open_lab("profiling/counters", with_report(report_text(name)));
    compute(*lab);
    CHECK(choice_of(*lab, "verdict") == "latency");
    CHECK(choice_of(*lab, "class") == "latency");
    CHECK(choice_of(*lab, "cause") == "mio_queue");
    CHECK(near(out(*lab, "waves"), 12.8, 1e-9));
    CHECK(near(out(*lab, "theoretical_occupancy_percent"), 50, 1e-9));
  }
  const LabPtr amd = open_lab("profiling/counters", with_report(report_text("rocprof.txt")));
  compute(*amd);
  CHECK(choice_of(*amd, "verdict") == "undecided");
  CHECK(choice_of(*amd, "cause") == "occupancy_shared");
}

TEST_CASE("counters: of a file with several kernels all are listed, and one is read") {
  const LabPtr lab = open_lab("profiling/counters", with_report(report_text("list.json"), R"(, "report_kernel": 2)"));
  compute(*lab);
  CHECK(rows(*lab, "kernels") == 2);
  CHECK(choice_of(*lab, "class") == "launch");
  CHECK(out(*lab, "kernels_left_out") == 1);
  choose(*lab, "source", "measured");
  compute(*lab);
  CHECK(rows(*lab, "kernels") == models::gpu::measured_reports().size());
}

TEST_CASE("counters: what is no report is refused, and a binary one with the way out") {
  const LabPtr lab = open_lab("profiling/counters", with_report("dear diary"));
  CHECK(reason_of(*lab).find("This is no report of a kernel") != std::string::npos);
  const LabPtr none = open_lab("profiling/counters", R"({"source": "file"})");
  CHECK(reason_of(*none).find("No report is chosen") != std::string::npos);
  const LabPtr crossed = open_lab("profiling/counters", R"({"low_percent": 75, "roof_percent": 76})");
  CHECK(reason_of(*crossed).empty());
}

TEST_CASE("counters: a reduction comes back to its first verdict while its time falls to a third") {
  std::string verdicts;
  double first = 0, best = 1;
  for (const char* kernel :
       {"reduce_divergent", "reduce_conflicts", "reduce_sequential", "reduce_two", "reduce_unrolled"}) {
    const LabPtr lab = counters_lab(kernel);
    const double time = computed(*lab, "time_s");
    if (first == 0) first = time;
    best = std::min(best, time);
    verdicts += std::string(choice_of(*lab, "verdict")) + " ";
  }
  CHECK(verdicts == "latency balanced balanced balanced latency ");
  CHECK(first / best > 3);
}

TEST_CASE("counters: another grid and another chip move waves and tail, and not the verdict") {
  const LabPtr lab = counters_lab("sgemm_tiled");
  set(*lab, "blocks", 161);
  CHECK(near(computed(*lab, "waves"), 161.0 / 80, 1e-12));
  CHECK(near(out(*lab, "tail_percent"), 100.0 / 3, 1e-12));
  CHECK(choice_of(*lab, "verdict") == "latency");
  CHECK(computed(set(*lab, "blocks", 160), "tail_percent") == 0);
  CHECK(near(computed(set(*lab, "sms", 132), "waves"), 160.0 / 264, 1e-12));
}

TEST_CASE("counters: other thresholds make another verdict") {
  const LabPtr lab = counters_lab("sgemm_tiled");
  set(*lab, "low_percent", 45);
  compute(*lab);
  CHECK(choice_of(*lab, "verdict") == "balanced");
  set(*lab, "difference_points", 1);
  compute(*lab);
  CHECK(choice_of(*lab, "verdict") == "memory_heavier");
}

TEST_CASE("counters: every published report has an answer of its own figures, in two lines that fit") {
  std::set<std::string> answers;
  for (const auto& m : models::gpu::measured_reports()) {
    INFO(m.id);
    const LabPtr lab = counters_lab(m.id);
    compute(*lab);
    const std::string answer(lab->answer());
    INFO(answer);
    CHECK_FALSE(answer.empty());
    CHECK(answer.find("\xE2\x80\x94") == std::string::npos);  // no figure that is not there
    const auto end = answer.find('\n');
    REQUIRE(end != std::string::npos);
    CHECK(end <= 150);  // backticks count here
    CHECK(answer.size() - end - 1 <= 131);
    answers.insert(answer);
  }
  CHECK(answers.size() >= 40);
}

TEST_CASE("counters: each cause says what to try, in a line") {
  for (std::size_t i = 0; i < models::gpu::cause_count; ++i) {
    const auto& words = counters::cause_words(static_cast<models::gpu::Cause>(i));
    INFO(words.name);
    CHECK(words.next.ends_with('.'));
    CHECK(words.next.size() <= 130);
    CHECK_FALSE(words.name.empty());
  }
}

TEST_CASE("counters: a kernel that finds no room says for how long, of what, and shows it") {
  const LabPtr amd = counters_lab("yax_lds");
  compute(*amd);
  CHECK(amd->answer() ==
        "In `79.0 %` of the time a wavefront found no LDS free; `3.1 %` of the places for wavefronts are taken.\nTake "
        "less LDS per workgroup, so that more of them fit on a compute unit.");
  counters::Inputs in;
  in.kernel = "yax_lds";
  auto picture = picture_of(in, counters::compute, counters::arrange);
  CHECK(picture.room_decides);
  REQUIRE(picture.room.size() == 2);
  CHECK(picture.room[0].name == "no LDS free");
  CHECK(picture.room[0].limit);
  // An SM has room for 2 blocks by their shared memory and for 4 by registers and warps: half of its warps fit.
  picture = picture_of(counters::Inputs(), counters::compute, counters::arrange);
  REQUIRE(picture.room.size() == 4);
  for (const counters::RoomBar& bar : picture.room) CHECK(bar.limit == (bar.name == "shared memory"));
  CHECK(picture.room_words == "50 % of the warps fit, 49.2 % were there");
}

TEST_CASE("counters: what an author states of a report that does not decide is said to be his") {
  const LabPtr lab = counters_lab("gemm_multicast");
  compute(*lab);
  CHECK(choice_of(*lab, "class") == "undecided");
  CHECK(
      lab->answer().starts_with("What this report prints does not decide what bounds the kernel; its author saw more "
                                "and says compute."));
}
