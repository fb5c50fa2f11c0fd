#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/cuda/operation.h"

/// Runs the project's own .cu files on the CPU, so that a kernel and its launch geometry are tested where there is no
/// GPU. Threads of a block run one after the other up to each barrier, so a barrier that is missing shows as a wrong
/// result.
namespace cuda_emulator {

bool knows(std::string_view entry);

/// The size of each argument of a kernel.
std::vector<std::size_t> argument_bytes(std::string_view entry);

/// One launch; `arguments` are the addresses of the kernel's arguments, and device addresses are the host's.
void launch(std::string_view entry, const kernels::cuda::Launch& shape, void** arguments);

/// What a rung's own kernels leave of inputs made from `seed`, with the geometry that a GPU of four multiprocessors
/// gets. Output and scratch memory are poison at first, as on the device.
std::vector<std::byte> output_of(const kernels::cuda::Operation& operation, const kernels::Rung& rung,
                                 std::int64_t size, std::uint32_t seed);
/// The same held against the reference.
kernels::cuda::Deviation run(const kernels::cuda::Operation& operation, const kernels::Rung& rung, std::int64_t size,
                             std::uint32_t seed);

}  // namespace cuda_emulator
