#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace store_test {

/// A folder of this test's own, gone with it.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ridgeline-test-XXXXXX").string();
    path = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path / name; }
  void write(const char* name, const std::string& text) const { std::ofstream(path / name, std::ios::binary) << text; }
  std::string read(const char* name) const {
    std::ifstream in(path / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  /// Names in it that contain `part`.
  int count(const std::string& part) const {
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      n += entry.path().filename().string().find(part) != std::string::npos;
    return n;
  }
};

}  // namespace store_test
