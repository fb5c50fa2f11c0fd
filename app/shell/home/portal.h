#pragma once
#include <optional>

#include "app/shell/controls/chooser.h"

/// The file chooser of the desktop's portal (org.freedesktop.portal.FileChooser on the session bus), which GNOME, KDE
/// and sandboxes answer alike.
namespace app {

/// The address of the session bus; empty where there is none.
std::string session_bus(const Environment& environment);

/// Asks the portal on the bus at `address` and waits for the person: the path, empty when they chose none. Fails where
/// the answer cannot be used; no value where libdbus, the bus or a portal is missing, so that another chooser may be
/// asked. `stop` is asked about twenty times a second.
std::optional<models::Result<std::string>> ask_portal(const std::string& address, const FileAsk& ask,
                                                      const std::function<bool()>& stop);

/// The path of a "file:" address of this machine; empty when it is none.
std::string path_of_uri(const std::string& uri);

}  // namespace app
