#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fuzz {

/// A fuzz target under the name of its corpus.
struct Target {
  std::string_view name;
  int (*feed)(const std::uint8_t* data, std::size_t size);
};
/// All of them; the build writes the table.
const std::vector<Target>& targets();

}  // namespace fuzz
