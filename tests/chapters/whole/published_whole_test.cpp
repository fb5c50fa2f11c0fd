#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <set>

#include "app/content/load_catalog.h"
#include "app/content/load_published.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"

using namespace support;

TEST_CASE("published figures: every file is read whole, belongs to a lab and is named after it") {
  const auto loaded = app::load_catalog(source_file("assets"), {});
  CHECK(loaded.errors.empty());
  CHECK(loaded.catalog->published.size() >= 100);
  for (const auto& file : std::filesystem::directory_iterator(source_file("assets/published"))) {
    INFO(file.path());
    std::size_t named = 0;
    for (const auto& row : loaded.catalog->published) {
      std::string name = row.lab;
      name[name.find('/')] = '-';
      named += file.path().stem() == name ? 1 : 0;
    }
    CHECK(named > 0);
  }
  for (const auto& entry : chapters::all_labs())
    for (const auto& row : loaded.catalog->published_of(entry.id)) CHECK(row.lab == entry.id);
}

TEST_CASE(
    "every published figure has a name, a source and a date, sets inputs that its lab has, and lies where a bound "
    "allows") {
  use_bundled_catalog();
  std::set<std::string> ids;
  for (const auto& row : chapters::catalog().published) {
    INFO(row.id);
    CHECK(ids.insert(row.id).second);
    CHECK_FALSE(row.name.empty());
    CHECK_FALSE(row.source.empty());
    CHECK_FALSE(row.date.empty());
    for (const std::string& words : {row.note, row.beats}) CHECK((words.empty() || words.ends_with('.')));
    const auto checked = app::check_published(row);
    CHECK(checked.error == "");
    if (checked) CHECK(checked->fault == "");
  }
}
