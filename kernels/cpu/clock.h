#pragma once
#include <algorithm>
#include <chrono>
#include <ctime>

namespace kernels::cpu {

inline double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that this thread has run, without what others took of the CPU meanwhile. 0 where the system does not count
/// it.
inline double thread_s() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec t{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
#endif
  return 0;
}

/// How long a call takes: by the wall clock, or by the thread's own time when that is less, since then something else
/// ran in between. A call that waits for other threads is timed by the wall clock alone.
template <class Call>
double timed_s(const Call& call, bool waits = false) {
  const double thread_before = thread_s(), before = wall_s();
  call();
  const double wall = wall_s() - before, thread = thread_s() - thread_before;
  return thread > 0 && !waits ? std::min(wall, thread) : wall;
}

}  // namespace kernels::cpu
