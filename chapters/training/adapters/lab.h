#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/compression/low_rank_fit.h"
#include "models/machine/hardware.h"
#include "models/training/adapter_serving.h"
#include "models/training/adapters.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/vessel.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Fine-tuning with the base frozen: what memory, FLOPs and time it leaves, what a rank is worth, and many adapters
/// served on one base.
namespace chapters::training::adapters {

using models::adapters::Method, models::adapters::Targets, models::adapters::States, models::adapters::TaskShift;

enum class Products : std::uint8_t { bf16, fp8 };

/// Defaults: Llama 3 8B on one H100, pairs of rank 16 on all matrices.
struct Inputs {
  Method method = Method::lora;
  std::int64_t rank = 16;
  Targets targets = Targets::all_linear;
  States states = States::master;
  bool double_quantized = true;
  std::string model = "llama-3-8b", chip = "h100_sxm";
  std::int64_t gpus = 1, batch = 1, sequence = 2048, micro_batches = 8;
  bool recompute = false, fused = false;
  models::memory::LossKind loss = models::memory::LossKind::chunked;
  Products format = Products::bf16;
  double reached = 60;  ///< %
  std::int64_t served = 64, context = 2048, distinct = 16;
  double launch_s = 1.5e-6;
  TaskShift shift = TaskShift::mirrored;
  std::int64_t fit_rank = 4, seed = 1;
  bool operator==(const Inputs&) const = default;
};

/// One method with all else as it is set.
struct MethodRow {
  std::string method;
  double trained = 0, memory_bytes = 0, flops = 0, step_s = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  // Memory of one GPU.
  models::adapters::Held held;
  double memory_bytes = 0, full_memory_bytes = 0, memory_share = 100, chip_bytes = 0, full_states_bytes = 0,
         full_activations_bytes = 0;
  bool fits = true, full_fits = true;
  double parameters = 0, trained = 0, trained_share = 0, adapter_bytes = 0, base_bits = 16, pairs = 0;
  // FLOPs of one GPU's step.
  models::adapters::StepFlops flops;
  double step_flops = 0, full_flops = 0, flops_saved = 0, flops_per_token = 0, full_weight_gradient_flops = 0;
  // Time of one GPU's step.
  models::adapters::StepSeconds time;
  double step_s = 0, full_step_s = 0, speedup = 1, tokens_per_s = 0, tokens = 0;
  std::vector<MethodRow> methods;
  // Many adapters on one base.
  double decode_s = 0, base_decode_s = 0, slowdown = 0, merged_decode_s = 0, served_tokens_per_s = 0,
         merged_tokens_per_s = 0, batched_gain = 1, adapters_fit = 0, merged_fit = 0, one_adapter_bytes = 0,
         adapter_read_bytes = 0, flops_added = 0;
  bool served_fit = true, copies_fit = true;
  // The small network. Losses in nats, shares in %.
  double base_loss = 0, fit_loss = 0, full_fit_loss = 0, fit_training_loss = 0, full_fit_training_loss = 0,
         base_accuracy = 0, fit_accuracy = 0, full_fit_accuracy = 0, first_accuracy = 0, fit_kept = 0,
         full_fit_kept = 0, fit_trained = 0, fit_trained_share = 0, won_share = 0, rank_share = 0;
};

/// The same second task, tuned at one rank after the other.
struct FitLadder {
  models::adapters::FitTask task;
  models::adapters::FineTuned full;
};
inline constexpr std::array<std::int64_t, 5> ladder_ranks{1, 2, 4, 8, 16};

struct ServedPoint {
  double distinct = 0, decode_s = 0, merged_s = 0;
};

struct Run {
  std::array<models::adapters::TunedStep, models::adapters::method_count> steps;
  std::array<bool, models::adapters::method_count> possible{};
  std::vector<std::pair<std::int64_t, std::shared_ptr<const models::adapters::FineTuned>>> ranks;  ///< by rank
  std::vector<ServedPoint> served;                  ///< by adapters in the batch
  double inputs = 0, outputs = 0;                   ///< The sides of the matrix that is shown.
  double wide_parameters = 0, pair_parameters = 0;  ///< Its own, and those of a pair beside it.
};
using Computed = chapters::Computed<Outputs, Run>;

/// One vessel's owners from the ground up.
inline constexpr std::size_t owner_count = 7;  ///< weights, pairs, gradients, master, moments, activations, temporary
struct VesselWords {
  std::string label, note;
  std::array<double, owner_count> bytes{};
  models::adapters::Fullest fullest{};
  Method method = Method::full;
  bool chosen = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  LabDoors doors;
  PublishedMarks published;
  std::array<VesselWords, 3> vessels;
  // The pair beside its matrix.
  double inputs = 0, outputs = 0;
  std::string wide_words, wide_note, pair_words, pair_note, a_words, b_words;
  bool pair = true, series = false;
  double most_share = 1;           ///< the thickness at the largest rank, for which room is kept
  double share = 0;                ///< thickness of the pair over the matrix's smaller side, 0 to 1, on a root scale
  std::vector<std::string> names;  ///< The methods whose times are shown.
  std::array<std::array<double, 4>, 2> flops{};
  std::string flops_note;
  std::vector<std::array<double, 4>> times;
  std::vector<widgets::Curve> fit, served;
  double fit_hi = 2, served_lo = 0, served_hi = 1;
  std::string fit_label, served_label, fit_note, served_note;
};

struct View {
  widgets::VesselView vessels;
  std::array<std::vector<widgets::VesselLayer>, 3> layers;
  widgets::StackedBarView flops, times;
  std::vector<std::array<widgets::BarSegment, 4>> segments, time_segments;
  std::vector<widgets::StackedBar> bars, time_bars;
  widgets::PlotView fit, served;
  Requests requests;
};

struct TaskKey {
  std::int64_t seed = 1;
  TaskShift shift{};
  bool operator==(const TaskKey&) const = default;
};
struct FitKey {
  TaskKey task;
  std::int64_t rank = 1;
  bool operator==(const FitKey&) const = default;
};
/// What was trained depends on these alone and is kept with the lab and its clones.
struct Fits {
  Memo<TaskKey, FitLadder> tasks;
  Memo<FitKey, models::adapters::FineTuned, 64> ranks;
};

inline constexpr std::int64_t max_rank = 512;
/// The rank at which a pair on a matrix of this smaller side has this thickness.
std::int64_t rank_at(double share, double side);

Computed compute(const Inputs& in, Progress& progress, Fits& fits);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The wide matrix and the thin pair, whose thickness is dragged.
void draw_pair(Inputs& in, const Picture& picture, ImVec2 size);
/// The wide matrix alone, which a question gives.
void draw_given_matrix(const Picture& picture, ImVec2 at, ImVec2 size);

std::string_view method_name(Method method);
void describe(Fields& f, MethodRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::training::adapters
