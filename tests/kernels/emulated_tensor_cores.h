#pragma once
#include <string>
#include <string_view>

#include "kernels/cuda/operation.h"

/// Runs the kernels whose instructions are those of a whole warp or warpgroup (tensor cores, ldmatrix, shuffles) and
/// those that copy behind the threads' backs. Every instruction stands in a function of its own in a rung's file; here
/// a function of that name does what the PTX ISA says, with the lanes' values exchanged by the published fragment maps.
namespace emulated_tensor_cores {

bool knows(std::string_view entry);
void launch(std::string_view entry, const kernels::cuda::Launch& shape, void** arguments);

/// What a GPU would not have forgiven in the launches since the last call: lanes of a warp at different instructions,
/// an address off its boundary, a wgmma that reads what no fence has shown to it. Empty: nothing.
std::string take_fault();

}  // namespace emulated_tensor_cores
