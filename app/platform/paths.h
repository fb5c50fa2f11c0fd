#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "models/base/result.h"

/// Where files live: the XDG directories of the person, and the program's own assets.
namespace app {

/// Looks up an environment variable; null when it is not set. Tests bring their own.
using Environment = std::function<const char*(const char*)>;
Environment process_environment();

/// Folders of this person, not necessarily existing yet.
struct UserPaths {
  std::filesystem::path data;    ///< progress, notes
  std::filesystem::path config;  ///< settings, own chips and models
  std::filesystem::path state;   ///< recent scenarios, window
};

/// `$XDG_DATA_HOME/ridgeline` or `~/.local/share/ridgeline`, and so on. A relative XDG value is ignored, as the
/// specification asks. `home_of_user` is the home directory in the user database (used where HOME is not set), empty if
/// unknown; it is asked for there alone. Fails when there is no home directory to keep anything in. Source: XDG Base
/// Directory Specification 0.8.
models::Result<UserPaths> user_paths(const Environment& environment,
                                     const std::function<std::filesystem::path()>& home_of_user);
/// The same for this process and this user.
models::Result<UserPaths> user_paths();

/// The folder with hardware, models and prose: `RIDGELINE_ASSETS` if set (and then only that), else
/// `../share/ridgeline/assets` next to the folder of the executable, else `source_assets`, the folder of the tree that
/// the program was built from.
models::Result<std::filesystem::path> find_assets(const Environment& environment,
                                                  const std::filesystem::path& executable_folder,
                                                  const std::filesystem::path& source_assets);
/// The same for this process.
models::Result<std::filesystem::path> find_assets();

/// The folder that the running program's file is in; empty where the system does not say.
std::filesystem::path executable_folder();

}  // namespace app
