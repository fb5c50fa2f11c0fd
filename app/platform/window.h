#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/platform/image.h"
#include "app/platform/ui_context.h"
#include "models/base/result.h"

namespace app {

/// Can a window be opened here? Asks GLFW, so a DISPLAY that leads nowhere counts as none. Call while no Window exists.
bool display_available();

/// Makes what is queued for Dear ImGui after this part of a later frame than what is queued before: the press and the
/// release of a key that nothing is bound to, of which a frame takes one. Without it a frame that takes a key's press
/// and the release of its modifier sees the key alone, and a quick Ctrl+K is lost where frames are slow.
void part_input_frames();

/// Where the window is when it is neither maximized nor full screen; screen coordinates.
struct WindowPlace {
  int x = -1, y = -1;  ///< both negative: let the window manager choose
  int width = 1600, height = 1000;
  bool maximized = false;
  bool operator==(const WindowPlace&) const = default;
};

/// The one window: GLFW, OpenGL 3.3 core, vsync, F11 for full screen. Owns its Dear ImGui context.
class Window {
 public:
  /// Sizes out of range are brought into it. One sentence when there is no display or no OpenGL 3.3.
  static models::Result<std::unique_ptr<Window>> create(const std::string& title, WindowPlace place = {});
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Calls `frame` between NewFrame and Render until the window is closed. Sleeps while there is no input and
  /// `animating` says false; after each event it goes on for half a second, so that tooltips and hover effects come to
  /// rest.
  void run(const std::function<void()>& frame, const std::function<bool()>& animating);
  /// One more frame soon. May be called from any thread.
  void wake();
  void close();

  /// Called once when the display has gone away under the window (the X server ended), which ends the process with
  /// status 1 as soon as the callback returns. It must not touch the window.
  void on_display_lost(std::function<void()> callback);
  /// Paths dropped on the window, in UTF-8, between two frames.
  void on_drop(std::function<void(std::vector<std::string>)> callback);
  /// Called with the picture of the next frame, once.
  void capture_next(std::function<void(Image)> callback);
  void set_title(const std::string& title);
  void toggle_fullscreen();
  /// For the caller to remember, and to give to `create` next time.
  WindowPlace place() const;
  /// The monitor's scale: 2 on a typical laptop panel of high density. Follows the window from monitor to monitor.
  float content_scale() const;
  const widgets::Fonts& fonts() const;

 private:
  struct Impl;
  explicit Window(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace app
