#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/training/mixed_precision.h"
#include "widgets/base/figure_meaning.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/table/table.h"

/// A training step under a precision recipe: what runs and is kept in which format, and what that saves.
namespace chapters::precision::mixed {

struct Inputs {
  std::string model = "llama-3-8b", chip = "h100_sxm";
  models::PrecisionRecipe recipe = models::PrecisionRecipe::fp8;
  models::StateKeeping keeping = models::StateKeeping::megatron;
  models::Fp8Scaling scaling = models::Fp8Scaling::delayed;
  bool fp8_primary = false;
  std::int64_t batch = 1, sequence = 8192, shards = 8;
  models::Recompute recompute = models::Recompute::none;
  bool operator==(const Inputs&) const = default;
};

struct OperationRow {
  models::MixedOperation figures;                    ///< those of one of `count`
  std::string part, forward, backward, result, why;  ///< in words
  double all_s = 0, share = 0;                       ///< what all `count` take; share in % of the step
};

struct RecipeRow {
  std::string recipe, note;
  bool runs = false;
  models::MixedStep step;  ///< all zero where it does not run
  double speedup = 0, states_bytes = 0, total_bytes = 0;
};

struct Outputs {
  std::string reason;
  models::MixedStep step;  ///< the chosen recipe's
  double tokens_per_s = 0;
  /// NaN where the chip has no unit, or states no peak, to compare with.
  double speedup_fp32 = 0, speedup_tf32 = 0, speedup_bf16 = 0, peak_ratio = 0;
  double product_share = 0, recipe_flops_share = 0;  ///< %
  double states_bytes = 0, total_bytes = 0, chip_share = 0;
  double states_over_fp32 = 1, activations_over_bf16 = 1, total_over_fp32 = 1;
  bool fits = false;
  double parameters = 0;
  std::vector<OperationRow> operations;
  std::vector<RecipeRow> recipes;  ///< by models::PrecisionRecipe
};

/// A stretch of a step: the operations of one kind in all layers, forward and backward.
struct FlowBlock {
  std::string title, time;   ///< "Q, K, V"; "20 ms"
  std::string formats_text;  ///< "E4M3, back E5M2"
  std::string lost_text;     ///< "lost: 4 exponent bits (range), 4 mantissa bits (precision)"; empty: none
  std::string_view why{};
  double from_s = 0, time_s = 0;  ///< since the step began
  /// What comes in, what it computes in and what it writes; `back` is what it computes in backward.
  models::NumberFormat comes = models::NumberFormat::fp32, computes = models::NumberFormat::fp32,
                       writes = models::NumberFormat::fp32, back = models::NumberFormat::fp32;
  int exponent_lost = 0, mantissa_lost = 0;  ///< bits of a number that the cast of what comes in drops
  bool product = false;                      ///< sums inside are FP32
  bool casts = false;                        ///< the making of short operands, where that is a pass of its own
};

/// A part of what one parameter keeps from step to step.
struct StatePart {
  std::string_view name;
  double bytes = 0;
  models::NumberFormat format = models::NumberFormat::fp32;
};

/// A recipe's step as a row of its blocks, and its states.
struct RecipePicture {
  std::string_view recipe;
  std::string time, bytes;  ///< "347 ms"; "19.7 B"
  double time_s = 0;
  std::vector<FlowBlock> blocks;
  std::vector<StatePart> states;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<widgets::FigureMeaning> meanings;  ///< what the answer's figures mean
  std::string_view speedup_key;                  ///< the output that compares the steps; empty where there is one alone
  std::vector<RecipePicture> recipes;            ///< the one that it is compared with, where there is one, and its own
  std::string gain_text;                         ///< "143 ms saved", "36 ms longer"; empty: nothing to compare with
  models::NumberFormat product = models::NumberFormat::fp32;
  bool measured = false;  ///< the published measurement, which is of FP8, stands over the flow
  PublishedMarks published;
  std::string layers_text;             ///< "width: time; 32 layers, forward and backward"
  std::string memory_note, time_note;  ///< what the bars show, and what they leave out and why
  double chip_bytes = 0;
  std::string chip_name;
  bool times_fp32 = false;                    ///< the step in FP32 has a bar of its time
  std::vector<models::NumberFormat> formats;  ///< those that the two steps compute in, forward; widest first
};

struct View {
  widgets::TableView operations;
  widgets::StackedBarView memory, time;
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

/// The step as a row: the operations of the layer that the model has most of in their order, then the others.
std::vector<FlowBlock> flow_of(const models::MixedStep& step);
int bits_of(models::NumberFormat format);  ///< as a matmul reads it: TF32 has 19
/// One row a recipe on one scale: a block is as wide as its time and as high as the bits of its numbers. Where a number
/// is cast the row narrows, and the bits that it loses fall out.
void draw_flow(const Picture& picture, ImVec2 at, ImVec2 size);
/// The bytes of one parameter by the format that they are kept in, a row a recipe; those before first, where there is
/// room for both.
void draw_states(const Picture& picture, ImVec2 at, ImVec2 size);
float states_height(const Picture& picture, bool before);
/// The colour and mark of a format.
widgets::RowMark mark_of(models::NumberFormat format);
void draw_operations(const Outputs& out, View& view, ImVec2 size);
void draw_memory(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
void draw_time(const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::mixed
