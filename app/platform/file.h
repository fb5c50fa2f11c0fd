#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "models/base/result.h"

namespace app {

/// Writes the whole file or leaves the old one as it was: see replace_file. Missing folders are made. What is no plain
/// file (/dev/stdout, a pipe that somebody reads) is written to; nobody who stopped reading is waited for longer than
/// ten seconds. Fails with the path and the reason.
models::Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// Fails when the folder that this file is to be written to does not exist.
models::Status folder_exists(const std::filesystem::path& file);

/// The whole file. Fails when it is missing, not readable, no plain file, or larger than `max_bytes`.
models::Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// The text of a file that a person, or somebody's scenario, has named, up to 8 MiB, in UTF-8 (text_encoding.h). Fails
/// when it cannot be read, is empty, larger or no plain file: pipes and devices are not waited for.
models::Result<std::string> read_text_file(const std::string& path);

/// The same for a file that was named on the command line, where "/dev/stdin" is what comes on standard input.
models::Result<std::string> read_text_argument(const std::string& path);

}  // namespace app
