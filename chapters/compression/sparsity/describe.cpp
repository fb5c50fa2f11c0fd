#include "chapters/compression/sparsity/lab.h"

#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::compression::sparsity {
namespace {

const Choices patterns = choices_in_order<models::SparsePattern::structured>(
    {{"unstructured", "Unstructured", "The smallest weights, wherever they are."},
     {"two_four", "2:4", "Two of every four neighbours along the inputs; in FP4 two of four pairs (4:8)."},
     {"structured", "Whole rows", "Outputs with all their weights: the matrix shrinks."}});
const Choices formats = choices_in_order<Narrow::fp4>(
    {{"bf16", "BF16", ""}, {"fp16", "FP16", ""}, {"fp8", "FP8", ""}, {"int8", "INT8", ""}, {"fp4", "FP4", ""}});
constexpr std::string_view mishra = "Mishra et al., Accelerating sparse deep neural networks, 2021",
                           williams = "Williams, Waterman, Patterson 2009";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The zeros");
  f.choice("pattern", in.pattern, patterns, "Zeros", "Where they may lie.", {.headline = true});
  f.real("share", in.share, {"Pruned", "%"}, "Share of weights or rows; 2:4 is always half.",
         {.range = {0, 95}, .headline = true});
  f.toggle("packed", in.packed, "Stored packed",
           "Zeros are not stored: a bit per weight says where they were, and the chip unpacks into dense tiles. Off: "
           "zeros are stored like any weight.",
           {.when = {"pattern", "unstructured"}});
  f.group("The layer");
  shared::chip(f, "chip", in.chip, {.help = "Its peak, bandwidth, and whether it has 2:4 units."});
  shared::format(f, "format", in.format, formats, {.help = "The format of weights and activations."});
  f.real("tokens", in.tokens, {"Tokens", "tokens"}, "Rows of the input: the batch in decode, the prompt in prefill.",
         {.range = {1, 65536, Scale::log}, .headline = true});
  f.real("inputs", in.inputs, "Inputs", "Inputs of the layer.", {.range = {256, 32768, Scale::log}});
  f.real("outputs", in.outputs, "Outputs", "Outputs of the layer.", {.range = {256, 65536, Scale::log}});
  f.group("The example matrix");
  f.toggle("heavy", in.heavy, "Heavy tails",
           "Laplace weights instead of normal ones: more near zero, and larger large ones.");
  f.real("row_spread", in.row_spread, "Rows differ by",
         "Standard deviation of the logarithm of each row's own scale; 0: all rows alike.", {.range = {0, 1.5}});
  f.integer("seed", in.seed, "Seed", "Draws the 32 × 64 example matrix.", {.range = {1, 1000, Scale::step}});
}

void describe(Fields& f, PatternRow& r) {
  f.text("name", r.name, "Zeros");
  f.real("share", r.share, {"Pruned", "%"});
  f.real("error", r.error, {"Error", "%"}, {.formula = "sqrt(energy dropped / energy)"});
  f.real("bytes", r.time.weight_bytes, {"Weight bytes", "B"});
  f.real("ratio", r.ratio, "Share of dense", {.formula = "bytes / dense bytes"});
  f.real("time_s", r.time.placement.time_s, {"Time", "s"});
  f.real("speedup", r.time.speedup, "Speed-up", {.formula = "dense time / time"});
  f.text("regime", r.regime, "Bound by");
  f.text("skips", r.skips, "The hardware skips");
}

