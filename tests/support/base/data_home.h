#pragma once
#include <stdlib.h>

#include <string>

#include "tests/support/base/files.h"

namespace support {

/// A person's data folder of this test's own, while it lives.
struct DataHome {
  Folder folder;
  std::string before;
  DataHome() {
    if (const char* home = getenv("XDG_DATA_HOME")) before = home;
    setenv("XDG_DATA_HOME", folder.path.c_str(), 1);
  }
  ~DataHome() {
    if (before.empty())
      unsetenv("XDG_DATA_HOME");
    else
      setenv("XDG_DATA_HOME", before.c_str(), 1);
  }
  DataHome(const DataHome&) = delete;
  DataHome& operator=(const DataHome&) = delete;
};

}  // namespace support
