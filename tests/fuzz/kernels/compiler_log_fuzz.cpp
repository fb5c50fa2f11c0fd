// What NVRTC says of a kernel that someone wrote: messages have a line and an end, counts are not negative.
#include "kernels/cuda/compiler_log.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string log(fuzz::text_of(data, size));
  const auto messages = kernels::cuda::parse_diagnostics(log);
  fuzz::require(messages.size() <= 200, "more messages than anyone reads");
  for (const auto& m : messages)
    fuzz::require(m.text.find('\n') == std::string::npos, "a message over two lines", m.text);
  const auto report = kernels::cuda::parse_report(log, "f");
  fuzz::require(report.registers_per_thread >= 0 && report.spill_store_bytes >= 0 && report.spill_load_bytes >= 0 &&
                    report.shared_bytes >= 0,
                "a count below 0", log);
  return 0;
}
