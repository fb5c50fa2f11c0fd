#include "chapters/mechanism/choices_in_order.h"
#include "chapters/precision/block_formats/lab.h"

namespace chapters::precision::block_formats {

namespace {

const Choices schemes = [] {
  Choices out;
  for (const auto& s : models::block_schemes())
    out.push_back({std::string(s.id), std::string(s.name), std::string(s.source)});
  return out;
}();
const Choices blocks = {{"own", "the scheme's own", "32 for MX, 16 for NVFP4, 64 for integers and NF4."},
                        {"8", "8", ""},
                        {"16", "16", ""},
                        {"32", "32", ""},
                        {"64", "64", ""},
                        {"128", "128", ""},
                        {"256", "256", ""}};
const Choices rules = choices_in_order<models::ScaleRule::least_error>(
    {{"floor", "largest (MX: floor)",
      "2^(floor(log2 largest) - emax), OCP MX v1.0: the largest element may be clipped."},
     {"ceil", "largest (MX: ceil)",
      "2^ceil(log2(largest / element's largest)): nothing is clipped, up to an octave of resolution less."},
     {"least_error", "least squared error",
      "Of a few scales for each block, the one whose rounding loses least: four powers of two, ten E4M3 codes, or "
      "eleven parts of the range."}});
constexpr std::string_view mx = "OCP Microscaling Formats (MX) v1.0, 6.3";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The format");
  f.choice("scheme", in.scheme, schemes,
           {.label = "Scheme", .help = "Element format, block size and kind of scale.", .headline = true});
  f.choice("block", in.block, blocks, {.label = "Block size", .help = "How many elements share a scale."});
  f.choice(
      "rule", in.rule, rules,
      {.label = "Scale rule",
       .help = "How a block's scale is chosen. Floor and ceil differ under MX alone: the others then divide by the "
               "largest magnitude."});
  f.choice("rounding", in.rounding, rounding_choices(),
           {.label = "Rounding", .help = "Of the elements; scales are rounded to nearest."});
  f.group("The tensor");
  f.integer("outliers", in.outliers,
            {
                .label = "Outliers",
                .help = "Elements of the made-up tensor that are far too large.",
                .lo = 0,
                .hi = 64,
                .scale = Scale::step,
                .headline = true,
            });
  f.real("outlier_size", in.outlier_size,
         {
             .label = "Their size",
             .help = "In standard deviations of the others.",
             .lo = 1,
             .hi = 1000,
             .scale = Scale::log,
             .headline = true,
         });
  f.integer(
      "elements", in.elements,
      {
          .label = "Elements",
          .help = "Length of the made-up tensor, a bell of standard deviation 1, or how many numbers of your file.",
          .lo = 16,
          .hi = 4096,
          .scale = Scale::log,
      });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "Another seed, another tensor.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::step,
            });
  f.group("Numbers of your own");
  f.file("file", in.file,
         {
             .label = "Your weights",
             .help = "A safetensors file: as many of its numbers as Elements says take the made-up tensor's place.",
         },
         {.accepts = "safetensors", .by_bytes = true});
  f.text("tensor", in.tensor,
         {.label = "Tensor", .help = "Name of a tensor of that file; empty takes its largest matrix."});
  f.reals("values", in.values,
          {
              .label = "Your values",
              .help = "A list of numbers instead of the made-up tensor; waits while a file is chosen.",
              .lo = -1e30,
              .hi = 1e30,
              .max_items = 1024,
          });
}

void describe(Fields& f, SchemeRow& r) {
  f.text("id", r.id, {.label = "Id"});
  f.text("name", r.name, {.label = "Scheme"});
  f.real("bits", r.bits, {.label = "Bits an element"});
  f.real("rms", r.error.rms, {.label = "RMS error"});
  f.real("relative", r.relative, {.label = "of the tensor's RMS", .unit = "%"});
  f.real("largest_error", r.error.max_abs, {.label = "Largest error"});
  f.real("saturated", r.saturated, {.label = "Clipped"});
  f.real("lost", r.lost, {.label = "Became 0"});
}

void describe(Fields& f, SizeRow& r) {
  f.integer("block", r.block, {.label = "Block size"});
  f.real("bits", r.bits, {.label = "Bits an element"});
  f.real("rms", r.rms, {.label = "RMS error"});
}

