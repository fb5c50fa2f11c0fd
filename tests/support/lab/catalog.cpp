#include "tests/support/lab/catalog.h"

#include <catch2/catch_test_macros.hpp>

#include "app/content/load_catalog.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/paths.h"

namespace support {

void use_bundled_catalog() {
  if (chapters::catalog().chips.empty()) put_back_bundled_catalog();
}

void put_back_bundled_catalog() {
  static const std::shared_ptr<const chapters::Catalog> bundled = [] {
    auto loaded = app::load_catalog(source_file("assets"), {});
    for (const auto& error : loaded.errors) FAIL(error);
    return loaded.catalog;
  }();
  chapters::set_catalog(bundled);
}

const app::Content& bundled_content() {
  use_bundled_catalog();
  static const app::Content content = app::load_content(source_file("assets"));
  return content;
}

}  // namespace support
