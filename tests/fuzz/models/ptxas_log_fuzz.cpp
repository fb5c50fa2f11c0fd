// A pasted output of a CUDA compiler: every kernel that is accepted can be put on an SM, or is known not to fit.
#include "models/gpu/ptxas_log.h"

#include "models/gpu/occupancy.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::gpu;
  const auto read = read_ptxas_log(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(!read->empty() && read->size() <= max_ptxas_kernels, "no kernel, or too many");
  for (const PtxasKernel& k : *read) {
    fuzz::require(k.registers >= 1 && k.registers <= 255, "registers that no thread has");
    fuzz::require(k.static_shared_bytes >= 0 && k.spill_store_bytes >= 0 && k.spill_load_bytes >= 0, "less than none");
    fuzz::require(k.name.size() <= 200, "a name without end");
    const auto held = occupancy(*sm_limits(90), {.threads = 256,
                                                 .registers = k.registers,
                                                 .static_shared_bytes = k.static_shared_bytes,
                                                 .barriers = k.barriers < 0 ? 1 : k.barriers});
    fuzz::require(held && held->blocks >= 0 && held->share <= 1, "more warps than an SM holds");
  }
  return 0;
}
