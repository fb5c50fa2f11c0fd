#pragma once
#include <span>
#include <vector>

/// Changes that ease. A change that was made at once, such as a preset or a typed value, takes 150 ms on the screen, so
/// that the eye can follow what went where. Changes by dragging and by playing follow each other faster than that and
/// are drawn at once. Nothing eases in headless pictures and tests: they never switch it on.
namespace widgets {

struct Motion {
  bool on = false;      ///< a person watches
  bool held = false;    ///< a control is held: what changes is being dragged
  float seconds = 0;    ///< since the last frame
  bool moving = false;  ///< something was drawn on its way in this frame: another frame must follow

  /// How long a change takes, seconds.
  static constexpr float duration = 0.15f;
};

/// The motion of the frame being drawn.
Motion& motion();
/// Call once a frame before anything is drawn. `seconds` since the last frame; a long sleep counts as one short frame.
void begin_motion(bool on, bool held, float seconds);

/// How far one change has come.
class Ease {
 public:
  /// A change has happened in this frame. It starts to ease, unless motion is off, a control is held, or the change
  /// before it is still under way.
  void change();
  /// The share of the way to draw in this frame, 0 to 1; call once a frame.
  float step();
  bool running() const { return at_ < 1; }

 private:
  float at_ = 1;
};

/// Numbers that ease to their targets together.
class EasedValues {
 public:
  /// What to draw in this frame. Targets of another number than before are taken at once. A number that was not finite
  /// or is not is taken at once too. Allocates nothing while the number of targets stays.
  std::span<const double> towards(std::span<const double> targets);
  bool running() const { return ease_.running(); }
  void forget() { to_.clear(); }

 private:
  std::vector<double> from_, to_, shown_;
  Ease ease_;
};

}  // namespace widgets
