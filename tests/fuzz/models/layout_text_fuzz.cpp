// A layout, a tiler or a coordinate as somebody types it: one sentence, or the tree; then the algebra on it.
#include "models/gpu/layout/layout_operation.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto end = text.find('\n');
  const std::string a(text.substr(0, end)), b(end == text.npos ? "" : text.substr(end + 1));
  (void)fuzz::accepted(models::gpu::parse_layout(a));
  (void)fuzz::accepted(models::gpu::parse_tiler(a));
  (void)fuzz::accepted(models::gpu::parse_coordinate(a));
  for (int op = 0; op < models::gpu::layout_operation_count; ++op) {
    const auto answer = models::gpu::answer_layout({.operation = models::gpu::LayoutOperation{op},
                                                    .a = a,
                                                    .b = b,
                                                    .shape = b,
                                                    .coordinate = b,
                                                    .n = 4,
                                                    .index = 1 << 20,
                                                    .swizzle = {3, 0, 3}});
    if (answer && answer->has_layout) (void)models::gpu::parse_layout(answer->text);
  }
  return 0;
}
