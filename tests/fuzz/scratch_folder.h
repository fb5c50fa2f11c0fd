#pragma once
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fuzz {

/// A folder of this process, gone with it: for readers that take paths.
inline std::filesystem::path scratch_folder() {
  static std::string name = [] {
    std::string made = (std::filesystem::temp_directory_path() / "ridgeline-fuzz-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(name, ignored);
    });
    return made;
  }();
  return name;
}

}  // namespace fuzz
