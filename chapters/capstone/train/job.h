#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "chapters/capstone/shared/game.h"
#include "models/fleet/checkpoint_interval.h"
#include "models/machine/hardware.h"
#include "models/parallel/planner/planner_search.h"

/// A training run as a game: what is set of it at a moment, what a card changes, and the days that the planner's step
/// and the failures make of it.
namespace chapters::capstone::train {

/// Moves, in the order in which they lie on the table and in which they act on the run.
enum class Move : std::uint8_t {
  pipeline_4,  ///< so many stages, with ZeRO-1
  pipeline_8,
  pipeline_16,
  interleave,  ///< as many chunks a stage as divide the layers, at most eight
  tensor_4,
  tensor_2,
  context_2,
  zero_1,     ///< weights and gradients whole on every GPU
  selective,  ///< recomputes norms and activation functions alone
  keep_all,   ///< recomputes nothing
  micro_2,    ///< two sequences a micro-batch
  moments_8,  ///< the optimizer's moments in 8 bits
  fp8,
  save_often,   ///< every ten minutes
  save_best,    ///< at the interval that keeps most
  save_beside,  ///< a save stops training for the copy alone
  spares,       ///< nodes that are warm take the place of those that fail
  watch         ///< slow nodes are found and taken out
};
inline constexpr std::size_t move_count = 18;

/// What a day of the run goes into, in the order of the slab.
enum class Cause : std::uint8_t {
  arithmetic,
  kernels,
  recompute,
  tensor,
  gradients,
  bubble,
  update,
  slowest,
  failures
};
inline constexpr std::size_t cause_count = 9;

/// The job, and what is assumed of the cluster. Times in seconds.
struct Job {
  models::Architecture architecture;
  models::Chip chip;
  std::int64_t gpus = 16384, global_batch = 2048, sequence = 8192;
  double tokens = 15.6e12, target_s = 75 * 86400.0;
  double network_bytes_per_s = 50e9;
  double gpu_hours_per_failure = 50'700;
  double interval_s = 3600.0, save_s = 30, restart_s = 600;  ///< as found
  double save_beside_s = 5, restart_spares_s = 120;          ///< with the cards
  double spread_slow = 0.02, spread = 0.004;  ///< the GPUs' speeds, with slow nodes among them and without
  double price_per_hour = 2;
};

/// The run with some cards in force.
struct Run {
  models::parallel::PlannerJob job;
  models::parallel::PlanPoint plan;
  models::fleet::RunReliability reliability;
  double interval_s = 0;
  std::string bounce{};  ///< not empty: the cards do not go together
};

/// What the models make of it. Times of the whole run.
struct Outcome {
  std::string bounce{};  ///< not empty: it cannot run, and this sentence says why; nothing else holds
  std::array<double, cause_count> cause_s{};
  double wall_s = 0, step_s = 0, steps = 0, mfu = 0, efficiency = 1;
  double memory_bytes = 0, room_bytes = 0;
  models::parallel::PricedPlan price{};
};

class RunGame final : public Rules {
 public:
  /// `searched` above 0: for a search of at most so many cards; states of more bounce.
  explicit RunGame(Job job, int searched = 0) : job_(std::move(job)), searched_(searched), target_{target_of(job_)} {}
  std::span<const Card> cards() const override;
  std::span<const Target> targets() const override { return {&target_, 1}; }
  Figures play(CardSet set) const override;
  Run run_of(CardSet set) const;
  Outcome outcome(CardSet set) const { return outcome_of(run_of(set)); }
  /// Any plan with the run's failures: the planner's best, or the study's.
  Outcome outcome_of(const Run& run) const;
  const Job& job() const { return job_; }

 private:
  static Target target_of(const Job& job) { return {"the run", "s", job.target_s}; }
  Job job_;
  int searched_;
  Target target_;
};

/// A dense model of about 100 billion parameters: the layers of Llama 3 70B, 112 of them.
models::Architecture hundred_billion(models::Architecture seventy_billion);

}  // namespace chapters::capstone::train
