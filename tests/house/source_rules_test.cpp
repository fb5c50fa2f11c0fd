#include <catch2/catch_test_macros.hpp>
#include <regex>

#include "tests/house/sources.h"
#include "tests/support/base/paths.h"

// taste.md rule 8: colours come only from widgets/theme.
TEST_CASE("colours are written in widgets/theme alone") {
  const std::regex colour(R"(IM_COL32\s*\(|ImVec4\s*(\w+\s*)?[({]\s*[0-9.])");
  REQUIRE(std::regex_search("list->AddLine(a, b, IM_COL32(255, 0, 0, 255));", colour));
  REQUIRE(std::regex_search("const ImVec4 red{1.0f, 0.0f, 0.0f, 1.0f};", colour));
  std::string faults;
  for (const auto& source :
       house::read_sources(support::source_file(""), {"models", "widgets", "kernels", "chapters", "app"})) {
    if (source.path.starts_with("widgets/theme")) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i)
      if (std::regex_search(source.lines[i], colour))
        faults += house::at_line(source, i, "a colour outside widgets/theme") + "\n";
  }
  INFO(faults);
  CHECK(faults.empty());
}

// taste.md rule 1: a file past 500 lines is split.
TEST_CASE("no source file is longer than 500 lines") {
  std::string faults;
  const auto sources =
      house::read_sources(support::source_file(""), {"models", "widgets", "kernels", "chapters", "app", "tests"});
  for (const auto& source : sources)
    if (source.lines.size() > 500)
      faults += house::at_line(source, 500, "the file goes on past 500 lines: split it") + "\n";
  INFO(faults);
  CHECK(faults.empty());
}
