#pragma once
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fuzz {

/// A folder of this process, gone with it: for readers that take paths.
inline std::filesystem::path scratch_folder() {
  static std::string name = [] {
    // In memory where there is such a folder: what is kept is synced at every save, and a disk would be all that
    // counts.
    const std::filesystem::path memory = "/dev/shm";
    std::error_code none;
    const auto folder = std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path();
    std::string made = (folder / "ridgeline-fuzz-XXXXXX").string();
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
