#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "models/debugging/run_log.h"
#include "models/debugging/twin_search.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/pictures/bit_rows.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Two trainings of a small network, one with a fault planted: where they first differ, when the loss shows it, and how
/// few hashes find it.
namespace chapters::debugging::divergence {

using models::debugging::PlantedFault, models::debugging::TwinTensor;

/// What is compared: two runs trained here, bit by bit; what these two write down; or logs of one's own.
enum class Runs : std::uint8_t { trained, written, logs };

/// Defaults: one bit of a weight of layer 3 flips before step 60.
struct Inputs {
  Runs runs = Runs::trained;
  PlantedFault fault = PlantedFault::flipped_bit;
  std::int64_t layer = 3, step = 60;
  TwinTensor tensor = TwinTensor::weight;
  std::int64_t entry = 37, bit = 20, upsets = 1, rank = 2;
  bool ecc = false, fixed_order = true;
  double factor = 10, spreads = 1;
  std::int64_t seed = 1, steps = 256, interval = 1;
  TwinTensor shown = TwinTensor::weight;
  FileInput first_log, second_log;
  double noise_percent = 1;
  bool operator==(const Inputs&) const = default;
};

/// One layer: when its weights first differ, and by how much.
struct LayerRow {
  std::int64_t layer = 0;
  double differs_from = std::nan(""), first_percent = 0, end_percent = 0;  ///< differs_from: a step; NaN: never
  std::string hash_first, hash_second;                                     ///< weights after the last step
};

struct Outputs {
  double first_step = std::nan(""), first_layer = std::nan("");
  std::string first_tensor;  ///< empty where nothing differs
  bool equal = true;
  double layers_next = 0;
  double loss_parts_step = std::nan(""), silent_steps = std::nan(""), visible_nats = 0;
  double loss_first = 0, loss_second = std::nan("");  ///< at the last step, nats
  double comparisons = 0, in_order = 0, entries = 0, replayed_steps = 0, left_steps = 0, hashed_bytes = 0;
  models::debugging::SearchEnd search_end{};
  double apart_first = 0, apart_end = 0;  ///< percent of the weights' length
  double loudest_layer = std::nan(""), norm_step = std::nan(""), norm_layer = std::nan("");
  models::debugging::EccOutcome ecc_outcome{};
  double value_before = std::nan(""), value_after = std::nan("");
  double passed_share = 0, patterns = 0;  ///< percent of the patterns of as many flipped bits
  bool stopped = false, not_a_number = false;
  std::vector<LayerRow> layers;
  // Of two logs.
  std::string log_quantity, log_notes;
  double log_percent = std::nan(""), log_steps = std::nan(""), log_quantities = std::nan("");
  double bits_step = std::nan("");  ///< at which the runs that wrote the logs first differ in a bit
  std::string reason;
};

struct Run {
  std::shared_ptr<const models::debugging::TwinHealthy> healthy;
  models::debugging::TwinSecond second;
  models::debugging::HashSearch search;
  std::shared_ptr<const models::debugging::LogComparison> logs;  ///< in place of all these
};

/// Neighbouring steps of a layer, or of a logged quantity, whose differences have one shade.
struct CellStretch {
  int layer = 0, from = 0, to = 0;  ///< steps, `to` not included
  int shade = 0;                    ///< -1: not logged by both; 0: no number; else 1 to shades on the ramp
};
inline constexpr int shades = 28;
/// Ends of the ramp of differences, of the tensor's length.
inline constexpr double min_difference = 1e-8, max_difference = 1;

struct ProbeMark {
  int lo = 0, hi = 0, at = 0;
  bool equal = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<CellStretch> stretches;
  std::vector<ProbeMark> probes;  ///< those over steps
  std::string probe_words;
  std::vector<widgets::Curve> losses;
  double most_loss = 1, last_step = 1;
  std::vector<std::string> row_names;  ///< quantities of logs, the first at the bottom; empty: layers
  bool gaps = false;                   ///< there are steps at which a quantity stands in one log alone, or in none
  double from_step = 0;                ///< the first step that is shown
  std::string loss_label = "loss of the batch, nats";
  double least_loss = 0;
  int ended_at = -1;  ///< the second run has no such step and none after it; -1: it has them all
  std::string ended_words;
  int ring_layer = -1, ring_step = -1;
  std::string ring_bold, ring_words;
  std::string silence_words, parts_words, shown_words;
  std::string missing_words;              ///< not empty: nothing is compared, and this sentence says what is missing
  double silence_at = 0, parts_step = 0;  ///< steps at which those words stand
  std::vector<std::string> cursor_words;  ///< what the cursor says at each step
  std::vector<int> loudest;               ///< by step; -1: all equal
  bool has_value = false;
  std::array<std::vector<std::uint8_t>, 2> bits;  ///< before and after, the sign first
  std::array<std::string, 2> values;
  std::string value_words;
  std::array<std::array<widgets::BarSegment, 3>, 4> ecc_segments;
};

struct View {
  double cursor = 120;
  bool holds_fault = false;  ///< the hand on the map moves the fault, not the cursor
  widgets::PlotView plot;
  widgets::PlotLink link;
  widgets::BitRowView bits;
  widgets::StackedBarView bars;
  DescribedTable<LayerRow> layers;
};

/// The healthy run depends on the seed alone, and how far seeds lie apart on nothing: they are kept, for all copies of
/// the lab.
struct HealthyRuns {
  Memo<std::int64_t, models::debugging::TwinHealthy, 4> runs;
  Memo<int, std::vector<double>, 1> spread;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, HealthyRuns& runs);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
/// Two logs in place of the runs trained here: one's own, or what these runs write.
Computed<Outputs, Run> compute_logs(const Inputs& in, const Progress& progress);
Computed<Outputs, Run> compute_written(const Inputs& in, const models::debugging::TwinHealthy& healthy,
                                       const models::debugging::TwinSecond& second);
Picture arrange_logs(const Inputs& in, const Outputs& out, const models::debugging::LogComparison& logs);
std::string answer_of_logs(const Inputs& in, const Outputs& out);
/// The answer in two lines.
std::string answer_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// Layers by steps over the hashes that were compared, over both losses, on one axis of steps.
void draw_hero(Inputs& in, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, LayerRow& row);
std::string_view tensor_name(TwinTensor tensor);

}  // namespace chapters::debugging::divergence
