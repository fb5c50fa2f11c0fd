#include "chapters/compression/quantizer/lab.h"

#include "chapters/mechanism/choices_in_order.h"

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
  f.choice("format", in.format, quant_format_choices(),
           {.label = "Format", .help = "Which levels a weight can take.", .headline = true});
  f.toggle(
      "symmetric", in.symmetric,
      {.label = "Symmetric",
       .help = "Integers: without a zero point, as many levels below zero as above; the other formats always are."});
  f.choice("grain", in.grain, quant_grain_choices(),
           {.label = "One scale for", .help = "What shares a scale.", .headline = true});
  f.integer("group", in.group,
            {
                .label = "Group",
                .help = "Neighbouring weights of a row under one scale.",
                .lo = 8,
                .hi = 512,
                .scale = Scale::log,
                .when = {"grain", "group"},
            });
  f.choice("range", in.range, ranges, {.label = "Range", .help = "How far the levels reach."});
  f.real("percentile", in.percentile,
         {
             .label = "Percentile",
             .unit = "%",
             .help = "Share of the weights that stays inside the range.",
             .lo = 90,
             .hi = 100,
             .when = {"range", "percentile"},
         });
  f.integer("scale_bits", in.scale_bits,
            {
                .label = "Bits of a scale",
                .help = "Stored with each group; a zero point takes as many bits as a weight on top.",
                .lo = 8,
                .hi = 32,
                .scale = Scale::step,
                .step = 8,
            });
  f.group("The weights");
  f.file("file", in.file,
         {
             .label = "Your weights",
             .help = "A safetensors file; its header and the rows looked at are read, not the rest.",
         },
         {.accepts = "safetensors", .by_bytes = true});
  f.text("tensor", in.tensor,
         {.label = "Tensor", .help = "Name of a tensor of that file; empty takes its largest matrix."});
  f.integer("rows", in.rows,
            {
                .label = "Rows",
                .help = "Output channels; of a file, that many evenly spaced ones.",
                .lo = 4,
                .hi = 256,
                .scale = Scale::log,
            });
  f.integer("columns", in.columns,
            {
                .label = "Columns",
                .help = "Inputs; of a file, the first ones.",
                .lo = 16,
                .hi = 4096,
                .scale = Scale::log,
            });
  f.real("row_spread", in.row_spread,
         {
             .label = "Rows differ by",
             .help = "Standard deviation of the logarithm of a row's size.",
             .lo = 0,
             .hi = 2,
         });
  f.real("outlier_share", in.outlier_share,
         {
             .label = "Outliers",
             .unit = "%",
             .help = "Of the made-up weights.",
             .lo = 0,
             .hi = 5,
             .headline = true,
         });
  f.real("outlier_size", in.outlier_size,
         {
             .label = "An outlier is larger by",
             .help = "Factor on the weights drawn.",
             .lo = 1,
             .hi = 100,
             .scale = Scale::log,
         });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "Another seed, other weights; the same seed is the same matrix.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::step,
            });
  f.group("The row shown");
  f.integer("row", in.row,
            {
                .label = "Row shown",
                .help = "Whose levels are drawn; a click on the map chooses it. -1: the row that pays most, "
                        "with one scale for all measured by its own size.",
                .lo = -1,
                .hi = 255,
                .scale = Scale::step,
            });
  f.integer("column", in.column,
            {
                .label = "Column shown",
                .help = "Whose group is drawn; a click on the map chooses it.",
                .lo = 0,
                .hi = 4095,
                .scale = Scale::step,
                .when = {"grain", "group"},
            });
}

void describe(Fields& f, FormatRow& r) {
  f.text("format", r.format, {.label = "Format"});
  f.text("grain", r.grain, {.label = "One scale for"});
  f.real("bits", r.bits, {.label = "Bits a weight"});
  f.real("sqnr_db", r.sqnr_db, {.label = "SQNR (dB)"});
}

