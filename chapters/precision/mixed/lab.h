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

/// One operation of a layer, or a few alike, on the way of its numbers.
struct FlowStage {
  std::string title, share_text, back_text;  ///< "Q, K, V"; "5.9 %" of the step; "back: E5M2"
  std::string_view why;
  /// What comes in, what it computes in and what it writes; `back` is what it computes in backward.
  models::NumberFormat comes = models::NumberFormat::fp32, computes = models::NumberFormat::fp32,
                       writes = models::NumberFormat::fp32, back = models::NumberFormat::fp32;
  double comes_bytes = 4, computes_bytes = 4;  ///< a number's
  bool loses_bits = false;                     ///< what comes in is cast to fewer bits
  bool rounds = false;                         ///< no product, and its results are rounded to be written
  bool product = false;                        ///< weights come in from below
  bool second_half = false;                    ///< it belongs to the feed-forward part of the layer
  bool any = false;                            ///< the model has it
};

/// The step of a recipe, and what of one parameter is kept from step to step, beside the flow.
struct StepBar {
  std::string_view recipe;
  std::string time;
  double time_s = 0;
  models::NumberFormat format = models::NumberFormat::fp32;  ///< what its products multiply in
};
struct StatePart {
  std::string_view name;
  double bytes = 0;
  models::NumberFormat format = models::NumberFormat::fp32;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<widgets::FigureMeaning> meanings;  ///< what the answer's figures mean
  std::string_view speedup_key;                  ///< the output that compares the steps; empty where there is one alone
  std::vector<StepBar> steps;                    ///< the recipe's, under the one that it is compared with
  std::vector<StatePart> states;
  std::string states_text;  ///< "states of one parameter: 19.7 B"
  models::NumberFormat product = models::NumberFormat::fp32;
  bool measured = false;  ///< the published measurement, which is of FP8, stands over the flow
  PublishedMarks published;
  std::vector<FlowStage> flow;
  models::NumberFormat kept_weights = models::NumberFormat::fp32;  ///< what weights are kept in between steps
  std::string weights_text, layers_text;                           ///< "weights kept in BF16"; "one of 32 layers"
  std::string time_note, left_out;                                 ///< what the bars leave out and why
  double chip_bytes = 0;
  std::string chip_name;
  bool times_fp32 = false;                    ///< the step in FP32 has a bar of its time
  std::vector<models::NumberFormat> formats;  ///< those that the operations compute in, forward
};

struct View {
  widgets::TableView operations;
  widgets::StackedBarView memory, time;
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

/// The operations of the layer that the model has most of, in their order.
std::vector<FlowStage> flow_of(const Outputs& out);
/// One layer: its operations in the colour of what they compute in, joined by pipes in the colour and width of what is
/// written between them, with a mark wherever a format changes.
void draw_flow(const Picture& picture, ImVec2 size);
/// What the formats save: the time of a step, and the bytes of one parameter by the format that they are kept in.
void draw_savings(const Picture& picture, ImVec2 at, ImVec2 size);
/// The colour and mark of a format.
widgets::RowMark mark_of(models::NumberFormat format);
void draw_operations(const Outputs& out, View& view, ImVec2 size);
void draw_memory(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
void draw_time(const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::mixed
