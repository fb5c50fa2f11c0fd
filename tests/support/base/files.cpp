#include "tests/support/base/files.h"

#include <stdlib.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace support {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "ridgeline-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made as " + name);
  path = name;
}

Folder::~Folder() {
  std::error_code error;
  std::filesystem::remove_all(path, error);
}

void Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path / name, std::ios::binary) << text;
}

int Folder::count(const std::string& part) const {
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    n += entry.path().filename().string().find(part) != std::string::npos;
  return n;
}

}  // namespace support
