#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/shell/home/home.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/support/lab/sample_files.h"

using Catch::Approx;
using chapters::FileKind;

// Five people, each from the first thing they do to the last: what is between the scenes is tested, not the scenes.

namespace {

/// The same person's folders in a program that is started anew.
struct Again {
  explicit Again(const Opened& before) : d(Opened::content(), before.paths) { d.ui.frames(3); }
  support::ShellDriver d;
};

/// Turns the steps of the lesson that plays until its card stands there.
void turn_to_the_end(Opened& o) {
  const std::size_t steps = o.w.content.lessons[o.d.shell.lesson.lesson].steps.size();
  for (std::size_t step = 0; step < steps; ++step) {
    INFO("step " << step);
    REQUIRE(o.d.shell.lesson.step == step);
    REQUIRE(o.w.lab().reason() == "");
    o.ui.click(step + 1 == steps ? "End" : "Next");
    REQUIRE(o.d.settle());
  }
}

}  // namespace

TEST_CASE(
    "a student's first ten minutes: home, the first lesson, a curve, a lab of its own, and home knows of it all") {
  Opened o;
  app::go_home(o.d.shell);
  o.ui.frames(3);
  o.ui.click("Learn");
  REQUIRE(o.d.settle());
  REQUIRE(o.d.shell.lesson.playing);
  CHECK(o.w.content.lessons[o.d.shell.lesson.lesson].id == "start");
  turn_to_the_end(o);
  CHECK(o.w.progress.lessons.contains("start"));
  // The card leads on; what it opens has a first picture, since nothing that the lesson set is carried.
  REQUIRE(o.d.shell.closing.open);
  o.ui.key(ImGuiKey_Enter);
  REQUIRE(o.d.settle());
  CHECK_FALSE(o.d.shell.closing.open);
  // The next lesson asks at its second step, and waits: an answer is shown on request, and the lesson goes on.
  REQUIRE(o.d.shell.lesson.playing);
  o.ui.click("Next");
  REQUIRE(o.d.settle());
  CHECK(app::question_open(o.d.shell));
  o.d.command("Show the answer without a guess");
  REQUIRE(o.d.settle());
  CHECK_FALSE(app::question_open(o.d.shell));
  o.ui.click("Next");
  REQUIRE(o.d.settle());
  CHECK(o.d.shell.lesson.step == 2);
  REQUIRE(o.w.open("role/compounding"));
  REQUIRE(o.d.settle());
  CHECK(o.w.lab().reason() == "");
  CHECK_FALSE(o.ui.text_present("Carried over"));
  // What was done counts, also in a program that is started again.
  app::go_home(o.d.shell);
  o.ui.frames(3);
  CHECK(o.ui.text_present("Continue where you were"));
  o.w.save();  // as the window does when it is closed
  const Again again(o);
  CHECK(again.d.workspace.progress.lessons.contains("start"));
}

TEST_CASE(
    "a lecturer's two days: steps recorded on his own scenario, kept, and presented on the next day as they were") {
  Opened o;
  o.d.type_value("inputs/Traffic", "3 GB");
  o.ui.key(ImGuiKey_F9);
  o.ui.frames(2);
  o.ui.click("roofline/iron-law");
  o.ui.frames(2);
  o.ui.click("inputs/The chip");
  o.ui.frames(2);
  o.d.type_value("inputs/Efficiency \xCE\xB7", "0.5");
  o.ui.key(ImGuiKey_F9);
  o.ui.frames(2);
  o.ui.fill("Lesson title", "Monday");
  o.ui.click("Finish lesson");
  o.ui.frames(2);
  REQUIRE(std::filesystem::exists(o.folder / "data/lessons/monday.json"));
  // The next day: the program is new, and the lesson is his, beside those that came with it.
  Again day(o);
  support::ShellDriver& next = day.d;
  next.command("Play lesson: Monday");
  REQUIRE(next.settle());
  REQUIRE(next.shell.lesson.playing);
  next.ui.key(ImGuiKey_F5);
  next.ui.frames(3);
  CHECK(next.shell.presentation);
  CHECK(next.open_lab() == "roofline/roofline");
  CHECK(next.input("bytes").number() == 3e9);
  next.ui.click("Next");
  REQUIRE(next.settle());
  REQUIRE(next.open_lab() == "roofline/iron-law");
  CHECK(next.input("efficiency").number() == 0.5);
  next.ui.click("Back");
  REQUIRE(next.settle());
  CHECK(next.open_lab() == "roofline/roofline");
  CHECK(next.input("bytes").number() == 3e9);  // and not what the other step left behind
  next.ui.key(ImGuiKey_Escape);
  next.ui.frames(3);
  CHECK_FALSE(next.shell.presentation);
  CHECK(next.shell.lesson.playing);
}

