// A line of a kernel process that may have gone mad: one sentence, or an event that says the same when it is written
// again.
#include "app/kernel_runs/kernel_json.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line = fuzz::text_of(data, size);
  if (const auto event = app::parse_kernel_event(line); !event) {
    fuzz::require_sentence(event.error);
  } else {
    const std::string written = to_line(*event);
    const auto again = app::parse_kernel_event(written);
    fuzz::require(again && to_line(*again) == written, "an event that changes when it is written", written);
  }
  if (const auto request = app::parse_kernel_request(line); !request) fuzz::require_sentence(request.error);
  return 0;
}
