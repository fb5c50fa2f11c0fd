#include "app/shell/controls/chooser.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "app/kernel_runs/child.h"
#include "app/shell/home/portal.h"

extern char** environ;

namespace app {
namespace {

namespace fs = std::filesystem;
using Chosen = models::Result<std::string>;

std::string variable(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value ? value : "";
}

/// The path of a program in PATH; "" when there is none.
std::string find_program(const Environment& environment, const std::string& name) {
  std::istringstream folders(variable(environment, "PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / name;
    if (path.is_absolute() && ::access(path.c_str(), X_OK) == 0) return path.string();
  }
  return {};
}

bool has_desktop(const Environment& environment) {
  return !variable(environment, "DISPLAY").empty() || !variable(environment, "WAYLAND_DISPLAY").empty();
}

}  // namespace

std::vector<std::string> chooser_call(const std::string& program, const FileAsk& ask) {
  std::string patterns;
  for (const auto& suffix : ask.suffixes) patterns += (patterns.empty() ? "*" : " *") + suffix;
  const std::string start = (fs::path(ask.folder) / ask.name).string();
  if (fs::path(program).filename() == "kdialog") {
    std::vector<std::string> call{program, "--title", ask.title, ask.save ? "--getsavefilename" : "--getopenfilename",
                                  start};
    if (!patterns.empty()) call.push_back(patterns + "|Files that labs read\n*|Every file");
    return call;
  }
  std::vector<std::string> call{program, "--file-selection", "--title=" + ask.title, "--filename=" + start};
  if (ask.save) call.emplace_back("--save");
  if (ask.save) call.emplace_back("--confirm-overwrite");
  if (!patterns.empty()) {
    call.push_back("--file-filter=Files that labs read | " + patterns);
    call.emplace_back("--file-filter=Every file | *");
  }
  return call;
}

Chooser desktop_chooser(const Environment& environment) {
  if (!has_desktop(environment)) return {};
  const bool kde = variable(environment, "XDG_CURRENT_DESKTOP").find("KDE") != std::string::npos;
  std::string program = find_program(environment, kde ? "kdialog" : "zenity");
  if (program.empty()) program = find_program(environment, kde ? "zenity" : "kdialog");
  const std::string bus = session_bus(environment);
  if (program.empty() && bus.empty()) return {};
  return [program, bus](const FileAsk& ask, const std::function<bool()>& stop) {
    if (auto chosen = ask_portal(bus, ask, stop)) return std::move(*chosen);
    if (program.empty()) return Chosen::fail("The desktop has no file chooser.");
    constexpr double a_day_s = 86400;
    std::string path;
    const ChildEnd end = run_child(
        chooser_call(program, ask), {.silence_s = a_day_s, .line_bytes = 8192, .total_bytes = 64u << 10},
        [&](std::string_view line) {
          path += (path.empty() ? "" : "\n") + std::string(line);
          return models::Status::ok();
        },
        stop);
    const bool cancelled = end.how == ChildEnd::How::cancelled || (end.how == ChildEnd::How::exited && end.code == 1);
    if (cancelled) return Chosen::ok({});
    if (!end.why.empty()) return Chosen::fail("The desktop's file chooser does not work: " + end.why);
    return Chosen::ok(std::move(path));
  };
}

std::function<void(const std::string&)> folder_shower(const Environment& environment) {
  const std::string program = has_desktop(environment) ? find_program(environment, "xdg-open") : "";
  if (program.empty()) return {};
  return [program](const std::string& folder) {
    std::string words[] = {program, folder};
    char* call[] = {words[0].data(), words[1].data(), nullptr};
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);  // the file manager outlives this program
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, program.c_str(), nullptr, &how, call, environ);
    posix_spawnattr_destroy(&how);
    if (error == 0) std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
  };
}

}  // namespace app
