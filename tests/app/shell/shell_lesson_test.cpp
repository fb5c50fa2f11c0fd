#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/platform/file.h"
#include "models/trace/measure/metrics.h"
#include "tests/app/shell/shell_fixture.h"

namespace {

/// A lesson of three steps over two labs.
struct Taught : Opened {
  Taught() {
    w.content.lessons = {
        {"test",
         "Bytes first",
         {{"roofline/roofline", "The dot", "Look at the dot.", R"({"operation": "custom", "bytes": 2e9})", "{}"},
          {"roofline/roofline", "The chip", "A wider memory.", R"({"chip": "b200_sxm"})", "{}"},
          {"roofline/iron-law", "The law", "Now the time.", R"({"efficiency": 0.25})", "{}"}}}};
  }
  void page_down() { ui.key(ImGuiKey_PageDown); }
  void page_up() { ui.key(ImGuiKey_PageUp); }
};

}  // namespace

TEST_CASE("a lesson plays by Page Down and Page Up, says each step, and is remembered once it was played to the end") {
  Taught o;
  o.page_down();
  CHECK_FALSE(o.d.shell.lesson.playing);  // nothing plays yet
  o.d.command("Play lesson: Bytes first");
  CHECK(o.d.shell.lesson.playing);
  CHECK(o.in("bytes") == 2e9);
  CHECK(o.ui.text_present("Look at the dot."));
  o.page_down();
  o.ui.frames(2);
  CHECK(o.chosen("chip") == "b200_sxm");
  CHECK(o.in("bytes") != 2e9);  // a step is a scenario: what it does not say is at its default
  CHECK(o.ui.text_present("A wider memory."));
  CHECK_FALSE(o.w.progress.lessons.contains("test"));
  o.page_down();
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.in("efficiency") == 0.25);
  CHECK(o.w.progress.lessons.contains("test"));
  o.page_down();  // past the end
  CHECK(o.d.shell.lesson.step == 2);
  o.page_up();
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/roofline");
  CHECK(o.d.shell.lesson.step == 1);
  o.page_up();
  o.page_up();
  CHECK(o.d.shell.lesson.step == 0);
}

TEST_CASE("a learner wanders off at any step and comes back with one press, also in presentation mode") {
  Taught o;
  o.d.command("Play lesson: Bytes first");
  o.ui.key(ImGuiKey_F5);
  o.ui.frames(2);
  CHECK(o.ui.has("To this step"));
  o.d.command("iron law");
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.d.shell.lesson.playing);
  o.ui.click("To this step");
  CHECK(o.d.open_lab() == "roofline/roofline");
  CHECK(o.in("bytes") == 2e9);
  CHECK(o.d.shell.lesson.step == 0);
  o.ui.click("Next");
  o.ui.frames(2);
  CHECK(o.d.shell.lesson.step == 1);
  o.ui.click("Back");
  o.ui.frames(2);
  CHECK(o.d.shell.lesson.step == 0);
}

TEST_CASE("the last step offers the end, which closes the lesson") {
  Taught o;
  o.d.command("Play lesson: Bytes first");
  o.page_down();
  o.page_down();
  o.ui.frames(2);
  o.ui.click("End");
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.lesson.playing);
  CHECK_FALSE(o.ui.has("To this step"));
  // A card says what it was, and leads on.
  REQUIRE(o.d.shell.closing.open);
  CHECK(o.ui.text_present("End of the lesson: Bytes first"));
  CHECK(o.ui.text_present("3 steps in "));
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(3);
  CHECK_FALSE(o.d.shell.closing.open);
}

TEST_CASE("a step that no longer applies says so and the lesson goes on") {
  Taught o;
  o.w.content.lessons[0].steps[1].inputs = R"({"chip": "none_such"})";
  o.d.command("Play lesson: Bytes first");
  o.page_down();
  o.ui.frames(2);
  CHECK(o.d.was_said("Step 2 of \"Bytes first\": chip is \"none_such\""));
  CHECK(o.d.shell.lesson.step == 1);
  o.page_down();
  CHECK(o.d.open_lab() == "roofline/iron-law");
}

