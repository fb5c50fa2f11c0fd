#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/training/mixed_precision.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/table/table.h"

/// Between mixed.cpp (described), mixed_compute.cpp and mixed_draw.cpp.
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
  std::string name, part, forward, backward, result, why;
  std::int64_t count = 1;
  double flops = 0, bytes = 0, time_s = 0;                   ///< of one
  double all_s = 0, share = 0;                               ///< of all `count`; share in % of the step
  models::NumberFormat format = models::NumberFormat::fp32;  ///< forward: what the row is coloured by
};

struct RecipeRow {
  std::string recipe, note;
  bool runs = false;
  double time_s = 0, speedup = 0, bytes_per_parameter = 0, states_bytes = 0, activations_bytes = 0, logits_bytes = 0,
         total_bytes = 0;

  // For the bars.
  models::MixedMemory memory;
  std::array<double, models::step_part_count> part_s{};
};

struct Outputs {
  std::string reason;
  double time_s = 0, tokens_per_s = 0, products_s = 0, attention_s = 0, vector_s = 0, casts_s = 0, optimizer_s = 0;
  double speedup_fp32 = 0, speedup_tf32 = 0, speedup_bf16 = 0, peak_ratio = 0, product_share = 0,
         recipe_flops_share = 0;  ///< 0 where the chip states no peak to compare with
  double bytes_per_parameter = 0, weights_bytes = 0, copies_bytes = 0, gradients_bytes = 0, master_bytes = 0,
         moments_bytes = 0, states_bytes = 0;
  double activations_bytes = 0, activation_bytes_per_token = 0, logits_bytes = 0, total_bytes = 0, chip_share = 0;
  double states_over_fp32 = 1, activations_over_bf16 = 1, total_over_fp32 = 1;
  bool fits = false;
  double parameters = 0;
  std::vector<OperationRow> operations;
  std::vector<RecipeRow> recipes;

  // For the picture alone.
  std::string verdict, story, time_note, left_out;
  double chip_bytes = 0;
  std::string chip_name;
  std::size_t recipe = 0;
  std::uint64_t version = 0;
};

struct View {
  widgets::TableView operations;
  widgets::StackedBarView memory, time;
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, OperationRow& row);
void describe(Fields& fields, RecipeRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::precision::mixed
