#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/app/shell/shell_fixture.h"
#include "tests/support/lab/sample_files.h"

using app::store::Found;
using support::Folder;

namespace {

models::Result<app::UserPaths> paths_of(const Folder& folder) {
  return models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"});
}

constexpr const char* config = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100})";

}  // namespace

namespace {

/// The catalog of a program that starts with this person's folders; the bundled one is put back at the end.
struct OwnCatalog {
  explicit OwnCatalog(const Folder& folder) {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), paths_of(folder)->config).catalog);
  }
  ~OwnCatalog() { support::put_back_bundled_catalog(); }
};

}  // namespace

TEST_CASE("where the person was comes back equal; a lab keeps the state that is newest") {
  const Folder folder;
  app::store::Resume mine, back;
  mine.labs["a/b"] = {R"({"x": 1})", "{}", 20};
  mine.lesson_steps["roofline"] = 3;
  mine.lesson = "roofline";
  mine.drawer = "explore";
  app::store::Resume theirs = mine;
  theirs.labs["a/b"] = {R"({"x": 2})", "{}", 10};
  theirs.labs["a/c"] = {"{}", "{}", 30};
  REQUIRE(app::store::save(folder / "resume.json", theirs).saved);
  REQUIRE(app::store::save(folder / "resume.json", mine).saved);
  REQUIRE(app::store::load(folder / "resume.json", back).found == Found::loaded);
  CHECK(back.labs.at("a/b").inputs == R"({"x": 1})");
  CHECK(back.labs.contains("a/c"));
  CHECK(back.lesson_steps == mine.lesson_steps);
  CHECK(back.lesson == "roofline");
  CHECK(back.drawer == "explore");
}

TEST_CASE("a corrupt resume file is set aside and said, and what was good in it is kept") {
  const Folder folder;
  std::filesystem::create_directories(folder / "state");
  folder.write("state/resume.json",
               R"({"version": 1, "drawer": "claims", "labs": {"roofline/roofline": 7}, "lesson_steps": {"x": -1}})");
  const Opened any;  // the catalog
  app::Workspace w(Opened::content(), paths_of(folder));
  CHECK(w.resume.drawer == "claims");
  CHECK(std::filesystem::exists(folder / "state/resume.json.corrupt-1"));
  bool said = false;
  for (const auto& message : w.messages())
    said = said || message.text.find("resume.json.corrupt-1") != std::string::npos;
  CHECK(said);
}

TEST_CASE("what was changed and changed back while the place was being kept is what the next start finds") {
  const Folder folder;
  const Opened any;  // the catalog
  {
    app::Workspace w(Opened::content(), paths_of(folder));
    w.resume.drawer = "notes";
    w.save();
    w.resume.drawer = "explore";
    w.keep_place(10);
    while (w.jobs.busy() > 0) ::usleep(100);  // it is written, and the workspace has not looked yet
    w.resume.drawer = "notes";
    w.save();
  }
  CHECK(app::Workspace(Opened::content(), paths_of(folder)).resume.drawer == "notes");
}

TEST_CASE("nothing is written while nothing changes, and at most once a second while something does") {
  Opened o;
  const auto path = o.folder / "state/resume.json";
  const auto settle = [&] {
    while (o.w.jobs.busy() > 0) usleep(1000);
  };
  o.d.type_value("inputs/Traffic", "3 GB");
  app::keep_place(o.d.shell, 10);
  settle();
  REQUIRE(std::filesystem::exists(path));
  std::filesystem::remove(path);
  for (int i = 1; i < 20; ++i) {
    o.ui.frames(1);
    app::keep_place(o.d.shell, 10 + i);
    settle();
  }
  CHECK_FALSE(std::filesystem::exists(path));
  o.d.type_value("inputs/Traffic", "4 GB");
  app::keep_place(o.d.shell, 40);
  settle();
  CHECK(std::filesystem::exists(path));
  std::filesystem::remove(path);
  o.d.type_value("inputs/Traffic", "5 GB");
  app::keep_place(o.d.shell, 40.5);  // too early
  settle();
  CHECK_FALSE(std::filesystem::exists(path));
  app::keep_place(o.d.shell, 41.1);
  settle();
  CHECK(std::filesystem::exists(path));
}

