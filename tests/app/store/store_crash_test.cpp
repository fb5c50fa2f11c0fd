#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/store/json_file.h"
#include "app/store/progress.h"
#include "tests/app/store/killed_child.h"
#include "tests/support/base/effort.h"
#include "tests/support/base/files.h"

using app::store::Found;
using nlohmann::json;
using support::Folder;

namespace {

/// Saves {"n": n, "text": n repeated} for n = first, first + 1, ... and reports each n that is saved through `pipe`.
[[noreturn]] void save_for_ever(const std::filesystem::path& path, int first, int pipe) {
  for (int n = first;; ++n) {
    const json content{{"n", n}, {"text", std::string(200000, static_cast<char>('a' + n % 26))}};
    if (!app::store::save_json(path, 1, content).error.empty()) _exit(1);
    if (write(pipe, &n, sizeof n) != sizeof n) _exit(2);
  }
}

struct State {
  app::store::LoadReport report;
  int n = -1;
  bool whole = false;
};

State state_of(const std::filesystem::path& path) {
  State state;
  state.report = app::store::load_json(path, 1, [&](const json& content) {
    state.n = content["n"].get<int>();
    state.whole = content["text"].get<std::string>() == std::string(200000, static_cast<char>('a' + state.n % 26));
    return models::Status::ok();
  });
  return state;
}

}  // namespace

// design.md section 4: progress and notes are written to a temporary file, synced and renamed.
TEST_CASE("kill -9 at any moment leaves the last saved state or the one being saved") {
  const Folder folder;
  const auto path = folder / "file.json";
  int next = 0;
  const int kills = support::full() ? 200 : 25;
  for (int round = 0; round < kills; ++round) {
    const int saved = last_saved_when_killed(std::chrono::microseconds(137 * round),
                                             [&](int pipe) { save_for_ever(path, next, pipe); });

    const State state = state_of(path);
    INFO("round " << round << ": " << state.report.notice);
    REQUIRE(state.report.found == Found::loaded);
    CHECK(state.whole);
    CHECK((state.n == saved || state.n == saved + 1));
    next = state.n + 1;
  }
  CHECK(folder.count(".corrupt-") == 0);

  // What the killed ones were writing is swept once it is old enough to be nobody's.
  folder.write("file.json.ridgeline-oldold", "half a fi");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    if (entry.path().string().find(".ridgeline-") != std::string::npos)
      std::filesystem::last_write_time(entry.path(),
                                       std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  folder.write("file.json.ridgeline-newnew", "being written");
  REQUIRE(app::store::save_json(path, 1, {{"n", 0}, {"text", std::string(200000, 'a')}}));
  REQUIRE(state_of(path).report.found == Found::loaded);
  CHECK(folder.count(".ridgeline-") == 1);
  CHECK(folder.read("file.json.ridgeline-newnew") == "being written");
}

TEST_CASE("a save that runs out of space says so and leaves the state before it") {
  const Folder folder;
  const auto path = folder / "file.json";
  REQUIRE(app::store::save_json(path, 1, {{"n", 1}}).error.empty());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};  // stands in for a full disk: writing on fails with EFBIG
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string notice = app::store::save_json(path, 1, {{"n", 2}, {"text", std::string(100000, 'x')}}).error;
    _exit(notice.find("free some space") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(json::parse(folder.read("file.json"))["n"] == 1);
  CHECK(folder.count(".ridgeline-") == 0);
}

TEST_CASE("instances that save at the same time lose none of each other's progress") {
  const Folder folder;
  const auto path = folder / "progress.json";
  constexpr int instances = 4, visits = 25;
  pid_t children[instances];
  for (int i = 0; i < instances; ++i) {
    children[i] = fork();
    REQUIRE(children[i] >= 0);
    if (children[i] != 0) continue;
    app::store::Progress progress;  // each knows only what it did itself, until a save tells it more
    for (int v = 0; v < visits; ++v) {
      progress.visit("chapter/lab-" + std::to_string(i) + "-" + std::to_string(v));
      if (!app::store::save(path, progress).saved) _exit(1);
      std::this_thread::sleep_for(
          std::chrono::milliseconds(3));  // people pause too; without, one process could keep the lock
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  app::store::Progress all;
  REQUIRE(app::store::load(path, all).found == Found::loaded);
  CHECK(all.labs.size() == instances * visits);
}
