#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/trace/builder.h"
#include "models/trace/trace.h"

namespace models {

/// Writes what a simulated rank does as a recording of PyTorch's profiler would have it: the main thread's operations
/// and launching calls, kernels and copies on their streams, the loader's workers as processes of their own.
class StepRecorder {
 public:
  StepRecorder(std::int64_t rank, std::int64_t ranks);

  static constexpr std::string_view compute_stream = "7", collective_stream = "20", copy_stream = "24";

  /// A span of the main thread.
  void host(std::string_view category, std::string_view name, std::int64_t start_ns, std::int64_t end_ns);
  /// A call of the main thread that launches; returns the number that joins it with what it launched.
  std::int64_t call(std::string_view name, std::int64_t start_ns, std::int64_t end_ns);
  void device(std::string_view category, std::string_view name, std::string_view stream, std::int64_t start_ns,
              std::int64_t end_ns, std::int64_t correlation);
  void worker(std::int64_t worker, std::string_view name, std::int64_t start_ns, std::int64_t end_ns);
  void pin(std::int64_t start_ns, std::int64_t end_ns);
  void memory(std::int64_t time_ns, double bytes);
  trace::Trace finish();

 private:
  void add(std::string_view category, std::string_view name, std::string_view pid, std::string_view tid,
           std::int64_t start_ns, std::int64_t end_ns, std::int64_t correlation, std::string_view stream);

  trace::Trace trace_;
  trace::Builder builder_;
  std::string pid_, pin_tid_, device_;
  std::vector<std::string> worker_pids_;
  std::int64_t correlation_ = 0;
};

}  // namespace models
