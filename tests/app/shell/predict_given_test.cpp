#include <catch2/catch_test_macros.hpp>
#include <set>

#include "app/shell/stage_area.h"
#include "tests/app/shell/shell_fixture.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

// What a question gives stays in the picture, and so does what was guessed.

namespace {

/// The texts that one veiled panel draws in a window of its own.
template <class Draw>
std::multiset<std::string> veiled_texts(Draw draw) {
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
