#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Reads what a CUDA compiler prints of its kernels with --ptxas-options=-v.
namespace models::gpu {

/// One kernel; what the text does not say is -1.
struct PtxasKernel {
  std::string name;  ///< without its mangling where that is simple: "sgemm" of "_Z5sgemmPf"; empty: not named
  int capability = -1;
  std::int64_t registers = 0;  ///< a thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t barriers = -1;
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0, stack_bytes = 0;
};

inline constexpr std::size_t max_ptxas_bytes = 256 << 10;
inline constexpr std::size_t max_ptxas_kernels = 512;

/// All kernels in the order of the text, which may have lost its ends of lines. A line "Used 96 registers, 49152 bytes
/// smem" alone is a kernel without a name. Fails with one sentence: no such line, a kernel without one, a number that
/// no kernel has, an error of the compiler, too much text.
Result<std::vector<PtxasKernel>> read_ptxas_log(std::string_view text);

}  // namespace models::gpu
