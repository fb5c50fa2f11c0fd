#pragma once
#include "kernels/kernel.h"
#include "kernels/opengl/api.h"

namespace kernels::opengl {

/// run() and measure_roofs() of opengl.h on a driver that is given: the one found, or one that a test plays.
/// kernels::run() has already refused rungs, sizes and times that do not exist.
models::Status run_on(const Machine& machine, const Request& request, const Ladder& ladder, const Listener& listener);
Roofs measure_roofs_on(const Machine& machine, double seconds, const Listener& listener);

}  // namespace kernels::opengl
