#include "app/platform/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <vector>

namespace app {
namespace {

namespace fs = std::filesystem;

fs::path absolute_value(const Environment& environment, const char* name) {
  const char* value = environment(name);
  if (value == nullptr) return {};
  fs::path path(value);
  return path.is_absolute() ? path : fs::path();
}

fs::path home_in_user_database() {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_dir == nullptr ? fs::path() : fs::path(found->pw_dir);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return !path.empty() && fs::is_directory(path, error);
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

models::Result<UserPaths> user_paths(const Environment& environment, const std::function<fs::path()>& home_of_user) {
  fs::path home = absolute_value(environment, "HOME");
  if (home.empty())
    if (const fs::path known = home_of_user(); known.is_absolute()) home = known;
  const auto folder = [&](const char* variable, const char* below_home) {
    fs::path base = absolute_value(environment, variable);
    if (base.empty() && !home.empty()) base = home / below_home;
    return base.empty() ? base : base / "ridgeline";
  };
  UserPaths paths{folder("XDG_DATA_HOME", ".local/share"), folder("XDG_CONFIG_HOME", ".config"),
                  folder("XDG_STATE_HOME", ".local/state")};
  if (paths.data.empty() || paths.config.empty() || paths.state.empty())
    return models::Result<UserPaths>::fail(
        "No home directory is known, so progress, notes and settings are not kept: set HOME to a folder of yours.");
  return models::Result<UserPaths>::ok(std::move(paths));
}

models::Result<UserPaths> user_paths() { return user_paths(process_environment(), home_in_user_database); }

models::Result<fs::path> find_assets(const Environment& environment, const fs::path& executable_folder,
                                     const fs::path& source_assets) {
  using Found = models::Result<fs::path>;
  if (const char* chosen = environment("RIDGELINE_ASSETS"); chosen != nullptr && *chosen != '\0') {
    if (is_folder(chosen)) return Found::ok(chosen);
    return Found::fail("RIDGELINE_ASSETS names \"" + std::string(chosen) +
                       "\", which is not a folder: set it to the folder with hardware/ and models/, or unset it.");
  }
  const fs::path installed = (executable_folder / ".." / "share" / "ridgeline" / "assets").lexically_normal();
  if (!executable_folder.empty() && is_folder(installed)) return Found::ok(installed);
  if (is_folder(source_assets)) return Found::ok(source_assets);
  return Found::fail("The assets of Ridgeline are neither in \"" + installed.string() + "\" nor in \"" +
                     source_assets.string() +
                     "\": install again, or set RIDGELINE_ASSETS to the folder with hardware/ and models/.");
}

models::Result<fs::path> find_assets() {
  return find_assets(process_environment(), executable_folder(), RIDGELINE_SOURCE_ASSETS);
}

fs::path executable_folder() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : file.parent_path();
}

}  // namespace app
