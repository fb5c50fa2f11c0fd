#pragma once
#include <filesystem>
#include <string>
#include <string_view>

/// Where the files lie that tests read.
namespace support {

/// `path` in the project's own tree: source_file("assets/hardware").
std::string source_file(std::string_view path);
/// `path` in tests/data.
std::string data_file(std::string_view path);
/// A folder of public recordings, which are no part of the project: what the variable of the environment names, or
/// `beside`, from the folder that holds the project's. Empty: not there.
std::filesystem::path public_folder(const char* variable, std::string_view beside);

}  // namespace support
