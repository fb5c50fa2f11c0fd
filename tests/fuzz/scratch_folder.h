#pragma once
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fuzz {

/// A folder of this process, gone with it: for readers that take paths.
inline const std::filesystem::path& scratch_folder() {
  struct Scratch {
    std::filesystem::path path;
    Scratch() {
      // In memory where there is such a folder: what is kept is synced at every save, and a disk would be all that
      // counts.
      const std::filesystem::path memory = "/dev/shm";
      std::error_code none;
      const auto folder = std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path();
      std::string made = (folder / "ridgeline-fuzz-XXXXXX").string();
      if (::mkdtemp(made.data()) == nullptr) std::abort();
      path = made;
    }
    ~Scratch() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Scratch scratch;
  return scratch.path;
}

}  // namespace fuzz
