#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/shell/home/teaching_order.h"
#include "chapters/mechanism/registry.h"
#include "tests/app/shell/shell_fixture.h"

namespace {

/// The same person opens the program: home, unless a lab was asked for.
struct Start {
  explicit Start(models::Result<app::UserPaths> paths, ImVec2 size = {1600, 1000})
      : d(Opened::content(), std::move(paths), size) {
    d.workspace.messages().clear();
    app::resume_shell(d.shell);
    app::go_home(d.shell);
    d.ui.frames(3);
    if (!d.settle()) throw std::runtime_error("the question of the day is not dealt");
  }
  support::ShellDriver d;
  support::UiDriver& ui = d.ui;
  app::Workspace& w = d.workspace;
};

models::Result<app::UserPaths> paths_in(const support::Folder& folder) {
  return models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"});
}

}  // namespace

TEST_CASE("the plan has sixteen chapters and 90 labs, and every open lab stands in it in teaching order") {
  const app::Content content = Opened::content();
  std::vector<std::string> planned, open, registered;
  for (const auto& chapter : content.curriculum)
    for (const auto& lab : chapter.labs) {
      planned.push_back(lab.id);
      CHECK(lab.id.starts_with(chapter.slug + "/"));
      if (chapters::has_lab(lab.id)) open.push_back(lab.id);
    }
  for (const auto& chapter : chapters::all_chapters())
    for (const auto& entry : chapter.labs) registered.emplace_back(entry.id);
  CHECK(content.curriculum.size() == 16);
  CHECK(planned.size() == 90);
  CHECK(open == registered);
}

TEST_CASE("the first start opens home: what this is, three doors, the map, what is next; no lab counts as visited") {
  const support::Folder folder;
  Start o(paths_in(folder));
  CHECK(o.ui.text_present("Drag a number and see which wall you hit"));
  CHECK(o.ui.has("Learn"));
  CHECK(o.ui.has("Practise"));
  CHECK(o.ui.has("My data"));
  CHECK_FALSE(o.ui.has("Continue"));
  CHECK(o.ui.text_present("Capstone"));
  CHECK(o.ui.text_present("90 labs"));
  CHECK(o.ui.text_present("next"));
  for (const auto& chapter : o.d.shell.home.chapters)
    for (const auto& lab : chapter.labs) CHECK_FALSE(lab.here);
  for (const auto& chapter : chapters::all_chapters())
    for (const auto& entry : chapter.labs) CHECK(o.w.learner.quarters(entry.id).count() == 0);
}

TEST_CASE("a lab on the map opens it, and Ctrl+H comes home, where it is now \"here\"") {
  const support::Folder folder;
  Start o(paths_in(folder));
  o.ui.click("home/precision/bits");
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::lab);
  CHECK(o.d.open_lab() == "precision/bits");
  o.ui.key(ImGuiKey_H, ImGuiMod_Ctrl);
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::home);
  CHECK(o.d.shell.home.chapters[4].labs[1].here);
  CHECK(o.ui.text_present("Continue where you were"));
  o.ui.click("Continue");
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::lab);
  o.ui.click("rail/Ridgeline");  // the logo
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::home);
}

TEST_CASE(
    "the first lesson starts from home on the roofline, with two controls, and is gone on with where it was left") {
  const support::Folder folder;
  Start o(paths_in(folder));
  CHECK(o.ui.text_present("start the lesson"));
  o.ui.click("Learn");
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/roofline");
  const app::LessonStep* step = app::step_shown(o.d.shell);
  REQUIRE(step);
  CHECK(step->controls.size() == 2);
  CHECK_FALSE(step->point_at.empty());
  o.ui.key(ImGuiKey_PageDown);
  o.ui.key(ImGuiKey_PageDown);
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(2);
  CHECK_FALSE(o.d.shell.lesson.playing);
  o.ui.key(ImGuiKey_H, ImGuiMod_Ctrl);
  o.ui.frames(2);
  CHECK(o.ui.text_present("go on at step 3 of"));
  o.ui.click("Learn");
  CHECK(o.d.shell.lesson.playing);
  CHECK(o.d.shell.lesson.step == 2);
}

TEST_CASE("Practise opens the question of the day, whose words are on the door") {
  const support::Folder folder;
  Start o(paths_in(folder));
  const std::string question = o.d.shell.home.doors.question;
  REQUIRE_FALSE(question.empty());
  o.ui.click("Practise");
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "interview/drills");
  CHECK(o.d.output("question").text() == question);
}

TEST_CASE("the doors of home have words from the first frame on, and the lesson's fit into two lines") {
  support::ShellDriver d(Opened::content(), support::nowhere(), {1280, 720}, true);
  app::go_home(d.shell);
  d.ui.frames(1);
  CHECK_FALSE(d.shell.home.doors.question.empty());
  CHECK(d.shell.home.doors.lesson.size() <= 72);
}

