#pragma once
#include <memory>
#include <optional>

#include "app/content/load_catalog.h"
#include "app/platform/paths.h"
#include "app/workspace/jobs.h"

namespace app {

/// Reads chips, models and drills anew in a job, the learner's own among them.
class CatalogReading {
 public:
  explicit CatalogReading(Jobs& jobs) : jobs_(jobs) {}

  /// Begins, in place of what was being read. Fails where the program's own assets are not found.
  models::Status start(const models::Result<UserPaths>& folders);
  bool busy() const { return static_cast<bool>(job_); }
  void wait() { job_.wait(); }
  /// What was read, once; nothing before the job has ended. Fails where the job has.
  std::optional<models::Result<LoadedCatalog>> take();

 private:
  Jobs& jobs_;
  Job job_;
  std::shared_ptr<LoadedCatalog> read_;  ///< what the job writes
};

}  // namespace app
