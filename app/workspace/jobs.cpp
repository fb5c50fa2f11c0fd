#include "app/workspace/jobs.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace app {

struct Job::State {
  enum class Phase : unsigned char { waiting, running, done, failed, cancelled };
  chapters::Progress progress;
  std::atomic<Phase> phase{Phase::waiting};
  std::string error;  // written before phase leaves `running`, read after
  std::string slot;
  Work work;

  bool ended() const { return phase.load(std::memory_order_acquire) > Phase::running; }
  void run() {
    Phase end = Phase::failed;
    try {
      work(progress);
      end = progress.cancelled.load() ? Phase::cancelled : Phase::done;
    } catch (const std::bad_alloc&) {
      error = "The computation needs more memory than there is: choose smaller inputs.";
    } catch (const std::exception& e) {
      error = std::string("The computation failed: ") + e.what() + ".";
    } catch (...) {
      error = "The computation failed for an unknown reason.";
    }
    if (end == Phase::failed && progress.cancelled.load()) {  // nobody waits for the answer, so nobody needs the reason
      error.clear();
      end = Phase::cancelled;
    }
    if (end == Phase::done) progress.fraction.store(1.0);
    finish(end);
  }
  void finish(Phase end) {
    work = nullptr;  // frees what it captured while the handle may live on
    phase.store(end, std::memory_order_release);
    phase.notify_all();
  }
};

bool Job::ended() const { return state_ && state_->ended(); }
bool Job::done() const { return state_ && state_->phase.load(std::memory_order_acquire) == State::Phase::done; }
bool Job::cancelled() const { return state_ && state_->progress.cancelled.load(); }
double Job::fraction() const {
  const double fraction = state_ ? state_->progress.fraction.load() : 0.0;
  return fraction >= 0.0 ? std::min(fraction, 1.0) : 0.0;
}
std::string Job::error() const { return ended() ? state_->error : std::string(); }
void Job::cancel() const {
  if (state_) state_->progress.cancelled.store(true);
}

void Job::wait() const {
  if (!state_) return;
  for (auto now = state_->phase.load(std::memory_order_acquire); now <= State::Phase::running;
       now = state_->phase.load(std::memory_order_acquire))
    state_->phase.wait(now, std::memory_order_acquire);
}

struct Jobs::Shared {
  using Phase = Job::State::Phase;
  using StatePtr = std::shared_ptr<Job::State>;
  mutable std::mutex mutex;
  std::condition_variable ready;
  std::deque<StatePtr> waiting;
  std::vector<StatePtr> running;
  bool closing = false;
  std::function<void()> wake;
  std::vector<std::thread> workers;

  /// The next job, now in `running`, or null when it is time to leave.
  StatePtr take() {
    std::unique_lock lock(mutex);
    ready.wait(lock, [this] { return closing || !waiting.empty(); });
    return waiting.empty() ? nullptr : start_next();
  }

  void serve() {
    while (const StatePtr job = take()) work_on(job);
  }

  /// On the caller's thread.
  void serve_waiting() {
    for (;;) {
      StatePtr next;
      {
        const std::lock_guard lock(mutex);
        if (waiting.empty()) return;
        next = start_next();
      }
      work_on(next);
    }
  }

  /// Call with the mutex held and something waiting.
  StatePtr start_next() {
    StatePtr next = std::move(waiting.front());
    waiting.pop_front();
    next->phase.store(Phase::running, std::memory_order_relaxed);
    next->phase.notify_all();
    running.push_back(next);
    return next;
  }

  void work_on(const StatePtr& job) {
    if (job->progress.cancelled.load()) {
      job->finish(Phase::cancelled);
    } else {
      job->run();
    }
    {
      const std::lock_guard lock(mutex);
      std::erase(running, job);
    }
    if (wake) wake();
  }

  /// What waits ends here and now; what runs is asked to. Call with the mutex held.
  void cancel_where(const auto& matches) {
    std::erase_if(waiting, [&](const StatePtr& job) {
      if (!matches(*job)) return false;
      job->progress.cancelled.store(true);
      job->finish(Phase::cancelled);
      return true;
    });
    for (const StatePtr& job : running)
      if (matches(*job)) job->progress.cancelled.store(true);
  }
};

Jobs::Jobs(std::size_t workers, std::function<void()> wake) : shared_(std::make_unique<Shared>()) {
  shared_->wake = std::move(wake);
  shared_->workers.reserve(workers);
  try {
    while (shared_->workers.size() < workers)
      shared_->workers.emplace_back([shared = shared_.get()] { shared->serve(); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those that there are do the work, or submit() itself where there is none.
  }
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->cancel_where([](const Job::State&) { return true; });
    shared_->closing = true;
  }
  shared_->ready.notify_all();
  for (std::thread& worker : shared_->workers) worker.join();
}

Job Jobs::submit(std::string_view slot, Work work) {
  auto state = std::make_shared<Job::State>();
  state->slot = slot;
  state->work = std::move(work);
  {
    const std::lock_guard lock(shared_->mutex);
    if (!slot.empty()) shared_->cancel_where([&](const Job::State& old) { return old.slot == slot; });
    shared_->waiting.push_back(state);
  }
  shared_->ready.notify_one();
  if (shared_->workers.empty()) shared_->serve_waiting();
  return Job(std::move(state));
}

void Jobs::cancel_all() {
  const std::lock_guard lock(shared_->mutex);
  shared_->cancel_where([](const Job::State&) { return true; });
}

std::size_t Jobs::busy() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->waiting.size() + shared_->running.size();
}

}  // namespace app
