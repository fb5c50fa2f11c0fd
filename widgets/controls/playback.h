#pragma once
#include <string_view>

/// Playing a history that is at hand as a whole: a cursor that moves by the clock, and the row that starts it.
namespace widgets {

struct Playback {
  double time_s = 0;  ///< cursor, in seconds of the history; beyond the end is the end
  double speed = 1;   ///< seconds of the history a second of the clock
  bool playing = false;
};

/// Stops, or starts: from the beginning where the cursor stands at the end, `end_s`.
void start_or_stop(Playback& playback, double end_s);

/// Moves a playing cursor on by `dt_s` seconds of the clock; it stops at `end_s`.
void advance(Playback& playback, double end_s, double dt_s);

/// The row over such a picture: Play or Pause, Slower, Faster (0.01 to 100 times), where the cursor stands, and
/// `caption` behind it. `id` tells one row's Play from another's: the item is named "Play##id". Moves the cursor on by
/// the frame's time while it plays.
void draw_playback(const char* id, Playback& playback, double end_s, std::string_view caption = {});

}  // namespace widgets
