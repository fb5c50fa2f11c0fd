#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/transformer/step_time.h"

/// A host that launches kernels one after the other, a queue between, and a device that works through it.
namespace models {

/// eager: a kernel for each operation that the framework is asked for; compiled: element-wise operations fused; graphs:
/// the same kernels, launched all at once.
enum class LaunchMode : std::uint8_t { eager, compiled, graph, compiled_graph };
inline constexpr std::size_t launch_mode_count = 4;
/// Where the host waits for the device: never, after each step (it reads a token, or a loss), after each layer.
enum class LaunchSync : std::uint8_t { none, step, layer };
inline constexpr std::size_t launch_sync_count = 3;

struct LaunchHost {
  double launch_s = 8e-6;         ///< from one launch to the next
  double latency_s = 1.4e-6;      ///< from the end of a launch to the start of its kernel on an idle device
  double between_s = 1.7e-6;      ///< between two kernels that were both there
  double graph_launch_s = 1e-5;   ///< to launch a whole graph
  double graph_between_s = 1e-6;  ///< between two kernels of a graph
  std::int64_t queue_depth = 1024;
};

/// What a recording of an eager program says of its host and its queue. Medians, in seconds.
struct RecordedLaunches {
  std::string_view id, name, file;
  double call_s, interval_s, latency_s, between_s;
  std::int64_t lead;  ///< launches that waited at most
};
/// From public profiler traces of Kineto, HTA and TraceLens, named by their files; `interval` is from a launch to the
/// next on its thread, profiler and Python's stacks included.
const std::array<RecordedLaunches, 4>& recorded_launches();

struct LaunchKernel {
  std::int64_t duration_ns = 0;
  std::int32_t operation = 0;  ///< index into LaunchList::operations
  std::int32_t layer = 0;      ///< 0 before the first, then from 1
};
struct LaunchOperation {
  std::string name;
  std::int64_t kernels = 1, count = 1;  ///< kernels of one, and how often it runs
  double kernel_s = 0;
  OperationGroup group{};
};
struct LaunchList {
  std::vector<LaunchOperation> operations;
  std::vector<LaunchKernel> kernels;  ///< kernels of one step, in order
  std::int64_t layers = 0;
  double kernels_s = 0;  ///< all kernels, back to back
};

/// Kernels that an eager framework runs for one operation; see launch_list.
std::int64_t eager_kernels(const LayerOperation& op, const Architecture& architecture);

/// The kernels of one forward step. Eager: 8 for an RMS norm (to float, square, mean, epsilon, root, scale, back,
/// weight), 10 for a rotation, 2 for a cache of fixed size (index_copy_ of keys and of values), one for each other
/// operation, as Hugging Face's modeling_llama asks for them; attention is one kernel that takes grouped heads as they
/// are. A cache that grows by torch.cat would copy all of itself in each layer, and no graph can hold it. Compiled: one
/// for each operation, residual adds and gates fused. A kernel takes its arithmetic or its bytes, whichever is longer,
/// and at least `least_kernel_s`. Training is refused: its backward pass is in step_trace.
Result<LaunchList> launch_list(const Architecture& architecture, Workload workload, const Machine& machine,
                               bool compiled, double least_kernel_s);

/// A kernel's history, ns from the start of the first step.
struct LaunchEvent {
  std::int64_t called_ns = 0, returned_ns = 0, start_ns = 0, end_ns = 0;
  std::int32_t kernel = 0;
};
struct LaunchRun {
  std::vector<LaunchEvent> events;         ///< the last step; the events of a graph all have one call
  std::int64_t origin_ns = 0, end_ns = 0;  ///< when the device ended the step before, and this one
  std::int64_t busy_ns = 0, host_wait_ns = 0, between_ns = 0;  ///< add up to end_ns - origin_ns exactly
  std::int64_t host_ns = 0;                                    ///< that the host launches, of the step
  std::int64_t most_queued = 0;                                ///< kernels launched and not begun
  std::int64_t launches = 0;
};
/// The third of three steps.
LaunchRun run_launches(const LaunchList& list, const LaunchHost& host, LaunchMode mode, LaunchSync sync);

/// A run of kernels of one group of operations, each of which began only when its launch arrived: the queue was dry. It
/// begins with the first wait.
struct DryStretch {
  std::int64_t begin_ns = 0, end_ns = 0;  ///< from the end of the kernel before to the end of the last of them
  std::int64_t idle_ns = 0;               ///< time in it in which the device did nothing
  std::int64_t kernels = 0;
  OperationGroup group{};
};
/// The stretches of the run's last step up to the end of layer `last_layer`, in order. A gap that is no longer than
/// what always lies between two kernels (`host.between_s`, in a graph `graph_between_s`) is no wait.
std::vector<DryStretch> dry_stretches(const LaunchList& list, const LaunchRun& run, const LaunchHost& host,
                                      LaunchMode mode, std::int32_t last_layer);
/// When the device ends each layer of the run's last step, ns; what lies before the first layer and behind the last is
/// none.
std::vector<std::int64_t> layer_ends(const LaunchList& list, const LaunchRun& run);

/// The smallest batch at which the kernels of a step take at least as long as their launches, up to 65,536; 0: none.
Result<std::int64_t> batch_without_launch_cost(const Architecture& architecture, const Workload& workload,
                                               const Machine& machine, const LaunchHost& host, bool compiled,
                                               double least_kernel_s);

}  // namespace models
