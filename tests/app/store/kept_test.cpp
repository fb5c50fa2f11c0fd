#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/scenario/link.h"
#include "app/workspace/kept_rows.h"
#include "chapters/practice/drill_history.h"
#include "chapters/practice/drill_scope.h"
#include "chapters/practice/prediction_history.h"
#include "chapters/practice/recall_history.h"
#include "chapters/practice/scenario_history.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/app/store/killed_child.h"
#include "tests/support/base/effort.h"

using app::store::Kept;
using chapters::DrillRecord;

namespace {

/// A history and the Field that describes it, as the drills have them.
struct Table {
  std::vector<DrillRecord> records;
  chapters::Fields fields;
  const chapters::Field& field() {
    fields.clear();
    fields.table("history", records, "Answers",
                 {.shared = "drill.history", .max_items = 5, .origin = chapters::Origin::kept});
    return fields.all().front();
  }
};
DrillRecord answer(int n) { return {"ridge", n, 295.25 + n, n % 2 == 0, 12.5, 1.7e9 + n}; }

}  // namespace

TEST_CASE("what is kept comes back as it was, the latest where there is no room for all") {
  const support::Folder folder;
  Kept kept;
  Table table;
  for (int n = 0; n < 4; ++n) table.records.push_back(answer(n));
  CHECK(app::add_to_kept(table.field(), kept));
  CHECK_FALSE(app::add_to_kept(table.field(), kept));  // nothing new
  table.records = {answer(4), answer(5), answer(6)};
  CHECK(app::add_to_kept(table.field(), kept));
  REQUIRE(app::store::save(folder / "kept.json", kept).saved);

  Kept again;
  REQUIRE(app::store::load(folder / "kept.json", again).found == app::store::Found::loaded);
  CHECK(again == kept);
  Table back;
  CHECK(app::fill_from_kept(back.field(), again).error == "");
  CHECK(back.records == std::vector<DrillRecord>{answer(2), answer(3), answer(4), answer(5), answer(6)});
}

TEST_CASE("answers of a version that knew no near ones stay the rows that they are") {
  const support::Folder folder;
  folder.write("kept.json",
               R"({"version": 1, "tables": {"drill.history": [{"drill": "ridge", "right": true, "said": 295.0,)"
               R"( "seconds": 12.5, "seed": 3, "time_s": 1700000000.0}]}})");
  Kept kept;
  REQUIRE(app::store::load(folder / "kept.json", kept).found == app::store::Found::loaded);
  Table table;
  REQUIRE(app::fill_from_kept(table.field(), kept).error == "");
  REQUIRE(table.records.size() == 1);
  CHECK_FALSE(table.records[0].near);
  table.records.push_back({.drill = "ridge", .said = 270, .time_s = 1.7e9, .near = true});
  app::add_to_kept(table.field(), kept);
  CHECK(kept.tables["drill.history"].size() == 2);
  Table back;
  CHECK(app::fill_from_kept(back.field(), kept).error == "");
  REQUIRE(back.records.size() == 2);
  CHECK(back.records[1].near);
}

TEST_CASE("two instances that answer at the same time lose nothing of each other") {
  const support::Folder folder;
  Kept a, b;
  Table one, two;
  one.records = {answer(1)};
  two.records = {answer(2)};
  app::add_to_kept(one.field(), a);
  app::add_to_kept(two.field(), b);
  REQUIRE(app::store::save(folder / "kept.json", a).saved);
  REQUIRE(app::store::save(folder / "kept.json", b).saved);
  CHECK(b.tables["drill.history"].size() == 2);
}

TEST_CASE("a row that does not fit is left in the file and said; a file that is no table of rows is set aside") {
  const support::Folder folder;
  folder.write("kept.json",
               R"({"version": 1, "tables": {"drill.history": [{"drill": "ridge", "right": true}, {"drill": "ridge", )"
               R"("seconds": -4}, {"drill": "tiles"}]}})");
  Kept kept;
  REQUIRE(app::store::load(folder / "kept.json", kept).found == app::store::Found::loaded);
  Table table;
  CHECK(app::fill_from_kept(table.field(), kept).error.starts_with("1 of your kept answers"));
  REQUIRE(table.records.size() == 2);
  CHECK(table.records[0].right);
  CHECK(table.records[1].drill == "tiles");
  CHECK(kept.tables["drill.history"].size() == 3);

  for (const char* bad : {R"({"version": 1, "tables": {"drill.history": 7}})",
                          R"({"version": 1, "tables": {"drill.history": [7]}})", R"({"version": 1, "tab)"}) {
    folder.write("bad.json", bad);
    Kept none;
    CHECK(app::store::load(folder / "bad.json", none).found == app::store::Found::set_aside);
  }
}

