#pragma once
#include <cstdio>
#include <functional>
#include <new>
#include <string>

/// Makes the n-th request for memory, or the n-th system call on a file, fail.
namespace faults {

enum class What {
  memory,  ///< malloc, calloc and realloc, so operator new and what libraries written in C ask for
  files,   ///< open, read, pread, write, fsync, close, fstat, fchmod, rename, linkat, mkostemp and mkdir
};

/// One attempt. Calls count on the thread that arms it, and only while it is armed.
class Attempt {
 public:
  /// `lasting`: every call from the n-th on fails, as when the memory or the disk stays full.
  Attempt(What what, long n, bool lasting) : what_(what), n_(n), lasting_(lasting) {}
  ~Attempt() { disarm(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  void arm();
  void disarm();
  /// Did a call fail?
  bool hit() const { return hit_; }

 private:
  What what_;
  long n_;
  bool lasting_, hit_ = false;
};

/// Open file descriptors of this process.
int open_descriptors();

/// Runs `operation` with the first call failing, then the second and so on, until it meets no failure; then the same
/// with failures that last. It arms and disarms the attempt around what is under test. Returns how many failures there
/// were, and prints it under `name`.
template <class Operation>
long at_every_call(const char* name, What what, Operation operation) {
  long total = 0;
  for (const bool lasting : {false, true}) {
    long n = 1;
    for (;; ++n) {
      Attempt attempt(what, n, lasting);
      operation(attempt);
      attempt.disarm();
      if (!attempt.hit()) break;
    }
    total += n - 1;
  }
  std::printf("injected: %-40s %s %5ld\n", name, what == What::memory ? "memory" : "files ", total);
  return total;
}

/// Calls `work` armed; true when it returned, false when it threw std::bad_alloc, which it may where memory is short.
template <class Work>
bool armed(Attempt& attempt, Work work) {
  attempt.arm();
  try {
    work();
    attempt.disarm();
    return true;
  } catch (const std::bad_alloc&) {
    attempt.disarm();
    return false;
  }
}

/// A sentence that may be shown: not empty, on one line, with an end.
bool is_sentence(const std::string& text);

}  // namespace faults
