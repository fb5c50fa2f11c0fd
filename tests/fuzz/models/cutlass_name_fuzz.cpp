// The name of a kernel as it is pasted: one sentence, or a tile whose numbers can be computed with.
#include "models/gpu/gemm_tiling/cutlass_name.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto kernel = models::gpu::parse_cutlass_name(fuzz::text_of(data, size));
  if (!fuzz::accepted(kernel)) return 0;
  const models::gpu::GemmTile& t = kernel->tile;
  for (const std::int64_t n : {t.block_m, t.block_n, t.block_k, t.warp_m, t.warp_n, t.stages, t.cluster_m, t.cluster_n})
    if (n < 1 || n > 1024) __builtin_trap();
  return 0;
}
