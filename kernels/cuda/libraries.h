#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/api.h"

namespace kernels::cuda {

/// Finds the address of a symbol in one library; null when it has none of that name.
using Symbols = std::function<void*(const char* name)>;

/// Fill in every function from `symbols`. They return the names that are missing, separated by ", "; empty when all are
/// there.
std::string bind(Driver& driver, const Symbols& symbols);
std::string bind(Nvrtc& nvrtc, const Symbols& symbols);
std::string bind(Blas& blas, const Symbols& symbols);

/// The files tried for a library, in order: by name (the loader's path), then in /usr/local/cuda/lib64 and
/// /usr/lib/wsl/lib.
std::vector<std::string> library_paths(const std::vector<std::string>& names);

/// Opens libcuda, libnvrtc and libcublas (13, then 12; the other way round under a driver of CUDA 12). They stay open
/// to the end of the process: the driver has threads of its own. Starts nothing on a device. cuBLAS (hundreds of MB)
/// only when asked for and with a driver to use it.
Machine open_machine(bool with_blas);

}  // namespace kernels::cuda
