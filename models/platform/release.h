#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/result.h"
#include "models/compression/deployment.h"
#include "models/training/step_simulation.h"

/// The way of one model from its data to its users: hours and money of each part of an ML platform, put together from
/// the models of the parts.
namespace models::platform {

enum class Part : std::uint8_t { data, training, profiling, compression, engine, serving, monitoring };
inline constexpr std::size_t part_count = 7;
std::string_view part_name(Part part);  ///< "inference engine"

/// What is trained, on what, and what is then served. Parts stand one behind the other: each waits for the one before.
struct ReleaseSetup {
  const Chip* chip = nullptr;  ///< The chip of training and of serving.
  std::int64_t gpus = 64;      ///< that train; each holds a replica, and optimizer states are split over all (ZeRO-1)
  double samples = 30e6;       ///< that the run sees in all
  std::int64_t batch = 2048, sequence = 2048;  ///< samples of one step over all GPUs; tokens of one sample
  std::int64_t micro_batch = 2;                ///< samples of one pass on one GPU, at most
  Format product = Format::bf16;               ///< The format of training's products: bf16, fp8, ...
  bool recompute = false;                      ///< every layer's forward pass again
  double training_roof = 0.6;                  ///< The share of peak and bandwidth that training's kernels reach.
  double launch_s = 8e-6;
  bool overlap = true;               ///< gradients are exchanged bucket by bucket during the last backward pass
  double bus_bytes_per_s = 50e9;     ///< The bandwidth of the ring between replicas.
  double storage_bytes_per_s = 3e9;  ///< What storage gives to all GPUs together.
  double sample_bytes = 4e6, samples_per_request = 1, request_latency_s = 10e-3, decode_s = 20e-3;
  std::int64_t workers = 8, cores = 12;  ///< Loader workers and CPU cores for each GPU.

  double start_s = 300;  ///< The start of any job: container, weights, warm-up, graphs.
  std::int64_t profile_runs = 10, profile_steps = 20;
  double profile_slowdown = 2;  ///< A launch takes so many times as long while the profiler records.
  bool profile_one_node = false;

  const Recipe* recipe = nullptr;
  const KvRecipe* kv = nullptr;
  std::int64_t recipes_tried = 3;
  double calibration_prompts = 512;
  double solve_s_per_billion = 90;  ///< Time for a recipe below 8 bits, on one GPU, for each billion of parameters.
  double evaluation_requests = 20e3;

  std::int64_t replica_chips = 1, slots = 64;  ///< Chips that share every layer of one replica; its sequences at once.
  double prompt = 1024, output = 256;          ///< tokens of a request
  double serving_roof = 0.7;
  std::int64_t trials = 12;
  double trial_requests = 2000;

  double rate_per_s = 40, peak = 2;  ///< mean of a day, and the highest hour over it, 1 to 2
  double days = 30;
  double may_wait = 0.05;  ///< share of requests that may find every slot taken at the peak
  bool autoscale = false;  ///< replicas follow the hour; otherwise those of the peak stay
  std::int64_t waves = 4;  ///< in which a new version replaces the old one

  double canary = 0.05;               ///< share of requests that the new version gets while it is watched
  double good = 0.9, change = 0.005;  ///< share of answers that are judged good; the drop that must be seen
  double shadow = 0.01;               ///< share of requests that the 16-bit model answers as well
  double usd_per_gpu_hour = 3;
  bool operator==(const ReleaseSetup&) const = default;
};

/// Hours until the release is out, and what is paid for the part until the end of `days`.
struct PartCost {
  double time_s = 0, usd = 0;
};

/// What the training run is made of.
struct RunFigures {
  StepMeans step;
  double steps = 0, time_s = 0;
  double forward_s = 0, backward_s = 0;                           ///< kernels of one micro-batch
  double loader_s = 0, kernels_s = 0, network_s = 0, host_s = 0;  ///< Parts of the run; they add up to time_s.
  /// The run with a loader, and with kernels, launches and network, that are twice as fast.
  double twice_data_s = 0, twice_training_s = 0;
  double memory_bytes = 0;     ///< What one GPU holds.
  double profiled_step_s = 0;  ///< on the GPUs that are profiled
  double storage_ceiling = 0;  ///< samples a second that storage, workers and cores of all GPUs bring at most
};

/// What serving comes to.
struct ServiceFigures {
  double prefill_s = 0, decode_s = 0;      ///< Time of one prompt; of one step of all slots.
  double request_s = 0;                    ///< that a request holds its slot for
  double per_s = 0;                        ///< requests that a full replica answers
  double replicas = 0, mean_replicas = 0;  ///< at the peak; over a day
  double busy_replicas = 0;                ///< that the mean rate would need, were each always full
  double weights_bytes = 0;
  double gpu_s_per_request = 0, reference_gpu_s = 0;  ///< with the recipe; with 16 bits
};

struct Release {
  std::array<PartCost, part_count> parts{};
  PartCost total;
  RunFigures run;
  ServiceFigures service;
  double canary_requests = 0;  ///< that the new version must answer before a drop would be seen
  /// Hours that the release would save, were the part twice as fast: half of what it takes, but where loading and
  /// training overlap.
  std::array<double, part_count> twice_saves_s{};
  std::size_t bottleneck = 0, dearest = 0;  ///< the part that would save most, and that most is paid for
  double compute_share = 0;  ///< Share of all hours in which training's forward and backward kernels run, 0 to 1.
};

/// Halves of a release that are known from another one, where a setup differs in what they do not depend on.
struct KnownHalves {
  const RunFigures* run = nullptr;
  const ServiceFigures* service = nullptr;
};

/// Kernels by operation_times, steps by simulate_steps, serving by estimate_deployment, replicas by erlang_c,
/// the canary by the two-sample rule for proportions. Infeasible, in one sentence: what any of them refuses, a replica
/// that does not fit its GPU, more GPUs than samples in a step, slots that do not fit beside the weights.
Result<Release> estimate_release(const Architecture& architecture, const ReleaseSetup& setup,
                                 const KnownHalves& known = {});

/// Bytes that each GPU holds in the training run, whatever its memory is. Fails as training_memory does.
Result<double> release_training_bytes(const Architecture& architecture, const ReleaseSetup& setup);

/// The step as simulated on `gpus` GPUs; forward_s and backward_s are of one pass of a rank.
Result<StepSetup> release_step(const Architecture& architecture, const ReleaseSetup& setup, std::int64_t gpus);

/// Requests that each arm's share gives until a drop from `good` to `good - change` is seen with 80 % power in a
/// two-sided test at 5 %, of the smaller arm: (1.960 + 0.8416)^2 good (1 - good) / (change^2 (1 - canary)). Source: the
/// normal approximation for two independent proportions, equal variances; Fleiss, Levin, Paik, "Statistical Methods for
/// Rates and Proportions", 2003, chapter 4.
double canary_requests(double good, double change, double canary);

/// The fewest replicas of `slots` slots in which at most `may_wait` of the requests wait, by Erlang's C.
double replicas_for(double rate_per_s, double request_s, std::int64_t slots, double may_wait);

}  // namespace models::platform
