#include "chapters/mechanism/described_table.h"

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "tests/support/lab/canvas.h"

namespace {

struct StageRow {
  std::string name;
  double time_s = 0;
  std::int64_t calls = 0;
  bool hidden = false;
};
void describe(chapters::Fields& f, StageRow& r) {
  f.text("name", r.name, "Stage");
  f.real("time_s", r.time_s, {"Time", "s"});
  f.integer("calls", r.calls, "Calls");
  f.toggle("hidden", r.hidden, "Hidden");
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
