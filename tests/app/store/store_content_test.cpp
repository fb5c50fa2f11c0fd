#include <array>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/settings.h"
#include "tests/support/base/files.h"

using app::store::Found;
using support::Folder;

TEST_CASE("progress comes back equal, and saving unites what two instances did") {
  const Folder folder;
  const auto path = folder / "progress.json";
  app::store::Progress one, two;
  one.visit("roofline/roofline");
  one.try_preset("roofline/roofline", "decode, batch 1");
  one.predict("roofline/roofline", {"ridge", 300.5, 295.2, 100});
  one.play_lesson("roofline");
  REQUIRE(app::store::save(path, one).saved);
  two.predict("roofline/roofline", {"ridge", 290, 295.2, 200});
  two.visit("roofline/iron-law");
  REQUIRE(app::store::save(path, two).saved);

  app::store::Progress back;
  REQUIRE(app::store::load(path, back).found == Found::loaded);
  CHECK(back == two);  // the save told the second what the first did
  const auto& lab = back.labs.at("roofline/roofline");
  CHECK(lab.presets.contains("decode, batch 1"));
  REQUIRE(lab.predictions.size() == 2);
  CHECK(lab.predictions[0].committed == 300.5);
  CHECK(back.latest("roofline/roofline", "ridge")->committed == 290);
  CHECK(back.latest("roofline/roofline", "other") == nullptr);
  CHECK(back.lessons.contains("roofline"));

  REQUIRE(app::store::save(path, back).saved);
  CHECK(back.labs.at("roofline/roofline").predictions.size() == 2);  // united, not appended
}

TEST_CASE("the first opening of a lab is kept, the earlier one of two; what was opened before that was kept stays so") {
  const Folder folder;
  app::store::Progress one, two;
  one.visit("c/a", 100);
  one.visit("c/a", 900);
  CHECK(one.labs.at("c/a").opened_unix_s == 100);
  two.visit("c/a", 50);
  two.visit("c/b");
  two.visit("c/b", 70);
  REQUIRE(app::store::save(folder / "progress.json", one).saved);
  REQUIRE(app::store::save(folder / "progress.json", two).saved);
  app::store::Progress back;
  REQUIRE(app::store::load(folder / "progress.json", back).found == Found::loaded);
  CHECK(back.labs.at("c/a").opened_unix_s == 50);
  CHECK(back.labs.at("c/b").opened_unix_s == 0);
}

TEST_CASE("tests of chapters are kept, united and in order; a broken one sets the file aside, and the good ones stay") {
  const Folder folder;
  app::store::Progress one, two;
  one.keep_test({"roofline", 200, 7, 1, 10});
  one.keep_test({"roofline", 200, 7, 1, 10});
  one.keep_test({"role", 100, 10, 0, 10});
  two.keep_test({"roofline", 300, 9, 0, 10});
  REQUIRE(app::store::save(folder / "progress.json", one).saved);
  REQUIRE(app::store::save(folder / "progress.json", two).saved);
  app::store::Progress back;
  REQUIRE(app::store::load(folder / "progress.json", back).found == Found::loaded);
  REQUIRE(back.tests.size() == 3);
  CHECK(back.tests[0].chapter == "role");
  REQUIRE(back.latest_test("roofline"));
  CHECK(back.latest_test("roofline")->score() == 9);
  CHECK(back.tests[1].score() == 7.5);
  CHECK(back.latest_test("serving") == nullptr);
  folder.write("progress.json", R"({"version": 1, "labs": {}, "tests": [{"chapter": "role", "right": 5, "asked": 10},
                                   {"chapter": 7}]})");
  app::store::Progress damaged;
  const auto report = app::store::load(folder / "progress.json", damaged);
  CHECK(report.found == Found::set_aside);
  CHECK(report.notice.find("progress.json") != std::string::npos);
  CHECK(damaged.tests.size() == 1);
}

