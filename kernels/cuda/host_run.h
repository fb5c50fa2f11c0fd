#pragma once
#include "kernels/cuda/operation.h"

namespace kernels::cuda {

/// Runs the rungs of an operation that has `host`, as run_on() does those that are kernels: correctness first, then
/// samples, then correctness on new numbers. `session` null: every rung says `why`.
void run_host_rungs(const Session* session, const std::string& why, const Request& request, const Operation& operation,
                    const Listener& listener);

}  // namespace kernels::cuda
