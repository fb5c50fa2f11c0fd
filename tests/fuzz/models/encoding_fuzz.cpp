// An encoding of a linear layout as somebody types it: one sentence, or its bases.
#include "models/gpu/layout/linear_layout.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const std::vector<std::vector<std::int64_t>> shapes{{48}, {16, 32}, {4, 64, 16}};
  for (const auto& shape : shapes) {
    const auto layout = models::gpu::triton_layout(text, shape);
    if (fuzz::accepted(layout)) (void)layout->reached();
  }
  return 0;
}
