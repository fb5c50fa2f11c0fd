#pragma once
#include <catch2/catch_test_macros.hpp>

#include "app/load_catalog.h"
#include "chapters/catalog.h"

/// Puts the chips, language models and drills of assets/ in force, once.
inline void use_bundled_catalog() {
  if (!chapters::catalog().chips.empty()) return;
  auto loaded = app::load_catalog(RIDGELINE_SOURCE_DIR "/assets", {});
  for (const auto& error : loaded.errors) FAIL(error);
  chapters::set_catalog(std::move(loaded.catalog));
}
