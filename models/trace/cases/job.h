#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/trace/cases/deal.h"
#include "models/trace/replay/job_graph.h"

/// A dealt training job as a graph of tasks: what its ranks' main threads, loader workers, streams and link do.
namespace models::trace {

/// What a task of a case is. Tasks of one kind on one rank are accused together.
enum class CaseWork : std::uint8_t {
  decode,      ///< a loader's worker makes a batch
  next_batch,  ///< the main thread takes a batch, and waits for it
  collate,     ///< an operation on the CPU that copies the batch together
  batch_copy,  ///< the batch goes to the device
  launch,      ///< operations that launch
  forward,
  backward,
  all_reduce,
  read_loss,  ///< the loss is read once a step
  sync,       ///< a value is read inside of the step
  log,
  host_op,  ///< another operation on the CPU
  silent,   ///< the main thread does something that is not recorded
  compile,
  optimizer,
  optimizer_launch,  ///< operations that launch the optimizer's kernels
  save_copy,         ///< weights go to the host
  saver              ///< a thread of its own that writes
};
inline constexpr std::size_t case_work_count = 18;

/// What a task is, and what a recording shows of it.
struct CaseTask {
  CaseWork work{};
  std::uint8_t step = 0;
  std::uint8_t place = 0;           ///< number of a kernel in its step, of a bucket, of a batch
  bool faulty = false;              ///< the planted fault acts on it
  std::string_view name{}, call{};  ///< names of its span and of the call inside; an empty name is not recorded
  double base_ns = 0, unit_ns = 0;  ///< it takes base + size x unit
  std::uint32_t launches = no_task;
};

struct CaseLanes {
  std::uint32_t main = 0, compute = 0, collectives = 0, copies = 0, saver = no_task;
  std::vector<std::uint32_t> workers;
};

struct CaseJob {
  CaseSpec spec;
  JobGraph graph;
  std::vector<CaseTask> tasks;   ///< beside those of the graph
  std::vector<CaseLanes> lanes;  ///< by rank

  /// What a task takes with a fault of this size; at least 0.
  std::int64_t duration_ns(std::uint32_t task, double size) const;
};

/// The job with the fault and the decoys of its spec. Its graph is in order for Replay::of.
CaseJob case_job(const CaseSpec& spec);

}  // namespace models::trace
