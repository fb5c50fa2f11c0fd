#include "models/trace/cases/cause.h"

namespace models::trace {

bool fixes(Fix fix, Cause cause) {
  if (cause == Cause::nothing || fix == Fix::nothing) return false;
  if (static_cast<int>(fix) == static_cast<int>(cause)) return true;
  switch (fix) {
    case Fix::replace_gpu:
      return cause == Cause::clock_drop;
    case Fix::reuse_buffers:
      return cause == Cause::pageable_copy;  // buffers that stay are pinned once
    default:
      return false;
  }
}

bool of_all_ranks(Cause cause) {
  return cause == Cause::pageable_copy || cause == Cause::hidden_sync || cause == Cause::small_kernels ||
         cause == Cause::bad_link || cause == Cause::late_bucket;
}

}  // namespace models::trace
