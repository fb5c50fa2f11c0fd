#include "chapters/compression/methods/lab.h"

#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/weights_source.h"

namespace chapters::compression::methods {
namespace {

using models::Method;

const Choices signs = choices_in_order<Sign::plus>(
    {{"minus", "minus: taken back", "GPTQ: the columns not yet rounded move against the error."},
     {"none", "none", "Round to nearest, column by column."},
     {"plus", "plus: the wrong sign",
      "A misprint that is often copied: the others move with the error, and it grows."}});
const Choices activation_formats = choices_in_order<Activations::fp8>(
    {{"int8", "INT8", "W8A8."}, {"int4", "INT4", "W4A4."}, {"fp8", "FP8 E4M3", "W8A8 in floating point."}});
constexpr std::string_view gptq_paper = "Frantar et al. 2022, arXiv:2210.17323",
                           awq_paper = "Lin et al. 2023, arXiv:2306.00978",
                           smooth_paper = "Xiao et al. 2022, arXiv:2211.10438",
                           mixed_paper = "Dettmers et al. 2022, arXiv:2208.07339", error_formula = "|Y - Y'|^2 / |Y|^2";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The weights");
  f.choice("format", in.format, quant_format_choices(), "Weights in",
           "For rounding, GPTQ and AWQ, which leave activations alone.", {.headline = true});
  f.toggle("symmetric", in.symmetric, "Symmetric", "Integers: without a zero point.");
  f.choice("grain", in.grain, quant_grain_choices(), "One scale for", "What shares a scale.");
  f.integer("group", in.group, "Group", "Neighbouring weights of a row under one scale.",
            {.range = {8, 128, Scale::log}, .when = {"grain", "group"}});
  f.toggle("search_range", in.search_range, "Search the range",
           "The range that loses least squared error, instead of smallest to largest.");
  f.group("The methods");
  f.choice("sign", in.sign, signs, "GPTQ's update", "What happens to the columns that are not rounded yet.");
  f.toggle("act_order", in.act_order, "Largest inputs first",
           "GPTQ rounds columns in the order of their inputs' size.");
  f.real("damping", in.damping, "Damping", "Added to the diagonal of H, as a share of its mean.",
         {.range = {1e-4, 1, Scale::log}});
  f.choice("activations", in.activations, activation_formats, "Both operands in",
           "For the pair that rounds activations too: as they are, and smoothed.");
  f.toggle("per_token", in.per_token, "A scale for each token",
           "Else one scale for all activations, as static calibration gives.");
  f.real("smoothing", in.smoothing, "Smoothing alpha",
         "How the outliers are shared: at 0 the weights are made even and the inputs keep theirs, at 1 the reverse.",
         {.range = {0, 1}});
  f.group("The inputs");
  f.real("correlation", in.correlation, "Inputs in common",
         "Part of an input's variance that it shares with the others.", {.range = {0, 0.95}, .headline = true});
  f.integer("outlier_inputs", in.outlier_inputs, "Outlying inputs",
            "Channels of the activations that are larger than the others.", {.range = {0, 16, Scale::step}});
  f.real("outlier_size", in.outlier_size, "... larger by", "Factor on those channels.",
         {.range = {1, 100, Scale::log}});
  f.group("The layer");
  f.integer("inputs", in.inputs, "Inputs", "Columns of the layer.", {.range = {16, 96, Scale::step, 8}});
  f.integer("outputs", in.outputs, "Outputs", "Rows of the layer.", {.range = {8, 48, Scale::step, 8}});
  f.integer("tokens", in.tokens, "Calibration tokens", "As many again are held out.",
            {.range = {16, 192, Scale::step, 16}});
  f.integer("seed", in.seed, "Seed", "Another seed, another layer; the same seed is the same layer.",
            {.range = {1, 1000, Scale::step}});
  describe_weights_file(f, in.file, in.tensor, "A safetensors file for the weights; the inputs stay made up.");
}

void describe(Fields& f, MethodRow& r) {
  f.text("method", r.method, "Method");
  f.real("weight_bits", r.weight_bits, "Bits per weight");
  f.real("activation_bits", r.activation_bits, "Bits per activation");
  f.real("error", r.error, {"Error, calibration", "%"});
  f.real("held_out", r.held_out, {"Error, held out", "%"});
  f.real("against_rounding", r.against_rounding, "Over plain rounding");
  f.text("source", r.source, "Source");
}

void describe(Fields& f, Outputs& o) {
  const auto error = [&](Method m) -> ErrorPercent& { return o.errors[static_cast<std::size_t>(m)]; };
  f.group("Errors");
  f.real("rtn_error", error(Method::rtn).calibration, {"Rounding, calibration", "%"}, {.formula = error_formula});
  f.real("gptq_error", error(Method::gptq).calibration, {"GPTQ, calibration", "%"},
         {.formula = error_formula, .source = gptq_paper});
  f.real("awq_error", error(Method::awq).calibration, {"AWQ, calibration", "%"},
         {.formula = error_formula, .source = awq_paper});
  f.real("both_error", error(Method::both).calibration, {"Both rounded, calibration", "%"}, {.formula = error_formula});
  f.real("smooth_error", error(Method::smooth).calibration, {"SmoothQuant, calibration", "%"},
         {.formula = error_formula, .source = smooth_paper});
  f.real("rtn_held_out", error(Method::rtn).held_out, {"Rounding, held out", "%"}, {.formula = error_formula});
  f.real("gptq_held_out", error(Method::gptq).held_out, {"GPTQ, held out", "%"}, {.formula = error_formula});
  f.real("awq_held_out", error(Method::awq).held_out, {"AWQ, held out", "%"}, {.formula = error_formula});
  f.real("both_held_out", error(Method::both).held_out, {"Both rounded, held out", "%"}, {.formula = error_formula});
  f.real("smooth_held_out", error(Method::smooth).held_out, {"SmoothQuant, held out", "%"}, {.formula = error_formula});
  f.group("Over rounding");
  f.real("gptq_ratio", o.gptq_ratio, "GPTQ over rounding", "Below 1: GPTQ is better on the tokens it was fitted to.",
         {.formula = "GPTQ / rounding, calibration"});
  f.real("gptq_ratio_held_out", o.gptq_ratio_held_out, "GPTQ, held-out tokens",
         {.formula = "GPTQ / rounding, held out"});
  f.real("awq_ratio", o.awq_ratio, "AWQ over rounding", {.formula = "AWQ / rounding, calibration"});
  f.real("awq_ratio_held_out", o.awq_ratio_held_out, "AWQ, held-out tokens", {.formula = "AWQ / rounding, held out"});
  f.real("smooth_ratio", o.smooth_ratio, "Smoothed over rounded", {.formula = "smoothed / not smoothed, calibration"});
  f.real("smooth_ratio_held_out", o.smooth_ratio_held_out, "SmoothQuant, held-out",
         {.formula = "smoothed / not smoothed, held out"});
  constexpr std::string_view taken =
      "Share of plain rounding's error that goes, on held-out tokens; below 0 % the method adds to it.";
  f.real("gptq_taken", o.gptq_taken, {"GPTQ takes back", "%"}, taken,
         {.headline = true, .formula = "1 - GPTQ / rounding, held out"});
  f.real("awq_taken", o.awq_taken, {"AWQ takes back", "%"}, taken,
         {.headline = true, .formula = "1 - AWQ / rounding, held out"});
  f.real("smooth_taken", o.smooth_taken, {"SmoothQuant takes back", "%"},
         "Share of the error of both operands rounded that goes, on held-out tokens; below 0 % it adds to it.",
         {.headline = true, .formula = "1 - smoothed / not smoothed, held out"});
  f.group("LLM.int8()");
  f.real("mixed_error", o.mixed_error, {"LLM.int8(), calibration", "%"},
         {.formula = error_formula, .source = mixed_paper});
  f.real("mixed_held_out", o.mixed_held_out, {"LLM.int8(), held out", "%"},
         "Both operands in INT8, a scale for each token and each output; inputs with outliers stay in 16 bits.",
         {.formula = error_formula, .source = mixed_paper});
  f.integer("mixed_inputs", o.mixed_inputs, "Inputs kept in 16 bits", "Some token of the batch reaches 6 in them.",
            {.formula = "inputs with max|x_j| >= 6, held out", .source = mixed_paper});
  f.real("mixed_int8_share", o.mixed_int8_share, {"Multiplied in INT8", "%"},
         "Share of the multiply-adds whose weight and activation are both 8-bit numbers.",
         {.formula = "1 - inputs kept / inputs", .source = mixed_paper});
  f.group("Bits and searches");
  f.real("weight_bits", o.figures.errors[static_cast<std::size_t>(Method::rtn)].weight_bits, "Bits per weight",
         {.formula = "b + (16 + zero bits) / group"});
  f.real("pair_bits", o.figures.errors[static_cast<std::size_t>(Method::both)].weight_bits,
         "Bits per weight, both rounded", {.formula = "b + 16 / inputs"});
  f.real("awq_alpha", o.figures.awq_alpha, "AWQ's alpha", "Found by trying 21 of them.", {.source = awq_paper});
  f.real("smooth_best_alpha", o.figures.smooth_best_alpha, "Best smoothing alpha", "The best of 0, 0.1 to 1.",
         {.source = smooth_paper});
  f.real("input_spread", o.input_spread, "Largest over median input",
         {.formula = "max_j max|x_j| / median_j max|x_j|"});
  f.real("smoothed_spread", o.smoothed_spread, "Largest over median, smoothed", {.formula = "of x_j / s_j"});
  f.integer("first_column", o.first_column, "Column rounded first", "By GPTQ, counted from 0.");
  f.group("Which is best");
  f.text("best", o.best, "Least error at these bits", "The best of rounding, GPTQ and AWQ on held-out tokens.",
         {.headline = true});
  f.text("weights", o.weights, "Weights of");
  f.text("note", o.note, "Note");
  f.table("rows", o.rows, "Methods");
}

void describe(Fields& f, View& v) {
  f.real("time", v.time, "Columns rounded", "How far GPTQ has come; the map shows the weights at that point.",
         {.range = {0, 96}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"compression/methods",
       "Methods",
       "How much of rounding's error do GPTQ, AWQ and SmoothQuant take back?",
       {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::compression::methods