/// A lesson whose first steps ask nothing, so that a key goes on at once.
static std::size_t plain_lesson(const app::Content& content) {
  const auto at = std::find_if(content.lessons.begin(), content.lessons.end(),
                               [](const app::Lesson& lesson) { return lesson.id == "collectives"; });
  REQUIRE(at != content.lessons.end());
  return static_cast<std::size_t>(at - content.lessons.begin());
}

TEST_CASE("after kill -9 each lab, the drawer, the lesson's step and one's own file are as they were") {
  const Folder folder;
  folder.write("tiny.json", config);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    {
      support::ShellDriver d(Opened::content(), paths_of(folder), {1600, 1000});
      d.ui.frames(3);
      d.workspace.open("roofline/roofline");
      d.ui.frames(3);
      d.type_value("inputs/Traffic", "3 GB");
      d.ui.click("Explore");
      d.ui.frames(3);
      d.workspace.open("roofline/transformer-layer");
      d.ui.frames(3);
      if (!d.workspace.opening.open_and_wait((folder / "tiny.json").string()).error.empty()) _exit(4);
      d.ui.frames(3);
      app::keep_place(d.shell, 1);
      while (d.workspace.jobs.busy() > 0) usleep(1000);
      app::lesson_go(d.shell, plain_lesson(d.workspace.content), 0);
      d.ui.key(ImGuiKey_PageDown);
      d.ui.key(ImGuiKey_PageDown);
      d.ui.frames(3);
      app::keep_place(d.shell, 3);
      while (d.workspace.jobs.busy() > 0) usleep(1000);
      const char ready = 'r';
      if (write(ends[1], &ready, 1) != 1) _exit(5);
      for (double now = 10;; now += 0.01) {  // and goes on, writing too
        d.ui.frames(1);
        app::keep_place(d.shell, now);
      }
    }
  }
  close(ends[1]);
  char ready = 0;
  const bool came_so_far = read(ends[0], &ready, 1) == 1;
  usleep(20000);
  kill(child, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(came_so_far);
  REQUIRE(WIFSIGNALED(status));

  const OwnCatalog own(folder);
  support::ShellDriver d(Opened::content(), paths_of(folder), {1600, 1000});
  app::resume_shell(d.shell);
  d.ui.frames(3);
  CHECK(d.shell.drawer == app::Drawer::explore);
  CHECK(d.shell.lesson.playing);
  CHECK(d.shell.lesson.step == 2);
  CHECK(d.open_lab() == d.workspace.content.lessons[plain_lesson(d.workspace.content)].steps[2].lab);
  d.workspace.settings.keep_my_scenario = false;
  REQUIRE(d.workspace.open("roofline/transformer-layer"));
  CHECK(d.input("model").choice_id() == "tiny");  // what was opened was kept before the program was killed
}

TEST_CASE("after a quit every lab has its scenario and its view again, and a file that has gone is said") {
  const Folder folder;
  folder.write("mine.bin", support::sample_file(chapters::FileKind::safetensors));
  std::string reads;
  {
    support::ShellDriver d(Opened::content(), paths_of(folder), {1600, 1000});
    d.workspace.opening.open((folder / "mine.bin").string());
    REQUIRE(d.settle());
    if (d.workspace.opening.asked_reader()) d.workspace.opening.choose_reader(0);
    REQUIRE(d.settle());
    reads = d.open_lab();
    d.workspace.open("serving/batching");
    for (const auto& f : d.workspace.lab().view())
      if (f.key == "time") f.set_number(1.5);
    d.workspace.open("roofline/roofline");
    d.ui.frames(3);
    d.type_value("inputs/Traffic", "3 GB");
    app::note_shell(d.shell);
    d.workspace.save();
  }
  std::filesystem::remove(folder / "mine.bin");
  support::ShellDriver d(Opened::content(), paths_of(folder), {1600, 1000});
  CHECK(d.open_lab() == "roofline/roofline");
  CHECK(d.input("bytes").number() == 3e9);
  CHECK_FALSE(d.workspace.current().can_undo());
  d.workspace.open("serving/batching");
  if (const auto* time = d.workspace.lab().view().find("time")) CHECK(time->number() == 1.5);
  d.workspace.open(reads);
  CHECK(d.was_said("mine.bin"));
}
