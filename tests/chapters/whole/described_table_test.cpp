#include "chapters/mechanism/described_table.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>

#include "tests/support/lab/canvas.h"

namespace {

struct StageRow {
  std::string name;
  double time_s = 0;
  std::int64_t calls = 0;
  bool hidden = false;
  double tokens = 0;
};
void describe(chapters::Fields& f, StageRow& r) {
  f.text("name", r.name, "Stage");
  f.real("time_s", r.time_s, {"Time", "s"});
  f.integer("calls", r.calls, "Calls");
  f.toggle("hidden", r.hidden, "Hidden");
  f.real("tokens", r.tokens, "Tokens");
}

constexpr std::array<chapters::DescribedColumn, 4> columns{
    {{.key = "name", .title = "what runs"}, {.key = "time_s", .bar = true}, {.key = "calls"}, {.key = "hidden"}}};

}  // namespace

TEST_CASE("a described table takes titles, units and how numbers are written from describe") {
  chapters::DescribedTable<StageRow> table;
  const std::vector<StageRow> rows{{"load", 0.32, 12'345, true}, {"send", std::nan(""), 7, false}};
  support::UiDriver ui(
      [&] {
        ImGui::SetNextWindowSize({700, 300});
        ImGui::Begin("table");
        table.draw("stages", rows, columns, {680, 200});
        ImGui::End();
      },
      {720, 320}, support::dark_theme);
  ui.frames(3);
  for (const char* text : {"what runs", "Time", "ms", "Calls", "Hidden", "load", "send", "320", "12,345", "7", "yes",
                           "no", "\xE2\x80\x94"}) {
    INFO(text);
    CHECK(ui.text_present(text));
  }
}

TEST_CASE("a described table writes whole numbers in full, and marks and explains a row by what it holds") {
  chapters::DescribedTable<StageRow> table;
  const std::vector<StageRow> rows{{"load", 1, 3, true, 12'345.6}, {"send", 1, 7, false, 0.4}};
  static constexpr std::array<chapters::DescribedColumn, 2> two{{{.key = "name"}, {.key = "tokens", .whole = true}}};
  const auto mark = [](const StageRow& r) {
    return widgets::RowMark{r.hidden ? widgets::Marker::none : widgets::Marker::square, widgets::theme().bad};
  };
  const auto hover = [](const StageRow& r, std::string_view key) -> std::string_view {
    if (key != "name") return "its tokens";
    return r.calls > 5 ? "often" : "seldom";
  };
  support::UiDriver ui(
      [&] {
        ImGui::SetNextWindowSize({700, 300});
        ImGui::Begin("table");
        table.draw("stages", rows, two, {680, 200}, {.mark = mark, .hover = hover});
        ImGui::End();
      },
      {720, 320}, support::dark_theme);
  ui.frames(3);
  CHECK(ui.text_present("12,346"));
  CHECK(ui.text_present("0"));
  CHECK_FALSE(ui.text_present("often"));
  const widgets::ProbedItem& row = ui.item("send");
  ui.move_to({row.min.x + 30, (row.min.y + row.max.y) / 2});
  ui.frames(3);
  CHECK(ui.text_present("often"));
  CHECK_FALSE(ui.text_present("seldom"));
  const auto record = ui.record();
  CHECK(std::count_if(record.strokes.begin(), record.strokes.end(), [](const widgets::Stroke& s) {
          return s.kind == widgets::Stroke::Kind::rect && s.fill == widgets::theme().bad;
        }) == 1);
}