TEST_CASE("the first question of the day of a beginner is of level 1, and no large model's") {
  const support::Folder folder;
  Start o(paths_in(folder));
  const std::string question = o.d.shell.home.doors.question;
  o.ui.click("Practise");
  REQUIRE(o.d.settle());
  CHECK(o.d.output("level_now").number() == 1);
  CHECK(question.find("DeepSeek") == std::string::npos);
  CHECK(o.d.input("opened").table_size() >= 1);
  // What was opened is no row of what is kept.
  o.w.save();
  CHECK(o.w.kept.tables.find("labs.opened") == o.w.kept.tables.end());
}

TEST_CASE("home is walked by the keyboard alone: Tab reaches every door and lab, Enter opens") {
  const support::Folder folder;
  Start o(paths_in(folder));
  std::vector<std::string> reached;
  for (int i = 0; i < 120; ++i) {  // more than there are doors and labs
    o.ui.key(ImGuiKey_Tab);
    if (const auto* item = o.ui.probe().find_id(o.ui.context()->NavId)) reached.push_back(item->label);
  }
  for (const char* label : {"Learn", "Practise", "My data", "roofline/hierarchy", "kernels/lab", "Ctrl K", "Help"}) {
    INFO(label);
    CHECK(std::find(reached.begin(), reached.end(), label) != reached.end());
  }
  for (int i = 0; i < 80 && o.d.shell.page == app::Page::home; ++i) {
    o.ui.key(ImGuiKey_Tab);
    const auto* item = o.ui.probe().find_id(o.ui.context()->NavId);
    if (item && item->label == "serving/batching") o.ui.key(ImGuiKey_Enter);
  }
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "serving/batching");
}

TEST_CASE("a row says on hover what is left of its ring") {
  const support::Folder folder;
  Start o(paths_in(folder));
  o.ui.hover("home/roofline/iron-law");
  CHECK(o.ui.text_present("Left: open it; predict, 0 of"));
}

TEST_CASE("a row says on hover what can be done after the lab, and which labs that were not opened come first") {
  const support::Folder folder;
  Start o(paths_in(folder));
  o.ui.hover("home/roofline/iron-law");
  CHECK(o.ui.text_present("After it you can:"));
  CHECK(o.ui.text_present(o.w.content.of("roofline/iron-law").objectives[1].can));
  CHECK(o.ui.text_present("Better first: Roofline."));
  o.w.open("roofline/roofline");
  CHECK(app::aims_text(o.w, "roofline/iron-law").find("Better first") == std::string::npos);
}

TEST_CASE("home fits the window from 1280x800 on, in columns that do not overlap, and scrolls in a small one") {
  std::vector<app::HomeBlock> blocks;
  for (const auto& chapter : Opened::content().curriculum) {
    app::HomeBlock block{0, chapter.labs.size()};
    for (const auto& lab : chapter.labs) block.open += chapters::has_lab(lab.id) ? 1 : 0;
    blocks.push_back(block);
  }
  const auto check = [&](float width, float room, int columns, bool folded) {
    INFO(width << " wide, " << room << " high");
    const app::HomeMap map = app::lay_out_map(blocks, width, room);
    CHECK(map.columns == columns);
    CHECK(map.folded == folded);
    REQUIRE(map.at.size() == blocks.size());
    for (std::size_t i = 0; i < map.at.size(); ++i) {
      const float end =
          map.at[i].y + app::home::header + map.row * static_cast<float>(app::rows_of(blocks[i], map.folded));
      CHECK(map.at[i].x + map.column_width <= width + 0.5f);
      if (i + 1 < map.at.size() && map.at[i + 1].x == map.at[i].x) CHECK(map.at[i + 1].y > end);
      if (map.at[i].x == map.box.x) CHECK(end <= map.box.y);
    }
    return map.height;
  };
  CHECK(check(1520, 690, 5, false) <= 690);
  CHECK(check(1840, 770, 5, false) <= 770);
  // Four columns were enough for the first 50 labs; with the first of Inference a fifth stands beside them.
  CHECK(check(1200, 500, 5, true) <= 500);
  CHECK(check(600, 180, 2, true) > 180);
  CHECK(check(230, 180, 1, true) > 180);
}

TEST_CASE("minutes come from words, presets and questions") {
  app::LabContent lab;
  for (int i = 0; i < 400; ++i) lab.prose[0] += "word\n";
  lab.presets.resize(4);
  lab.predictions.resize(2);
  CHECK(app::minutes_of(lab) == 2 + 2 + 3);
}

