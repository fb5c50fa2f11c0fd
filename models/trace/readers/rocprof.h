#pragma once
#include <memory>
#include <string_view>

#include "models/trace/builder/builder.h"
#include "models/trace/readers/scan.h"
#include "models/trace/text/source.h"

namespace models::trace {

/// Reads what rocprofv3 --output-format json writes: under "rocprofiler-sdk-tool" one object a process, with its
/// agents, the names of kernels and calls, and records of dispatches, copies and calls with times in nanoseconds.
class RocprofReader {
 public:
  RocprofReader(Source& source, Scanner& scan, Trace& trace, Builder& builder);
  ~RocprofReader();
  /// Reads the value of that key, a list or a single object, at which the scanner stands. False: the text ended inside
  /// it, or nothing after a place in it can be trusted; what came before is kept.
  bool read();
  /// Adds a sentence to Trace::losses for what was left out.
  void say_losses() const;

 private:
  struct Process;
  bool read_process();
  bool read_records();
  bool read_list(std::string_view kind);
  /// Moves over '"key":'. False: there is none.
  /// Reads an object from its brace on: `body(key)` reads each value, and says whether it was whole.
  template <class Body>
  bool each_member(const Body& body);
  bool take_key(std::string& key);
  bool skip(std::size_t& begin);
  void header(std::string_view key, std::string_view json);
  void record(std::string_view kind, std::size_t begin, std::size_t end);
  Source& source_;
  Scanner& scan_;
  Trace& trace_;
  Builder& builder_;
  std::unique_ptr<Process> process_;
  std::int64_t processes_ = 0, lost_ = 0, not_shown_ = 0;
};

}  // namespace models::trace
