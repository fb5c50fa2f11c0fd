#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

/// Runs `save_for_ever(pipe)` in a process of its own, which writes to the pipe an int for each save that is done, and
/// kills it some time after the first. Returns the last int that it wrote.
template <class SaveForEver>
int last_saved_when_killed(std::chrono::microseconds after_first, SaveForEver save_for_ever) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    save_for_ever(ends[1]);
    _exit(4);
  }
  close(ends[1]);
  int saved = -1;
  REQUIRE(read(ends[0], &saved, sizeof saved) == sizeof saved);
  std::this_thread::sleep_for(after_first);
  REQUIRE(kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  for (int n = 0; read(ends[0], &n, sizeof n) == sizeof n;) saved = n;
  close(ends[0]);
  return saved;
}
