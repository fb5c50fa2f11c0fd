#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace bench {

/// A training trace as Kineto writes it: CPU operation, launch, kernel with its grid and occupancy; about 300 bytes an
/// event. `full` is called with what there is so far, and may take it out.
std::string training_trace(std::int64_t events, const std::function<void(std::string&)>& full = {});

}  // namespace bench
