#pragma once
#include <cstdint>
#include <memory>

#include "app/workspace/documents.h"
#include "app/workspace/jobs.h"
#include "app/workspace/session.h"

namespace app {

/// Where the person is, so that a quit or a crash loses at most the last second: each lab's scenario and view, notes,
/// progress, settings.
class Place {
 public:
  Place(Documents& documents, Jobs& jobs, Messages& messages)
      : documents_(documents), jobs_(jobs), messages_(messages) {}

  void restore(chapters::Lab& lab);     ///< as it was left, as far as that is still possible
  void note(const chapters::Lab& lab);  ///< puts its state into `resume`, in memory
  /// Writes all documents now, the place among them.
  void save(const chapters::Lab& open);
  /// Call it about once a second with a clock in seconds, whether anything is drawn or not. Writes at most once a
  /// second, `resume` on a worker, and nothing while nothing has changed; notes once they have not changed for a
  /// second. What could not be saved is tried again twice a minute. `openings` counts how often a lab was opened.
  void keep(double now_s, const Session& open, std::uint64_t openings);

 private:
  void take_written();
  void keep_notes(double now_s);

  Documents& documents_;
  Jobs& jobs_;
  Messages& messages_;
  double last_s_ = -1e9;     ///< when something was written
  std::uint64_t stamp_ = 0;  ///< stamp of the state that was noted last
  Job job_;                  ///< writes `resume`
  store::Resume writing_;    ///< what it writes
  std::shared_ptr<store::SaveReport> report_;
  std::uint64_t note_edits_ = 0;  ///< Notes::edits when they were looked at last
  double note_s_ = 0;             ///< when they had changed last
  double first_note_s_ = -1;      ///< when they had changed first since they were saved; negative: they have not
  double retry_s_ = -1e9;         ///< before this nothing that failed is tried again
};

}  // namespace app
