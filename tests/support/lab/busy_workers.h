#pragma once
#include <atomic>
#include <memory>

#include "app/workspace/jobs.h"

namespace support {

/// Keeps every worker busy until it is let go, so that what is opened meanwhile waits for as long as a test looks.
class BusyWorkers {
 public:
  explicit BusyWorkers(app::Jobs& jobs) {
    for (int i = 0; i < 8; ++i) (void)jobs.submit("", [open = open_](chapters::Progress&) { open->wait(false); });
  }
  ~BusyWorkers() { let_go(); }
  void let_go() {
    open_->store(true);
    open_->notify_all();
  }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace support
