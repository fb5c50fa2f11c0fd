#include "models/measure/timings_csv.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace models::measure;

namespace {

std::string timings_fault(const std::string& text) {
  const auto read = read_timings(text);
  REQUIRE_FALSE(read);
  return read.error;
}

}  // namespace

TEST_CASE("measure: times are read in the order of the clock, in the unit of their column", "[measure]") {
  const auto read = read_timings("# a note\nrun;version;time_ms\r\n1;old;2.5\n2;\"new\";2\n\n3;old;2.25\n");
  REQUIRE(read);
  CHECK(read->names[0] == "old");
  CHECK(read->names[1] == "new");
  REQUIRE(read->runs.size() == 3);
  CHECK_FALSE(read->runs[0].is_b);
  CHECK(read->runs[1].is_b);
  CHECK(read->runs[1].time_s == 2e-3);
}

TEST_CASE("measure: times that cannot be read are refused with the line and what to do", "[measure]") {
  CHECK(timings_fault("") == "The times are empty: a first line \"version,time_s\" is needed.");
  CHECK(timings_fault("To whom it may concern\n") ==
        "Line 1 of the times names no column \"version\" and \"time_s\": begin with \"version,time_s\".");
  CHECK(timings_fault("version,time_s\na,1\n") ==
        "The times are of one version: two are needed, told apart in the column \"version\".");
  CHECK(timings_fault("version,time_s\na,1\nb,2\nc,3\n").starts_with("Line 4 of the times has a third version, \"c\""));
  CHECK(timings_fault("version,time_s\na,fast\n").starts_with("Line 2 of the times has the time \"fast\""));
  for (const char* time : {"nan", "inf", "-1", "0", "1e300", ""})
    CHECK(
        timings_fault("version,time_s\na," + std::string(time) + "\n").starts_with("Line 2 of the times has the time"));
  CHECK(timings_fault("version,time_s\na\n") == "Line 2 of the times has too few cells: give a version and a time.");
  CHECK(timings_fault("version,time_s\n,1\n") == "Line 2 of the times has no version.");
}

TEST_CASE("measure: recorded runs are whole, and the same code was slower in another hour", "[measure]") {
  const auto median = [](const Timings& all, bool of_b) {
    std::vector<double> times;
    for (const TimedRun& r : all.runs)
      if (r.is_b == of_b) times.push_back(r.time_s);
    CHECK(times.size() == 60);
    std::sort(times.begin(), times.end());
    return (times[29] + times[30]) / 2;
  };
  CHECK(median(recorded_same(), false) > 1.05 * median(recorded_same(), true));
  CHECK(median(recorded_two(), false) > median(recorded_two(), true));
  CHECK(recorded_two().runs[1].is_b);
}