void describe(Fields& f, TensorRow& r) {
  f.text("name", r.name, {.label = "Name"});
  f.text("type", r.type, {.label = "Type"});
  f.text("shape", r.shape, {.label = "Shape"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The error");
  f.real("sqnr_db", o.error.sqnr_db,
         {.label = "SQNR (dB)",
          .help = "Signal to quantization noise: 6 dB for each bit of a uniform weight.",
          .headline = true,
          .formula = "10 log10(sum w^2 / sum e^2)"});
  f.real("mean_error", o.error.mean_abs,
         {.label = "Mean error",
          .help = "Of the weights' absolute values; a quarter of the step where residuals are uniform.",
          .formula = "mean |w - q|"});
  f.real("rms_error", o.error.rms,
         {.label = "RMS error",
          .help = "The step over the root of 12 where residuals are uniform.",
          .formula = "sqrt(mean (w - q)^2)"});
  f.real("largest_error", o.error.largest, {.label = "Largest error", .formula = "max |w - q|"});
  f.real("relative_error", o.relative_error,
         {.label = "Relative error", .unit = "%", .headline = true, .formula = "sqrt(sum e^2 / sum w^2)"});
  f.real("product_error", o.product_error,
         {
             .label = "Error of the product",
             .unit = "%",
             .help = "On 16 tokens of standard normal inputs.",
             .formula = "|X (W - Q)^T| / |X W^T|",
         });
  f.group("What it takes");
  f.real("bits_per_weight", o.bits_per_weight,
         {.label = "Bits a weight",
          .headline = true,
          .formula = "b + (scale bits + zero bits) / weights under a scale",
          .source = study});
  f.real("overhead_bits", o.overhead_bits,
         {.label = "... of them for scales", .formula = "(scale bits + zero bits) / weights under a scale"});
  f.real("size_bytes", o.size_bytes, {.label = "Size", .unit = "B", .formula = "weights x bits / 8"});
  f.real("smaller", o.smaller, {.label = "Smaller than BF16 by", .formula = "16 / bits a weight"});
  f.group("Clipping");
  f.real("clipped", o.clipped, {.label = "Clipped", .unit = "%", .help = "Weights beyond the last level."});
  f.real("gradient_passed", o.gradient_passed,
         {
             .label = "Gradient passed",
             .unit = "%",
             .help = "Weights whose gradient the straight-through estimator lets through: those inside the range.",
             .source = "Bengio, Leonard, Courville 2013, arXiv:1308.3432",
         });
  f.integer("scales", o.scales, {.label = "Scales", .help = "Stored with the matrix."});
  f.group("The row shown");
  f.integer("shown_row", o.shown_row,
            {.label = "Row shown", .help = "The one that you chose; else the one that pays most for the scale."});
  f.integer("largest_row", o.largest_row, {.label = "Row that loses most", .help = "By the sum of squared errors."});
  f.real("largest_row_share", o.largest_row_share,
         {
             .label = "In the worst row",
             .unit = "%",
             .help = "Of the squared error of all rows.",
             .headline = true,
             .formula = "its sum of e^2 / sum e^2",
         });
  f.integer("scale_row", o.scale_row,
            {.label = "Row of the largest weight", .help = "With one scale for the whole tensor it sets that scale."});
  f.integer(
      "hurt_row", o.hurt_row,
      {.label = "Row hurt most", .help = "By its error over its own size: with one scale a row of small weights."});
  f.real("hurt_row_error", o.hurt_row_error,
         {
             .label = "... of its own size",
             .unit = "%",
             .help = "100 %: all of its weights became 0.",
             .formula = "sqrt(its sum of e^2 / its sum of w^2)",
         });
  f.real("shown_step", o.shown_grid.step,
         {.label = "Scale shown",
          .help = "Of the chosen row or group; for integers the distance of two levels.",
          .formula = "range / levels"});
  f.real("shown_lowest", o.shown_lowest, {.label = "Lowest level shown", .help = "Of the chosen row or group."});
  f.real("shown_highest", o.shown_highest, {.label = "Highest level shown", .help = "Of the chosen row or group."});
  f.integer("weight_count", o.weight_count, {.label = "Weights", .help = "That were quantized."});
  f.group("The matrix");
  f.text("weights", o.weights, {.label = "Weights of"});
  f.text("note", o.note, {.label = "Note"});
  f.table("formats", o.formats, {.label = "Every format on these weights"});
  f.table("tensors", o.tensors, {.label = "Tensors of the file"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "compression/quantizer",
          .title = "Quantizer",
          .question = "What do these weights lose at four bits, and who pays for the outliers?",
          .job = true,
      },
      compute, arrange, draw);
}

}  // namespace chapters::compression::quantizer
