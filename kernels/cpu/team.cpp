#include "kernels/cpu/team.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/cpu/target.h"
#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace kernels::cpu {
namespace {

/// How often a thread looks before it sleeps: some 50 microseconds, which is what waking it up takes.
constexpr int looks = 2000;

inline void rest() {
#if RIDGELINE_X86
  _mm_pause();
#endif
}

/// Returns when the value is no longer `old`.
template <class T>
void await_change(const std::atomic<T>& value, T old) {
  for (int i = 0; i < looks; ++i, rest())
    if (value.load(std::memory_order_acquire) != old) return;
  value.wait(old, std::memory_order_acquire);
}

class Team {
 public:
  ~Team() {
    stop_ = true;
    for (const auto& worker : workers_) call(*worker);
    for (const auto& worker : workers_) worker->thread.join();
  }

  void run(int count, void (*work)(const void*, int), const void* context) {
    const std::lock_guard one_at_a_time(busy_);
    grow(count - 1);
    const int helpers = std::min(count - 1, static_cast<int>(workers_.size()));
    work_ = work;
    context_ = context;
    left_.store(helpers, std::memory_order_relaxed);
    spread(helpers);
    for (int i = 0; i < helpers; ++i) call(*workers_[static_cast<std::size_t>(i)]);
    work(context, 0);
    for (int i = helpers + 1; i < count; ++i) work(context, i);
    for (int now = left_.load(std::memory_order_acquire); now > 0; now = left_.load(std::memory_order_acquire))
      await_change(left_, now);
  }

 private:
  struct alignas(128) Worker {  // a line of its own, and the next one, which comes with it
    std::atomic<std::uint32_t> calls{0};
    std::thread thread;
  };

  /// A worker that last ran where the caller runs now would be woken there and wait behind it until the system moves
  /// it, which takes longer than a small operation. So where every CPU gets a thread, each worker is bound to one that
  /// the caller leaves; where some are left over, the system finds places for them.
  void spread([[maybe_unused]] int helpers) {
#if defined(__linux__)
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const bool all = helpers > 0 && CPU_COUNT(&allowed) == helpers + 1;
    const int caller = all ? here : nowhere;
    if (caller == caller_ && (!all || helpers == bound_)) return;
    caller_ = caller;
    bound_ = all ? helpers : 0;
    int cpu = nowhere;
    for (std::size_t i = 0; i < (all ? static_cast<std::size_t>(helpers) : workers_.size()); ++i) {
      cpu_set_t own = allowed;
      if (all) {
        do ++cpu;
        while (cpu == here || !CPU_ISSET(static_cast<std::size_t>(cpu), &allowed));
        CPU_ZERO(&own);
        CPU_SET(static_cast<std::size_t>(cpu), &own);
      }
      pthread_setaffinity_np(workers_[i]->thread.native_handle(), sizeof own, &own);
    }
#endif
  }

  static void call(Worker& worker) {
    worker.calls.fetch_add(1, std::memory_order_release);
    worker.calls.notify_one();
  }

  void grow(int helpers) {
    while (static_cast<int>(workers_.size()) < helpers) {
      auto worker = std::make_unique<Worker>();
      Worker* const own = worker.get();
      const int index = static_cast<int>(workers_.size()) + 1;
      try {
        worker->thread = std::thread([this, own, index] { serve(*own, index); });
      } catch (const std::system_error&) {
        return;  // the caller does what nobody else does
      }
      workers_.push_back(std::move(worker));
    }
  }

  void serve(const Worker& own, int index) {
    for (std::uint32_t served = 0;; ++served) {
      await_change(own.calls, served);
      if (stop_) return;
      work_(context_, index);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
    }
  }

  static constexpr int nowhere = -1;

  std::mutex busy_;
  int caller_ = nowhere, bound_ = 0;  ///< the CPU that workers are bound around, and how many are
  std::vector<std::unique_ptr<Worker>> workers_;
  void (*work_)(const void*, int) = nullptr;  // these two are written before a worker is called
  const void* context_ = nullptr;
  bool stop_ = false;
  alignas(128) std::atomic<int> left_{0};
};

}  // namespace

int hardware_threads() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void on_threads(int count, void (*work)(const void*, int), const void* context) {
  if (count <= 1) return work(context, 0);
  static Team team;
  team.run(count, work, context);
}

}  // namespace kernels::cpu
