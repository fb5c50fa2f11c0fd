#include <sys/resource.h>

#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstdio>

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Ends every run of a test program with the CPU time that it and its children took, which ./test adds up for each
/// chapter.
class CpuTime : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override {
    double total_s = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(who, &used);
      total_s += seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    }
    std::printf("\nCPU seconds: %.2f\n", total_s);
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(CpuTime)

}  // namespace
