#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/trace/builder/builder.h"
#include "models/trace/trace.h"

namespace models {

/// Writes what a simulated rank does as a recording of PyTorch's profiler would have it: the main thread's operations
/// and launching calls, kernels and copies on their streams, the loader's workers as processes of their own.
class StepRecorder {
 public:
  StepRecorder(std::int64_t rank, std::int64_t ranks);

  static constexpr std::string_view compute_stream = "7", collective_stream = "20", copy_stream = "24";

  /// A span of the main thread, with a name that outlives the recorder.
  void host(std::string_view category, std::string_view name, std::int64_t start_ns, std::int64_t end_ns);
  /// The whole of a step, on the main thread.
  void step(std::int64_t number, std::int64_t start_ns, std::int64_t end_ns);
  /// A call of the main thread that launches; returns the number that joins it with what it launched.
  std::int64_t call(std::string_view name, std::int64_t start_ns, std::int64_t end_ns);
  void device(std::string_view category, std::string_view name, std::string_view stream, std::int64_t start_ns,
              std::int64_t end_ns, std::int64_t correlation);
  void worker(std::int64_t worker, std::string_view name, std::int64_t start_ns, std::int64_t end_ns);
  void pin(std::int64_t start_ns, std::int64_t end_ns);
  void memory(std::int64_t time_ns, double bytes);
  trace::Trace finish();

 private:
  /// What a span of a name and category is, found once for each text; `name` must outlive the recorder.
  struct Known {
    std::uint32_t name = 0;
    std::uint16_t category = 0;
    trace::EventClass cls{};
  };
  const Known& known(std::string_view category, std::string_view name);
  void add_known(std::uint32_t& track, std::string_view category, std::string_view name, std::int64_t start_ns,
                 std::int64_t end_ns, std::int64_t correlation, std::string_view stream);
  void add(std::string_view category, std::string_view name, std::string_view pid, std::string_view tid,
           std::int64_t start_ns, std::int64_t end_ns, std::int64_t correlation, std::string_view stream);

  trace::Trace trace_;
  trace::Builder builder_;
  std::string pid_, pin_tid_, device_;
  std::vector<std::string> worker_pids_;
  std::unordered_map<const char*, Known> known_;
  std::uint32_t thread_track_ = trace::none, compute_track_ = trace::none, collective_track_ = trace::none,
                copy_track_ = trace::none;
  std::int64_t correlation_ = 0;
};

}  // namespace models
