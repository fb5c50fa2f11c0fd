#include "tests/faults/program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace faults {
namespace {

int status_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::filesystem::path program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path() / "app" /
         "ridgeline";
}

Child::Child(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment) {
  std::vector<char*> words, variables;
  for (const auto& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
  for (const auto& e : environment) variables.push_back(const_cast<char*>(e.c_str()));
  words.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
  const int error = posix_spawnp(&pid_, words[0], &files, nullptr, words.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) pid_ = -1;
}

Child::~Child() {
  if (pid_ < 0 || status_ >= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

void Child::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

int Child::wait(double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (pid_ > 0 && status_ < 0) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_)
      status_ = status_of(status);
    else if (std::chrono::steady_clock::now() > until)
      break;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return status_;
}

Ran run_line(const std::filesystem::path& folder, const std::string& line) {
  Ran ran;
  const auto out = folder / ".out", error = folder / ".error";
  Child shell(folder, {"sh", "-c", "exec 2>.error >.out; " + line},
              {"R=" + program().string(), "HOME=" + folder.string(), "PATH=/usr/bin:/bin", "LC_ALL=C"});
  ran.status = shell.wait(60);
  ran.hung = ran.status < 0;
  ran.out = text_of(out);
  ran.error = text_of(error);
  return ran;
}

}  // namespace faults
