#include "chapters/compression/quantizer/lab.h"

#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/weights_source.h"

namespace chapters::compression::quantizer {
namespace {

const Choices ranges = choices_in_order<models::QuantRange::mse>(
    {{"min_max", "min to max", "From the smallest to the largest weight: nothing is clipped."},
     {"percentile", "a percentile", "The outermost weights are clipped."},
     {"mse", "least squared error", "The range, of 16 tried, that loses least."}});
constexpr std::string_view study = "Jacob et al. 2018, arXiv:1712.05877";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The levels");
  f.choice("format", in.format, quant_format_choices(), "Format", "Which levels a weight can take.",
           {.headline = true});
  f.toggle("symmetric", in.symmetric, "Symmetric",
           "Integers: without a zero point, as many levels below zero as above; the other formats always are.");
  f.choice("grain", in.grain, quant_grain_choices(), "One scale for", "What shares a scale.", {.headline = true});
  f.integer("group", in.group, "Group", "Neighbouring weights of a row under one scale.",
            {.range = {8, 512, Scale::log}, .when = {"grain", "group"}});
  f.choice("range", in.range, ranges, "Range", "How far the levels reach.");
  f.real("percentile", in.percentile, {"Percentile", "%"}, "Share of the weights that stays inside the range.",
         {.range = {90, 100}, .when = {"range", "percentile"}});
  f.integer("scale_bits", in.scale_bits, "Bits of a scale",
            "Stored with each group; a zero point takes as many bits as a weight on top.",
            {.range = {8, 32, Scale::step, 8}});
  f.group("The weights");
  describe_weights_file(f, in.file, in.tensor,
                        "A safetensors file; its header and the rows looked at are read, not the rest.");
  f.integer("rows", in.rows, "Rows", "Output channels; of a file, that many evenly spaced ones.",
            {.range = {4, 256, Scale::log}});
  f.integer("columns", in.columns, "Columns", "Inputs; of a file, the first ones.", {.range = {16, 4096, Scale::log}});
  f.real("row_spread", in.row_spread, "Rows differ by", "Standard deviation of the logarithm of a row's size.",
         {.range = {0, 2}});
  f.real("outlier_share", in.outlier_share, {"Outliers", "%"}, "The share of the made-up weights that are outliers.",
         {.range = {0, 5}, .headline = true});
  f.real("outlier_size", in.outlier_size, "An outlier is larger by", "Factor on the weights drawn.",
         {.range = {1, 100, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Another seed, other weights; the same seed is the same matrix.",
            {.range = {1, 1000, Scale::step}});
  f.group("The row shown");
  f.integer("row", in.row, "Row shown",
            "Whose levels are drawn; a click on the map chooses it. -1: the row that pays most, "
            "with one scale for all measured by its own size.",
            {.range = {-1, 255, Scale::step}});
  f.integer("column", in.column, "Column shown", "Whose group is drawn; a click on the map chooses it.",
            {.range = {0, 4095, Scale::step}, .when = {"grain", "group"}});
}

void describe(Fields& f, FormatRow& r) {
  f.text("format", r.format, "Format");
  f.text("grain", r.grain, "One scale for");
  f.real("bits", r.bits, "Bits per weight");
  f.real("sqnr_db", r.sqnr_db, "SQNR (dB)");
}

void describe(Fields& f, TensorRow& r) {
  f.text("name", r.name, "Name");
  f.text("type", r.type, "Type");
  f.text("shape", r.shape, "Shape");
}

void describe(Fields& f, Outputs& o) {
  f.group("The error");
  f.real("sqnr_db", o.error.sqnr_db, "SQNR (dB)",
         "Signal to quantization noise: 6 dB for each bit of a uniform weight.",
         {.headline = true, .formula = "10 log10(sum w^2 / sum e^2)"});
  f.real("mean_error", o.error.mean_abs, "Mean error",
         "The mean of the weights' absolute errors; a quarter of the step where residuals are uniform.",
         {.formula = "mean |w - q|"});
  f.real("rms_error", o.error.rms, "RMS error", "The step over the root of 12 where residuals are uniform.",
         {.formula = "sqrt(mean (w - q)^2)"});
  f.real("largest_error", o.error.largest, "Largest error", {.formula = "max |w - q|"});
  f.real("relative_error", o.relative_error, {"Relative error", "%"},
         {.headline = true, .formula = "sqrt(sum e^2 / sum w^2)"});
  f.real("product_error", o.product_error, {"Error of the output", "%"}, "On 16 tokens of standard normal inputs.",
         {.formula = "|X (W - Q)^T| / |X W^T|"});
  f.group("What it takes");
  f.real("bits_per_weight", o.bits_per_weight, "Bits per weight",
         {.headline = true, .formula = "b + (scale bits + zero bits) / weights under a scale", .source = study});
  f.real("overhead_bits", o.overhead_bits, "Bits for scales, per weight",
         {.formula = "(scale bits + zero bits) / weights under a scale"});
  f.real("size_bytes", o.size_bytes, {"Size", "B"}, {.formula = "weights x bits / 8"});
  f.real("smaller", o.smaller, {"Smaller than BF16 by", "\xC3\x97"}, {.formula = "16 / bits per weight"});
  f.group("Clipping");
  f.real("clipped", o.clipped, {"Clipped", "%"}, "Weights beyond the last level.");
  f.real("gradient_passed", o.gradient_passed, {"Gradient passed", "%"},
         "Weights whose gradient the straight-through estimator lets through: those inside the range.",
         {.source = "Bengio, Leonard, Courville 2013, arXiv:1308.3432"});
  f.integer("scales", o.scales, "Scales", "Stored with the matrix.");
  f.group("The row shown");
  f.integer("shown_row", o.shown_row, "Row shown",
            "The one that you chose; else the one that pays most for the scale.");
  f.integer("largest_row", o.largest_row, "Row that loses most", "By the sum of squared errors.");
  f.real("largest_row_share", o.largest_row_share, {"In the worst row", "%"},
         "Its share of the squared error of all rows.", {.headline = true, .formula = "its sum of e^2 / sum e^2"});
  f.integer("scale_row", o.scale_row, "Row of the largest weight",
            "With one scale for the whole tensor it sets that scale.");
  f.integer("hurt_row", o.hurt_row, "Row hurt most",
            "By its error over its own size: with one scale per row of small weights.");
  f.real("hurt_row_error", o.hurt_row_error, {"... of its own size", "%"}, "100 %: all of its weights became 0.",
         {.formula = "sqrt(its sum of e^2 / its sum of w^2)"});
  f.real("shown_error", o.shown_error, {"Error of the row shown", "%"}, "Over the row's own size.",
         {.formula = "sqrt(its sum of e^2 / its sum of w^2)"});
  f.integer("shown_levels", o.shown_levels, "Levels there are", "Levels of the chosen row or group.",
            {.formula = "codes of the format"});
  f.integer("levels_used", o.levels_used, "Levels used",
            "Levels that some weight of the row or group becomes; the others cost bits and hold nothing.");
  f.real("shown_largest", o.shown_largest, "Largest weight shown",
         "The largest absolute weight of the chosen row or group.", {.formula = "max |w|"});
  f.real("shown_step", o.shown_grid.step, "Scale shown",
         "The scale of the chosen row or group; for integers the distance of two levels.",
         {.formula = "range / levels"});
  f.real("shown_lowest", o.shown_lowest, "Lowest level shown", "The lowest level of the chosen row or group.");
  f.real("shown_highest", o.shown_highest, "Highest level shown", "The highest level of the chosen row or group.");
  f.integer("weight_count", o.weight_count, "Weights", "Weights that were quantized.");
  f.group("The matrix");
  f.text("weights", o.weights, "Weights of");
  f.text("note", o.note, "Note");
  f.table("formats", o.formats, "Every format on these weights");
  f.table("tensors", o.tensors, "Tensors of the file");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"compression/quantizer",
                                                   "Quantizer",
                                                   "What do weights lose in a few bits, and who pays for the outliers?",
                                                   {.job = true}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::compression::quantizer
