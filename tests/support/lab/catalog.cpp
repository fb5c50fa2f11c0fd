#include "tests/support/lab/catalog.h"

#include <catch2/catch_test_macros.hpp>

#include "app/content/load_catalog.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/paths.h"

namespace support {

void use_bundled_catalog() {
  if (!chapters::catalog().chips.empty()) return;
  auto loaded = app::load_catalog(source_file("assets"), {});
  for (const auto& error : loaded.errors) FAIL(error);
  chapters::set_catalog(std::move(loaded.catalog));
}

const app::Content& bundled_content() {
  use_bundled_catalog();
  static const app::Content content = app::load_content(source_file("assets"));
  return content;
}

}  // namespace support
