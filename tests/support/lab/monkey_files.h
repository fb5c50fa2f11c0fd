#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace support {

/// Writes what a monkey drops on the window into `folder`: files of each kind that some lab reads, broken ones, and
/// things that are no files at all. Gives their paths; `lab` is the one that a scenario and a lesson are about.
std::vector<std::string> make_files_to_drop(const std::filesystem::path& folder, const std::string& lab);

}  // namespace support
