#pragma once

namespace app {

/// While it lives, SIGHUP, SIGINT and SIGTERM ask the program to end instead of ending it; a second one of the same
/// kind ends it. One that is ignored (nohup) stays ignored. Only one at a time.
class EndingSignals {
 public:
  EndingSignals();
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  /// The number of the signal that came; 0: none did.
  static int received();
};

}  // namespace app
