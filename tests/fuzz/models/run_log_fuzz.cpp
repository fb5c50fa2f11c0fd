// Logs of two training runs: whatever is accepted has steps in order, columns of their length, and parts from itself
// nowhere.
#include "models/debugging/run_log.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = models::debugging::read_run_log(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(!read->steps.empty() && !read->columns.empty(), "a log without steps or quantities");
  fuzz::require(read->columns.size() <= models::debugging::max_log_columns, "too many quantities");
  for (std::size_t i = 1; i < read->steps.size(); ++i)
    fuzz::require(read->steps[i - 1] < read->steps[i], "steps that are out of order, or come twice");
  for (const auto& c : read->columns)
    fuzz::require(c.values.size() == read->steps.size() && c.there.size() == read->steps.size(), "a column too short");
  const auto same = models::debugging::compare_logs(*read, *read, 0);
  if (fuzz::accepted(same)) fuzz::require(same->differs.step < 0 && same->parts.step < 0, "it parts from itself");
  return 0;
}
