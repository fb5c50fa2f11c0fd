#include "tests/house/own_includes.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/paths.h"

TEST_CASE("a header brings the types of ours that it names, itself or by a header that it includes") {
  const house::Source trace{"models/a/trace.h",
                            {"namespace models {", "struct Trace {", "  struct Row {};", "};", "}"}};
  const house::Source brings{"models/a/b.h", {"#include \"models/a/trace.h\"", "void read(const models::Trace& t);"}};
  const house::Source further{"models/a/c.h", {"#include \"models/a/b.h\"", "Trace::Row row(const Trace& t);"}};
  const house::Source declares{"models/a/d.h", {"struct Trace;", "void read(const Trace& t);  // Trace"}};
  const house::Source lacks{"models/a/e.h", {"void read(const models::Trace& t);"}};
  const house::Source lacks_too{"models/a/f.h", {"#include \"models/a/g.h\"", "std::vector<Trace> all;"}};
  const house::Source others{"models/a/g.h",
                             {"template <class Trace>", "Trace first(const Trace& t, Other::Trace u);"}};
  CHECK(house::missing_own_includes({trace, brings, further, declares, others}) == "");
  CHECK(house::missing_own_includes({trace, lacks}) == "models/a/e.h: Trace stands in models/a/trace.h\n");
  CHECK(house::missing_own_includes({trace, lacks_too}) == "models/a/f.h: Trace stands in models/a/trace.h\n");
  const auto sources =
      house::read_sources(support::source_file(""), {"models", "widgets", "kernels", "chapters", "app"});
  CHECK(house::missing_own_includes(sources) == "");
}
