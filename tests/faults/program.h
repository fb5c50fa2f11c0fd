#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

/// The program itself, as it is shipped, in a process of its own.
namespace faults {

/// build/app/ridgeline, beside the folder of the tests.
std::filesystem::path program();

struct Ran {
  int status = 0;     ///< exit status; 128 and the signal's number where one ended it
  std::string out;    ///< standard output, where it was not sent elsewhere
  std::string error;  ///< standard error
  bool hung = false;  ///< it was killed after a minute
};
/// Runs a line of sh in `folder`, where $R is the program and $HOME the folder.
Ran run_line(const std::filesystem::path& folder, const std::string& line);

/// A process that goes on meanwhile.
class Child {
 public:
  Child(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
        const std::vector<std::string>& environment);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  /// Sends it a signal.
  void signal(int number) const;
  /// Waits at most this long for its end; -1 when it goes on, otherwise as Ran::status.
  int wait(double seconds);

 private:
  pid_t pid_ = -1;
  int status_ = -1;
};

}  // namespace faults