TEST_CASE("two steps recorded with F9 make a lesson that is kept as a file and plays") {
  Taught o;
  o.w.content.lessons.clear();
  o.d.type_value("inputs/Traffic", "3 GB");
  o.ui.key(ImGuiKey_F9);
  o.ui.frames(2);
  CHECK(o.d.shell.lesson.recording);
  CHECK(o.ui.text_present("Recording a lesson"));
  o.ui.click("roofline/iron-law");
  o.ui.frames(2);
  o.ui.click("inputs/The chip");
  o.ui.frames(2);
  o.d.type_value("inputs/Efficiency \xCE\xB7", "0.5");
  o.ui.key(ImGuiKey_F9);
  REQUIRE(o.d.shell.lesson.draft.steps.size() == 2);
  o.ui.frames(2);
  // What to say is typed in the drawer's Lesson tab.
  o.ui.fill("Lesson title", "Mine");
  CHECK(o.d.shell.lesson.draft.title == "Mine");
  o.ui.click("Finish lesson");
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.lesson.recording);
  CHECK(o.d.was_said("is kept with 2 steps"));
  REQUIRE(o.w.content.lessons.size() == 1);
  CHECK(std::filesystem::exists(o.folder / "data/lessons/mine.json"));
  o.ui.click("Reset");
  o.d.command("Play lesson: Mine");
  CHECK(o.d.open_lab() == "roofline/roofline");
  CHECK(o.in("bytes") == 3e9);
  o.page_down();
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/iron-law");
  CHECK(o.in("efficiency") == 0.5);
}

TEST_CASE("steps of a recording are moved and removed") {
  Taught o;
  o.ui.resize({1600, 1200});
  o.w.settings.drawer_height = 500;
  o.ui.key(ImGuiKey_F9);
  o.ui.click("roofline/iron-law");
  o.ui.key(ImGuiKey_F9);
  o.ui.frames(2);
  REQUIRE(o.d.shell.lesson.draft.steps.size() == 2);
  o.ui.click("Up");
  o.ui.frames(2);
  CHECK(o.d.shell.lesson.draft.steps[0].lab == "roofline/iron-law");
  o.ui.click("Remove");
  o.ui.frames(2);
  REQUIRE(o.d.shell.lesson.draft.steps.size() == 1);
  CHECK(o.d.shell.lesson.draft.steps[0].lab == "roofline/roofline");
}

TEST_CASE("the palette exports picture, data and scenario into the person's folder, and says where") {
  Opened o;
  o.d.type_value("inputs/Traffic", "3 GB");
  // The panel asks where, with a name proposed: Enter takes it.
  const auto take = [&] {
    o.ui.frames(2);
    REQUIRE(o.d.shell.open_panel.open);
    o.ui.key(ImGuiKey_Enter);
    o.ui.frames(3);
    CHECK_FALSE(o.d.shell.open_panel.open);
  };
  o.d.command("export picture svg");
  take();
  const std::string svg = o.folder.read("data/exports/roofline-roofline.svg");
  CHECK(svg.find("<svg") != std::string::npos);
  CHECK(svg.find(">Which ceiling stops this operation") != std::string::npos);
  CHECK(o.d.was_said("Saved "));
  o.d.command("export data csv");
  take();
  CHECK(o.folder.read("data/exports/roofline-roofline.csv").rfind("# ", 0) == 0);
  o.d.command("export scenario");
  take();
  const auto scenario = app::parse_scenario(o.folder.read("data/exports/roofline-roofline.json"));
  CHECK(scenario.error == "");
  CHECK(app::Json::parse(scenario->inputs_text)["bytes"] == 3e9);
  // And the file opens again.
  o.ui.click("Reset");
  CHECK(o.w.opening.open_and_wait((o.folder / "data/exports/roofline-roofline.json").string()).error == "");
  CHECK(o.in("bytes") == 3e9);
}

TEST_CASE("the trace viewer's recording is exported as a Chrome trace that measures the same when it is read again") {
  Opened o("profiling/trace-viewer");
  o.w.current().finish();
  o.d.command("export chrome trace");
  o.ui.frames(2);
  o.ui.key(ImGuiKey_Enter);
  for (int i = 0; i < 2000 && !o.d.was_said("Saved "); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    o.ui.frames(1);
  }
  const std::string text = o.folder.read("data/exports/profiling-trace-viewer-data.json");
  const auto trace = models::trace::read_trace(std::string(text), "exported");
  REQUIRE(trace);
  const auto metrics = models::trace::measure(*trace);
  REQUIRE(!metrics.devices.empty());
  CHECK(static_cast<double>(metrics.devices[0].busy_ns) * 1e-9 == Catch::Approx(o.out("busy_s")).epsilon(1e-9));
  CHECK(static_cast<double>(metrics.devices[0].idle_ns) * 1e-9 == Catch::Approx(o.out("idle_s")).epsilon(1e-9));
  // A lab without a document does not offer one.
  o.w.open("roofline/roofline");
  o.d.command("export chrome trace");
  o.ui.frames(2);
  CHECK_FALSE(std::filesystem::exists(o.folder / "data/exports/roofline-roofline-data.json"));
}

TEST_CASE("an export that cannot be written says why") {
  Opened o;
  REQUIRE(app::write_file(o.folder / "data/exports", "a file where a folder should be").error.empty());
  o.d.command("export picture svg");
  o.ui.frames(2);
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(3);
  CHECK(o.d.was_said("exports"));
  CHECK_FALSE(o.d.was_said("Saved "));
}
