#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "models/base/result.h"

namespace app {

/// Writes the whole file or leaves the old one as it was: a temporary file beside it is written, synced and renamed
/// over it. Missing folders are made. Fails with the path and the reason.
models::Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// Fails when the folder that this file is to be written to does not exist.
models::Status folder_exists(const std::filesystem::path& file);

/// The whole file. Fails when it is missing, not readable, a folder, or larger than `max_bytes`.
models::Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// The text of a file that a person has named, up to 8 MiB. Fails when it cannot be read, is empty or larger.
models::Result<std::string> read_text_file(const std::string& path);

}  // namespace app
