#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/inference/attention_patterns/reach_layout.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/attention_patterns.h"
#include "models/inference/attention_patterns_cost.h"
#include "models/inference/attention_patterns_reach.h"

/// Which earlier tokens each token looks at: what comes to the last one through many layers, and what it costs.
namespace chapters::inference::attention_patterns {

/// In the order of models::inference::AttentionPattern, then the model's own layers.
enum class Pattern : std::uint8_t { causal, window, global, dilated, block, sinks, document, model };
inline constexpr std::size_t pattern_choice_count = models::inference::attention_pattern_count + 1;

struct Inputs {
  Pattern pattern = Pattern::window;
  std::int64_t window = 4096, layers = 32, full_every = 0, sequence = 131072;
  std::int64_t sinks = 4, global_every = 4096, dilation = 8, blocks_back = 0, blocks_first = 0, blocks_random = 0;
  std::int64_t document_tokens = 16384, seed = 1;
  std::string documents;                   ///< lengths in tokens; empty: they are drawn
  double residual = 0.5, near_share = 99;  ///< near_share: %
  std::string model = "mistral-7b-v0.1", chip = "h100_sxm", kv_format = "bf16";
  std::int64_t tile = 128, margin_tokens = 0;
  bool operator==(const Inputs&) const = default;
};

/// One pattern with what is set, in all layers; the model's own as its config file has them.
struct PatternRow {
  std::string name;
  double entries = 0;      ///< pairs in one masked layer
  double work_share = 0;   ///< %
  double tile_share = 0;   ///< %, of a causal mask's tiles
  double kept_tokens = 0;  ///< a masked layer
  double cache_share = 0;  ///< %
  double layers_to_all = 0;
  bool yours = false;
};

struct Outputs {
  std::string reason;
  double entries = 0, causal_entries = 0, work_share = 0;  ///< work_share: %, of all layers
  double cache_tokens = 0, mean_cache_tokens = 0;          ///< a masked layer; over all layers
  double reach_tokens = 0, back_tokens = 0, layers_to_all = 0;
  double near_tokens = 0, mean_back = 0, window_influence = 0;  ///< window_influence: %
  double stack_layers = 0, full_layers = 0, part_layers = 0, window_tokens = 0;
  double tile_share = 0, tile_fill = 0, kernel_speedup = 0;  ///< %, %, times
  models::inference::PatternPrice price, causal;
  double cache_share = 0;  ///< %
  std::vector<PatternRow> patterns;
};

/// What comes down to the input through a stack: it is kept while prices are dragged.
struct Cone {
  std::vector<models::inference::ReachRow> reach;  ///< by layers looked through
  models::inference::Influence influence;
};
struct ConeKey {
  models::inference::PatternShape shape;
  std::vector<bool> full;
  double residual = 0, share = 0;
  bool drawn = false;
  bool operator==(const ConeKey&) const = default;
};
using Cones = Memo<ConeKey, Cone, 8>;

/// A mask in a grid: cells of `side` tokens.
struct MaskGrid {
  std::int64_t side = 1, cells = 0;
  std::vector<float> density;  ///< [row][column]: entries over the cell's pairs; below 0: no entry at all
};

struct Run {
  std::shared_ptr<const Cone> cone;
  MaskGrid mask;                                      ///< the masked layers' own, whole tiles to a cell
  std::array<MaskGrid, pattern_choice_count> thumbs;  ///< by pattern
};

/// A run of cells of one shade in a row of a grid or of the cone.
struct Shade {
  std::int32_t row = 0, from = 0, to = 0, level = 0;  ///< cells from..to-1; level 0 is the palest
};
inline constexpr int shade_levels = 12;

struct Card {
  std::string name, work, kept, depth;
  std::vector<Shade> shades;
  std::int32_t cells = 0;
  bool yours = false;
};

/// A row of the price: a hollow bar for causal attention, a filled one for yours.
struct PriceRow {
  std::string name, words, output, note;
  double yours = 0, causal = 0, most = 0;  ///< most: what the whole width stands for
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Shade> cone;  ///< rows from the top
  std::int32_t cone_columns = 0, cone_rows = 0;
  std::vector<float> edge;  ///< by layers looked through: share of the sequence that the edge is back
  std::int64_t layers = 0, axis_layers = 0;
  bool edge_dragged = false;  ///< a hand may take the edge: it is the window's
  double near_share = 0;      ///< a part of the sequence
  std::string near_words, edge_words, model_words;
  std::vector<Card> cards;
  std::vector<Shade> mask;
  std::int32_t mask_cells = 0;
  std::string mask_title, mask_words, tile_words;
  std::vector<PriceRow> price;
  std::string price_words;
  PublishedMarks published;
};

struct View {
  ReachPlaces places;
};

const Choices& pattern_choices();
/// The mask's sizes as they are set, for this pattern; a sentence where lengths of documents do not read.
models::Result<models::inference::PatternShape> shape_of(const Inputs& in, Pattern pattern);

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Cones& cones);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_reach(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The mask's thumbnails; a press chooses the pattern.
void draw_cards(Inputs& in, const Picture& picture, const ReachPlaces& places, bool given);
void paint_shades(const widgets::Painter& p, const widgets::Rect& at, const std::vector<Shade>& shades,
                  std::int32_t columns, std::int32_t rows);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, PatternRow& row);

}  // namespace chapters::inference::attention_patterns