void describe(Fields& f, Outputs& o) {
  const auto error_of = [&](models::SparsePattern p) -> double& { return o.errors[static_cast<std::size_t>(p)]; };
  const auto speedup_of = [&](models::SparsePattern p) -> double& { return o.speedups[static_cast<std::size_t>(p)]; };
  f.group("The pattern");
  f.real("error", o.error, {"Error", "%"},
         "The error of the example's weights; expected error of its output when inputs are independent and alike.",
         {.headline = true, .formula = "sqrt(energy dropped / energy)"});
  f.real("kept", o.kept, {"Kept", "%"}, "The share of the example's weights that are kept.");
  f.real("speedup", o.time.speedup, {"Speed-up", "\xC3\x97"},
         "The most there can be: unpacking and imperfect kernels are not counted.",
         {.headline = true, .formula = "dense time / time", .source = williams});
  f.group("Time and bytes");
  f.real("time_s", o.time.placement.time_s, {"Time", "s"},
         {.formula = "max(operations / rate, bytes / bandwidth)", .source = williams});
  f.real("dense_time_s", o.time.dense.time_s, {"Dense time", "s"},
         {.formula = "max(operations / peak, bytes / bandwidth)", .source = williams});
  f.text("regime", o.regime, "Bound by", {.formula = "the longer of operations and bytes", .source = williams});
  f.text("dense_regime", o.dense_regime, "Dense, bound by",
         {.formula = "the longer of operations and bytes", .source = williams});
  f.real("weight_bytes", o.time.weight_bytes, {"Weight bytes", "B"}, "As the chip reads them.",
         {.formula = "values + indices"});
  f.real("dense_weight_bytes", o.time.dense_weight_bytes, {"Dense weight bytes", "B"},
         {.formula = "inputs x outputs x bytes"});
  f.real("memory_ratio", o.memory_ratio, "Weight bytes over dense",
         "2:4 of 16-bit weights: (2 × 16 + 2 × 2) / (4 × 16) = 9/16; of 8-bit ones, and of FP4 in pairs, 5/8.",
         {.formula = "weight bytes / dense weight bytes", .source = mishra});
  f.real("bytes_read", o.bytes_read, {"Weight bytes read", "%"}, "Share of the dense weights' bytes.",
         {.headline = true, .formula = "weight bytes / dense weight bytes"});
  f.real("flops_skipped", o.flops_skipped, {"Multiplications skipped", "%"},
         "By the hardware; a zero that is multiplied is not skipped.", {.headline = true});
  f.real("two_four_rate", o.two_four_rate, "2:4 rate",
         "Peak with 2:4 weights over the dense peak: 2 on NVIDIA from Ampere on and on AMD CDNA 3 and 4, else 1.",
         {.source = mishra});
  f.group("The three patterns");
  f.real("error_unstructured", error_of(models::SparsePattern::unstructured), {"Error, unstructured", "%"},
         "At this share.");
  f.real("error_two_four", error_of(models::SparsePattern::two_four), {"Error, 2:4", "%"}, "At one half.");
  f.real("error_structured", error_of(models::SparsePattern::structured), {"Error, whole rows", "%"}, "At this share.");
  f.real("speedup_unstructured", speedup_of(models::SparsePattern::unstructured), "Speed-up, unstructured",
         {.formula = "dense time / time"});
  f.real("speedup_two_four", speedup_of(models::SparsePattern::two_four), "Speed-up, 2:4",
         {.formula = "dense time / time"});
  f.real("speedup_structured", speedup_of(models::SparsePattern::structured), "Speed-up, whole rows",
         {.formula = "dense time / time"});
  f.table("patterns", o.patterns, "The three side by side", "Each pattern on the same layer and chip.");
}

void describe(Fields& f, View& v) {
  f.integer("group_row", v.group_row, "Row followed", "Whose four neighbours are followed.",
            {.range = {0, mask_rows - 1}});
  f.integer("group", v.group, "Group followed", "Which four neighbours of the row.",
            {.range = {0, mask_cols / group_size - 1}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"compression/sparsity",
       "Sparsity",
       "Which zeros does the hardware skip, and what do they cost?",
       {.published_keys = "chip"}},
      [examples = std::make_shared<Examples>()](const Inputs& in) { return compute(in, *examples); }, arrange, draw);
}

}  // namespace chapters::compression::sparsity
