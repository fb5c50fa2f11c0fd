#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "app/shell/stage_area.h"
#include "tests/app/shell/shell_fixture.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

// What a question gives stays in the picture, and so does what was guessed.

namespace {

/// What one veiled panel draws in a window of its own.
template <class Draw>
widgets::Record veiled_record(Draw draw) {
  widgets::Record record{};
  ImGui::NewFrame();
  ImGui::SetNextWindowSize({700, 500});
  ImGui::Begin("alone");
  {
    const widgets::Recording recording(record);
    widgets::StageView view;
    widgets::Stage stage(view, {{0, 0}, {640, 460}}, {}, widgets::Cover::veiled);
    stage.run([&] { stage.panel("plot", {.title = "Plot"}, draw); });
  }
  ImGui::End();
  ImGui::EndFrame();
  return record;
}

template <class Draw>
std::multiset<std::string> veiled_texts(Draw draw) {
  const widgets::Record record = veiled_record(draw);
  std::multiset<std::string> texts;
  for (const auto& s : record.strokes)
    if (s.kind == widgets::Stroke::Kind::text) texts.insert(s.text);
  return texts;
}

}  // namespace

TEST_CASE("what is drawn as given stands on the veil, with the plots in it; what is not given is not there") {
  Opened o("roofline/roofline");
  const auto texts = veiled_texts([&](ImVec2 size) {
    static widgets::PlotView plot_view;
    CHECK(widgets::veiled());
    widgets::Painter::window().text({20, 20}, "the answer", 0xffffffff);
    {
      const widgets::GivenMarks given;
      widgets::Painter::window().text({20, 40}, "80 GB", 0xffffffff);
      const double xs[] = {1, 2}, ys[] = {100, 300};
      widgets::Plot plot("plot", plot_view, {.x = {.label = "place"}, .y = {.label = "rim"}, .size = {size.x, 200}});
      plot.line("rim", xs, ys);
    }
    widgets::Painter::window().text({20, 60}, "the answer too", 0xffffffff);
  });
  CHECK(texts.contains("80 GB"));
  CHECK(texts.contains("200"));
  CHECK(texts.contains("veiled until you commit"));
  for (const std::string& text : texts) CHECK(text.find("the answer") == std::string::npos);
  CHECK_FALSE(widgets::veiled());
}

TEST_CASE("the veil's own words stand on no text that is given, wherever that stands at the foot") {
  Opened o("roofline/roofline");
  for (const float free_from : {0.0f, 180.0f, 340.0f}) {
    INFO("nothing is given from " << free_from << " to " << free_from + 300);
    const widgets::Record record = veiled_record([&](ImVec2 size) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const widgets::GivenMarks given;
      for (float x = 0; x < size.x; x += 20)
        if (x < free_from || x > free_from + 300)
          widgets::Painter::window().text({at.x + x, at.y + size.y - 20}, "9", 0xffffffff);
    });
    const auto words = std::find_if(record.strokes.begin(), record.strokes.end(),
                                    [](const widgets::Stroke& s) { return s.text == "veiled until you commit"; });
    REQUIRE(words != record.strokes.end());
    for (const widgets::Stroke& s : record.strokes) {
      if (s.kind != widgets::Stroke::Kind::text || &s == &*words) continue;
      const ImVec2 a = s.points[0], b{a.x + s.points[1].x, a.y + s.points[1].y}, c = words->points[0],
                   d{c.x + words->points[1].x, c.y + words->points[1].y};
      CHECK_FALSE((a.x < d.x && b.x > c.x && a.y < d.y && b.y > c.y));
    }
  }
}

TEST_CASE("a guessed number stays in the picture, on the plots that have an axis of its name") {
  Opened o("roofline/roofline");
  widgets::Record record{};
  const auto texts = [&](const widgets::ShownGuess* guess) {
    record = {};
    ImGui::NewFrame();
    ImGui::SetNextWindowSize({700, 500});
    ImGui::Begin("alone");
    {
      const widgets::Recording recording(record);
      const widgets::ShowGuess shown(guess);
      static widgets::PlotView plot_view;
      const double xs[] = {1, 2}, ys[] = {1e9, 5e9};
      widgets::Plot plot("plot", plot_view,
                         {.x = {.label = "place"}, .y = {.label = "memory", .unit = "B"}, .size = {600, 400}});
      plot.line("used", xs, ys);
    }
    ImGui::End();
    ImGui::EndFrame();
    std::multiset<std::string> out;
    for (const auto& s : record.strokes)
      if (s.kind == widgets::Stroke::Kind::text) out.insert(s.text);
    return out;
  };
  const widgets::ShownGuess here{"bytes", "Memory", "B", 2.5e9}, far{"bytes", "Memory", "B", 2.5e12},
      other{"bytes", "Memory", "s", 2.5};
  CHECK(texts(&here).contains("you: 2.5 GB"));
  CHECK(texts(&far).contains("you: 2.5 TB, off this scale"));
  CHECK(texts(nullptr) == texts(&other));
}