void describe(Fields& f, Outputs& o) {
  f.group("What it takes");
  f.real("bits_per_element", o.bits_per_element,
         {
             .label = "Bits an element",
             .help = "With its share of the block's scale.",
             .headline = true,
             .formula = "element bits + scale bits / block size",
             .source = mx,
         });
  f.real("compression", o.compression,
         {.label = "Smaller than BF16", .help = "Times.", .formula = "16 / bits an element"});
  f.group("What it costs");
  f.real("rms_error", o.error.rms, {.label = "RMS error", .formula = "sqrt(mean((value - exact)^2))"});
  f.real("relative_error", o.relative_error,
         {
             .label = "RMS error / RMS",
             .unit = "%",
             .help = "Of the tensor's own root mean square.",
             .headline = true,
             .formula = "RMS error / RMS of the tensor",
         });
  f.real("largest_error", o.error.max_abs, {.label = "Largest error", .formula = "max |value - exact|"});
  f.real("mean_error", o.error.mean_abs, {.label = "Mean |error|", .formula = "mean |value - exact|"});
  f.real("snr_db", o.error.signal_to_noise_db,
         {.label = "Signal to noise (dB)", .formula = "10 log10(sum x^2 / sum e^2)"});
  f.real("scale_gain_db", o.scale_gain_db,
         {.label = "A searched scale gains (dB)",
          .help = "Signal to noise with the scale of least squared error, less that with the scale from the largest "
                  "element (floor).",
          .formula = "SNR(least error) - SNR(floor)"});
  f.real("lost", o.lost,
         {.label = "Became 0", .help = "Elements that are not 0 and are stored as 0.", .headline = true});
  f.real("lost_share", o.lost_share, {.label = "Share that became 0", .unit = "%", .formula = "became 0 / elements"});
  f.real("saturated", o.saturated,
         {.label = "Clipped", .help = "Elements past the largest value that their block's scale reaches."});
  f.group("Blocks");
  f.real("block_size", o.block_size, {.label = "Block size", .help = "Elements that share a scale."});
  f.real("blocks", o.blocks, {.label = "Blocks", .formula = "ceil(elements / block size)"});
  f.real("largest_scale", o.largest_scale,
         {.label = "Largest scale",
          .help = "Of the block with the largest element: a step of its codes is worth this much times the step of the "
                  "element format.",
          .formula = "max over blocks of scale x tensor scale"});
  f.real("tensor_scale", o.stored.tensor_scale,
         {.label = "Tensor scale", .help = "NVFP4 alone: one FP32 for all blocks.", .formula = "largest / (6 x 448)"});
  f.real("bits_with_tensor_scale", o.bits_with_tensor_scale,
         {.label = "... with the tensor scale",
          .help = "NVFP4's 32 bits spread over this tensor.",
          .formula = "bits an element + 32 / elements"});
  f.group("As it is stored");
  f.reals(
      "scales", o.stored.scales,
      {.label = "Scales",
       .help = "One a block: powers of two, or the E4M3 or FP16 value; NVFP4 multiplies them by the tensor scale."});
  f.reals("codes", o.codes, {.label = "Codes", .help = "One an element."});
  f.reals("values", o.stored.values, {.label = "Values", .help = "What the codes are worth."});
  f.text("numbers", o.numbers, {.label = "Numbers of"});
  f.group("Compared");
  f.table("schemes", o.schemes, {.label = "All schemes"});
  f.table("sizes", o.sizes, {.label = "By block size"});
}

void describe(Fields& f, View& v) {
  f.integer("block", v.block,
            {
                .label = "Block in bits",
                .help = "Which block is shown bit by bit; -1: the one with the largest magnitude.",
                .lo = -1,
                .hi = 4096,
            });
  f.integer("first", v.first,
            {
                .label = "First element",
                .help = "Where the picture begins.",
                .lo = 0,
                .hi = 4096,
            });
  f.integer("shown", v.shown,
            {
                .label = "Elements shown",
                .help = "0: as many as stand apart, with the largest one among them.",
                .lo = 0,
                .hi = 4096,
            });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "precision/block-formats",
       .title = "Block formats",
       .question = "What does one outlier cost the numbers that share its scale?",
       .job = true},
      compute, arrange, draw);
}

}  // namespace chapters::precision::block_formats
