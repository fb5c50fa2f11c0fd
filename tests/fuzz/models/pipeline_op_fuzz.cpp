// An operation of a pipeline as a link or a scenario writes it: one sentence, or the operation.
#include "models/parallel/pipeline/pipeline_plan.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)fuzz::accepted(models::parallel::parse_op(fuzz::text_of(data, size), 3));
  return 0;
}
