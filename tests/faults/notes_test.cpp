#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/app/shell/shell_fixture.h"

/// Notes from the editor to the disk, without a window.

namespace {

struct Writing : Opened {
  Writing() {
    ui.click("Notes");
    ui.frames(3);
  }
  std::filesystem::path file() const { return folder / "data/notes.json"; }
  std::string on_disk() const { return std::filesystem::exists(file()) ? folder.read("data/notes.json") : ""; }
  void type(const char* text) {
    ui.click("##notes");
    ui.type(text);
    ui.frames(2);
  }
  /// As the window's loop asks.
  void wait_until(double now_s) {
    while (w.jobs.busy() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    app::keep_place(d.shell, now_s);
  }
};

}  // namespace

TEST_CASE("a note is on the disk a second after its last change, though the editor keeps the focus") {
  Writing o;
  o.wait_until(100);
  o.type("the ridge");
  o.wait_until(100.1);
  CHECK(o.on_disk().find("the ridge") == std::string::npos);
  o.wait_until(101);
  CHECK(o.on_disk().find("the ridge") == std::string::npos);
  o.wait_until(101.2);
  CHECK(o.on_disk().find("the ridge") != std::string::npos);
  // One who writes without a pause is not waited for for ever.
  for (int i = 0; i < 30; ++i) {
    o.ui.type("x");
    o.ui.frames(1);
    o.wait_until(102 + 0.5 * i);
  }
  CHECK(o.on_disk().find("xxxxx") != std::string::npos);
}

TEST_CASE("a note of any length is edited whole, and no character is cut") {
  Writing o;
  std::string longest = "begins ";
  while (longest.size() < 40'000) longest += "\xC3\xA4\xE2\x82\xAC";
  o.w.notes.set("roofline/roofline", longest + " ends");
  o.d.shell.note_lab.clear();  // as when the lab is opened again
  o.ui.frames(2);
  o.ui.click("##notes");
  o.ui.key(ImGuiKey_End, ImGuiMod_Ctrl);
  o.ui.key(ImGuiKey_Backspace);
  o.ui.key(ImGuiKey_Backspace);
  o.ui.frames(2);
  CHECK(o.w.notes.of("roofline/roofline") == longest + " en");
  o.type("tire");
  CHECK(o.w.notes.of("roofline/roofline").size() > 40'000);
  o.wait_until(10);
  o.wait_until(12);
  app::store::Notes read;
  REQUIRE(read.load(o.file()).found == app::store::Found::loaded);
  CHECK(read.of("roofline/roofline") == o.w.notes.of("roofline/roofline"));
}

TEST_CASE("a save that fails is said once, tried again, and loses nothing") {
  Writing o;
  o.wait_until(100);
  std::filesystem::create_directories(o.folder / "data");
  std::filesystem::create_directory(o.folder /
                                    "data/notes.json");  // a folder in the file's place: nothing can be written
  std::filesystem::remove(o.folder / "data/progress.json");
  std::filesystem::create_directory(o.folder / "data/progress.json");
  o.w.messages().clear();
  o.type("kept in memory");
  o.w.progress.explore("roofline/roofline");
  for (int i = 0; i < 20; ++i) o.wait_until(101 + i);
  std::size_t said = 0;
  for (const auto& message : o.w.messages()) said += message.text.find("notes.json") != std::string::npos;
  CHECK(said == 1);
  std::filesystem::remove(o.folder / "data/notes.json");
  std::filesystem::remove(o.folder / "data/progress.json");
  for (int i = 0; i < 70; ++i) o.wait_until(121 + i);
  CHECK(o.on_disk().find("kept in memory") != std::string::npos);
  app::store::Progress progress;
  REQUIRE(app::store::load(o.folder / "data/progress.json", progress).found == app::store::Found::loaded);
  CHECK(progress.labs.at("roofline/roofline").explored);
}
