#include "models/trace/cases/case.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "models/trace/cases/detect.h"
#include "models/trace/cases/recording.h"
#include "models/trace/measure/metrics.h"
#include "tests/support/base/effort.h"

// Cases that are dealt by seed, what a replay says of them, and the diagnosis that reads their recordings alone.

using namespace models::trace;

namespace {

Case case_of(std::uint64_t seed, int level, bool faulty = true, double severity = 1) {
  return Case::of({.seed = seed, .level = level, .faulty = faulty, .severity = severity});
}

std::vector<const Trace*> pointers(const std::vector<Trace>& ranks) {
  std::vector<const Trace*> out;
  for (const Trace& t : ranks) out.push_back(&t);
  return out;
}

JobDiagnosis diagnosed(const Case& c) {
  const CaseRecording recording = record_case(c.job(), c.times(), false);
  return diagnose_job(pointers(recording.ranks));
}

/// The first case of a cause at a level.
Case first_of(Cause cause, int level) {
  for (std::uint64_t seed = 1; seed < 400; ++seed)
    if (deal_case(seed, level, true).cause == cause) return case_of(seed, level);
  FAIL("no case of this cause");
  return case_of(1, level);
}

struct Tally {
  double right = 0, wrong_cause = 0, false_alarms = 0;
  std::uint64_t cases = 0;
};

Tally tally_of(int level, std::uint64_t cases) {
  Tally out;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const Case faulty = case_of(seed, level), healthy = case_of(seed, level, false);
    const JobDiagnosis d = diagnosed(faulty);
    const bool rank = faulty.spec().ranks == 1 || d.row == faulty.spec().rank;
    out.right += d.cause == faulty.spec().cause && rank;
    out.wrong_cause += d.cause != faulty.spec().cause;
    out.false_alarms += diagnosed(healthy).cause != Cause::nothing;
    ++out.cases;
  }
  return out;
}

}  // namespace

TEST_CASE("a diagnosis from recordings alone names cause and rank, and seldom accuses a healthy job", "[trace]") {
  // A thousand cases of each level in ./test full, the first of the same otherwise.
  const std::uint64_t cases = support::full() ? 1000 : support::sanitized() ? 6 : 60;
  for (const int level : {1, 2, 3}) {
    const Tally t = tally_of(level, cases);
    const double n = static_cast<double>(t.cases);
    INFO("level " << level << ": right " << t.right / n << ", wrong cause " << t.wrong_cause / n << ", false alarms "
                  << t.false_alarms / n);
    CHECK(t.right / n >= (level == 1 ? 0.9 : level == 2 ? 0.8 : 0.7));
    CHECK(t.false_alarms / n <= 0.05);
  }
}

TEST_CASE("faults are spread evenly: who always guesses the same is right in at most 15 % of a thousand cases") {
  for (const int level : {1, 2, 3}) {
    std::array<int, dealt_cause_count> dealt{};
    for (std::uint64_t seed = 1; seed <= 1000; ++seed)
      ++dealt[static_cast<std::size_t>(deal_case(seed, level, true).cause)];
    CHECK(dealt[0] == 0);
    CHECK(*std::max_element(dealt.begin(), dealt.end()) <= 150);
    CHECK(*std::min_element(dealt.begin() + 1, dealt.end()) >= 40);
  }
}

TEST_CASE("a fault costs what its level says, its own fix wins all of that, and the longest span mostly nothing") {
  int longest_innocent = 0, cases = 0;
  for (const int level : {1, 3})
    for (std::uint64_t seed = 1; seed <= (support::sanitized() ? 4u : 30u); ++seed) {
      const Case c = case_of(seed, level);
      const double share = static_cast<double>(c.attainable_ns()) / static_cast<double>(c.length_ns());
      INFO("level " << level << ", seed " << seed << ", cause " << static_cast<int>(c.spec().cause));
      CHECK(share >= (level == 1 ? 0.12 : 0.03));
      CHECK(share <= (level == 1 ? 0.40 : 0.20));
      CHECK(c.won_by(static_cast<Fix>(c.spec().cause)) == c.attainable_ns());
      CHECK(c.won_by(Fix::nothing) == 0);
      const std::vector<Suspect> line_up = c.line_up(8);
      REQUIRE(!line_up.empty());
      CHECK(line_up.size() <= 8);
      const auto longest = std::max_element(line_up.begin(), line_up.end(), [](const Suspect& a, const Suspect& b) {
        return a.longest_ns < b.longest_ns;
      });
      longest_innocent += !longest->guilty;
      ++cases;
      std::int64_t most = 0;
      for (const Suspect& s : line_up) {
        most = std::max(most, s.won_ns);
        CHECK(s.won_ns >= -1000);  // nothing ends later because something is gone
      }
      CHECK(std::any_of(line_up.begin(), line_up.end(), [](const Suspect& s) { return s.guilty; }));
      CHECK(2 * most >= c.attainable_ns());
    }
  CHECK(longest_innocent * 10 >= cases * 7);
}

