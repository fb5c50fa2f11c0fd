#include "models/base/line_diff.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using models::diff_lines;

TEST_CASE("lines are split at their ends, and a last line without one counts") {
  CHECK(models::split_lines("").empty());
  CHECK(models::split_lines("a\n\nb") == std::vector<std::string_view>{"a", "", "b"});
  CHECK(models::split_lines("a\n") == std::vector<std::string_view>{"a"});
}

TEST_CASE("a changed line and an added one are marked, indentation is not a change") {
  const auto d =
      diff_lines("for i\n  for j\n    sum += a\nend\n", "for i\n    for j\n      sum = fma(a)\n      prefetch\nend\n");
  CHECK(d.changed == std::vector<bool>{false, false, true, true, false});
  CHECK(d.added == 2);
  CHECK(d.removed == 1);
}

TEST_CASE("the common part is as long as it can be: a moved line counts once") {
  // abcabba against cbabac has a longest common subsequence of four: Myers 1986, figure 1.
  const auto d = diff_lines("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n");
  CHECK(d.added == 2);
  CHECK(d.removed == 3);
}

TEST_CASE("nothing before: everything is new; the same text: nothing is; a very long text still answers") {
  CHECK(diff_lines("", "a\nb\n").added == 2);
  CHECK(diff_lines("a\nb\n", "a\nb\n").added == 0);
  CHECK(diff_lines("a\nb\n", "").removed == 2);
  std::string longer;
  for (int i = 0; i < 5000; ++i) longer += "line " + std::to_string(i) + "\n";
  CHECK(diff_lines(longer, longer + "new\n").added == 1);
}
