#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

namespace models::gpu {

/// `dot(mma(2,0,{16,8},{1,1}),0,8)` as a tree: a name with arguments, a list in braces, a number, true or false.
struct EncodingText {
  std::string name{};  ///< empty for lists and numbers
  std::int64_t number = 0;
  std::vector<EncodingText> parts{};

  /// Argument i as a number, 0 where there is none.
  std::int64_t at(std::size_t i) const { return i < parts.size() ? parts[i].number : 0; }
  /// Argument i as a list of so many numbers; `filler` in place of what is missing.
  std::vector<std::int64_t> list(std::size_t i, std::size_t count, std::int64_t filler) const;
};
Result<EncodingText> read_encoding(std::string_view text);

}  // namespace models::gpu
