// A log with lines of NCCL's watchdog: every line that is kept says something, and its numbers hold together.
#include "models/hang/watchdog_log.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const models::hang::WatchdogLine& line : models::hang::read_watchdog_log(fuzz::text_of(data, size))) {
    fuzz::require(line.enqueued >= 0 || line.completed >= 0 || line.stuck >= 0 || line.timed_out_rank >= 0,
                  "a line that says nothing");
    fuzz::require(line.completed < 0 || line.stuck == line.completed + 1, "a call that does not follow the last");
    fuzz::require(line.queued_behind <= line.enqueued, "more calls behind than there are");
    fuzz::require(line.operation.size() <= 40, "a name without an end");
  }
  return 0;
}
