#pragma once
#include <span>
#include <string>

#include "kernels/kernel.h"

/// The CUDA side of the kernel lab. The driver, NVRTC and cuBLAS are opened at run time; nothing of CUDA is needed to
/// build.
namespace kernels::cuda {

/// The ladders in teaching order.
std::span<const Ladder> ladders();

/// Can anything be timed on a GPU here? Loads the driver, and so starts no GPU context. Kernels may still be compiled
/// where NVRTC is found.
models::Status can_be_timed();

/// Runs rungs of `ladder` as kernels::run() does. Without a GPU every rung is compiled alone, and its failure says that
/// no device is there to time it on. Fails when nothing could be run or compiled at all.
models::Status run(const Request& request, const Ladder& ladder, const Listener& listener);

/// Copy and read bandwidth, FMA rate, and cuBLAS's SGEMM and bf16 rates where cuBLAS is found, `seconds` long in all.
Roofs measure_roofs(double seconds, const Listener& listener);

}  // namespace kernels::cuda
