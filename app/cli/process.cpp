#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <new>
#include <system_error>

#include "app/cli/cli.h"
#include "app/platform/printable_stream.h"
#include "app/platform/quoted_text.h"

namespace app::cli {
namespace {

/// Literals, since this may be said when there is no memory for anything else.
constexpr const char* no_memory =
    "There is not enough memory for this: choose smaller inputs, or close other programs.\n";
constexpr const char* not_written =
    "What was asked for could not be written to standard output: it is closed, or its disk is full.\n";
constexpr const char* unknown_failure = "The program failed for a reason that it does not know.\n";

int run_or_say(const std::vector<std::string>& arguments, const Streams& s) {
  try {
    return run(arguments, s);
  } catch (const std::bad_alloc&) {
    s.error << no_memory;
  } catch (const std::length_error&) {
    s.error << no_memory;
  } catch (const std::system_error& failure) {
    s.error << "The system refused what this needs: " << printable(failure.what()) << ".\n";
  } catch (const std::exception& failure) {
    s.error << "The program failed: " << printable(failure.what()) << ".\n";
  }
  return 1;
}

/// A standard stream that is closed would be the number of the next file that is opened, which would then be written
/// to. Nothing can be written to what takes its place.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    while (::fcntl(stream, F_GETFD) < 0)
      if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

}  // namespace

int run_safely(const std::vector<std::string>& arguments, const Streams& to) {
  PrintableStream out(to.out), error(to.error);
  const Streams s{out, error, to.in};
  int status = 1;
  try {
    status = run_or_say(arguments, s);
    s.out.flush();
  } catch (...) {
    s.error << unknown_failure;
  }
  if (s.out.good()) return status;
  s.error << not_written;
  return status == 0 ? 1 : status;
}

int run_process(int argc, char** argv) {
  keep_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);
  try {
    return run_safely(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), {std::cout, std::cerr});
  } catch (...) {
    std::cerr << no_memory;
    return 1;
  }
}

}  // namespace app::cli
