#include "app/shell/open/open_panel.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/scenario/scenario.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/support/lab/reader_choice.h"
#include "tests/support/lab/sample_files.h"

namespace {

/// Somebody with files in a folder, which the panel shows first.
struct Choosing : Opened {
  Choosing() {
    std::filesystem::create_directory(folder / "mine");
    folder.write("mine/runs.csv", "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n");
    folder.write("mine/notes.md", "nothing that a lab reads");
    std::filesystem::create_directory(folder / "mine/deep");
    folder.write("mine/deep/arrivals.csv", "time,prompt,output\n0,100,20\n1,200,30\n");
    w.files.folder["csv"] = (folder / "mine").string();
  }
  /// A scenario that names a file, which the program asks about before it is opened.
  void show_scenario_of_a_file() {
    folder.write("mine/of a file.json",
                 R"({"lab": "roofline/roofline", "version": 1, "inputs": {"measured": "runs.csv"}})");
    w.opening.open((folder / "mine/of a file.json").string());
    w.opening.wait();
  }
  void type_path(const std::string& path) {
    ui.fill("##path", path);
    w.opening.wait();
    ui.frames(3);
  }
  app::OpenPanel& panel() { return d.shell.open_panel; }
  void press(ImGuiKey key, ImGuiKeyChord mods = ImGuiMod_None) {
    ui.key(key, mods);
    ui.frames(3);
    w.opening.wait();
    ui.frames(3);
  }
};

}  // namespace

TEST_CASE("Ctrl+O shows the folder of the files used last; the keyboard alone opens a file in a folder of it") {
  Choosing o;
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  REQUIRE(o.panel().open);
  REQUIRE(o.panel().list.entries.size() == 2);  // the text is not of a kind that labs read
  CHECK(o.panel().list.entries[0].name == "deep");
  CHECK(o.panel().list.entries[1].name == "runs.csv");
  CHECK(o.ui.text_present("runs.csv"));
  CHECK(o.ui.text_present("Roofline, Counters"));  // who reads it, and others
  o.press(ImGuiKey_Enter);                         // into the folder
  CHECK(o.panel().ask.folder == (o.folder / "mine/deep").string());
  REQUIRE(o.panel().open);
  o.press(ImGuiKey_Backspace);  // and out again
  CHECK(o.panel().ask.folder == (o.folder / "mine").string());
  o.press(ImGuiKey_DownArrow);
  CHECK(o.panel().selected == 1);
  o.press(ImGuiKey_Enter);
  CHECK_FALSE(o.panel().open);
  CHECK(o.w.lab().inputs().find("measured")->file().path == (o.folder / "mine/runs.csv").string());
  // It is offered next time, and comes back after a restart.
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  CHECK(o.ui.text_present("Opened last"));
  o.press(ImGuiKey_Escape);
  CHECK_FALSE(o.panel().open);
  app::store::Files kept;
  (void)load(o.folder / "state/files.json", kept);
  CHECK(kept.opened == std::vector<std::string>{(o.folder / "mine/runs.csv").string()});
}

TEST_CASE(
    "on home My data shows the panel, which opens a file or leaves by Escape, and a question about files is asked") {
  Choosing o;
  o.press(ImGuiKey_H, ImGuiMod_Ctrl);
  REQUIRE(o.d.shell.page == app::Page::home);
  o.ui.click("My data");
  o.ui.frames(3);
  REQUIRE(o.panel().open);
  CHECK(o.ui.text_present("runs.csv"));
  o.press(ImGuiKey_Escape);
  CHECK_FALSE(o.panel().open);
  CHECK(o.d.shell.page == app::Page::home);
  o.show_scenario_of_a_file();
  o.ui.frames(3);
  REQUIRE(o.ui.text_present("Open it only if you know it:"));
  o.press(ImGuiKey_Escape);
  CHECK_FALSE(o.w.opening.asked());
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  o.type_path((o.folder / "mine/runs.csv").string());
  CHECK(o.d.shell.page == app::Page::lab);
  CHECK(o.w.lab().inputs().find("measured")->file().path == (o.folder / "mine/runs.csv").string());
}

