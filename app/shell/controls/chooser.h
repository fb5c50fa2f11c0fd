#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/platform/paths.h"
#include "models/base/result.h"

/// The desktop's own file chooser, where it answers or one of its programs is installed, and its file manager.
namespace app {

/// What is asked for.
struct FileAsk {
  bool save = false;
  std::string title, folder;
  std::string name;                   ///< saving: proposed
  std::vector<std::string> suffixes;  ///< opening: ".json" and so on
};

/// Waits until the person has chosen; gives the path, empty when they chose none. Fails when the program does not work.
/// `stop` is asked about twenty times a second.
using Chooser = std::function<models::Result<std::string>(const FileAsk& ask, const std::function<bool()>& stop)>;

/// The desktop's portal, else zenity or kdialog, found in PATH; null where there is no desktop, or neither a session
/// bus nor such a program.
Chooser desktop_chooser(const Environment& environment);

/// The call of a chooser, `program` being the path of zenity or kdialog.
std::vector<std::string> chooser_call(const std::string& program, const FileAsk& ask);

/// Shows a folder in the desktop's file manager (xdg-open); null where there is none.
std::function<void(const std::string& folder)> folder_shower(const Environment& environment);

}  // namespace app
