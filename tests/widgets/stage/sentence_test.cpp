#include "widgets/stage/sentence.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/ui_driver.h"

using namespace widgets;

namespace {

/// Draws one sentence in 900 px, or less, and keeps what was painted.
struct Written {
  std::string text;
  float width = 900, height = 0;
  int lines = 0;
  support::UiDriver ui{[this] {
    set_theme(make_theme(Mode::dark, 1, {}));
    ImGui::Begin("page");
    const SentenceStyle style{Type::body, Font::sans, theme().text, theme().accent};
    lines = sentence_lines(text, width, style);
    height = draw_sentence(Painter::window(), {10, 10}, text, width, style);
    ImGui::End();
  }};

  std::vector<Stroke> strokes() {
    ui.frames(1);
    std::vector<Stroke> out;
    for (const Stroke& s : ui.record().strokes)
      if (s.kind == Stroke::Kind::text) out.push_back(s);
    return out;
  }
};

}  // namespace

TEST_CASE("figures between backticks are set apart, and the backticks are not drawn") {
  Written w;
  w.text = "Memory stops it: `123` FLOP/B allow `413`.";
  const auto strokes = w.strokes();
  REQUIRE(strokes.size() == 5);
  CHECK(strokes[0].text == "Memory stops it:");
  CHECK(strokes[1].text == "123");
  CHECK(strokes[1].fill == theme().accent);
  CHECK(strokes[2].text == "FLOP/B allow");
  CHECK(strokes[3].text == "413");
  CHECK(strokes[4].text == ".");
  CHECK(strokes[4].points[0].x == strokes[3].points[0].x + strokes[3].points[1].x);  // right behind the figure
}

TEST_CASE("a sentence wraps at words, is never cut, and says how high it is") {
  Written w;
  w.text = "Words that need several lines in a narrow place, of which `1,234` is a figure.";
  w.ui.frames(1);
  const float one = w.height;
  CHECK(w.lines == 1);
  w.width = 150;
  const auto strokes = w.strokes();
  CHECK(w.lines > 2);
  CHECK(w.height == one * static_cast<float>(w.lines));
  std::string all;
  for (const Stroke& s : strokes) {
    CHECK(s.points[0].x + s.points[1].x <= 10 + 150 + 1);
    all += s.text + " ";
  }
  for (const char* word : {"Words", "several", "narrow", "1,234", "figure"}) CHECK(all.find(word) != std::string::npos);
}
