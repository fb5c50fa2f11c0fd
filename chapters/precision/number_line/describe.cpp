#include "chapters/mechanism/choices_in_order.h"
#include "chapters/precision/number_line/lab.h"

namespace chapters::precision::number_line {

namespace {

const Choices axes = choices_in_order<models::LineAxis::ordinal>(
    {{"log", "logarithmic", "By power of two; the negative half is its mirror image."},
     {"linear", "linear", "By value."},
     {"ordinal", "by ULP", "Each format by its own steps: every value takes as much room as the next."}});
const Choices spreads = choices_in_order<models::ValueSpread::gradients>(
    {{"none", "none", "The formats alone."},
     {"normal", "normal", "A bell: weights and activations after a norm."},
     {"heavy", "heavy tail", "Student's t with 3 degrees of freedom: activations with outliers."},
     {"gradients", "gradients", "Log-normal magnitudes, many octaves wide."}});

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The formats");
  f.choice("format", in.format, format_choices(), "Format", "The format that the figures speak of.",
           {.headline = true});
  f.choices("formats", in.formats, format_choices(), "Rows", "The formats that are drawn, one a row.",
            {.max_items = 8});
  f.choice("axis", in.axis, axes, "Axis", "What a step to the right is.");
  f.group("Your numbers");
  f.choice("spread", in.spread, spreads, "Numbers", "The distribution of a tensor's numbers, laid over the formats.");
  f.real("size", in.size, "Their size",
         "Standard deviation of the bell, scale of the heavy tail, median magnitude of the gradients.",
         {.range = {0x1p-40, 0x1p20, Scale::log}, .headline = true});
  f.real("octaves", in.octaves, "Their width", "Standard deviation of the gradients' magnitudes, in powers of two.",
         {.range = {0.5, 12}, .when = {"spread", "gradients"}});
  f.real("scale", in.scale, "Loss scale", "Every number is multiplied by this before it is stored.",
         {.range = {1, max_scale, Scale::log}, .headline = true});
  f.group("A tensor of yours");
  f.file("file", in.file, "Your tensors",
         "A safetensors file, whose numbers take the place of the distribution; drop one anywhere.",
         {.reads = {FileKind::safetensors}, .accepts = "safetensors", .by_bytes = true});
  f.text("tensor", in.tensor, "Tensor", "Which tensor of the file, by name; empty: the largest one of floats.",
         {.when = {"file", "set"}});
}

void describe(Fields& f, Row& r) {
  f.text("name", r.name, "Format");
  f.real("values", r.values, "Values");
  f.real("largest", r.limits.max_finite, "Largest");
  f.real("smallest_normal", r.limits.min_normal, "Smallest normal");
  f.real("smallest", r.limits.min_positive, "Smallest");
  f.real("per_octave", r.per_octave, "Values per octave");
  f.real("underflow", r.underflow, {"Underflow", "%"}, {.absent = "There are no numbers."});
  f.real("subnormal", r.subnormal, {"Subnormal", "%"}, {.absent = "There are no numbers."});
  f.real("normal", r.normal, {"Normal", "%"}, {.absent = "There are no numbers."});
  f.real("overflow", r.overflow, {"Overflow", "%"}, {.absent = "There are no numbers."});
}

void describe(Fields& f, Outputs& o) {
  f.group("What becomes of them");
  f.real("underflow", o.underflow, {"Underflow", "%"}, "Share of the numbers that are rounded to zero.",
         {.headline = true,
          .absent = "There are no numbers: choose some under Numbers.",
          .formula = "P(|x| <= smallest / 2)"});
  f.real("subnormal", o.subnormal, {"Subnormal", "%"}, "Share that is stored with fewer bits than the mantissa has.",
         {.headline = true, .absent = "There are no numbers: choose some under Numbers."});
  f.real("normal", o.normal, {"Normal", "%"}, "Share that is stored with all bits of the mantissa.",
         {.absent = "There are no numbers: choose some under Numbers."});
  f.real("overflow", o.overflow, {"Overflow", "%"}, "Share past half a step beyond the largest value.",
         {.headline = true, .absent = "There are no numbers: choose some under Numbers."});
  f.real("underflow_unscaled", o.underflow_unscaled, {"Underflow without the loss scale", "%"},
         "Share that would be rounded to zero if nothing multiplied the numbers.",
         {.absent = "There are no numbers: choose some under Numbers.", .formula = "P(|x| / scale <= smallest / 2)"});
  f.group("How many values");
  f.real("values", o.values, "Values", "Distinct finite values; both zeros count once.",
         {.source = "counted from the encoding"});
  f.real("codes", o.limits.codes, "Codes", {.formula = "2^bits"});
  f.group("Where they end");
  f.real("largest", o.limits.max_finite, "Largest", "The largest finite value.",
         {.source = "IEEE 754-2019; OCP OFP8; OCP MX v1.0"});
  f.real("lowest", o.limits.lowest, "Lowest", "The finite value farthest below zero; 0 or above without a sign.");
  f.real("smallest_normal", o.limits.min_normal, "Smallest normal", {.formula = "2^(1 - bias)"});
  f.real("smallest", o.limits.min_positive, "Smallest", "The smallest value above zero, subnormals included.",
         {.formula = "2^(1 - bias - mantissa bits)"});
  f.real("epsilon", o.limits.epsilon, "Step above 1", {.formula = "2^-(mantissa bits)"});
  f.real("per_octave", o.per_octave, "Values per octave", "Between one power of two and the next, among the normals.",
         {.formula = "2^(mantissa bits)"});
  f.real("octaves_covered", o.octaves_covered, "Octaves", "From the smallest value to the largest.",
         {.formula = "log2(largest / smallest)"});
  f.real("subnormals", o.subnormals, "Subnormals", "Codes between zero and the smallest normal, both signs.");
  f.real("below_one", o.below_one, {"Positive values up to 1", "%"},
         "Share of the positive values that are at most 1.");
  f.group("Every row");
  f.table("rows", o.rows, "All rows");
}

void describe(Fields& f, View& v) {
  f.real("from", v.from, "From",
         "Left end of what is shown: log2 of the magnitude, the value, or the share of the codes.",
         {.range = {-1.79e308, 1.79e308}});
  f.real("to", v.to, "To", "Right end; all of the line while it is not above the left end.",
         {.range = {-1.79e308, 1.79e308}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"precision/number-line",
       "Number line",
       "Which numbers does a format have, and which of yours fall off its edges?",
       {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::precision::number_line
