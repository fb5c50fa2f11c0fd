#include <catch2/catch_test_macros.hpp>

#include "chapters/practice/drill_history.h"
#include "tests/app/shell/shell_fixture.h"
#include "widgets/base/parts.h"

namespace {

/// Somebody on the page of a chapter's test.
struct Tested : Opened {
  explicit Tested(const char* chapter = "roofline") {
    app::open_chapter_test(d.shell, chapter);
    settle();
  }
  void settle() {
    REQUIRE(d.settle());
    ui.frames(3);
  }
  app::ChapterTestState& state() { return d.shell.chapter_test; }
  const app::TestItem& asked() { return (*state().dealt)->items[state().marks.size()]; }
  /// Answers what is asked, rightly or not.
  void answer(bool rightly) {
    const app::TestItem item = asked();
    if (item.choices.empty()) {
      ui.click("##test answer");
      ui.type(widgets::exact(item.number.answer * (rightly ? 1 : 3.3)) + " " + std::string(item.number.unit));
      ui.key(ImGuiKey_Enter);
    } else {
      ui.click(item.choices[rightly ? item.right : (item.right + 1) % item.choices.size()]);
      ui.frames(2);
      ui.click("Answer");
    }
    ui.frames(3);
  }
};

}  // namespace

TEST_CASE("a test asks one question after the other, shows no answer before the end, and then what each was worth") {
  Tested o;
  o.ui.resize({1600, 2400});  // all ten of the end
  REQUIRE(o.d.shell.page == app::Page::chapter_test);
  CHECK(o.ui.text_present("Chapter test: The roofline"));
  for (int i = 0; i < 10; ++i) {
    INFO(i);
    CHECK(o.ui.text_present("Question " + std::to_string(i + 1) + " of 10"));
    CHECK_FALSE(o.ui.text_present("right,"));
    if (i == 9)
      o.ui.click("I do not know");
    else
      o.answer(i != 4);
    o.ui.frames(3);
    CHECK(o.state().marks.size() == static_cast<std::size_t>(i) + 1);
  }
  CHECK(o.ui.text_present("8 of 10"));
  CHECK(o.ui.text_present("8 right, 0 near, 2 wrong"));
  CHECK(o.ui.text_present("you gave no answer"));
  // At eight of ten the next lab of the course is next. It is kept, and there is no second try today.
  app::store::Progress kept;
  REQUIRE(app::store::load(o.folder / "data/progress.json", kept).found == app::store::Found::loaded);
  REQUIRE(kept.latest_test("roofline"));
  CHECK(kept.latest_test("roofline")->right == 8);
  app::go_home(o.d.shell);
  o.ui.frames(3);
  CHECK(o.ui.text_present("test 8 of 10"));
  o.d.shell.chapter_test = {};  // as after a new start of the program
  app::open_chapter_test(o.d.shell, "roofline");
  o.settle();
  CHECK(o.ui.text_present("8 right, 0 near, 2 wrong"));
  CHECK_FALSE(o.ui.text_present("Question 1 of 10"));
  o.ui.click("Next lab: Compounding");
  o.ui.frames(3);
  CHECK(o.d.open_lab() == "role/compounding");
}

TEST_CASE("below eight of ten the test leads back to the lab that was missed most") {
  Tested o("driving");
  for (int i = 0; i < 10; ++i) o.ui.click("I do not know");
  o.ui.frames(3);
  CHECK(o.ui.text_present("0 of 10"));
  REQUIRE(o.state().next_lab.starts_with("driving/"));
  o.ui.click("Look again: " + o.w.title_of(o.state().next_lab));
  o.ui.frames(3);
  CHECK(o.d.open_lab() == o.state().next_lab);
}

TEST_CASE("what cannot be read is refused in words, and a test that was left goes on where it was") {
  Tested o;
  while (!o.asked().choices.empty()) o.answer(true);
  const std::size_t behind = o.state().marks.size();
  o.ui.click("##test answer");
  o.ui.type("blue");
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(3);
  CHECK_FALSE(o.state().refused.empty());
  CHECK(o.state().marks.size() == behind);
  app::go_home(o.d.shell);
  o.ui.frames(3);
  o.ui.click("home/test roofline");
  o.settle();
  CHECK(o.ui.text_present("Question " + std::to_string(behind + 1) + " of 10"));
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(3);
  CHECK(o.d.shell.page == app::Page::home);
}

TEST_CASE("tests of yesterday leave today's to be taken; the palette opens it") {
  Opened o;
  const auto yesterday = static_cast<std::int64_t>(1'700'000'000);
  o.w.progress.keep_test({"roofline", yesterday, 9, 0, 10});
  o.d.command("Chapter test: The roofline");
  REQUIRE(o.d.settle());
  o.ui.frames(3);
  CHECK(o.ui.text_present("Question 1 of 10"));
}

TEST_CASE("the record is written where the person says, from home and from a lab") {
  Opened o;
  o.w.files.folder["record"] = o.folder.path.string();
  const auto save_as = [&](const char* name) {
    o.ui.frames(3);
    o.ui.fill("##path", name);
    o.ui.frames(4);
  };
  o.d.command("My record");
  save_as("lab.html");
  CHECK(std::filesystem::exists(o.folder / "lab.html"));
  app::go_home(o.d.shell);
  o.ui.wait(30);  // the message that says where it was written goes away
  o.ui.click("my record");
  save_as("home.html");
  CHECK(std::filesystem::exists(o.folder / "home.html"));
  CHECK(o.d.was_said("Saved "));
}
