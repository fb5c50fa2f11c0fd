#pragma once
#include <span>
#include <string>

#include "kernels/kernel.h"

/// The OpenGL side of the kernel lab: compute shaders, on the GPU of any maker. The driver is opened at run time.
namespace kernels::opengl {

/// The ladders in teaching order: copy, strided gather, sum, transpose, SGEMM, multiply-adds.
std::span<const Ladder> ladders();

/// Can anything be timed on a GPU here? Opens the driver. A software renderer is not timed; its rungs are still
/// compiled and checked.
models::Status can_be_timed();

/// Runs rungs of `ladder` as kernels::run() does. On a software renderer each rung is checked at a small size, and its
/// failure says why it was not timed. Fails where there is no driver with compute shaders.
models::Status run(const Request& request, const Ladder& ladder, const Listener& listener);

/// Copy and read bandwidth and the FMA rate, `seconds` long in all. Fails on a software renderer.
Roofs measure_roofs(double seconds, const Listener& listener);

}  // namespace kernels::opengl
