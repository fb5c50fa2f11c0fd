#include "models/trace/measure/spans.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/models/trace/written.h"

// What the host spent its time in, where no device was recorded.

using namespace models::trace;
using trace_test::made_recording;
using trace_test::made_span;
using trace_test::opened_made;

namespace {

/// Thread 1: frame 0-100 with draw 10-60, inside it clip 20-40 and 50-80 (which outlasts it); frame 200-250.
/// Thread 2: poll 0-30.
Trace host_only() {
  return opened_made(
      made_recording({made_span("app", "frame", 9, 1, 0, 100, ""), made_span("app", "draw", 9, 1, 10, 50, ""),
                      made_span("app", "clip", 9, 1, 20, 20, ""), made_span("app", "clip", 9, 1, 50, 30, ""),
                      made_span("app", "frame", 9, 1, 200, 50, ""), made_span("app", "poll", 9, 2, 0, 30, "")}));
}

}  // namespace

TEST_CASE("self time is a span's own, and of a span that outlasts the one around it too", "[trace]") {
  const Trace t = host_only();
  const HostSpans s = host_spans(t);
  REQUIRE(s.names.size() == 4);
  CHECK(t.strings[s.names[0].name] == "frame");
  CHECK(s.names[0].self_ns == 50'000 + 50'000);
  CHECK(s.names[0].total_ns == 150'000);
  CHECK(s.names[0].count == 2);
  CHECK(s.names[0].longest_self_ns == 50'000);
  CHECK(t.strings[s.names[1].name] == "clip");
  CHECK(s.names[1].self_ns == 20'000 + 30'000);
  CHECK(t.strings[s.names[2].name] == "poll");
  CHECK(t.strings[s.names[3].name] == "draw");
  CHECK(s.names[3].self_ns == 50'000 - 20'000 - 10'000);
  REQUIRE(s.busiest != none);
  CHECK(t.tracks[s.busiest].tid == "1");
  CHECK(s.busiest_ns == 150'000);
}

TEST_CASE("the profile of a thread is the share of each part in which it is in some span", "[trace]") {
  const Trace t = host_only();
  const auto profile = track_profile(t, host_spans(t).busiest, 0, 250'000, 5);
  REQUIRE(profile.size() == 5);
  CHECK(profile[0] == Catch::Approx(1));
  CHECK(profile[1] == Catch::Approx(1));
  CHECK(profile[2] == Catch::Approx(0));
  CHECK(profile[4] == Catch::Approx(1));
}
