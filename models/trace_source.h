#pragma once
#include <memory>
#include <string>

#include "models/trace.h"

namespace models::trace {

/// The uncompressed bytes of a recording, growing while they are read. A gz is inflated on a second thread, a few chunks ahead.
class Source {
 public:
  /// Takes the bytes over. `progress` outlives this.
  Source(std::string bytes, const Progress& progress);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string text;  ///< what is there so far; moves as it grows, so keep offsets
  /// Appends the next chunk. False: there is no more, or reading was cancelled.
  bool more();
  void all() {
    while (more()) {}
  }
  bool compressed() const { return inflater_ != nullptr; }
  /// Empty, or a sentence why the compressed bytes ended early.
  std::string loss() const;
  bool cancelled();
  /// Says how far reading is: `at` is an offset in text.
  void report(std::size_t at);

 private:
  struct Inflater;
  std::unique_ptr<Inflater> inflater_;
  const Progress& progress_;
  bool cancelled_ = false;
};

}  // namespace models::trace
