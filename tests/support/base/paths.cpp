#include "tests/support/base/paths.h"

namespace support {

std::string source_file(std::string_view path) { return std::string(RIDGELINE_SOURCE_DIR "/").append(path); }
std::string data_file(std::string_view path) { return source_file("tests/data/").append(path); }

}  // namespace support