TEST_CASE("starting over forgets what the file held") {
  const Folder folder;
  app::store::Progress progress;
  progress.visit("roofline/roofline");
  REQUIRE(app::store::save(folder / "progress.json", progress).saved);
  REQUIRE(app::store::replace(folder / "progress.json", {}).error.empty());
  app::store::Progress back;
  REQUIRE(app::store::load(folder / "progress.json", back).found == Found::loaded);
  CHECK(back == app::store::Progress{});
}

TEST_CASE("a lab's ring fills in quarters: opened, predicted, explored, drilled") {
  app::store::Progress progress;
  using app::store::Quarters;
  CHECK(progress.quarters("c/a", false, false) == Quarters{});
  progress.visit("c/a");
  CHECK(progress.quarters("c/a", false, false) == Quarters{.opened = true});
  CHECK(progress.quarters("c/a", true, false) == Quarters{.opened = true, .predicted = true});
  CHECK(progress.quarters("c/a", false, true) == Quarters{.opened = true, .drilled = true});
  progress.explore("c/a");
  CHECK(progress.quarters("c/a", true, true).fraction() == 1.0);
  progress.try_preset("c/b", "a preset");
  CHECK(progress.quarters("c/b", false, false) == Quarters{.explored = true});
  // What a lab has nothing for fills when it is opened, not before.
  CHECK(progress.quarters("c/c", {}, {}) == Quarters{});
  progress.visit("c/c");
  CHECK(progress.quarters("c/c", {}, {}).count() == 3);
}

TEST_CASE("what was explored is kept and merged") {
  const Folder folder;
  app::store::Progress mine, theirs, back;
  mine.explore("c/a");
  theirs.explore("c/b");
  REQUIRE(app::store::save(folder / "progress.json", theirs).saved);
  REQUIRE(app::store::save(folder / "progress.json", mine).saved);
  REQUIRE(app::store::load(folder / "progress.json", back).found == Found::loaded);
  CHECK(back.labs.at("c/a").explored);
  CHECK(back.labs.at("c/b").explored);
}

TEST_CASE("progress with a bad member keeps the good ones and sets the file aside") {
  const Folder folder;
  folder.write("progress.json", R"({"version": 1, "lessons": ["l"], "labs": {
    "c/a": {"visited": "yes", "predictions": [{"question": "q", "committed": 1, "answer": 2, "time_unix_s": 3}, )"
                                R"({"question": 4}]},
    "c/b": {"visited": true}, "c/c": 7}})");
  app::store::Progress progress;
  const auto report = app::store::load(folder / "progress.json", progress);
  CHECK(report.found == Found::set_aside);
  CHECK(report.notice.find("labs.c/a.visited is not true or false") != std::string::npos);
  CHECK(progress.labs.at("c/b").visited);
  CHECK(progress.labs.at("c/a").predictions.size() == 1);
  CHECK(progress.lessons.contains("l"));
  CHECK(folder.count(".corrupt-1") == 1);
}

TEST_CASE("saving over a file that went bad meanwhile sets it aside and saves all the same") {
  const Folder folder;
  app::store::Progress progress;
  progress.visit("c/a");
  folder.write("progress.json", "{\"version\":1,");
  const auto report = app::store::save(folder / "progress.json", progress);
  CHECK(report.saved);
  CHECK(report.notice.find("progress.json.corrupt-1") != std::string::npos);
  app::store::Progress back;
  CHECK(app::store::load(folder / "progress.json", back).found == Found::loaded);
  CHECK(back == progress);
}

TEST_CASE("notes on different labs from two instances are both kept; on the same lab the last wins") {
  const Folder folder;
  const auto path = folder / "notes.json";
  app::store::Notes one, two;
  REQUIRE(two.load(path).found == Found::nothing);
  one.set("c/a", "# A");
  one.set("c/b", "mine");
  REQUIRE(one.save(path).saved);
  CHECK_FALSE(one.changed());
  two.set("c/b", "yours\n\xe2\x88\x91");
  REQUIRE(two.save(path).saved);
  CHECK(two.of("c/a") == "# A");
  CHECK(two.of("c/b") == "yours\n\xe2\x88\x91");
  REQUIRE(one.load(path).found == Found::loaded);
  CHECK(one.all() == two.all());

  one.set("c/a", "");
  REQUIRE(one.save(path).saved);
  REQUIRE(two.load(path).found == Found::loaded);
  CHECK(two.of("c/a").empty());
  CHECK(two.of("c/b") == "yours\n\xe2\x88\x91");
}

