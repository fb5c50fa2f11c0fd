#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/training/mixed_precision.h"
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
  models::MixedOperation figures;                    ///< of one of `count`
  std::string part, forward, backward, result, why;  ///< in words
  double all_s = 0, share = 0;                       ///< of all `count`; share in % of the step
};

struct RecipeRow {
  std::string recipe, note;
  bool runs = false;
  models::MixedStep step;  ///< all zero where it does not run
  double speedup = 0, states_bytes = 0, total_bytes = 0;
};

struct Outputs {
  std::string reason;
  models::MixedStep step;  ///< of the recipe chosen
  double tokens_per_s = 0;
  /// 0 where the chip states no peak to compare with.
  double speedup_fp32 = 0, speedup_tf32 = 0, speedup_bf16 = 0, peak_ratio = 0;
  double product_share = 0, recipe_flops_share = 0;  ///< %
  double states_bytes = 0, total_bytes = 0, chip_share = 0;
  double states_over_fp32 = 1, activations_over_bf16 = 1, total_over_fp32 = 1;
  bool fits = false;
  double parameters = 0;
  std::vector<OperationRow> operations;
  std::vector<RecipeRow> recipes;  ///< by models::PrecisionRecipe
};

struct Picture {
  std::uint64_t version = 0;
  std::string verdict, story;
  std::string time_note, left_out;  ///< what the bars leave out and why
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
void draw(Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

/// Marks and names of the formats that the operations have.
void draw_legend(const Picture& picture, float width);
void draw_operations(const Outputs& out, const Picture& picture, View& view, float width, float height);
void draw_memory(const Outputs& out, const Picture& picture, View& view, float width, float height);
void draw_time(const Outputs& out, const Picture& picture, View& view, float width, float height);

void describe(Fields& fields, OperationRow& row);
void describe(Fields& fields, RecipeRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::mixed
