#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/recall.h"
#include "models/inference/state_scan.h"
#include "models/inference/state_space.h"
#include "models/machine/hardware.h"
#include "widgets/base/parts.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// A state of fixed size against a cache that grows: what a decode step costs, and what is still found.
namespace chapters::inference::state_space {

/// Ways to keep pairs in a state, in the order of models::inference::RecallMixer after attention.
enum class Keeping : std::uint8_t { linear, gated, delta };
/// Which of the two questions the large picture answers.
enum class Shown : std::uint8_t { recall, cost };
enum class StateFormat : std::uint8_t { bf16, fp32 };

inline constexpr std::size_t value_count = static_cast<std::size_t>(models::inference::recall_values);
inline constexpr std::size_t kept_columns = 64;
inline constexpr std::int64_t max_pairs = 48, max_width = 48;

struct Inputs {
  Shown shown = Shown::recall;
  Keeping keeping = Keeping::gated;
  std::int64_t width = 16, pairs = 24, needle = 3, fillers = 0;
  double rewritten = 60;                           ///< %
  std::int64_t steps = 80, seed = 6, stream = 24;  ///< the seed: in the middle of 1 to 7 by what the needle does
  std::int64_t cache_entries = 0, sinks = 1;
  std::string model = "mamba2-8b", reference = "llama-3-8b", chip = "h100_sxm", kv_format = "bf16";
  models::Format format = models::Format::bf16;
  StateFormat state_format = StateFormat::bf16;
  std::int64_t context = 131'072, batch = 1, chips = 1;
  std::int64_t hidden = 4096, blocks = 32, attention_every = 8, head_width = 64, state_size = 128, kv_heads = 8;
  std::int64_t scan_tokens = 4096, block = 128;
  double slowest = 0.001, fastest = 0.1;
  bool operator==(const Inputs&) const = default;
};

/// A published model with what is set.
struct ModelRow {
  std::string name;
  double parameters = 0, attention_layers = 0, state_layers = 0, fixed_bytes = 0, token_bytes = 0, sequence_bytes = 0,
         memory_bytes = 0;
  bool fits = false;
  double step_s = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  // Recall; shares in %.
  double recall = 0, needle_recall = 0, attention_recall = 0, attention_needle = 0;
  double window_recall = 0, heavy_recall = 0, heavy_popular = 0, window_needle = 0, heavy_needle = 0;
  double state_kept = 0, cache_kept = 0;  ///< numbers
  std::int64_t entries = 1, needle_place = 1, stream_tokens = 1;
  bool needle_found = false;
  double lost_after = none;  ///< pairs
  double loss_first = 0, loss_last = 0, half_life = none;
  // Models.
  std::string model_name;
  double parameters = 0, active = 0, fixed_bytes = 0, token_bytes = 0, sequence_bytes = 0;
  double reference_token_bytes = 0, reference_bytes = 0, equal_tokens = none;
  double step_s = 0, reference_step_s = 0, tokens_per_s = 0, reference_tokens_per_s = 0, speedup = 0;
  double crossing_tokens = none, doubles_tokens = none, reference_doubles_tokens = none;
  double read_bytes = 0, reference_read_bytes = 0;  ///< weights of a step
  double memory_bytes = 0, reference_memory_bytes = 0, offered_bytes = 0;
  bool fits = false, reference_fits = false;
  std::vector<ModelRow> models;
  // The scan of one layer.
  double scan_flops = none, blocked_flops = none, scan_s = none, blocked_s = none, scan_speedup = none,
         best_block = none, scan_blocks = none;
  double scan_error = 0, blocked_error = 0;
};

struct RecallKey {
  models::inference::RecallMixer mixer = models::inference::RecallMixer::attention;
  std::int64_t width = 0, pairs = 0, fillers = 0, steps = 0, seed = 0;
  double rewritten = 0;
  bool operator==(const RecallKey&) const = default;
};
using Trained = Memo<RecallKey, models::inference::RecallModel, 16>;

/// Shares of one way over numbers of pairs.
struct RecallCurve {
  std::string name;
  std::vector<double> share;  ///< %
};

/// A step's traffic in seconds at the bandwidth by what moves, and by how much its arithmetic is longer than that.
struct StepParts {
  double weights_s = 0, states_s = 0, cache_s = 0, arithmetic_s = 0;
  double total_s() const { return weights_s + states_s + cache_s + arithmetic_s; }
};
/// What one model keeps and moves, as the picture of costs draws it.
struct ModelCost {
  std::string name;
  double attention_layers = 0, windowed_layers = 0, state_layers = 0;
  double fixed_bytes = 0;
  std::vector<double> cache_bytes;  ///< what a sequence keeps at the end of each of kept_columns parts of the context
  StepParts step;
};

struct Run {
  models::inference::RecallStream stream;  ///< the one that is drawn
  std::int32_t needle_key = 0, needle_value = 0;
  std::int64_t needle_token = 0;
  /// After each token, from the needle's on: scores of all values, softmax taken, for attention and the state.
  std::vector<float> attention_says, state_says;
  std::vector<float> weights;     ///< tokens x tokens: what a question for the needle weighs each entry with
  std::vector<float> state_rows;  ///< tokens x width: length of each row of the state
  std::vector<double> by_pair, attention_by_pair;  ///< share of streams, NaN where it was not asked
  std::vector<double> pair_counts;
  std::vector<RecallCurve> recall;  ///< yours, attention, the other two, window, heavy hitters
  std::vector<double> contexts, own_bytes, reference_bytes, own_step, reference_step;
  std::vector<std::vector<double>> other_bytes;
  std::vector<std::string> other_names;
  std::vector<double> blocks, block_s, block_matrix_s, block_memory_s;
  ModelCost own, reference;
};
using Computed = chapters::Computed<Outputs, Run>;

/// A cell of the stream as it is painted.
struct TokenCell {
  std::string key, value;
  bool filler = false, needle = false, stale = false;  ///< stale: rewritten later
  float found = -1, attention_found = -1;              ///< share of streams in which a pair of this place is found
};
/// What stands at the end of a lane.
struct Verdict {
  std::string says, share;
  bool right = false;
};

/// One model in the picture of costs.
struct CostSide {
  std::string layers, kept, step;  ///< words
  std::string name;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  PublishedMarks published;
  LabDoors doors;
  std::vector<TokenCell> cells;
  std::string cache_words, state_words, stream_words, needle_words, lost_words;
  std::size_t lost_token = 0;
  Verdict attention, state;
  std::vector<std::uint8_t> attention_wrong, state_wrong;  ///< by token
  float row_peak = 1;
  std::vector<widgets::Curve> bytes, step, recall, scan;
  double bytes_lo = 1, bytes_hi = 2, step_hi = 1, scan_lo = 1, scan_hi = 2, cross_at = 0;
  std::string cross_words, step_label, bytes_label, scan_note, scan_label, recall_label;
  Shown shown = Shown::recall;
  CostSide own, reference;
  std::string context_words, equal_words;
  double equal_share = 0;  ///< where in the context the cache is as large, as a share of it; 0: nowhere
  std::vector<widgets::LegendEntry> moved;
};

struct View {
  widgets::PlotView bytes, step, recall, scan;
  std::vector<widgets::PlacedLegend> moved;
  Requests requests;
  double drag_from = 0, drag_base = 0;
};

models::inference::StateModel model_of(const Inputs& in);
double kv_bits(const Inputs& in);  ///< a number's in the cache
Computed compute(const Inputs& in, Progress& progress, Trained& trained);
/// The recall part, with its picture where `run` is not null; false where it was stopped.
bool compute_recall(const Inputs& in, Progress& progress, Trained& trained, Outputs& out, Run* run);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void arrange_stream(const Inputs& in, const Outputs& out, const Run& run, Picture& p);
void arrange_kept(const Inputs& in, const Outputs& out, const Run& run, Picture& p);
std::string answer_of(Shown shown, const Outputs& out);
LabDoors doors_of(const Inputs& in);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_stream(Inputs& in, const Picture& picture, View& view, ImVec2 size);
void draw_kept(Inputs& in, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, ModelRow& row);

}  // namespace chapters::inference::state_space
