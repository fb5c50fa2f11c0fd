#pragma once
#include <cstdint>
#include <cstdlib>
#include <ctime>

extern "C" void __asan_init() __attribute__((weak));

/// How much a test that could go on for ever does.
namespace support {

/// Does the code under test run under AddressSanitizer, some twenty times slower? The tests' own code is compiled once
/// for both, so this is known at run time alone.
inline bool sanitized() { return __asan_init != nullptr; }

/// `./test full`: the long random runs in their full length.
inline bool full() { return std::getenv("RIDGELINE_FULL") != nullptr; }

/// Ends a long random run. The cases come in a fixed order, so a machine of another speed does more or fewer of the
/// same.
class Budget {
 public:
  /// At least `least` cases, at most `most`, none begun after `cpu_s` seconds of CPU time. Under sanitizers a twentieth
  /// of the least and a quarter of the time: the cases are the first of those that run without. `./test full` does
  /// `most`.
  Budget(std::uint64_t least, std::uint64_t most, double cpu_s)
      : least_(sanitized() ? (least + 19) / 20 : least), most_(most), cpu_s_(sanitized() ? cpu_s / 4 : cpu_s) {}
  /// Is there a case `done` (counted from 0) to do?
  bool allows(std::uint64_t done) const {
    if (done >= most_) return false;
    return done < least_ || full() || seconds() - from_s_ < cpu_s_;
  }

 private:
  static double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
  std::uint64_t least_, most_;
  double cpu_s_;
  double from_s_ = seconds();
};

}  // namespace support