TEST_CASE("a question about files waits until help is closed, and is then asked") {
  Choosing o;
  o.press(ImGuiKey_F1);
  REQUIRE(o.d.shell.help_open);
  o.show_scenario_of_a_file();
  o.ui.frames(4);
  CHECK(o.ui.text_present("Pointer and controls"));
  o.press(ImGuiKey_Escape);
  CHECK_FALSE(o.d.shell.help_open);
  REQUIRE(o.w.opening.asked());
  CHECK(o.ui.text_present("Open it only if you know it:"));
}

TEST_CASE("a part of a name filters, a typed path opens, and what is not there is said") {
  Choosing o;
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  o.ui.type("RUN");
  o.ui.frames(2);
  REQUIRE(o.panel().list.entries.size() == 1);
  CHECK(o.panel().list.entries[0].name == "runs.csv");
  o.press(ImGuiKey_Escape);
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  o.ui.type("deep/none.csv");
  o.press(ImGuiKey_Enter);
  REQUIRE(o.panel().open);
  CHECK(o.panel().error.find("There is no file \"") == 0);
  CHECK(o.ui.text_present("none.csv"));
  o.type_path("deep/arrivals.csv");
  CHECK_FALSE(o.panel().open);
  support::take_reader(o.w, "serving/batching");
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "serving/batching");
  // A file of no lab shows when every file is asked for, and is refused with what labs read.
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  o.ui.type((o.folder / "mine/").string());
  o.press(ImGuiKey_Enter);
  CHECK(o.panel().ask.folder == (o.folder / "mine").string());
  o.ui.click("Every file");
  o.ui.frames(2);
  CHECK(o.panel().list.entries.size() == 3);
  CHECK(o.ui.text_present("notes.md"));
}

TEST_CASE(
    "an export goes where it is told, next to what is there or over it when that is said, and the folder is kept") {
  Choosing o;
  std::string shown;
  o.d.shell.host.show_folder = [&](const std::string& folder) { shown = folder; };
  o.w.files.folder["scenario"] = (o.folder / "mine").string();
  o.d.type_value("inputs/Traffic", "3 GB");
  o.d.command("export scenario");
  o.ui.frames(2);
  REQUIRE(o.panel().open);
  CHECK(std::string(o.panel().typed) == "roofline-roofline.json");
  o.press(ImGuiKey_Enter);
  REQUIRE(std::filesystem::exists(o.folder / "mine/roofline-roofline.json"));
  const std::string first = o.folder.read("mine/roofline-roofline.json");
  // The file that is there keeps its name to itself.
  o.d.command("export scenario");
  o.ui.frames(2);
  CHECK(std::string(o.panel().typed) == "roofline-roofline-2.json");
  o.type_path((o.folder / "mine/deep/mine").string());
  CHECK_FALSE(o.panel().open);
  CHECK(o.folder.read("mine/deep/mine.json") == first);
  CHECK(o.w.files.folder["scenario"] == (o.folder / "mine/deep").string());
  // Over a file that is there only on a second word.
  o.d.type_value("inputs/Traffic", "4 GB");
  o.d.command("export scenario");
  o.ui.frames(2);
  CHECK(o.panel().ask.folder == (o.folder / "mine/deep").string());
  o.type_path("mine.json");
  REQUIRE(o.panel().open);
  CHECK(o.ui.text_present("is there already"));
  CHECK(o.folder.read("mine/deep/mine.json") == first);
  o.ui.click("Replace");
  o.ui.frames(3);
  CHECK_FALSE(o.panel().open);
  CHECK(o.folder.read("mine/deep/mine.json") != first);
  o.ui.frames(3);
  o.ui.click("Show folder");
  CHECK_FALSE(shown.empty());
}

