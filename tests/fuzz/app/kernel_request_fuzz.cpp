// What a lab asks of the kernel service, which a scenario of a stranger may hold: a request, or one sentence.
#include "app/kernel_runs/kernel_service.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)fuzz::accepted(app::read_kernel_request(fuzz::text_of(data, size)));
  return 0;
}
