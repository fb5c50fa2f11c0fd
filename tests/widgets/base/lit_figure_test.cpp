#include "widgets/base/lit_figure.h"
#include "widgets/base/figure_meaning.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "tests/support/ui/ui_driver.h"
#include "widgets/base/press_area.h"

using namespace widgets;

namespace {

/// Draws one frame in a window over the whole display and keeps its strokes.
template <class Draw>
Record record_of(Draw draw) {
  Record record{};
  support::UiDriver ui(
      [&] {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration);
        record = {};
        const Recording recording(record);
        draw();
        ImGui::End();
      },
      {400, 300});
  ui.frames(3);
  return record;
}

std::size_t rects_in(const Record& record) {
  std::size_t n = 0;
  for (const Stroke& s : record.strokes) n += s.kind == Stroke::Kind::rect;
  return n;
}

}  // namespace

TEST_CASE("a figure is found as a number of its own") {
  CHECK(find_figure("takes 2.5 ms in all", "2.5 ms") == 6);
  CHECK(find_figure("takes 12.5 ms", "2.5 ms") == std::string_view::npos);
  CHECK(find_figure("1,224 ms", "224 ms") == std::string_view::npos);
  CHECK(find_figure("2.5 ms/token", "2.5 ms") == std::string_view::npos);
  CHECK(find_figure("-2.5 ms", "2.5 ms") == std::string_view::npos);
  CHECK(find_figure("33 %", "33 %") == 0);
  CHECK(find_figure("8 GB", "8 GB") == std::string_view::npos);  // one digit stands for too many things
  CHECK(find_figure("1.412 times", "1.412") == std::string_view::npos);
  CHECK(find_figure("1.412", "1.412") == 0);
  CHECK(find_figure("now 1.41\xC3\x97 faster", "1.41") == 4);
  CHECK(find_figure("now 11.41\xC3\x97 faster", "1.41") == std::string_view::npos);
  CHECK(find_figure("12.5 ms and 2.5 ms.", "2.5 ms") == 12);
}

TEST_CASE("a lit figure is lit in what a panel draws, and for two frames") {
  set_theme(make_theme(Mode::dark, 1.0f, {}));
  const auto lit = record_of([] {
    const std::string_view words[] = {"2.5 ms"};
    light_figure("time_s", words);
    CHECK(output_lit("time_s"));
    CHECK_FALSE(output_lit("energy_j"));
    CHECK_FALSE(output_lit(""));
    CHECK(lit_words() == "2.5 ms");
    Painter::window().text({20, 20}, "outside 2.5 ms", theme().text);
    const LitTexts lights;
    Painter::window().text({20, 60}, "time 2.5 ms", theme().text);
    Painter::window().text({20, 90}, "time 12.5 ms", theme().text);
  });
  CHECK(rects_in(lit) == 2);  // the ground and the frame of one text
  for (const Stroke& s : lit.strokes)
    if (s.kind == Stroke::Kind::rect) {
      CHECK(s.points[0].y > 40);
      CHECK(s.points[1].y < 90);
      CHECK(s.points[0].x > 30);  // the figure, not the word before it
    }
  int frame = 0;
  const auto later = record_of([&] {
    const std::string_view words[] = {"2.5 ms"};
    if (++frame == 1) light_figure("time_s", words);
    const LitTexts lights;
    if (frame == 2) CHECK(output_lit("time_s"));
    if (frame == 3) CHECK_FALSE(output_lit("time_s"));
    Painter::window().text({20, 60}, "time 2.5 ms", theme().text);
  });
  CHECK(rects_in(later) == 0);
}

TEST_CASE("a figure of the answer lights what it means, and a card's figure is lit as it is") {
  set_theme(make_theme(Mode::dark, 1.0f, {}));
  const FigureMeaning meanings[] = {{"43 %", "awq",
                                     "\xE2\x88\x92"
                                     "43 %"},
                                    {"2,001", "normal_rate", {}},
                                    {"43 %", "second", {}}};
  const auto lit_by = [&](std::string_view output, std::string_view words, std::string_view expected) {
    return rects_in(record_of([&] {
      light_figure(output, {&words, 1});
      light_meanings(meanings);
      CHECK(output_lit(expected));
      const LitTexts lights;
      Painter::window().text({20, 60},
                             "\xE2\x88\x92"
                             "43 %",
                             theme().text);
    }));
  };
  CHECK(lit_by({}, "43 %", "awq") == 2);  // the ground and the frame of "-43 %"
  CHECK(lit_by({}, "2,001", "normal_rate") == 0);
  CHECK(lit_by("share", "43 %", "share") == 0);
}

TEST_CASE("a place to press may be of no size") {
  record_of([] {
    press_area("none", {0, 0});
    CHECK(ImGui::GetItemRectSize().x == 1);
    CHECK(ImGui::GetItemRectSize().y == 1);
    press_area("less", {-4, std::nanf("")});
    CHECK(ImGui::GetItemRectSize().x == 1);
    CHECK(ImGui::GetItemRectSize().y == 1);
    press_area("some", {30, 20});
    CHECK(ImGui::GetItemRectSize().x == 30);
  });
}
