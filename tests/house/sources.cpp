#include "tests/house/sources.h"

#include <algorithm>
#include <fstream>

namespace house {

namespace fs = std::filesystem;

std::vector<Source> read_sources(const fs::path& root, const std::vector<std::string_view>& folders) {
  std::vector<Source> sources;
  for (const std::string_view folder : folders) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder, error)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      Source source{entry.path().lexically_relative(root).generic_string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) source.lines.push_back(line);
      sources.push_back(std::move(source));
    }
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

std::string at_line(const Source& source, std::size_t index, std::string_view what) {
  return source.path + ":" + std::to_string(index + 1) + ": " + std::string(what);
}

}  // namespace house