TEST_CASE("a pause costs what is not hidden under kernels launched before it") {
  // Seed 17: the collector stops rank 1 in its second step, between two layers.
  const Case c = case_of(17, 1);
  REQUIRE(c.spec().cause == Cause::garbage_collection);
  std::int64_t pause_ns = 0, hidden_ns = 0;
  for (std::uint32_t t = 0; t < c.job().tasks.size(); ++t) {
    if (c.job().tasks[t].work != CaseWork::silent || !c.job().tasks[t].faulty) continue;
    pause_ns = c.times().end_ns[t] - c.times().start_ns[t];
    // When the stream of this rank runs dry after the pause began.
    std::int64_t dry_ns = c.times().start_ns[t];
    for (std::uint32_t k = 0; k < c.job().tasks.size(); ++k)
      if (c.job().graph.tasks[k].lane == c.job().lanes[1].compute && c.times().start_ns[k] < c.times().end_ns[t])
        dry_ns = std::max(dry_ns, c.times().end_ns[k]);
    hidden_ns = dry_ns - c.times().start_ns[t];
  }
  REQUIRE(pause_ns > 0);
  CHECK(hidden_ns > 0);
  CHECK(std::abs(static_cast<double>(c.attainable_ns() - (pause_ns - hidden_ns))) <=
        0.01 * static_cast<double>(pause_ns));
}

TEST_CASE("a fault without size costs nothing, and a larger one never less") {
  for (const Cause cause : {Cause::slow_loader, Cause::throttled_rank, Cause::garbage_collection, Cause::bad_link}) {
    const Case first = first_of(cause, 1);
    std::uint64_t seed = 1;
    while (deal_case(seed, 1, true).cause != cause) ++seed;
    std::int64_t before = 0;
    for (const double severity : {0.0, 0.5, 1.0, 1.5}) {
      const Case c = case_of(seed, 1, true, severity);
      if (severity == 0.0) CHECK(std::abs(c.attainable_ns()) * 100 <= c.length_ns());
      CHECK(c.attainable_ns() >= before - 1000);
      before = c.attainable_ns();
    }
    CHECK(before >= first.attainable_ns());
  }
}

TEST_CASE("a case's recordings are ordinary ones: launches linked, steps marked, and no word of the fault in them") {
  for (const int level : {1, 3}) {
    const Case c = case_of(12, level);
    const CaseRecording recording = record_case(c.job(), c.times(), true);
    REQUIRE(recording.ranks.size() == static_cast<std::size_t>(c.spec().ranks));
    for (std::size_t r = 0; r < recording.ranks.size(); ++r) {
      const Trace& trace = recording.ranks[r];
      const Metrics m = measure(trace);
      CHECK(m.steps.size() == static_cast<std::size_t>(c.spec().steps));
      REQUIRE(m.devices.size() == 1);
      CHECK(trace.rank == static_cast<int>(r));
      CHECK(recording.task_of[r].size() == trace.events.size());
      for (const Event& e : trace.events) {
        if (on_device(e.cls)) CHECK(e.link != none);
        CHECK(e.duration_ns >= 0);
        CHECK(e.end_ns() <= c.length_ns());
      }
      for (const std::string& name : trace.strings)
        for (const char* word : {"fault", "culprit", "slow", "throttl", "garbage", "decoy"})
          CHECK(name.find(word) == std::string::npos);
    }
  }
}

TEST_CASE("the same seed is the same case, and taking the fault out moves no other number") {
  const Case a = case_of(31, 2), b = case_of(31, 2);
  CHECK(a.times().end_ns == b.times().end_ns);
  const Case healthy = case_of(31, 2, false);
  CHECK(healthy.length_ns() == a.healthy_ns());
}

TEST_CASE("a diagnosis of nothing says nothing") {
  CHECK(!diagnose_job({}).readable);
  const Trace empty;
  const Trace* one[] = {&empty};
  const JobDiagnosis d = diagnose_job(one);
  CHECK(!d.readable);
  CHECK(d.cause == Cause::nothing);
}
