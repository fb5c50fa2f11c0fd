#pragma once
#include <filesystem>
#include <string>

namespace support {

/// The bytes of a file; fails the test where there is none.
std::string read_text(const std::filesystem::path& path);

/// A folder of this test's own, gone with it.
struct Folder {
  std::filesystem::path path;
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path / name; }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const { return read_text(path / name); }
  /// How many names in it contain `part`; all of them where it is empty.
  int count(const std::string& part = {}) const;
};

}  // namespace support
