#pragma once
#include <imgui.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "widgets/base/item_probe.h"
#include "widgets/base/painter.h"

namespace support {

/// Drives a frame function as a person would: mouse, wheel and keys go through Dear ImGui's event queue, controls are
/// found by label. No window, no GPU, default font, 60 frames a second of made-up time. Whatever cannot be done (no
/// such label, hidden, covered) throws std::runtime_error with what to do about it.
class UiDriver {
 public:
  /// `frame` is called between NewFrame and Render. The driver owns the Dear ImGui context; `set_up` runs once in it
  /// before the first frame (theme, fonts, drop callbacks).
  explicit UiDriver(std::function<void()> frame, ImVec2 display = {1280, 800},
                    const std::function<void()>& set_up = {});
  ~UiDriver();
  UiDriver(const UiDriver&) = delete;
  UiDriver& operator=(const UiDriver&) = delete;

  void frames(int count = 1);
  /// Lets made-up time pass, ten frames a second: for what goes away by itself.
  void wait(double seconds);
  /// Changes the window's size; takes effect with the next frame, which is drawn.
  void resize(ImVec2 display);

  // Labels: "Run", "Run##2", or "Window/Run" inside a window or child called Window. See ItemProbe::find.
  void hover(std::string_view label, int for_frames = 45);  ///< 45 frames: long enough for any tooltip
  void click(std::string_view label, ImGuiMouseButton button = ImGuiMouseButton_Left);
  void double_click(std::string_view label);
  /// Presses where the item is `from` (0..1 across its width) and releases where it is `to`.
  void drag(std::string_view label, float to_fraction, float from_fraction = 0.5f);
  void drag_by(std::string_view label, ImVec2 delta_px, ImVec2 from_fraction = {0.5f, 0.5f});
  void wheel(std::string_view label, float dy);  ///< positive: away from the hand, scrolls up or zooms in
  /// Clicks the field, replaces what it holds by `text`, and presses Enter. A slider is opened for typing by
  /// Ctrl+click.
  void fill(std::string_view label, std::string_view text);

  void type(std::string_view text);                            ///< into whatever has the focus
  void key(ImGuiKey key, ImGuiKeyChord mods = ImGuiMod_None);  ///< down and up: key(ImGuiKey_K, ImGuiMod_Ctrl)

  // The same at screen positions, for plots and canvases.
  void move_to(ImVec2 at);
  void press(ImGuiMouseButton button = ImGuiMouseButton_Left);
  void release(ImGuiMouseButton button = ImGuiMouseButton_Left);
  void click_at(ImVec2 at, ImGuiMouseButton button = ImGuiMouseButton_Left);
  void drag_points(ImVec2 from, ImVec2 to, ImGuiMouseButton button = ImGuiMouseButton_Left);
  void wheel_at(ImVec2 at, float dy);

  bool has(std::string_view label) const { return probe_->find(label) != nullptr; }
  /// The item, scrolled into view with the wheel where it has to be. Valid until the next frame.
  const widgets::ProbedItem& item(std::string_view label);
  /// A point of the item, (0,0) top left to (1,1) bottom right.
  ImVec2 point_in(std::string_view label, ImVec2 fraction);
  const widgets::ItemProbe& probe() const { return *probe_; }

  /// Is this text drawn, by Dear ImGui or through Painter? Draws one more frame. White space counts as one space.
  bool text_present(std::string_view text);
  std::string all_text();
  /// What Painter drew in one more frame: strokes and tables.
  widgets::Record record();
  ImGuiContext* context() const { return context_; }

 private:
  std::string near_labels(std::string_view label) const;
  void ensure_uncovered(std::string_view label, ImGuiID window_id);
  void draw_frame();

  ImGuiContext* context_;
  std::function<void()> frame_;
  std::unique_ptr<widgets::ItemProbe> probe_;
};

}  // namespace support
