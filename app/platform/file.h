#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "models/base/result.h"

namespace app {

/// Writes the whole file or leaves the old one as it was: a temporary beside it, synced, then renamed over it.
/// Missing folders are made. Returns "" when done, else one sentence with the path and the reason.
std::string write_file(const std::filesystem::path& path, std::string_view bytes);

/// The whole file, or one sentence: missing, not readable, a folder, or larger than `most_bytes`.
models::Result<std::string> read_file(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace app
