#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/compression/shared/network.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/published_panel.h"
#include "models/compression/sparsity.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Three patterns of zeros in a layer's weights: what they cost in error, and what the chip makes of them.
namespace chapters::compression::sparsity {

/// Formats in which matrix units know 2:4; order of sparse_formats.
enum class Narrow : std::uint8_t { bf16, fp16, fp8, int8, fp4 };
inline constexpr std::array sparse_formats{models::Format::bf16, models::Format::fp16, models::Format::fp8,
                                           models::Format::int8, models::Format::fp4};

/// Every pattern, in the order of the enumeration.
inline constexpr std::array all_patterns{models::SparsePattern::unstructured, models::SparsePattern::two_four,
                                         models::SparsePattern::structured};
inline constexpr std::size_t pattern_count = all_patterns.size();

struct Inputs {
  models::SparsePattern pattern = models::SparsePattern::two_four;
  double share = 50;  ///< %
  bool packed = false;
  std::string chip = "h100_sxm";
  Narrow format = Narrow::bf16;
  double tokens = 4096, inputs = 4096, outputs = 14336;
  bool heavy = false;
  double row_spread = 0.3;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

/// The example depends on these alone, and not on chip or layer.
struct ExampleKey {
  std::int64_t seed = 1;
  bool heavy = false;
  double row_spread = 0, share = 50;
  bool pairs = false;
  bool operator==(const ExampleKey&) const = default;
};
/// A small matrix, its masks, and the error of every share: made once for a key and shared.
struct Run {
  std::vector<double> weights;
  double largest = 0;
  std::array<std::vector<std::uint8_t>, pattern_count> masks;        ///< by pattern
  std::array<double, pattern_count> errors{};                        ///< %
  std::vector<double> shares, unstructured_curve, structured_curve;  ///< %
};
using Examples = Memo<ExampleKey, Run>;

inline constexpr double two_four_share = 50;  ///< %: two of every four

struct PatternRow {
  std::string name, skips;
  double share = 0, error = 0;  ///< %
  models::SparseTime time;
  double ratio = 1;
  std::string regime;
};

struct Outputs {
  std::string reason;
  double error = 0, kept = 100;  ///< %
  models::SparseTime time;       ///< the layer with the chosen pattern
  double memory_ratio = 1, bytes_read = 100, flops_skipped = 0, two_four_rate = 1;
  std::string regime, dense_regime;
  std::array<double, pattern_count> errors{};           ///< %, by pattern
  std::array<double, pattern_count> speedups{1, 1, 1};  ///< by pattern
  std::vector<PatternRow> patterns;
};

/// What the hardware does with the zeros of the pattern that is set.
enum class Skips : std::uint8_t {
  nothing,   ///< zeros are stored and multiplied
  bytes,     ///< a bitmap says where they were; they are multiplied again
  products,  ///< two of four: values, indices, a selector in front of the multipliers
  rows       ///< whole outputs are gone
};

inline constexpr std::size_t mask_rows = 32, mask_cols = 64, group_size = 4;

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer, speed_words, error_words;
  std::string cost_words;                ///< what of the example is kept, and its error
  std::string rows_words;                ///< how many rows of it are gone; empty where rows are not what goes
  std::array<widgets::Curve, 2> errors;  ///< over the share pruned: single weights, and whole rows
  std::array<widgets::Curve, pattern_count> speedups;  ///< over the tokens, by pattern
  double largest_speedup = 1;
  double pruned = 50;  ///< %, of the pattern that is set
  Skips skips = Skips::nothing;
  double value_bits = 16;                  ///< bits of a stored weight
  bool pairs = false;                      ///< the four that are followed are pairs
  std::string_view two_four_name = "2:4";  ///< "4:8 in pairs" of FP4
  PublishedMarks published;
};

struct View {
  std::int64_t group_row = 5, group = 3;  ///< the four neighbours that are followed, counted from 0
  widgets::PlotView errors, speeds;
  DescribedTable<PatternRow> patterns;
};

chapters::Computed<Outputs, Run> compute(const Inputs& in, Examples& examples);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The matrix with its zeros; a press on four neighbours, or the arrow keys, choose them to be followed.
/// `pairs`: eight neighbours are followed, not four.
void draw_mask(const Run& example, const std::vector<std::uint8_t>& mask, bool pairs, View& view, ImVec2 size);
/// The way of four weights to the multipliers.
void draw_path(const Inputs& in, const Picture& picture, const View& view, ImVec2 size);

/// Whether the zeros that are set come in pairs, two of four pairs in eight neighbours.
bool zeros_in_pairs(const Inputs& in);
/// The layer that these Inputs ask for, with another pattern or another number of tokens.
models::SparseLayer sparse_layer(const Inputs& in, models::SparsePattern pattern, double tokens);

void describe(Fields& f, PatternRow& r);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& o);

}  // namespace chapters::compression::sparsity
