#include "chapters/compression/methods/lab.h"

#include "chapters/mechanism/choices_in_order.h"

namespace chapters::compression::methods {
namespace {

using models::Method;

const Choices signs = choices_in_order<Sign::plus>(
    {{"minus", "minus: taken back", "GPTQ: the columns left move against the error."},
     {"none", "none", "Round to nearest, column by column."},
     {"plus", "plus: the wrong sign", "As one study document prints it: the error is doubled."}});
const Choices activation_formats = choices_in_order<Activations::fp8>(
    {{"int8", "INT8", "W8A8."}, {"int4", "INT4", "W4A4."}, {"fp8", "FP8 E4M3", "W8A8 in floating point."}});
constexpr std::string_view gptq_paper = "Frantar et al. 2022, arXiv:2210.17323",
                           awq_paper = "Lin et al. 2023, arXiv:2306.00978",
                           smooth_paper = "Xiao et al. 2022, arXiv:2211.10438", error_formula = "|Y - Y'|^2 / |Y|^2";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The weights");
  f.choice(
      "format", in.format, quant_format_choices(),
      {.label = "Weights in", .help = "For rounding, GPTQ and AWQ, which leave activations alone.", .headline = true});
  f.toggle("symmetric", in.symmetric, {.label = "Symmetric", .help = "Integers: without a zero point."});
  f.choice("grain", in.grain, quant_grain_choices(), {.label = "One scale for", .help = "What shares a scale."});
  f.integer("group", in.group,
            {
                .label = "Group",
                .help = "Neighbouring weights of a row under one scale.",
                .lo = 8,
                .hi = 128,
                .scale = Scale::log,
                .when = {"grain", "group"},
            });
  f.toggle("search_range", in.search_range,
           {.label = "Search the range",
            .help = "The range that loses least squared error, instead of smallest to largest."});
  f.group("The methods");
  f.choice("sign", in.sign, signs,
           {.label = "GPTQ's update", .help = "What happens to the columns that are not rounded yet."});
  f.toggle("act_order", in.act_order,
           {.label = "Largest inputs first", .help = "GPTQ rounds columns in the order of their inputs' size."});
  f.real("damping", in.damping,
         {
             .label = "Damping",
             .help = "Added to the diagonal of H, as a share of its mean.",
             .lo = 1e-4,
             .hi = 1,
             .scale = Scale::log,
         });
  f.choice(
      "activations", in.activations, activation_formats,
      {.label = "Both operands in", .help = "For the pair that rounds activations too: as they are, and smoothed."});
  f.toggle(
      "per_token", in.per_token,
      {.label = "A scale for each token", .help = "Else one scale for all activations, as static calibration gives."});
  f.real("smoothing", in.smoothing,
         {
             .label = "Smoothing alpha",
             .help = "0 leaves the inputs' range where it is, 1 moves all of it into the weights.",
             .lo = 0,
             .hi = 1,
         });
  f.group("The inputs");
  f.real("correlation", in.correlation,
         {
             .label = "Inputs in common",
             .help = "Part of an input's variance that it shares with the others.",
             .lo = 0,
             .hi = 0.95,
             .headline = true,
         });
  f.integer("outlier_inputs", in.outlier_inputs,
            {
                .label = "Outlying inputs",
                .help = "Channels of the activations that are larger than the others.",
                .lo = 0,
                .hi = 16,
                .scale = Scale::step,
            });
  f.real("outlier_size", in.outlier_size,
         {
             .label = "... larger by",
             .help = "Factor on those channels.",
             .lo = 1,
             .hi = 100,
             .scale = Scale::log,
         });
  f.group("The layer");
  f.integer("inputs", in.inputs,
            {
                .label = "Inputs",
                .help = "Columns of the layer.",
                .lo = 16,
                .hi = 96,
                .scale = Scale::step,
                .step = 8,
            });
  f.integer("outputs", in.outputs,
            {
                .label = "Outputs",
                .help = "Rows of the layer.",
                .lo = 8,
                .hi = 48,
                .scale = Scale::step,
                .step = 8,
            });
  f.integer("tokens", in.tokens,
            {
                .label = "Calibration tokens",
                .help = "As many again are held out.",
                .lo = 16,
                .hi = 192,
                .scale = Scale::step,
                .step = 16,
            });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "Another seed, another layer; the same seed is the same layer.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::step,
            });
  f.file("file", in.file,
         {.label = "Your weights", .help = "A safetensors file for the weights; the inputs stay made up."},
         {.accepts = "safetensors", .by_bytes = true});
  f.text("tensor", in.tensor,
         {.label = "Tensor", .help = "Name of a tensor of that file; empty takes its largest matrix."});
}

void describe(Fields& f, MethodRow& r) {
  f.text("method", r.method, {.label = "Method"});
  f.real("weight_bits", r.weight_bits, {.label = "Bits a weight"});
  f.real("activation_bits", r.activation_bits, {.label = "Bits an activation"});
  f.real("error", r.error, {.label = "Error, calibration", .unit = "%"});
  f.real("held_out", r.held_out, {.label = "Error, held out", .unit = "%"});
  f.real("against_rounding", r.against_rounding, {.label = "Over plain rounding"});
}

