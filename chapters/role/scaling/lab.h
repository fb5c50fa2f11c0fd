#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "chapters/role/scaling/series.h"
#include "models/training/scaling.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// One training step on more and more GPUs: the ideal, the real curve, and what lies between them.
namespace chapters::role::scaling {

/// A measured step as the learner edits it.
struct PointRow {
  std::int64_t gpus = 1;
  double step_s = 1;
  bool operator==(const PointRow&) const = default;
};

/// GPUs up to which the fastest count is sought and axes reach; more where more are set.
inline constexpr std::int64_t max_doubled = 16384;

/// Defaults: a 7B model with a batch of 2,048 sequences on A100, four ports of 100 Gb/s a node, as measured.
struct Inputs {
  models::BatchRule rule = models::BatchRule::shared_batch;
  std::int64_t gpus = 1024, batch = 2048, own_sequences = 8, replica_gpus = 1;
  double sequence_gpu_s = 0.485, fixed_s = 0;
  double gradient_bytes = 14.64e9;
  std::int64_t buckets = 16;
  models::AllReduceAlgorithm algorithm = models::AllReduceAlgorithm::ring;
  double overlap = 0;  ///< %
  double between_bytes_per_s = 5.9e9, inside_bytes_per_s = 240e9, between_hop_s = 14e-6, inside_hop_s = 3.4e-6;
  std::int64_t gpus_per_node = 8;
  models::SlownessKind slowness = models::SlownessKind::normal;
  double spread = 0.5, rare_share = 0.1;  ///< %
  std::int64_t seed = 1;
  double price = 2;  ///< $ a GPU-hour
  std::int64_t steps = 100'000;
  Series series = Series::internlm_shared;
  std::vector<PointRow> points{{1, 1000}, {8, 130}, {64, 19}, {512, 3.2}};
  bool operator==(const Inputs&) const = default;
};

/// A measured step beside what the model and Amdahl's law say.
struct ComparedRow {
  std::int64_t gpus = 1;
  double measured_s = 0, model_s = 0, model_error = 0, fit_s = 0, fit_error = 0;  ///< errors in %
};

struct Outputs {
  std::string reason;
  models::ScaledStep step, fastest;
  double speedup = 1, efficiency = 100;  ///< %
  double ideal_step_s = 0;
  double all_reduce_s = 0, ring_bytes = 0, ring_s = 0, tree_s = 0, hierarchical_s = 0;
  double slowest = 0, slowest_simulated = std::nan(""), slowest_error = std::nan("");  ///< % of the compute time
  double next_time = 0, next_cost = 0;  ///< % that the doubling of the GPUs takes off the run, and adds to its cost
  double run_s = 0, cost = 0, ideal_cost = 0;
  double serial_share = std::nan(""), serial_s = std::nan(""), limit = std::nan(""), fit_rms = std::nan("");
  double model_rms = std::nan("");
  double measured_speedup = std::nan(""),
         measured_efficiency = std::nan("");  ///< the largest run's over the smallest's
  double communication_share = 0;             ///< % of the step, what is exposed
  std::vector<ComparedRow> compared;
};

/// Steps of which every GPU was drawn.
struct DrawnSteps {
  std::int64_t gpus = 1;
  models::SlowestSample sample;
};
struct Run {
  std::optional<models::AmdahlFit> fit;  ///< through the measured points; nothing where they allow none
  std::vector<DrawnSteps> drawn;         ///< more and more GPUs; empty where facts alone were asked for
};
using Computed = chapters::Computed<Outputs, Run>;

/// The curve by counts of GPUs; bands between the ideal and the real curve, a loss each. Lines run through counts that
/// share the batch evenly, as runs are set up, and straight in logarithms between these; the slab knows all counts.
struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<models::ScaledStep> curve;  ///< every count
  std::vector<double> gpus;               ///< GPUs at the points of the lines
  widgets::Curve ideal, model;
  std::array<std::vector<double>, models::scaling_loss_count + 1> speedup;  ///< with the first k losses; the last: real
  widgets::Curve fit;                                                       ///< Amdahl's law
  widgets::Curve points;                     ///< measured; empty where they belong to another run
  double one_gpu_s = 0;                      ///< the time that speed-ups are over
  std::string points_words;                  ///< what is said of the points
  widgets::Curve money, money_dots;          ///< cost over time of the run, as a line and by counts of GPUs
  std::array<widgets::Curve, 3> all_reduce;  ///< by algorithm
  widgets::Curve slowest, drawn;             ///< expected; drawn
  std::vector<double> drawn_lo, drawn_hi;    ///< the ends of `drawn`'s error bars
  double far_gpus = max_doubled;             ///< where logarithmic axes end
  double near_gpus = 64;  ///< where linear axes end: four times what was measured, and never before yours
  bool ends = false;      ///< past the fastest count, more GPUs up to `far_gpus` win no time
  PublishedMarks published;
};

struct View {
  widgets::PlotView plot, linear_plot, given_plot, money, collective, slowest;
  DescribedTable<ComparedRow> points;
  double at = 0;       ///< GPUs under the pointer; 0: none
  bool linear = true;  ///< axes without logarithms, as far as `Picture::near_gpus`
};

/// The setup of the inputs; unchecked.
models::ScalingSetup setup_of(const Inputs& in);
/// The measured steps that the inputs name.
std::vector<models::MeasuredStep> points_of(const Inputs& in);
/// How their batch grew; one's own points have the rule that is set.
models::BatchRule rule_of_points(const Inputs& in);
/// One step of a single replica in GPU-seconds of work shared out, by which a measured step becomes a speed-up.
double one_gpu_s(const Inputs& in);
/// The same for the work of a step on `gpus`: with a batch each, more GPUs do more. A step of t seconds is this over t
/// times as fast as one GPU.
double step_work_s(const Inputs& in, double one_gpu_s, double gpus);

Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// The diagonal, the curve that peels off it, measured points and the slab of one step.
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, ComparedRow& row);

}  // namespace chapters::role::scaling
