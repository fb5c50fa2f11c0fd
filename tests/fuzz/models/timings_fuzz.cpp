// CSV of measured times: whatever is accepted has two names and times that are positive and finite.
#include "models/measure/timings_csv.h"

#include <cmath>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = models::measure::read_timings(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(!read->names[0].empty() && !read->names[1].empty(), "a version without a name");
  fuzz::require(read->names[0] != read->names[1], "one version twice");
  fuzz::require(read->runs.size() >= 2 && read->runs.size() <= models::measure::max_timed_runs, "no runs, or too many");
  for (const auto& run : read->runs) fuzz::require(std::isfinite(run.time_s) && run.time_s > 0, "a time that is none");
  return 0;
}
