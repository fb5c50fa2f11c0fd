#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/cuda/api.h"

namespace kernels::cuda {

/// Why a rung, or the whole run, ends: thrown inside this folder and turned into a Result or a return value before it
/// leaves it.
struct Failure : std::runtime_error {
  Failure(const std::string& sentence, bool lost) : std::runtime_error(sentence), context_lost(lost) {}
  bool context_lost = false;  ///< nothing more runs in this process: the driver's errors 700 and the like stay
};

/// True for the errors after which every call of the process fails (cudaErrorIllegalAddress and its kin: "the process
/// must be terminated and relaunched", CUDA 13 driver API, CUresult).
bool loses_context(Status status);

/// One sentence for a driver's error; `doing` completes "while ...": "running sgemm_warp".
std::string sentence(const Driver& driver, Status status, std::string_view doing);

/// Throws Failure when `status` is not success.
void must(const Driver& driver, Status status, std::string_view doing);

}  // namespace kernels::cuda
