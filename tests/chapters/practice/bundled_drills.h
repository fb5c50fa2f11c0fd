#pragma once
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "tests/support/lab/catalog.h"

/// The drills of assets/drills.
inline const std::vector<chapters::Drill>& bundled_drills() {
  support::use_bundled_catalog();
  return chapters::catalog().drills;
}
