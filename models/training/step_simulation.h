#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/trace/trace.h"
#include "models/training/batch_loader.h"

/// Training steps as a profiler would record them: a loader, a host that launches ahead, a compute stream, a stream
/// for collectives and one for copies. Discrete events in integer nanoseconds.
namespace models {

/// How a batch reaches the device. pageable: the host waits for the stream and for the copy, as PyTorch's blocking
/// .to() does; pinned: asynchronous, on the compute stream; copy_stream: asynchronous, beside the compute stream.
enum class BatchCopy : std::uint8_t { pageable, pinned, copy_stream };
inline constexpr std::size_t batch_copy_count = 3;

/// AdamW in float32: one kernel an operation and tensor, one an operation for many tensors, one for everything.
enum class OptimizerCode : std::uint8_t { looped, foreach, fused };
inline constexpr std::size_t optimizer_code_count = 3;
/// Bytes that a parameter's update moves. Unfused, eight element-wise operations: decay 8, first moment 12, second
/// moment 8 and 12, root 8, bias correction 8, epsilon 8, update 16. Fused: p, g, m and v read, p, m and v written.
double optimizer_bytes_per_parameter(OptimizerCode code);

struct StepSetup {
  LoaderSetup loader;
  BatchCopy copy = BatchCopy::pageable;
  double pageable_bytes_per_s = 10e9, pinned_bytes_per_s = 25e9;
  std::int64_t layers = 24;
  std::int64_t kernels_per_layer = 20;           ///< in a forward pass; the backward pass has twice as many
  double forward_s = 0.17, backward_s = 0.2125;  ///< time of the kernels alone
  std::int64_t micro_batches = 1;   ///< each loaded, copied and run by itself; gradients are exchanged after the last
  bool recompute = false;           ///< each layer's forward pass again, before its backward pass
  double recompute_s = -1;          ///< time of the kernels that run again, all layers; below 0: as long as forward_s
  double launch_s = 8e-6;           ///< from one launch of the host to the next
  double launch_latency_s = 4e-6;   ///< from the end of a launch until its kernel may begin
  std::int64_t queue_depth = 1024;  ///< kernels that are launched and have not begun; then the host waits
  double parameters = 800e6, optimizer_bytes_per_s = 64e9 / 0.085;
  OptimizerCode optimizer = OptimizerCode::looped;
  double update_bytes = 0;        ///< that a parameter's update moves; 0: as optimizer_bytes_per_parameter says
  std::int64_t ranks = 8;         ///< that share the gradients; 1: none are exchanged
  double gradient_bytes = 3.2e9;  ///< in the parameters' own format, as DDP reduces them
  std::int64_t buckets = 8;
  double bus_bytes_per_s = 50e9;   ///< bus bandwidth of a ring all-reduce
  double hop_latency_s = 0;        ///< latency of each of its 2 (ranks - 1) steps
  bool overlap = true;             ///< a bucket starts when its gradients are there; else all start after the last
  std::int64_t sync_every = 1;     ///< steps between two reads of the loss; 0: none
  double log_s = 13.5e-3;          ///< time of the host after each of these reads
  double state_bytes = 12.8e9;     ///< weights, gradients and optimizer states that stay
  double activation_bytes = 24e9;  ///< at the end of the forward pass
};

/// Why the compute stream has nothing to do.
enum class StepCause : std::uint8_t { data, copy, launch, sync, communication };
inline constexpr std::size_t step_cause_count = 5;
inline constexpr std::array<std::string_view, step_cause_count> step_cause_names{"data", "copy", "launching",
                                                                                 "sync and log", "communication"};

/// One step on the compute stream, from the end of the last optimizer kernel to the end of the next. The parts add up
/// to period_ns exactly.
struct StepLedger {
  std::int64_t end_ns = 0, period_ns = 0;
  std::int64_t forward_ns = 0, backward_ns = 0, optimizer_ns = 0;
  std::array<std::int64_t, step_cause_count> idle_ns{};
  std::int64_t communication_ns = 0;  ///< time of the collectives, hidden or not
  std::int64_t busy_ns() const { return forward_ns + backward_ns + optimizer_ns; }
  std::int64_t idle_total_ns() const;
};

/// What stands on a row of a step's picture.
enum class StepRow : std::uint8_t { worker, pin, host, copies, collectives, compute };
enum class StepWork : std::uint8_t {
  load,    ///< the host waits for a batch or loads it; a worker decodes
  read,    ///< a worker waits for storage
  launch,  ///< the host launches
  copy,    ///< a copy; the host in a blocking one; a batch being pinned
  sync,    ///< the host waits in .item()
  log,     ///< the host writes down what it read
  ahead,   ///< the host may not launch further ahead
  forward,
  backward,
  optimizer,
  reduce,  ///< an all-reduce
  idle     ///< the compute stream waits, for `cause`
};
struct StepBlock {
  std::int64_t start_ns = 0, end_ns = 0, step = 0;
  StepRow row{};
  StepWork work{};
  StepCause cause{};      ///< why an idle block is idle
  std::int32_t lane = 0;  ///< workers: which; collectives: the bucket
  StepWork phase{};       ///< launches: what they launch
};

/// Bytes in use on the device from a time on.
struct StepMemory {
  std::int64_t time_ns = 0;
  double bytes = 0;
};

struct StepOptions {
  std::int64_t steps = 8;
  std::int64_t record_from = 0;      ///< the first step whose blocks are kept
  bool record_blocks = false;        ///< keep the blocks of rank 0
  bool record_traces = false;        ///< a recording of each rank, kernel by kernel
  std::int64_t simulated_ranks = 1;  ///< 1 where all do the same; else setup.ranks, each with luck of its own
  double rank_spread = 0;            ///< kernels of a rank take within 1 - spread and 1 + spread of the mean
};

struct StepRun {
  std::vector<StepLedger> steps;           ///< steps of rank 0
  std::vector<StepBlock> blocks;           ///< blocks of rank 0, by row, then start
  std::vector<StepMemory> memory;          ///< memory of rank 0, by time
  std::vector<LoaderPiece> loader_pieces;  ///< what rank 0's workers did, idle pieces among them
  std::vector<LoaderLevel> ready, reading, decoding;
  std::int64_t storage_busy_ns = 0, core_busy_ns = 0;  ///< since the start
  std::int64_t waited_ns = 0;                          ///< time in which the host waited for batches, over all steps
  std::int64_t largest_lead = 0;                       ///< kernels that were launched and had not begun, at most
  std::vector<trace::Trace> traces;                    ///< by rank
};

/// Runs the steps. The same setup gives the same history. Fails in a sentence where a quantity is no number, below 0,
/// or 0 where it must not be.
Result<StepRun> simulate_steps(const StepSetup& setup, const StepOptions& options);

/// Mean of the last `count` steps, s.
struct StepMeans {
  double period_s = 0, forward_s = 0, backward_s = 0, optimizer_s = 0, communication_s = 0;
  std::array<double, step_cause_count> idle_s{};
  double idle_total_s() const;
};
StepMeans mean_of_last(const StepRun& run, std::int64_t count);

/// Steps after which figures repeat: a whole number of rounds over the workers and of reads of the loss, at most 200.
std::int64_t steady_steps(const StepSetup& setup);

/// An all-reduce of one bucket: 2 (n - 1) / n of its bytes over the bus, and 2 (n - 1) hops.
/// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005.
double bucket_time_s(const StepSetup& setup);

}  // namespace models
