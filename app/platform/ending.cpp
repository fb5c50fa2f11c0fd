#include "app/platform/ending.h"

#include <signal.h>

#include <csignal>

namespace app {
namespace {

constexpr int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
volatile std::sig_atomic_t received_signal = 0;
struct sigaction before[3];

void note_signal(int signal) { received_signal = signal; }

}  // namespace

EndingSignals::EndingSignals() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  // Without SA_RESTART, so that a window that sleeps until an event wakes.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i) {
    sigaction(ending_signals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(ending_signals[i], &action, nullptr);
  }
}

EndingSignals::~EndingSignals() {
  for (int i = 0; i < 3; ++i) sigaction(ending_signals[i], &before[i], nullptr);
}

int EndingSignals::received() { return received_signal; }

}  // namespace app
