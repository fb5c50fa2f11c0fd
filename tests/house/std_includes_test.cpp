#include "tests/house/std_includes.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/paths.h"

TEST_CASE("a header brings what it uses of the standard library, itself or by a header of ours") {
  const house::Source base{"models/base/a.h", {"#include <vector>", "std::vector<int> a();"}};
  const house::Source leans{"models/base/b.h", {"#include \"models/base/a.h\"", "std::vector<int> b();  // std::map"}};
  const house::Source lacks{"models/base/c.h",
                            {"#include \"models/base/a.h\"", "std::optional<std::vector<int>> c();"}};
  CHECK(house::missing_std_includes({base, leans}) == "");
  CHECK(house::missing_std_includes({base, lacks}) == "models/base/c.h: std::optional needs <optional>\n");
  const auto sources =
      house::read_sources(support::source_file(""), {"models", "widgets", "kernels", "chapters", "app"});
  CHECK(house::missing_std_includes(sources) == "");
}
