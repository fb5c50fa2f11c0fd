#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "chapters/mechanism/lab.h"

/// Work that takes longer than a frame: worker threads, progress, cancel. The caller keeps its last good result
/// meanwhile.
namespace app {

/// Runs on a worker. Writes its result where only it writes until the job is done; asks `progress.cancelled` now and
/// then.
using Work = std::function<void(chapters::Progress& progress)>;

/// What the submitter holds: cheap to copy, harmless when empty, alive after Jobs is gone. Letting go of it does not
/// cancel.
class Job {
 public:
  Job() = default;
  explicit operator bool() const { return state_ != nullptr; }
  bool ended() const;       ///< done, failed or cancelled; from here on what the work wrote may be read
  bool done() const;        ///< ended, completely and without an error: the result is good
  bool cancelled() const;   ///< asked to stop, by the caller, by a newer job in its slot, or by the end of the program
  double fraction() const;  ///< 0 to 1, as the work reports it; 1 when done
  /// Empty, or one sentence why the work failed. Valid once ended.
  std::string error() const;
  void cancel() const;  ///< returns at once; work that is waiting never starts
  void wait() const;    ///< until it has ended; not for the window's thread

 private:
  friend class Jobs;
  struct State;
  explicit Job(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class Jobs {
 public:
  /// Where the system gives fewer threads, they do the work; where it gives none, submit() works before it returns.
  /// `wake` is called on a worker after each job has ended, so that a sleeping window looks again; it must be
  /// thread-safe.
  explicit Jobs(std::size_t workers = 2, std::function<void()> wake = {});
  /// Cancels everything and waits until the work that runs has returned.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Queues work. A job that waits or runs under the same slot name is cancelled first; the empty name is no slot.
  Job submit(std::string_view slot, Work work);
  void cancel_all();
  /// Jobs that wait or run.
  std::size_t busy() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace app
