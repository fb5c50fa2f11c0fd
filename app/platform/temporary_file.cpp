#include "app/platform/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace app {

TemporaryFile::TemporaryFile(std::string_view text) {
  std::error_code none;
  std::string name = (std::filesystem::temp_directory_path(none) / "ridgeline-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return;
  ::close(fd);
  path_ = name;
  std::ofstream(path_, std::ios::binary) << text;
}

TemporaryFile::~TemporaryFile() {
  std::error_code none;
  if (!path_.empty()) std::filesystem::remove(path_, none);
}

}  // namespace app
