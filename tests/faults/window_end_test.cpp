#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/faults/program.h"
#include "tests/support/base/files.h"

/// The real window on a display of its own (Xvfb), with real keys (xdotool): what was typed into the notes survives
/// whatever ends the program.

namespace {

using faults::Child;
using support::Folder;

void pause_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// A display that nobody sees, gone with it.
struct Display {
  int ends[2]{-1, -1};
  std::string number;
  std::unique_ptr<Child> server;

  explicit Display(const Folder& folder) {
    if (pipe(ends) != 0) return;
    server = std::make_unique<Child>(folder.path,
                                     std::vector<std::string>{"Xvfb", "-displayfd", std::to_string(ends[1]), "-screen",
                                                              "0", "1600x1000x24", "-nolisten", "tcp"},
                                     std::vector<std::string>{"PATH=/usr/bin:/bin"});
    ::close(ends[1]);
    if (server->pid() < 0) return;
    char text[16] = {};
    for (ssize_t got = 0; number.find('\n') == std::string::npos && (got = ::read(ends[0], text, sizeof text)) > 0;)
      number.append(text, static_cast<std::size_t>(got));
    while (!number.empty() && number.back() == '\n') number.pop_back();
  }
  ~Display() {
    if (ends[0] >= 0) ::close(ends[0]);
  }
};

/// The window with the notes of a lab open.
struct Notes {
  Folder folder;
  Display display{folder};
  std::unique_ptr<Child> window;

  std::string keys(const std::string& line) {
    const auto ran = faults::run_line(folder.path, "DISPLAY=:" + display.number + " xdotool " + line);
    return ran.status == 0 ? ran.out : std::string();
  }

  bool open() {
    std::filesystem::create_directories(folder / ".config/ridgeline");
    std::filesystem::create_directories(folder / ".local/state/ridgeline");
    folder.write(".config/ridgeline/settings.json",
                 R"({"version": 1, "drawer_open": true, "drawer_chosen": true, "window_x": 0, "window_y": 0})");
    folder.write(".local/state/ridgeline/resume.json",
                 R"({"version": 1, "labs": {}, "lesson_steps": {}, "lesson": "", "drawer": "notes"})");
    window = std::make_unique<Child>(
        folder.path, std::vector<std::string>{faults::program().string(), "roofline/roofline"},
        std::vector<std::string>{"HOME=" + folder.path.string(), "DISPLAY=:" + display.number, "LC_ALL=C"});
    for (int tries = 0; tries < 300; ++tries) {
      if (!keys("search --onlyvisible --name '^Ridgeline: '").empty()) return true;
      if (window->wait(0.1) >= 0) return false;
    }
    return false;
  }

  bool kept() const { return std::filesystem::exists(folder / ".local/share/ridgeline/notes.json"); }
  std::string on_disk() const { return kept() ? folder.read(".local/share/ridgeline/notes.json") : std::string(); }

  /// Waits until the notes on the disk hold this: at most a minute, which is for what never comes.
  bool comes_to_disk(const std::string& text) const {
    for (int i = 0; i < 600 && on_disk().find(text) == std::string::npos; ++i) pause_s(0.1);
    return on_disk().find(text) != std::string::npos;
  }

  /// Types into the editor. That it has the keyboard is known from a first word that has come to the disk: the window
  /// may show before it answers.
  void type(const char* text) {
    for (int tries = 0; tries < 60 && on_disk().find("first") == std::string::npos; ++tries) {
      keys("mousemove 500 930 click 1");
      keys("type --delay 5 'first '");
      for (int i = 0; i < 20 && on_disk().find("first") == std::string::npos; ++i) pause_s(0.1);
    }
    keys(std::string("type --delay 5 '") + text + "'");
  }
};

bool tools_are_there() {
  return std::system("command -v Xvfb >/dev/null 2>&1 && command -v xdotool >/dev/null 2>&1") == 0;
}

/// Where the program cannot open a window even there (no OpenGL), there is nothing to test.
#define OPEN_OR_SKIP(notes)                                         \
  if (!tools_are_there()) SKIP("Xvfb or xdotool is not installed"); \
  Notes notes;                                                      \
  if (!notes.open()) SKIP("no window opens on Xvfb")

}  // namespace

TEST_CASE("kill -9 two seconds after the last key leaves the note on the disk") {
  OPEN_OR_SKIP(notes);
  notes.type("remember the ridge");
  pause_s(2);
  CHECK(notes.comes_to_disk("remember the ridge"));  // later on a machine that is busy with other tests
  notes.window->signal(SIGKILL);
  CHECK(notes.window->wait(10) == 128 + SIGKILL);
  CHECK(notes.on_disk().find("remember the ridge") != std::string::npos);
}

TEST_CASE("SIGTERM, SIGINT and SIGHUP end the window as closing it does, with what was typed a moment ago") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    bool whole = false;
    // Nobody says when the keys have arrived: on a machine that is busy they get longer the next time.
    for (int tries = 0; tries < 10 && !whole; ++tries) {
      OPEN_OR_SKIP(notes);
      notes.type("remember the ridge");
      pause_s(0.2 + 0.2 * tries);  // less than the second after which notes are kept anyway
      notes.window->signal(number);
      CHECK(notes.window->wait(20) == 128 + number);
      whole = notes.on_disk().find("remember the ridge") != std::string::npos;
    }
    INFO("signal " << number);
    CHECK(whole);
  }
}

TEST_CASE("an X server that ends under the window takes no note with it") {
  bool whole = false;
  for (int tries = 0; tries < 10 && !whole; ++tries) {
    OPEN_OR_SKIP(notes);
    notes.type("remember the ridge");
    pause_s(0.2 + 0.2 * tries);
    notes.display.server->signal(SIGKILL);
    CHECK(notes.window->wait(20) == 1);
    whole = notes.on_disk().find("remember the ridge") != std::string::npos;
  }
  CHECK(whole);
}
