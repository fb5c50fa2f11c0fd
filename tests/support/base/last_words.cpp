#include "tests/support/base/last_words.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace support {
namespace {

constexpr std::array<int, 5> deadly{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, deadly.size()> handlers_before{};
// Of fixed size: a handler of signals may not allocate.
std::array<char, 4096> kept_words{};
std::size_t kept_size = 0;

void say_kept_words() {
  if (kept_size > 0) (void)!::write(STDERR_FILENO, kept_words.data(), kept_size);
}

void restore_handlers() {
  for (std::size_t i = 0; i < deadly.size(); ++i) ::sigaction(deadly[i], &handlers_before[i], nullptr);
}

}  // namespace

LastWords::LastWords() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    say_kept_words();
    restore_handlers();
    if (number == SIGABRT) ::raise(number);  // a fault of memory comes again by itself
  };
  action.sa_flags = SA_NODEFER;
  for (std::size_t i = 0; i < deadly.size(); ++i) ::sigaction(deadly[i], &action, &handlers_before[i]);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(say_kept_words);
}

LastWords::~LastWords() {
  restore_handlers();
  kept_size = 0;
}

void LastWords::set(std::string_view words) {
  kept_size = std::min(words.size(), kept_words.size());
  std::memcpy(kept_words.data(), words.data(), kept_size);
}

}  // namespace support
