#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/base/chance.h"
#include "tests/support/lab/shell_driver.h"

namespace support {

/// Random events, each put into Dear ImGui's queue as a window would.
class MonkeyHands {
 public:
  /// `files` are what may be dropped. `draw` draws frames until the queue is empty.
  MonkeyHands(ShellDriver& driver, Chance& chance, const std::vector<std::string>& files, std::function<void()> draw)
      : d_(driver), chance_(chance), files_(files), draw_(std::move(draw)) {}

  /// One event; returns what it was. `tell` is called with it before it is done.
  void act(const std::function<void(const std::string&)>& tell);
  /// Lets go of everything: buttons, keys, popups; the pointer leaves the window.
  void let_go();
  int dropped() const { return dropped_; }

 private:
  struct Aim {
    ImVec2 at;
    std::string what;
  };
  Aim aim();  ///< an item that can be seen, or any place
  bool come_back(const std::function<void(const std::string&)>& tell);
  void queue_key(ImGuiKey key, ImGuiKeyChord mods);
  void queue_click(ImVec2 at, ImGuiMouseButton button, int times);
  void queue_drag(ImVec2 from, ImVec2 to, ImGuiMouseButton button);
  ImGuiIO& io() const { return d_.ui.context()->IO; }

  ShellDriver& d_;
  Chance& chance_;
  const std::vector<std::string>& files_;
  std::function<void()> draw_;
  int dropped_ = 0;
  int away_ = 0;  ///< events in a row that found a dialog, a page or a tiny window
};

}  // namespace support
