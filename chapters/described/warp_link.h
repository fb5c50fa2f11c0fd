#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/base/result.h"

/// The addresses of a warp as the labs of warps read them.
namespace chapters {

/// "0, 4, -1": the byte address of each lane.
std::string address_list(std::span<const std::int64_t> addresses);
/// These addresses in kernels/coalescing or kernels/bank-conflicts.
models::Result<std::string> link_of_addresses(std::string_view lab, std::span<const std::int64_t> addresses,
                                              std::int64_t width_bytes);

}  // namespace chapters
