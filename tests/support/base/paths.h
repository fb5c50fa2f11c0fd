#pragma once
#include <string>
#include <string_view>

/// Where the files lie that tests read.
namespace support {

/// `path` in the project's own tree: source_file("assets/hardware").
std::string source_file(std::string_view path);
/// `path` in tests/data.
std::string data_file(std::string_view path);

}  // namespace support
