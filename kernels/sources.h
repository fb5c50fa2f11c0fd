#pragma once
#include <string_view>

namespace kernels {

/// The text of a kernel as it was when the program was built; empty for a key that there is none of. Keys are paths
/// from kernels/: "cuda/rungs/transpose_tile.cu" is the whole file, "cpu/sgemm.cpp:packed" what lies between the lines
/// `// rung: packed` and `// end rung` of that file (both at the start of their line). Lines end in \n. Made by
/// cmake/embed_sources.cmake.
std::string_view embedded_source(std::string_view key);

}  // namespace kernels
