#pragma once
#include <cstdint>
#include <functional>
#include <string>

/// The monkey: random events on the whole program, through the queue that a window fills, and what must hold
/// afterwards.
namespace support {

/// One walk over one lab. The same walk does the same, but for what worker threads hand in meanwhile.
struct MonkeyWalk {
  std::string lab;
  std::uint64_t seed = 1;
  int events = 1000;
  /// After `least` events a walk ends early once it has taken so much CPU time, its jobs included, seconds.
  double cpu_s = 1e30;
  int least = 100;
  /// The program is ended and started again after so many, with the state that it kept.
  int events_a_start = 250;
  int until = 1 << 30;  ///< stops after this event, counted from 1, as if the walk were as long: to find what did it
  bool real_fonts = false;                       ///< the program's fonts instead of Dear ImGui's own
  bool waits = true;                             ///< for jobs after each event's frames, so that a walk can be repeated
  std::function<std::uint64_t()> allocations{};  ///< counts all of the process; null: nobody counts
  std::function<void(const std::string&)> on_event{};  ///< called before each event with what it is
};

/// What was done.
struct MonkeyTally {
  std::uint64_t events = 0, frames = 0, starts = 0, edits = 0, undone = 0, dropped = 0, labs_checked = 0;
  MonkeyTally& operator+=(const MonkeyTally& more);
};

/// Walks over a lab with a state folder and a home of its own. Throws std::runtime_error with one text that names the
/// fault, lab, seed, event, and the last events, when something does not hold: an input or output out of its range, two
/// items of one id, a vertex that is no number, jobs that do not end, undo that does not lead back, state that reads
/// back differently, a frame at rest that allocates. When the process dies of a signal or a sanitizer, the same names
/// go to standard error first.
MonkeyTally walk(const MonkeyWalk& what);

}  // namespace support