// "Progress survives kill -9 at any moment": at most the answer that is being saved is lost.
TEST_CASE("kill -9 while answers are given loses none that were saved") {
  const support::Folder folder;
  const auto path = folder / "kept.json";
  const int kills = support::full() ? 200 : 15;
  for (int round = 0; round < kills; ++round) {
    const int saved = last_saved_when_killed(std::chrono::microseconds(311 * round), [&](int pipe) {
      Kept kept;
      if (!app::store::load(path, kept).may_save()) _exit(1);
      for (int n = round * 100001;; ++n) {  // every round begins with another table
        Table table;
        table.records = {answer(n)};
        app::add_to_kept(table.field(), kept);
        if (!app::store::save(path, kept).saved) _exit(2);
        const auto all = static_cast<int>(kept.tables["drill.history"].size());
        if (write(pipe, &all, sizeof all) != sizeof all) _exit(3);
      }
    });
    Kept kept;
    REQUIRE(app::store::load(path, kept).found == app::store::Found::loaded);
    const auto found = static_cast<int>(kept.tables["drill.history"].size());
    CHECK((found == saved || found == saved + 1));
  }
  CHECK(folder.count(".corrupt-") == 0);
}

// What readiness draws on: drills, cards, cases and predictions, kept in one file as they come, in turns.
TEST_CASE("kill -9 while cards, cases, drills and guesses are kept loses none of them that was saved") {
  const support::Folder folder;
  const auto path = folder / "kept.json";
  constexpr std::array<std::string_view, 4> tables{"drill.history", chapters::recall_table, chapters::scenarios_table,
                                                   chapters::predictions_table};
  const auto rows_of = [&](const Kept& kept) {
    std::size_t rows = 0;
    for (const std::string_view table : tables)
      if (const auto at = kept.tables.find(table); at != kept.tables.end()) rows += at->second.size();
    return static_cast<int>(rows);
  };
  const auto keep = [&](int n, Kept& kept) {
    chapters::Fields cells;
    DrillRecord drill = answer(n);
    chapters::RecallRecord card{.card = "roof-ridge", .grade = 1 + n % 4, .points = 4, .time_s = 1.7e9 + n};
    chapters::ScenarioRecord board{.kind = "board", .id = "case", .seed = n, .right = 2, .of = 3, .time_s = 1.7e9 + n};
    chapters::PredictionRecord guess{.lab = "a/b", .question = "q", .said = 1.0 * n, .time_s = 1.7e9 + n};
    switch (n % 4) {
      case 0:
        describe(cells, drill);
        break;
      case 1:
        describe(cells, card);
        break;
      case 2:
        describe(cells, board);
        break;
      default:
        describe(cells, guess);
    }
    return app::keep_row(cells, tables[static_cast<std::size_t>(n % 4)], kept);
  };
  const int kills = support::full() ? 200 : 8;
  for (int round = 0; round < kills; ++round) {
    const int saved = last_saved_when_killed(std::chrono::microseconds(433 * round), [&](int pipe) {
      Kept kept;
      if (!app::store::load(path, kept).may_save()) _exit(1);
      for (int n = round * 100001;; ++n) {  // every round begins with another table
        if (!keep(n, kept) || !app::store::save(path, kept).saved) _exit(2);
        const int all = rows_of(kept);
        if (write(pipe, &all, sizeof all) != sizeof all) _exit(3);
      }
    });
    Kept kept;
    REQUIRE(app::store::load(path, kept).found == app::store::Found::loaded);
    const int found = rows_of(kept);
    CHECK((found == saved || found == saved + 1));
  }
  CHECK(folder.count(".corrupt-") == 0);
  Kept kept;
  REQUIRE(app::store::load(path, kept).found == app::store::Found::loaded);
  for (const std::string_view table : tables) CHECK(kept.tables.contains(table));
}

TEST_CASE("a new session knows the answers of the last one; presets, links, undo and reset leave them alone") {
  Opened o("interview/drills");
  REQUIRE(o.d.settle());
  auto& answers = *o.w.lab().inputs().find("history");
  answers.table_resize(1);
  chapters::Fields cells;
  answers.table_row(0, cells);
  cells.find("drill")->text() = "ridge";
  cells.find("right")->toggle() = true;
  REQUIRE(o.d.settle());
  CHECK(o.out("answered") == 1);
  CHECK_FALSE(o.w.current().can_undo());  // an answer is no edit
  const auto count = [&] { return o.w.lab().inputs().find("history")->table_size(); };

  REQUIRE(o.w.open("interview/readiness"));
  CHECK(count() == 1);
  CHECK(o.out("right") == 1);
  REQUIRE(o.w.open_link("interview/drills?clock=none").error == "");
  CHECK(count() == 1);
  REQUIRE(o.w.open_link("interview/drills?history=[]").error == "");
  CHECK(count() == 1);
  o.ui.frames(2);
  o.w.lab().inputs().find("seed")->set_number(9);
  o.ui.frames(2);
  REQUIRE(o.w.current().can_undo());
  o.w.current().undo();
  CHECK(o.in("seed") == 0);
  CHECK(count() == 1);
  o.w.current().reset();
  CHECK(count() == 1);
  CHECK(app::link_of(o.w.lab()).find("history") == std::string::npos);
  CHECK(app::to_text(app::scenario_to_json(o.w.lab())).find("history") == std::string::npos);

  app::Workspace again(o.content(), o.paths);
  REQUIRE(again.open("interview/drills"));
  CHECK(again.lab().inputs().find("history")->table_size() == 1);
  CHECK(again.lab().inputs().find("now_s")->number() > 1.7e9);  // the clock of the wall
  for (const auto& group : again.shared().groups()) CHECK((group.name != "drill" && group.name != "clock"));
}