TEST_CASE(
    "an exported scenario carries a small text and names what is no text beneath its folder, which it asks about") {
  Choosing o;
  o.w.files.folder["scenario"] = (o.folder / "mine").string();
  const auto exported = [&](const char* name) {
    o.d.command("export scenario");
    o.ui.frames(2);
    o.press(ImGuiKey_Enter);
    return app::Json::parse(o.folder.read(std::string("mine/") + name))["inputs"];
  };
  const auto file_of_lab = [&] {
    for (const chapters::Field& f : o.w.lab().inputs())
      if (f.kind == chapters::Kind::file && !f.file().path.empty()) return std::string(f.key);
    return std::string();
  };
  REQUIRE(o.w.opening.open_and_wait((o.folder / "mine/runs.csv").string()).error == "");
  CHECK(exported("roofline-roofline.json")["measured"]["text"] == o.folder.read("mine/runs.csv"));

  o.folder.write("mine/weights.safetensors", support::sample_file(chapters::FileKind::safetensors));
  o.w.opening.open((o.folder / "mine/weights.safetensors").string());
  REQUIRE(o.d.settle());
  if (o.w.opening.asked_reader()) o.w.opening.choose_reader(0);
  REQUIRE(o.d.settle());
  const std::string key = file_of_lab(), lab(o.d.open_lab());
  REQUIRE_FALSE(key.empty());
  std::string name = lab + ".json";
  std::replace(name.begin(), name.end(), '/', '-');
  CHECK(exported(name.c_str())[key] == "weights.safetensors");
  o.ui.click("Reset");
  o.ui.frames(2);
  std::filesystem::rename(o.folder / "mine", o.folder / "moved");  // the folder is handed on
  const std::string moved = (o.folder / "moved" / name).string();
  REQUIRE(o.w.opening.open_and_wait(moved).error == "");
  o.ui.frames(3);
  CHECK(o.ui.text_present(name + " names a file on this machine. Open it only if you know it:"));
  CHECK(o.ui.text_present((o.folder / "moved/weights.safetensors").string()));
  CHECK(file_of_lab().empty());
  o.ui.click("Open it");
  o.w.opening.wait();
  REQUIRE(o.d.settle());
  CHECK(o.w.lab().inputs().find(key)->file().path == (o.folder / "moved/weights.safetensors").string());
  REQUIRE(o.w.opening.open_and_wait(moved).error == "");
  o.ui.frames(3);
  o.press(ImGuiKey_Escape);
  CHECK_FALSE(o.w.opening.asked());
}

TEST_CASE("a link that is pasted into the palette opens; a wrong one says what is wrong") {
  Choosing o;
  o.d.command("ridgeline://serving/batching?requests=77");
  CHECK(o.d.open_lab() == "serving/batching");
  CHECK(o.in("requests") == 77);
  o.w.messages().clear();
  o.d.command("ridgeline://roofline/none");
  CHECK(o.d.open_lab() == "serving/batching");
  CHECK(o.d.was_said("is not a link to a lab"));
}

TEST_CASE("where the desktop has a chooser it asks, in a job; where that fails our own panel does") {
  Choosing o;
  app::FileAsk asked;
  const std::string path = (o.folder / "mine/deep/arrivals.csv").string();
  o.d.shell.host.choose_file = [&](const app::FileAsk& ask, const std::function<bool()>&) {
    asked = ask;
    return models::Result<std::string>::ok(path);
  };
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  REQUIRE(o.d.settle());
  CHECK_FALSE(o.panel().open);
  support::take_reader(o.w, "serving/batching");
  REQUIRE(o.d.settle());
  CHECK(o.d.open_lab() == "serving/batching");
  CHECK(asked.folder == (o.folder / "mine").string());
  CHECK(std::find(asked.suffixes.begin(), asked.suffixes.end(), ".safetensors") != asked.suffixes.end());
  o.d.shell.host.choose_file = [](const app::FileAsk&, const std::function<bool()>&) {
    return models::Result<std::string>::fail("It does not work.");
  };
  o.press(ImGuiKey_O, ImGuiMod_Ctrl);
  REQUIRE(o.d.settle());
  CHECK(o.panel().open);
}