TEST_CASE("notes survive a file that is gone or went bad while the program ran") {
  const Folder folder;
  app::store::Notes notes;
  notes.set("c/a", "kept");
  REQUIRE(notes.save(folder / "notes.json").saved);
  std::filesystem::remove(folder / "notes.json");
  notes.set("c/b", "new");
  REQUIRE(notes.save(folder / "notes.json").saved);
  folder.write("notes.json", R"({"version":1,"labs":{"c/b":"new","c/a":5}})");
  notes.set("c/c", "newer");
  const auto report = notes.save(folder / "notes.json");
  CHECK(report.saved);
  CHECK(report.notice.find("labs.c/a is not a text") != std::string::npos);
  app::store::Notes back;
  REQUIRE(back.load(folder / "notes.json").found == Found::loaded);
  CHECK(back.of("c/a") == "kept");
  CHECK(back.of("c/b") == "new");
  CHECK(back.of("c/c") == "newer");
}

TEST_CASE("settings come back equal; a number out of range comes to the nearest end") {
  const Folder folder;
  app::store::Settings settings;
  settings.light = true;
  settings.scale = 1.5;
  settings.keep_my_scenario = !settings.keep_my_scenario;
  settings.window_width = 1280;
  settings.inspector_width = 512.5;
  settings.last_lab = "roofline/roofline";
  REQUIRE(app::store::save(folder / "settings.json", settings).saved);
  app::store::Settings back;
  REQUIRE(app::store::load(folder / "settings.json", back).found == Found::loaded);
  CHECK(back == settings);

  folder.write("settings.json", R"({"version":1,"scale":900,"window_width":-5,"drawer_height":1e300})");
  app::store::Settings clamped;
  CHECK(app::store::load(folder / "settings.json", clamped).found == Found::loaded);
  CHECK(clamped.scale == 4.0);
  CHECK(clamped.window_width == 640);
  CHECK(clamped.drawer_height == 1200.0);
}

TEST_CASE("the recent list is newest first, holds each scenario once, and ends at thirty") {
  const Folder folder;
  const auto path = folder / "recent.json";
  app::store::Recent one, two;
  one.add({"c/a", "first", "{}", 10});
  one.add({"c/b", "second", "{}", 20});
  one.add({"c/a", "first again", "{}", 30});
  REQUIRE(one.all().size() == 2);
  CHECK(one.all()[0].title == "first again");
  REQUIRE(one.save(path).saved);
  two.add({"c/c", "between", "{\"x\":1}", 25});
  REQUIRE(two.save(path).saved);
  app::store::Recent back;
  REQUIRE(back.load(path).found == Found::loaded);
  CHECK(back.all() == two.all());
  REQUIRE(back.all().size() == 3);
  CHECK(back.all()[1].title == "between");
  for (int i = 0; i < 40; ++i) back.add({"c/d", "many", std::to_string(i), 100 + i});
  CHECK(back.all().size() == app::store::Recent::most);
  CHECK(back.all().front().time_unix_s == 139);
}

TEST_CASE("time that was spent in labs adds up, is kept, and of two copies the longer counts") {
  const support::Folder folder;
  app::store::Progress one, other;
  one.spend("a/b", 90);
  one.spend("a/b", 30);
  one.spend("a/c", 60);
  other.spend("a/b", 100);
  other.spend("a/d", 5);
  REQUIRE(app::store::save(folder / "progress.json", one).saved);
  REQUIRE(app::store::load(folder / "progress.json", other).may_save());
  CHECK(other.labs.at("a/b").spent_s == 120);
  CHECK(other.spent_s() == 185);
}
