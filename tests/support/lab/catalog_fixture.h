#pragma once
#include <catch2/catch_test_macros.hpp>

#include "app/content/content.h"
#include "app/content/load_catalog.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/paths.h"

/// Puts the chips, language models and drills of assets/ in force, once.
inline void use_bundled_catalog() {
  if (!chapters::catalog().chips.empty()) return;
  auto loaded = app::load_catalog(support::source_file("assets"), {});
  for (const auto& error : loaded.errors) FAIL(error);
  chapters::set_catalog(std::move(loaded.catalog));
}

/// What is said about the bundled labs, read once however many labs a test walks through.
inline const app::Content& bundled_content() {
  use_bundled_catalog();
  static const app::Content content = app::load_content(support::source_file("assets"));
  return content;
}
