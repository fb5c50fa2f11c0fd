#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The project's own source files, read for rules that no compiler checks.
namespace house {

struct Source {
  std::string path;  ///< from the root of the tree, with '/'
  std::vector<std::string> lines;
};

/// Every .h, .cpp, .cu and .cuh under these folders of `root`, in order of path.
std::vector<Source> read_sources(const std::filesystem::path& root, const std::vector<std::string_view>& folders);

/// "path:12: what is wrong"
std::string at_line(const Source& source, std::size_t index, std::string_view what);

/// Empty, or why a file at `path` (from the root) may not include what `line` includes; empty also for a line that
/// includes nothing. The rules are the table in the design of the house: who may include whom.
std::string include_fault(std::string_view path, std::string_view line);

}  // namespace house