TEST_CASE("planned chapters of the rail are there with the word, and do nothing") {
  const support::Folder folder;
  app::Content content = Opened::content();
  content.curriculum.push_back({"epilogue", "16", "Epilogue", {{"epilogue/curtain", "Curtain"}}});
  support::ShellDriver d(std::move(content),
                         models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"}),
                         {1700, 1000});
  REQUIRE(d.workspace.open("roofline/roofline"));
  d.workspace.settings.rail = app::store::Settings::Rail::open;
  d.ui.frames(3);
  CHECK(d.ui.text_present("planned"));
  d.ui.click("rail/Epilogue");
  d.ui.frames(2);
  CHECK(d.open_lab() == "roofline/roofline");
}

TEST_CASE("the rail folds to numbers in a narrow window, by its button and by Ctrl+B, and that is remembered") {
  Opened o;
  o.w.settings.rail = app::store::Settings::Rail::by_width;
  const auto width = [&] { return app::rail_width(o.d.shell, ImGui::GetIO().DisplaySize); };
  o.ui.resize({1280, 800});
  CHECK(width() == 48);
  o.ui.resize({1920, 1080});
  CHECK(width() > 180);
  o.ui.click("Fold rail");
  o.ui.frames(2);
  CHECK(width() == 48);
  CHECK(o.w.settings.rail == app::store::Settings::Rail::folded);
  o.ui.resize({1280, 800});
  o.ui.key(ImGuiKey_B, ImGuiMod_Ctrl);
  o.ui.frames(2);
  CHECK(width() > 180);
  CHECK(o.w.settings.rail == app::store::Settings::Rail::open);
  o.w.save();
  app::store::Settings back;
  REQUIRE(app::store::load(o.folder / "config/settings.json", back).found == app::store::Found::loaded);
  CHECK(back.rail == app::store::Settings::Rail::open);
  // A folded rail still leads to every chapter.
  o.ui.key(ImGuiKey_B, ImGuiMod_Ctrl);
  o.ui.frames(2);
  o.ui.click("rail/Precision");
  CHECK(o.d.open_lab() == "precision/number-line");
}

TEST_CASE("next on home is the first lab in teaching order that was never opened, wherever the person is") {
  Opened o;
  const auto next = [&] {
    for (const auto& chapter : app::home_of(o.d.shell).chapters)
      for (const auto& lab : chapter.labs)
        if (lab.next) return lab.id;
    return std::string();
  };
  std::vector<std::string> in_order;
  for (const auto& chapter : o.w.content.curriculum)
    for (const auto& lab : chapter.labs)
      if (o.w.open(lab.id)) in_order.push_back(lab.id);
  REQUIRE(in_order.size() > 3);
  o.w.progress = {};
  o.w.open(in_order.back());
  CHECK(next() == in_order[0]);
  o.w.open(in_order[0]);
  CHECK(next() == in_order[1]);
}

TEST_CASE("next is never a lab before those that it needs, and nothing is locked where all others need something") {
  Opened o;
  const auto next = [&] { return app::next_of(app::course_of(o.w))->id; };
  o.w.progress = {};
  o.w.open("kernels/lab");
  auto& labs = o.w.content.labs;
  labs.find("role/compounding")->second.needs = {"term:GEMM", "roofline/roofline"};
  CHECK(next() == "roofline/hierarchy");  // all of the first chapter needs its first lab
  for (auto& [id, content] : labs) content.needs = {"serving/batching"};
  CHECK(next() == "role/compounding");
}

TEST_CASE("today offers what is due, one new lab and the question of the day, each in one press") {
  const support::Folder folder;
  Start o(paths_in(folder));
  CHECK(o.ui.text_present("Today"));
  CHECK(o.ui.text_present("nothing is due"));
  const auto& today = o.d.shell.home.today;
  REQUIRE_FALSE(today.lab.empty());
  CHECK(today.lab == o.w.content.curriculum.front().labs.front().id);
  const std::string lab = today.lab;
  o.ui.click(today.lab_text);
  o.ui.frames(3);
  CHECK(o.d.open_lab() == lab);
  app::go_home(o.d.shell);
  o.ui.frames(3);
  o.ui.click("question of the day, 2 min");
  o.ui.frames(3);
  CHECK(o.d.open_lab() == "interview/drills");
}

TEST_CASE("time counts while a hand is on the lab, and neither at home nor when nobody touches anything") {
  Opened o;
  double now = 100;
  const auto second = [&](bool hand) {
    if (hand) o.d.shell.hand_s = now;
    now += 1;
    app::keep_place(o.d.shell, now);
  };
  app::keep_place(o.d.shell, now);
  for (int i = 0; i < 10; ++i) second(true);
  CHECK(o.w.progress.spent_s() == 10);
  for (int i = 0; i < 200; ++i) second(false);
  CHECK(o.w.progress.spent_s() == 69);  // 59 more after the last touch, which was a second ago
  app::go_home(o.d.shell);
  for (int i = 0; i < 10; ++i) second(true);
  CHECK(o.w.progress.spent_s() == 69);
}
