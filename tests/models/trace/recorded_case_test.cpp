#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "models/trace/cases/recorded_case.h"
#include "models/trace/recorded/real_recordings.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

// The recordings that the program carries, as cases: what each is published for is what the diagnosis finds and the
// replay wins most without.

using namespace models::trace;
using namespace trace_test;

namespace {

RecordedCase shipped_case(const RealRecording& recording) {
  auto ranks = open_real_recording(recording);
  INFO(ranks.error);
  REQUIRE(ranks);
  auto made = RecordedCase::of(std::move(*ranks), 8);
  INFO(made.error);
  REQUIRE(made);
  return std::move(*made);
}

std::vector<std::string> guilty_works(const RecordedCase& c) {
  std::vector<std::string> out;
  for (const RecordedSuspect& s : c.line_up())
    if (s.guilty) out.push_back(std::to_string(static_cast<int>(s.work)) + " of row " + std::to_string(s.row));
  return out;
}

double rounded_ms(std::int64_t ns) { return std::round(static_cast<double>(ns) * 1e-4) / 100; }

}  // namespace

TEST_CASE("real recordings that are shipped: the published cause is found, and its suspect alone is guilty") {
  const auto& all = real_recordings();
  std::vector<std::vector<std::string>> guilty;
  std::vector<double> won_ms, run_ms;
  for (const RealRecording& r : all) {
    INFO(r.name);
    const RecordedCase c = shipped_case(r);
    CHECK(c.diagnosis().cause == r.cause);
    if (r.culprit > 0) CHECK(c.diagnosis().row == r.culprit);
    CHECK(c.ranks().size() == static_cast<std::size_t>(r.ranks));
    CHECK(c.ranks().front().losses.empty());
    CHECK(c.line_up().size() >= 5);
    CHECK(c.fit().explained > 0.9);
    guilty.push_back(guilty_works(c));
    won_ms.push_back(rounded_ms(c.attainable_ns()));
    run_ms.push_back(rounded_ms(c.length_ns()));
  }
  CHECK(guilty == std::vector<std::vector<std::string>>{
                      {"0 of row 0"}, {"8 of row 0"}, {"12 of row 7"}, {}, {}});  // loading, first launches, rank 7
  CHECK(won_ms == std::vector<double>{1075.73, 1089.91, 0.5, 0, 0});
  CHECK(run_ms == std::vector<double>{1751.5, 1180.13, 19.69, 160.16, 178.45});
}

TEST_CASE("a recorded case: any fix that takes the culprit away wins what it costs, others little") {
  const RecordedCase loader = shipped_case(real_recordings()[0]);
  CHECK(loader.won_by(Fix::more_workers) == loader.attainable_ns());
  CHECK(loader.won_by(Fix::pinned_memory) < loader.attainable_ns() / 10);
  CHECK(loader.won_by(Fix::warm_up) == 0);
  // Its window was cut out of a longer run, and what its first kernels waited for lies before it.
  CHECK(loader.fit().explained < 0.95);
  const RecordedCase launches = shipped_case(real_recordings()[1]);
  CHECK(launches.won_by(Fix::warm_up) == launches.attainable_ns());
  // 978.6 ms of the stream's idle time lie inside those calls.
  CHECK(launches.diagnosis().witness().cost_ns == 978'602'976);
  const RecordedCase ranks = shipped_case(real_recordings()[2]);
  CHECK(ranks.won_by(Fix::even_ranks) == ranks.attainable_ns());
  CHECK(ranks.won_by(Fix::more_workers) == 0);
  CHECK(ranks.diagnosis().witness().cost_ns == 5'035'427);
  // Rank 1 has the longest span, in which it waits for rank 7.
  REQUIRE(ranks.chain().size() == 2);
  CHECK(ranks.lanes()[ranks.chain()[0].lane].row == 7);
  CHECK(ranks.lanes()[ranks.chain()[1].lane].row == 1);
  CHECK(ranks.line_up()[1].longest_ns > 2 * ranks.line_up()[7].longest_ns);
  CHECK(ranks.line_up()[1].won_ns == 0);
}

TEST_CASE("a recorded case whose host never gets in the way has nobody guilty; one without a device is refused") {
  std::vector<std::string> events;
  for (int i = 0; i < 40; ++i) {
    events.push_back(made_call(10 * i, 5, i + 1));
    events.push_back(made_kernel("large", 20 + 100 * i, 100, i + 1));
  }
  std::vector<Trace> one;
  one.push_back(opened_made(made_recording(events)));
  const auto ahead = RecordedCase::of(std::move(one), 8);
  REQUIRE(ahead);
  CHECK(ahead->attainable_ns() == 0);
  CHECK(ahead->length_ns() == 4'020'000);
  for (const RecordedSuspect& s : ahead->line_up()) CHECK_FALSE(s.guilty);
  std::vector<Trace> none_there;
  none_there.push_back(opened_made(made_recording({made_call(0, 5, 1)})));
  CHECK_FALSE(RecordedCase::of(std::move(none_there), 8));
  CHECK_FALSE(RecordedCase::of({}, 8));
}
