#pragma once
#include <span>
#include <string>

#include "kernels/kernel.h"
#include "kernels/turns.h"

/// The ladders that run on the CPU: always there.
namespace kernels::cpu {

/// In teaching order.
std::span<const Ladder> ladders();

/// As kernels::run(), for a request that fits `ladder`.
models::Status run(const Request& request, const Ladder& ladder, const Listener& listener);

/// As kernels::run_turns(), for a request that fits `ladder`.
models::Status run_turns(const TurnsRequest& request, const Ladder& ladder, const TakeTurn& take);

/// Clock, peak multiply-adds, bandwidths and latencies of one core, in about `seconds`.
Roofs measure_roofs(double seconds, const Listener& listener);

}  // namespace kernels::cpu