TEST_CASE(
    "a candidate's week: the drill's numbers in the lab, the way back, and what was answered is there on Monday") {
  Opened o("interview/drills");
  REQUIRE(o.w.open_with("interview/drills", {{"drill", "kv-batch"}, {"clock", "two_minutes"}}, app::Json::object())
              .error.empty());
  REQUIRE(o.d.settle());
  o.press_each({"Start"});
  o.ui.type("86 GB");
  o.ui.key(ImGuiKey_Enter);
  REQUIRE(o.d.settle());
  CHECK(o.out("right_in_round") == 1);
  o.press_each({"open in the lab"});
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "roofline/transformer-layer");
  CHECK(o.out("kv_total_bytes") == Approx(85899345920.0));
  // Back to the drill, where the answer still stands graded.
  o.ui.key(ImGuiKey_LeftArrow, ImGuiMod_Alt);
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "interview/drills");
  CHECK(o.w.lab().inputs().find("history")->table_size() == 1);
  o.ui.key(ImGuiKey_RightArrow, ImGuiMod_Alt);
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "roofline/transformer-layer");
  CHECK(o.in("batch") == 32);
  Again monday(o);
  REQUIRE(monday.d.workspace.open("interview/drills"));
  REQUIRE(monday.d.settle());
  CHECK(monday.d.workspace.lab().inputs().find("history")->table_size() == 1);
}

TEST_CASE("an engineer's seven files: each is used by the lab that reads it, or says who might read it") {
  Opened o("roofline/iron-law");
  REQUIRE(o.d.settle());
  const FileKind kinds[] = {FileKind::recording,      FileKind::memory_snapshot, FileKind::collective_log,
                            FileKind::topology_table, FileKind::arrivals,        FileKind::model_config,
                            FileKind::safetensors};
  int number = 0;
  for (const FileKind kind : kinds) {
    // No file's name says what it is.
    const std::string name = "mine" + std::to_string(++number) + ".bin";
    o.folder.write(name, support::sample_file(kind));
    const std::string path = (o.folder / name).string();
    o.w.opening.open(path);
    REQUIRE(o.d.settle());
    INFO(name << " of kind " << static_cast<int>(kind) << " in " << o.d.open_lab());
    if (o.w.opening.asked_reader()) {  // two labs read it: two buttons, of which the first is pressed
      o.w.opening.choose_reader(0);
      REQUIRE(o.d.settle());
    }
    bool used = false;
    for (const auto& field : o.w.lab().inputs())
      if (field.kind == chapters::Kind::file) used |= field.file().path == path;
    // A model becomes a choice of every lab: the open one's too, where it has a model.
    if (kind == FileKind::model_config) used = o.chosen("model") == "mine" + std::to_string(number);
    CHECK(used);
    CHECK(o.w.lab().reason() == "");
  }
  // A file that nobody reads takes nothing away.
  const std::string lab(o.d.open_lab());
  const auto before = o.w.lab().clone();
  o.folder.write("letter.txt", "Dear Sir or Madam, this is a letter.\n");
  o.w.opening.open((o.folder / "letter.txt").string());
  REQUIRE(o.d.settle());
  CHECK(o.d.was_said("letter.txt"));
  CHECK(o.d.open_lab() == lab);
  CHECK(o.w.lab().same_inputs(*before));
}

TEST_CASE("the kernel person's return by link: what was measured on this machine is still there") {
  Opened o("kernels/lab");
  REQUIRE(o.d.settle());
  const chapters::Field* runs = nullptr;
  for (const auto& field : o.w.lab().inputs())
    if (field.spec.origin == chapters::Origin::measured && !runs) runs = &field;
  REQUIRE(runs);
  const std::string key(runs->key);
  const app::Json row{{"ladder", "cpu_dot"}, {"rung", "scalar"}, {"time_s", 1e-3}};
  REQUIRE(app::merge_row(*runs, row.dump(), {}));
  o.w.update(false);
  // Away to other labs, and back by a link from a colleague, by a preset, and by undo.
  o.d.command("roofline");
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "roofline/roofline");
  CHECK(o.w.open_link("ridgeline://kernels/lab?device=cpu").error == "");
  REQUIRE(o.d.settle());
  CHECK(o.d.input(key.c_str()).table_size() == 1);
  o.ui.key(ImGuiKey_Z, ImGuiMod_Ctrl);
  o.ui.frames(3);
  CHECK(o.d.input(key.c_str()).table_size() == 1);
  o.ui.key(ImGuiKey_LeftArrow, ImGuiMod_Alt);
  REQUIRE(o.d.settle());
  o.ui.key(ImGuiKey_RightArrow, ImGuiMod_Alt);
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "kernels/lab");
  CHECK(o.d.input(key.c_str()).table_size() == 1);
}