TEST_CASE("the desktop's choosers are called with folder, name and filter; none is found without a desktop") {
  using Words = std::vector<std::string>;
  const app::FileAsk open{.title = "Open", .folder = "/a", .suffixes = {".json", ".csv"}};
  const app::FileAsk save{.save = true, .title = "Save", .folder = "/a", .name = "x.png"};
  CHECK(app::chooser_call("/usr/bin/zenity", open) ==
        Words{"/usr/bin/zenity", "--file-selection", "--title=Open", "--filename=/a/",
              "--file-filter=Files that labs read | *.json *.csv", "--file-filter=Every file | *"});
  CHECK(app::chooser_call("/usr/bin/zenity", save) == Words{"/usr/bin/zenity", "--file-selection", "--title=Save",
                                                            "--filename=/a/x.png", "--save", "--confirm-overwrite"});
  CHECK(app::chooser_call("/usr/bin/kdialog", open) == Words{"/usr/bin/kdialog", "--title", "Open", "--getopenfilename",
                                                             "/a/", "*.json *.csv|Files that labs read\n*|Every file"});
  const support::Folder folder;
  folder.write("zenity", "#!/bin/sh\necho /chosen/file.csv\n");
  ::chmod((folder / "zenity").c_str(), 0700);
  const std::string path = folder.path.string();
  bool desktop = false;
  const app::Environment environment = [&](const char* name) -> const char* {
    if (std::string_view(name) == "PATH") return path.c_str();
    return desktop && std::string_view(name) == "DISPLAY" ? ":0" : nullptr;
  };
  CHECK_FALSE(app::desktop_chooser(environment));
  CHECK_FALSE(app::folder_shower(environment));
  desktop = true;
  const auto chooser = app::desktop_chooser(environment);
  REQUIRE(chooser);
  const auto never = [] { return false; };
  CHECK(*chooser(open, never) == "/chosen/file.csv");
  folder.write("zenity", "#!/bin/sh\nexit 1\n");
  CHECK(*chooser(open, never) == "");
  folder.write("zenity", "#!/bin/sh\nexit 5\n");
  CHECK(chooser(open, never).error.find("The desktop's file chooser does not work: ") == 0);
}

TEST_CASE("a folder is listed with its folders first, without what is hidden, special or of another kind") {
  const support::Folder folder;
  for (const char* name : {"b.csv", "A.CSV", "c.txt", ".hidden.csv"}) folder.write(name, "x");
  std::filesystem::create_directory(folder / "z");
  REQUIRE(::mkfifo((folder / "pipe.csv").c_str(), 0600) == 0);
  const auto names = [&](const std::vector<std::string>& suffixes, const char* part) {
    std::string all;
    for (const auto& e : app::list_folder(folder.path, suffixes, part).entries) all += e.name + " ";
    return all;
  };
  CHECK(names({".csv"}, "") == "z A.CSV b.csv ");
  CHECK(names({}, "") == "z A.CSV b.csv c.txt ");
  CHECK(names({".csv"}, "B") == "b.csv ");
  CHECK(names({".csv"}, ".h") == ".hidden.csv ");
  CHECK(app::list_folder(folder / "none", {}, "").note == "This folder does not exist.");
  CHECK(app::list_folder(folder / "z", {}, "").note == "This folder is empty.");
  CHECK(app::list_folder(folder.path, {".gz"}, "c.").note == "No file here is of a kind that labs read.");
  CHECK(app::free_name(folder.path, "b.csv") == "b-2.csv");
  CHECK(app::free_name(folder.path, "new.csv") == "new.csv");
  CHECK(app::typed_path("~/x", "/a", "/home/me") == "/home/me/x");
  CHECK(app::typed_path(" ../x ", "/a/b", "/home/me") == "/a/x");
  CHECK(app::typed_path("/x", "/a", "") == "/x");
}
