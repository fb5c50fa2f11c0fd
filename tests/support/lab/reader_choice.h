#pragma once
#include <catch2/catch_test_macros.hpp>
#include <string_view>

#include "app/workspace/workspace.h"

namespace support {

/// Several labs may read the file that was opened last: this one takes it. Nothing is asked where one lab alone does.
inline void take_reader(app::Workspace& workspace, std::string_view lab) {
  if (!workspace.opening.asked_reader()) return;
  const auto& readers = workspace.opening.asked_reader()->found.readers;
  std::size_t i = 0;
  while (i < readers.size() && readers[i].lab != lab) ++i;
  INFO(lab);
  REQUIRE(i < readers.size());
  workspace.opening.choose_reader(i);
}

}  // namespace support
