#pragma once
#include <vector>

#include "app/workspace/workspace.h"

namespace app {

/// A message on screen.
struct Toast {
  Message message;
  double until = 0;  ///< ImGui time, s
  int id = 0;
};

/// Messages on screen, newest first.
struct ToastState {
  std::vector<Toast> shown;
  int made = 0;
};

/// How long a message stays, in seconds: longer when it is long, an error or offers a button.
double stay_of(const Message& message);

}  // namespace app
