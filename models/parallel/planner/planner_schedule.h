#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "models/memory/training_plan.h"
#include "models/parallel/pipeline/pipeline_run.h"

/// What the order of a pipeline costs and holds, from the same rules and the same run as the pipeline's own lab.
namespace models::parallel {

/// Work of one micro-batch on a whole stage, seconds: forward, the gradients that the stage before waits for (what is
/// recomputed among them), and the gradients of the weights.
struct PassSplit {
  double forward_s = 0, input_s = 0, weight_s = 0;
  double total_s() const { return forward_s + input_s + weight_s; }
};

/// The spec of a plan's schedule: 1F1B with chunks is interleaved.
PipelineSpec schedule_spec(const memory::TrainingPlan& plan);

/// One sentence where the schedule cannot run with the plan's stages and micro-batches; nothing otherwise.
std::string schedule_problem(const memory::TrainingPlan& plan);

/// Schedules that were run already: a search asks for the same ones again and again.
class PlannerSchedules {
 public:
  /// Seconds that the busiest stage waits in a step, beyond its own work, when all stages take `split`. The closed form
  /// of the schedule where one holds (pipeline_formulas); else its order is run, with times rounded to a sixteenth of
  /// the forward pass and no more micro-batches than four times the stages, from where on the bubble stays.
  double bubble_s(const memory::TrainingPlan& plan, const PassSplit& split);

  /// Activations that a stage holds at once, in those of one micro-batch on all its layers; 0 for 1F1B, plain and
  /// interleaved, whose count the memory model has.
  double in_flight(const memory::TrainingPlan& plan, std::int64_t stage);
  /// The same for every stage whose order was run; null where in_flight is one number for all of them.
  const std::vector<double>* in_flight_of_stages(const memory::TrainingPlan& plan);
  /// Orders that were run and are kept.
  std::size_t kept() const { return bubbles_.size() + in_flight_.size(); }

 private:
  struct Key {
    PipelineSchedule schedule;
    std::int64_t ranks, chunks, micro_batches, input, weight;
    auto operator<=>(const Key&) const = default;
  };
  struct Bubble {
    double passes = 0;  ///< the bubble of the step that was run
    double more = 0;    ///< for each micro-batch more
  };
  double run_bubble(const PipelineSpec& spec, const PipelineTimes& times);
  /// An order that was made: its times, and the activations that each rank holds at its fullest.
  struct Order {
    PipelineTimer timer;
    std::vector<double> peaks;
  };
  /// The order of a spec; one that does not come to its end where there is none.
  Order& order_of(const PipelineSpec& spec);
  std::map<Key, Order> orders_;
  std::size_t operations_ = 0;                    ///< in all orders that are kept
  std::map<Key, Bubble> bubbles_;                 ///< over the forward pass
  std::map<Key, std::vector<double>> in_flight_;  ///< by stage
};

/// PlannerSchedules::in_flight with the latest orders kept, for whoever asks for one plan after the other: a lab and
/// its copies, from any thread.
class KeptSchedules {
 public:
  /// Activations that the plan's own stage holds at once, in those of one micro-batch.
  double in_flight(const memory::TrainingPlan& plan);

 private:
  std::mutex mutex_;
  PlannerSchedules schedules_;
};

}  // namespace models::parallel
