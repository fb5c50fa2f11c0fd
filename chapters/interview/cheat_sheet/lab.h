#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/machine/hierarchy.h"
#include "models/sheet/techniques.h"
#include "widgets/stage/stage.h"
#include "widgets/table/table.h"

/// The page kept open at work: what moves what, sums whose numbers are dragged, bandwidths and latencies on one axis,
/// and what to do first, all for one model on one chip.
namespace chapters::interview::cheat_sheet {

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

struct Inputs {
  std::string model = "llama-3-70b", chip = "h100_sxm", network = "infiniband_ndr";
  std::int64_t tensor_parallel = 8;
  // Requests.
  std::int64_t batch = 32, context = 8192;
  double prompt_tokens = 2048, output_tokens = 256;
  double weight_bits = 16, cache_bits = 16;
  double acceptance = 0.8;
  std::int64_t draft_length = 5;
  double reserved_tokens = 8192, shared_tokens = 1024;
  std::int64_t chunk_tokens = 512;
  // Training.
  double tokens = 1e12, mfu = 40, document_tokens = 1024;
  std::int64_t gpus = 1024, sequence = 4096, stages = 16, micro_batches = 16;
  // Money, failures, bytes, cameras.
  double price_per_hour = 2, filled = 65;
  double save_s = 15, gpu_mtbf_s = 1.824e8;
  double bytes = 1e9;
  std::int64_t cameras = 11;
  double megapixels = 8, frames_per_s = 30, pixel_bits = 12;
  bool operator==(const Inputs&) const = default;
};

/// The sums of the page.
struct Sums {
  double parameters = 0, weights_bytes = 0, state_bytes = 0, cache_token_bytes = 0, cache_bytes = 0, fits = 0;
  double activation_bytes = no_figure;
  double read_bytes = 0;  ///< weights that one token reads: no embedding table, and of experts the active ones
  double token_s = 0, step_s = 0, tokens_per_s = 0, answers_per_s = 0, ridge = 0, ridge_batch = 0, prompt_s = 0;
  bool step_computes = false, prompt_reads = false;  ///< which of arithmetic and bytes is the longer
  double drafted = 0, dollars_per_million = 0;
  double all_reduce_s = no_figure, link_bytes_per_s = no_figure, flops = 0, train_s = 0, train_dollars = 0, bubble = 0,
         mtbf_s = 0, save_every_s = 0;
  double launches = no_figure, launch_each_s = no_figure, launch_s = no_figure, camera_bytes_per_s = 0;
};

/// A technique with what it moves: factors, with it over without it.
struct TechniqueRow {
  std::string technique, side;
  std::array<double, models::sheet::moved_count> factor{};
  std::string why_not;  ///< why there are no factors; empty: there are
};

struct LevelRow {
  std::string level;
  double bytes_per_s = no_figure, latency_s = no_figure, time_s = no_figure;  ///< `time_s`: of the Inputs' bytes
  std::string bandwidth_source, latency_source;
};

/// One link of a chain.
struct ChainRow {
  std::string chain;
  std::int64_t place = 1;
  std::string step;
  double gain = 1;
  bool reaches = false;
};

struct Outputs {
  Sums sums;
  std::vector<TechniqueRow> techniques;
  std::vector<LevelRow> levels;
  std::vector<ChainRow> chains;
  std::string link;  ///< what the all-reduce goes over
  std::string reason;
  /// The batch of the Inputs is in memory with its contexts.
  bool holds(const Inputs& in) const { return static_cast<double>(in.batch) <= sums.fits; }
};

/// What the page says beyond its facts: names, for people.
struct Run {
  Inputs in;
  std::string model_name, chip_name, network_name;
  bool experts = false, latent = false;
};

/// Numbers of the Inputs that a sum shows, to be dragged.
enum class Dragged : std::uint8_t {
  none,
  weight_bits,
  cache_bits,
  tensor_parallel,
  context,
  batch,
  prompt,
  acceptance,
  draft_length,
  tokens,
  gpus,
  mfu,
  price,
  filled,
  stages,
  micro_batches,
  bytes,
  save,
  gpu_mtbf,
  sequence,
  cameras,
  megapixels,
  frames,
  pixel_bits,
  answer
};
inline constexpr std::size_t dragged_count = 25;

/// A piece of a sum: words, or a number in the hand.
struct SumPiece {
  std::string text;
  Dragged drag = Dragged::none;
};
struct SumLine {
  std::string_view name, output, lab;  ///< output: the key of its result
  std::vector<SumPiece> pieces;
  std::string value, unit;
  std::string text() const;  ///< the pieces in one
};

/// What stands beside a technique in words: when it pays, when it does not, what to measure, and which lab shows it.
struct TechniqueWords {
  std::string_view name, when, when_not, measure, quality, lab;
};
const std::array<TechniqueWords, models::sheet::technique_count>& technique_words();
/// Short heads of the columns and what they are in full, in the order of models::sheet::Moved.
struct ColumnWords {
  std::string_view head, full;
};
const std::array<ColumnWords, models::sheet::moved_count>& column_words();
/// A chain of what to do first: its name in the outputs, what it shortens, from what, and both in full.
struct ChainWords {
  std::string_view name, title, from, goal;
};
const std::array<ChainWords, 4>& chain_words();

struct Cell {
  std::string text;  ///< "\xC3\xB7 8", empty: it is not moved
  bool less = false;
  int sign = 0;      ///< 1 better, -1 worse
  float weight = 0;  ///< 0 to 1, by the logarithm of the factor
};
struct MatrixRow {
  std::array<Cell, models::sheet::moved_count> cells;
  std::string words;  ///< for search: everything that is said of it, in small letters
  std::string tip_name, tip_value, tip_info;
  bool known = true;
};
struct LadderMark {
  std::string name, words_shown, tip, source;  ///< words_shown: name and time
  double seconds = 0;
  bool latency = false;
  std::string words;
};
struct Chain {
  std::string name, from, goal, words;
  std::vector<std::string> steps, gains;
  std::vector<char> reaches;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::string case_words, bytes_words;
  std::vector<MatrixRow> rows;
  std::vector<SumLine> sums;
  std::vector<std::string> sum_words;  ///< for search
  std::vector<LadderMark> ladder;
  std::vector<std::string> ladder_ticks;  ///< a decade each, from `ladder_lo`
  double ladder_lo = 1e-10, ladder_hi = 1;
  std::vector<Chain> chains;
  std::vector<TechniqueWords> words;
  std::string markdown;
};

struct View {
  std::int64_t page = 0;  ///< The page of the matrix, where not all rows have room.
  std::string search;     ///< what is looked for
  char typed[64] = {};
  bool copied = false;
  Dragged held = Dragged::none;
  double held_from = 0;
  widgets::TableView words;
  Requests requests;
};
void describe(Fields& f, View& view);

Computed<Outputs, Run> compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
std::vector<SumLine> sum_lines(const Inputs& in, const Outputs& out, const Run& run);
/// "\xC3\xB7 8", "\xC3\x97 1.5", "new", "-"; empty where nothing is moved.
std::string factor_text(double factor);
/// The page as Markdown: two sheets with a rule between, which app/content prints as two pages.
models::Result<std::string> document_of(const Outputs& out, const Run& run);
std::string link_to(const Inputs& in, const Outputs& out, std::string_view lab);

/// A number in the hand: its value, its range, and how it goes with the pointer.
struct DragRange {
  double lo = 0, hi = 1;
  bool log = true, whole = false;
};
DragRange drag_range(Dragged d);
double dragged_value(const Inputs& in, Dragged d);
void set_dragged(Inputs& in, Dragged d, double value);

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::interview::cheat_sheet
