#pragma once
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace kernels::opengl {

/// The messages of a shader's or a program's log, in the three shapes that drivers write: `0:12(5): error: text`
/// (Mesa), `0(12) : error C1008: text` (NVIDIA) and `ERROR: 0:12: text` (AMD, Intel). A line in none of them that has
/// the word "error" is of line 0.
std::vector<Diagnostic> parse_diagnostics(std::string_view log);

}  // namespace kernels::opengl