void describe(Fields& f, Outputs& o) {
  f.group("Errors");
  f.real("rtn_error", o.error_of(Method::rtn).calibration,
         {.label = "Rounding, calibration", .unit = "%", .formula = error_formula});
  f.real("gptq_error", o.error_of(Method::gptq).calibration,
         {
             .label = "GPTQ, calibration",
             .unit = "%",
             .formula = error_formula,
             .source = gptq_paper,
         });
  f.real("awq_error", o.error_of(Method::awq).calibration,
         {
             .label = "AWQ, calibration",
             .unit = "%",
             .formula = error_formula,
             .source = awq_paper,
         });
  f.real("both_error", o.error_of(Method::both).calibration,
         {.label = "Both rounded, calibration", .unit = "%", .formula = error_formula});
  f.real("smooth_error", o.error_of(Method::smooth).calibration,
         {
             .label = "SmoothQuant, calibration",
             .unit = "%",
             .formula = error_formula,
             .source = smooth_paper,
         });
  f.real("rtn_held_out", o.error_of(Method::rtn).held_out,
         {.label = "Rounding, held out", .unit = "%", .formula = error_formula});
  f.real("gptq_held_out", o.error_of(Method::gptq).held_out,
         {.label = "GPTQ, held out", .unit = "%", .formula = error_formula});
  f.real("awq_held_out", o.error_of(Method::awq).held_out,
         {.label = "AWQ, held out", .unit = "%", .formula = error_formula});
  f.real("both_held_out", o.error_of(Method::both).held_out,
         {.label = "Both rounded, held out", .unit = "%", .formula = error_formula});
  f.real("smooth_held_out", o.error_of(Method::smooth).held_out,
         {.label = "SmoothQuant, held out", .unit = "%", .formula = error_formula});
  f.group("Over rounding");
  f.real("gptq_ratio", o.gptq_ratio,
         {.label = "GPTQ over rounding",
          .help = "Below 1: GPTQ is better on the tokens it was fitted to.",
          .formula = "GPTQ / rounding, calibration"});
  f.real("gptq_ratio_held_out", o.gptq_ratio_held_out,
         {.label = "GPTQ, held-out tokens", .headline = true, .formula = "GPTQ / rounding, held out"});
  f.real("awq_ratio", o.awq_ratio, {.label = "AWQ over rounding", .formula = "AWQ / rounding, calibration"});
  f.real("awq_ratio_held_out", o.awq_ratio_held_out,
         {.label = "AWQ, held-out tokens", .headline = true, .formula = "AWQ / rounding, held out"});
  f.real("smooth_ratio", o.smooth_ratio,
         {.label = "Smoothed over rounded", .formula = "smoothed / not smoothed, calibration"});
  f.real("smooth_ratio_held_out", o.smooth_ratio_held_out,
         {.label = "SmoothQuant, held-out", .headline = true, .formula = "smoothed / not smoothed, held out"});
  f.group("Bits and searches");
  f.real("weight_bits", o.study.errors[static_cast<std::size_t>(Method::rtn)].weight_bits,
         {.label = "Bits a weight", .formula = "b + (16 + zero bits) / group"});
  f.real("pair_bits", o.study.errors[static_cast<std::size_t>(Method::both)].weight_bits,
         {.label = "Bits a weight, both rounded", .formula = "b + 16 / inputs"});
  f.real("awq_alpha", o.study.awq_alpha,
         {.label = "AWQ's alpha", .help = "Found by trying 21 of them.", .source = awq_paper});
  f.real("smooth_best_alpha", o.study.smooth_best_alpha,
         {.label = "Best smoothing alpha", .help = "Of 0, 0.1 to 1.", .source = smooth_paper});
  f.real("input_spread", o.input_spread,
         {.label = "Largest over median input", .formula = "max_j max|x_j| / median_j max|x_j|"});
  f.real("smoothed_spread", o.smoothed_spread, {.label = "Largest over median, smoothed", .formula = "of x_j / s_j"});
  f.integer("first_column", o.first_column, {.label = "Column rounded first", .help = "By GPTQ, counted from 0."});
  f.group("Which is best");
  f.text("best", o.best,
         {.label = "Least error at these bits",
          .help = "Of rounding, GPTQ and AWQ, on held-out tokens.",
          .headline = true});
  f.text("weights", o.weights, {.label = "Weights of"});
  f.text("note", o.note, {.label = "Note"});
  f.table("rows", o.rows, {.label = "Methods"});
}

void describe(Fields& f, View& v) {
  f.real("time", v.time,
         {
             .label = "Columns rounded",
             .help = "How far GPTQ has come; the map shows the weights at that point.",
             .lo = 0,
             .hi = 96,
         });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "compression/methods",
          .title = "Methods",
          .question = "At the same bits, how much of the output's error can GPTQ, AWQ and SmoothQuant take back?",
          .job = true,
      },
      compute, arrange, draw);
}

}  // namespace chapters::compression::methods
