#pragma once
#include <string>
#include <vector>

#include "chapters/profiling/step_trace/lab.h"

/// What each change takes off the step in its order, in words and figures, and where the order matters.
namespace chapters::profiling::step_trace {

Order order_of(const Inputs& in, const Outputs& out, const Run& run);

}  // namespace chapters::profiling::step_trace
