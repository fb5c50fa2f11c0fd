#pragma once
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/machine/hardware.h"
#include "models/parallel/overlap/overlap_plan.h"
#include "widgets/plot/plot.h"
#include "widgets/timeline/timeline.h"

/// One data-parallel step on two streams: what the backward hides of the communication, and the tail that sticks out.
namespace chapters::distributed::overlap {

/// What gradients are summed in.
enum class Summed : std::uint8_t { fp32, bf16 };

struct Inputs {
  models::parallel::OverlapMethod method = models::parallel::OverlapMethod::ddp;
  std::string model = "llama-3.2-1b", chip = "h100_sxm", network = "infiniband_ndr";
  std::int64_t gpus = 64, batch = 4, sequence = 2048, micro_batches = 1;
  Summed gradient_format = Summed::fp32;
  double bucket_bytes = 25 * models::parallel::mebibyte, first_bucket_bytes = models::parallel::mebibyte;
  bool beside_backward = true;
  bool reshard_after_forward = true;
  std::int64_t forward_ahead = 2, backward_ahead = 1, layers_per_unit = 1;
  bool hybrid = false;
  std::int64_t shards = 8;
  bool layers_again = false;
  double slowdown = 18.9;  ///< %
  models::AllReduceAlgorithm algorithm = models::AllReduceAlgorithm::fastest;
  double inside_share = 82, between_share = 94;  ///< % of line rates
  double inside_hop_s = 3.4e-6, between_hop_s = 14e-6, call_s = 0;
  std::int64_t gpus_per_node = 8, baseline_gpus = 8;
  double roof_share = 0.7;
  bool operator==(const Inputs&) const = default;
};

/// A collective of the step.
struct CollectiveRow {
  std::string what;
  std::int64_t tensors = 0;
  double bytes = 0, ready_s = 0, start_s = 0, end_s = 0, waits_s = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  models::parallel::OverlapTotals step;
  models::parallel::OverlapWorkTotals work;
  double sent_bytes = 0;
  double exposed_share = 0, hidden_share = 0;  ///< % of the step; % of the collectives' time
  double forward_wait_s = 0, backward_wait_s = 0, tail_wait_s = 0;
  double apart_s = 0, saved_s = 0;  ///< nothing overlaps: one collective after the other, and what overlap saves
  std::int64_t collectives = 0;
  double largest_bytes = 0, last_bytes = 0, last_s = 0;
  double best_bucket_bytes = none, best_step_s = none, best_gain_s = none;  ///< NaN with FSDP
  double best_unit_layers = none, best_unit_step_s = none;                  ///< NaN with DDP
  double critical_tokens = 0, balance_tokens = 0, tokens_per_s = 0, scaling_percent = 0;
  double held_peak_bytes = 0, memory_bytes = 0;
  double layer_forward_s = 0, layer_gather_s = 0, layer_ratio = 0, layer_reduce_s = 0;
  std::vector<CollectiveRow> rows;
};

/// Steps with another value of one input.
struct StepSweep {
  std::vector<double> at, step_s;
};
struct Run {
  models::parallel::OverlapPlan plan;
  models::parallel::OverlapRun run;
  models::parallel::OverlapWork work;               ///< in the units that are run
  std::vector<models::parallel::HeldWeights> held;  ///< beyond the states at rest, over time
  StepSweep sizes;                                  ///< against buckets (DDP, bytes) or layers a unit (FSDP)
  std::vector<double> gpus;
  std::array<std::vector<double>, models::parallel::overlap_method_count> gpu_step_s;  ///< NaN where it does not fit
  std::vector<double> tokens, tokens_exposed;                                          ///< exposed: % of the step
};

/// A gradient's or a weight's way between the lanes: from [from_s, to_s] of the compute lane to a collective.
struct Fall {
  double from_s = 0, to_s = 0, start_s = 0, end_s = 0;
  widgets::Tint tint{};
  bool up = false;  ///< gathered weights
};
/// A time in which the compute stream waits for the network.
struct Wait {
  double start_s = 0, end_s = 0;
  std::string said;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<widgets::TimelineSpan> compute, network;
  std::vector<widgets::TimelinePoint> held;
  std::vector<std::string> names, infos;   ///< label and hover text of spans, by TimelineSpan::name
  std::vector<std::int64_t> durations_ns;  ///< how long the spans of these names are
  std::string compute_words, network_words, held_words;
  std::vector<Fall> falls;
  std::vector<Wait> waits;
  double backward_end_s = 0, last_s = 0;  ///< ends of the last backward and of the last collective
  std::string tail_said;                  ///< empty: there is none
  widgets::Curve sizes, tokens;           ///< one step against the bucket or the unit; exposed against tokens of a GPU
  widgets::Curve best_size;               ///< the shortest step of `sizes`; empty: there is none
  std::vector<widgets::Curve> gpus;       ///< one step against GPUs, of each method that fits
  PublishedMarks published;
};

struct View {
  widgets::TimelineView timeline;
  widgets::PlotView sizes, gpus, tokens;
  DescribedTable<CollectiveRow> rows;
  std::vector<widgets::TimelineCounter> counters;
  std::vector<widgets::TimelineLane> lanes;
};

/// What the inputs mean: the step's work, how it is exchanged, on which chip, at which rate.
struct Scenario {
  models::parallel::OverlapWork work;
  models::parallel::OverlapSetup setup;
  const models::Chip* chip = nullptr;
  double reached_flops_per_s = 0;
};
/// Fails with a sentence where model, chip or network are unknown or do not go together.
models::Result<Scenario> read_scenario(const Inputs& in);

/// The step alone, without all that is found about it.
models::parallel::OverlapRun step_of(const Scenario& scenario);
/// The step with its tasks and what is gathered over time.
struct SteppedScenario {
  models::parallel::OverlapPlan plan;
  models::parallel::OverlapRun run;
  std::vector<models::parallel::HeldWeights> held;
  double held_peak_bytes = 0;
};
/// Fails with a sentence where what is gathered does not fit beside the states.
models::Result<SteppedScenario> run_scenario(const Scenario& scenario);
/// Steps with other buckets, in order of their size and the scenario's own among them: from 256 KiB up to the whole
/// gradient in one.
void sweep_buckets(Scenario scenario, Run& run);
/// Steps with other layers a unit (FSDP), the inputs' own among them.
void sweep_units(const Inputs& in, Run& run);
/// Steps on other GPUs and with other batches, the inputs' own among them.
void sweep_inputs(const Inputs& in, Run& run);

/// `facts_alone`: without the sweeps that only the picture shows.
Computed<Outputs, Run> compute(const Inputs& in, bool facts_alone = false);
std::string answer_of(const Inputs& in, const Outputs& out);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The two lanes with what falls between them, and the tail.
void draw_lanes(const Inputs& in, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, CollectiveRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::distributed::overlap
