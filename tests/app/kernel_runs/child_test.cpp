#include "app/kernel_runs/child.h"

#include <dirent.h>
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <filesystem>

#include "tests/support/base/files.h"

// Children are shell scripts here: what a worker may do to us does not depend on what it measures.

namespace {

using How = app::ChildEnd::How;

struct Heard {
  std::vector<std::string> lines;
  app::ChildEnd end;
};

/// Limits under a clock that stands still: how fast the machine is does not matter.
app::ChildLimits still() {
  app::ChildLimits limits;
  limits.clock = [] { return 0.0; };
  return limits;
}

Heard run_script(const std::string& script, const app::ChildLimits& limits = still(),
                 const std::function<bool()>& stop = {}, const std::function<void()>& heard_line = {}) {
  Heard heard;
  heard.end = app::run_child(
      {"/bin/sh", "-c", script}, limits,
      [&](std::string_view line) {
        heard.lines.emplace_back(line);
        if (heard_line) heard_line();
        return line == "rubbish" ? models::Status::fail("it said rubbish") : models::Status::ok();
      },
      stop);
  return heard;
}

std::size_t open_files() {
  std::size_t n = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder)) ++n;
  closedir(folder);
  return n;
}

bool any_child_left() { return !(waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD); }

}  // namespace

TEST_CASE("a child's lines arrive whole and in order, and it ends without a word") {
  const auto h = run_script("printf 'one\\ntw'; sleep 0.1; printf 'o\\n\\nlast\\n'");
  CHECK(h.lines == std::vector<std::string>{"one", "two", "", "last"});
  CHECK(h.end.how == How::exited);
  CHECK(h.end.why == "");
}

TEST_CASE("a crash names its signal, a status what was said last on standard error; lines before it are kept") {
  const auto crash = run_script("echo one; kill -SEGV $$");
  CHECK(crash.end.how == How::signalled);
  CHECK(crash.lines.size() == 1);
  CHECK(crash.end.why == "The worker crashed (SIGSEGV).");
  const auto status = run_script("echo one; echo first >&2; echo 'no memory left' >&2; exit 3");
  CHECK(status.end.how == How::exited);
  CHECK(status.end.code == 3);
  CHECK(status.end.why == "The worker gave up with status 3, saying \"no memory left\".");
}

TEST_CASE("a silent child is killed when its time is over, with what it started; one that talks is not") {
  app::ChildLimits limits;
  double now_s = 0;
  bool spoke = false;
  limits.clock = [&] { return now_s += spoke ? 1 : 0; };  // a second a look, from its first word on
  const auto hung = run_script("echo one; sleep 60 & sleep 60", limits, {}, [&] { spoke = true; });
  CHECK(hung.end.how == How::hung);
  CHECK(hung.end.why == "The worker said nothing for 10 s and was ended.");
  CHECK(hung.lines == std::vector<std::string>{"one"});

  limits.clock = [&] { return now_s; };
  const auto talks = run_script("for i in 1 2 3 4 5 6; do echo $i; done", limits, {}, [&] { now_s += 8; });
  CHECK(talks.end.how == How::exited);
  CHECK(talks.lines.size() == 6);

  const support::Folder folder;  // a closed output is no end
  const std::string closed = (folder / "closed").string();
  limits.clock = [&] { return now_s += std::filesystem::exists(closed) ? 1 : 0; };
  CHECK(run_script("exec >&-; : > '" + closed + "'; sleep 60", limits).end.how == How::hung);
  limits.silence_s = 0.4;
  CHECK(run_script("exec >&-; : > '" + closed + "'; sleep 60", limits).end.why ==
        "The worker said nothing for 400 ms and was ended.");
}

TEST_CASE("a line that makes no sense ends the child at once; a last line without an end is told") {
  const auto h = run_script("echo good; echo rubbish; echo more; sleep 60");
  CHECK(h.lines == std::vector<std::string>{"good", "rubbish"});
  CHECK(h.end.how == How::refused);
  CHECK(h.end.why == "The worker was ended because it said rubbish.");
  const auto cut = run_script("echo good; printf '{\"event\":'");
  CHECK(cut.end.how == How::truncated);
  CHECK(cut.lines.size() == 1);
}

TEST_CASE("a flood is stopped: one endless line, too many lines, too many bytes") {
  app::ChildLimits limits = still();
  limits.line_bytes = 4096;
  limits.lines_per_s = 500;
  limits.total_bytes = 1u << 20;
  const auto line = run_script("while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done", limits);
  CHECK(line.end.how == How::flooded);
  CHECK(line.end.why == "The worker was ended because it printed a line of more than 4 KiB.");
  const auto lines = run_script("while :; do echo y; done", limits);
  CHECK(lines.end.how == How::flooded);
  CHECK(lines.end.why == "The worker was ended because it printed more than 500 lines in a second.");
  CHECK(lines.lines.size() <= 500);
  limits.line_bytes = 4u << 20;
  limits.lines_per_s = 1u << 30;
  CHECK(run_script("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", limits).end.why ==
        "The worker was ended because it printed more than 1 MiB.");
}

TEST_CASE("cancelling kills the child and says nothing; what cannot be started is named") {
  int asked = 0;
  const auto h = run_script("echo one; sleep 60", still(), [&] { return ++asked > 3; });
  CHECK(h.end.how == How::cancelled);
  CHECK(h.end.why == "");
  const auto none =
      app::run_child({"/nowhere/ridgeline"}, {}, [](std::string_view) { return models::Status::ok(); }, {});
  CHECK(none.how == How::not_started);
  CHECK(none.why == "The worker /nowhere/ridgeline could not be started (No such file or directory).");
}

TEST_CASE("no file stays open and no zombie is left, however a child ends") {
  run_script("true");
  const std::size_t before = open_files();
  app::ChildLimits limits;
  limits.silence_s = 0.1;
  for (const char* script : {"true", "kill -9 $$", "sleep 60", "echo rubbish", "sleep 60 & echo one", "printf x"})
    run_script(script, limits);
  CHECK(open_files() == before);
  CHECK_FALSE(any_child_left());
}
