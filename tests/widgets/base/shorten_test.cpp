#include "widgets/base/shorten.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/widgets/prose/typeset_fixture.h"

TEST_CASE("a text without room keeps both ends and never a broken character") {
  const typeset::Page page;
  const std::string_view name = "aten::scaled_dot_product_flash_attention_backward";
  CHECK(widgets::shorten_middle(name, 5000).view() == name);
  for (float width = 30; width < 300; width += 11) {
    const widgets::Line line = widgets::shorten_middle(name, width);
    CHECK(widgets::text_size(line.view()).x <= width);
    const std::string shown(line.view());
    const std::size_t at = shown.find("\xE2\x80\xA6");
    REQUIRE(at != std::string::npos);
    CHECK(name.starts_with(shown.substr(0, at)));
    CHECK(name.ends_with(shown.substr(at + 3)));
  }
  CHECK(widgets::shorten_middle(name, 3).view().empty());
  const widgets::Line long_one = widgets::shorten_middle(std::string(600, 'x'), 1e6f);
  CHECK(long_one.view().size() < 190);
}

TEST_CASE("what two names share ends at a boundary between words") {
  CHECK(widgets::common_prefix("train_node_17/rank 3", "train_node_17/rank 4") == 19);
  CHECK(widgets::common_prefix("stream 7", "stream 20") == 7);
  CHECK(widgets::common_prefix("streams", "stream") == 0);
  CHECK(widgets::common_prefix("", "x") == 0);
}

TEST_CASE("numbers inside names compare by their value") {
  using widgets::natural_less;
  CHECK(natural_less("stream 2", "stream 10"));
  CHECK_FALSE(natural_less("stream 10", "stream 2"));
  CHECK(natural_less("rank 09", "rank 10"));
  CHECK_FALSE(natural_less("a", "a"));
  CHECK(natural_less("a", "b"));
  CHECK(natural_less("rank", "rank 1"));
  CHECK(natural_less("9999999999999999999999998", "9999999999999999999999999"));
}
