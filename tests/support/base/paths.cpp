#include "tests/support/base/paths.h"

#include <cstdlib>

namespace support {

std::string source_file(std::string_view path) { return std::string(RIDGELINE_SOURCE_DIR "/").append(path); }
std::string data_file(std::string_view path) { return source_file("tests/data/").append(path); }

std::filesystem::path public_folder(const char* variable, std::string_view beside) {
  const char* given = std::getenv(variable);
  const std::filesystem::path folder =
      given ? std::filesystem::path(given)
            : std::filesystem::path(source_file("")).parent_path().parent_path() / beside;
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? folder : std::filesystem::path();
}

}  // namespace support
