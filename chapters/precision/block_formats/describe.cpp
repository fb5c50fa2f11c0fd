#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/weights_source.h"
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
      "2^ceil(log2(largest / element's largest)): nothing is clipped, but up to one bit of resolution is lost."},
     {"least_error", "least squared error",
      "A few scales are tried for each block, and the one is taken whose rounding loses least: four powers of two, ten "
      "E4M3 codes, or "
      "eleven parts of the range."}});
constexpr std::string_view mx = "OCP Microscaling Formats (MX) v1.0, 6.3";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The format");
  f.choice("scheme", in.scheme, schemes, "Scheme", "Element format, block size and kind of scale.", {.headline = true});
  f.choice("block", in.block, blocks, "Block size", "How many elements share a scale.");
  f.choice("rule", in.rule, rules, "Scale rule",
           "How a block's scale is chosen. Floor and ceil differ under MX alone: the others then divide by the largest "
           "magnitude.");
  f.choice("rounding", in.rounding, rounding_choices(), "Rounding",
           "How the elements are rounded; scales are rounded to nearest.");
  f.group("The tensor");
  f.integer("outliers", in.outliers, "Outliers", "Elements of the made-up tensor that are far too large.",
            {.range = {0, 64, Scale::step}, .headline = true});
  f.real("outlier_size", in.outlier_size, "Their size", "In standard deviations of the others.",
         {.range = {1, 1000, Scale::log}, .headline = true});
  f.integer("elements", in.elements, "Elements",
            "Length of the made-up tensor, a bell of standard deviation 1, or how many numbers of your file.",
            {.range = {16, 4096, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Another seed, another tensor.", {.range = {1, 1000, Scale::step}});
  f.group("Numbers of your own");
  describe_weights_file(f, in.file, in.tensor,
                        "A safetensors file: as many of its numbers as Elements says take the made-up tensor's place.");
  f.reals("values", in.values, "Your values",
          "A list of numbers instead of the made-up tensor; waits while a file is chosen.",
          {.range = {-1e30, 1e30}, .max_items = 1024});
}

void describe(Fields& f, SchemeRow& r) {
  f.text("id", r.id, "Id");
  f.text("name", r.name, "Scheme");
  f.real("bits", r.bits, "Bits per element");
  f.real("rms", r.error.rms, "RMS error");
  f.real("relative", r.relative, {"of the tensor's RMS", "%"});
  f.real("largest_error", r.error.max_abs, "Largest error");
  f.real("saturated", r.saturated, "Clipped");
  f.real("lost", r.lost, "Became 0");
}

void describe(Fields& f, SizeRow& r) {
  f.integer("block", r.block, "Block size");
  f.real("bits", r.bits, "Bits per element");
  f.real("rms", r.rms, "RMS error");
}

void describe(Fields& f, Outputs& o) {
  f.group("What it takes");
  f.real("bits_per_element", o.bits_per_element, "Bits per element", "With its share of the block's scale.",
         {.headline = true, .formula = "element bits + scale bits / block size", .source = mx});
  f.real("compression", o.compression, {"Smaller than BF16", "\xC3\x97"},
         "Bits of a BF16 number over those of an element.", {.formula = "16 / bits per element"});
  f.group("What it costs");
  f.real("rms_error", o.error.rms, "RMS error", {.formula = "sqrt(mean((value - exact)^2))"});
  f.real("relative_error", o.relative_error, {"RMS error / RMS", "%"},
         "The share of the tensor's own root mean square.",
         {.headline = true, .formula = "RMS error / RMS of the tensor"});
  f.real("largest_error", o.error.max_abs, "Largest error", {.formula = "max |value - exact|"});
  f.real("mean_error", o.error.mean_abs, "Mean |error|", {.formula = "mean |value - exact|"});
  f.real("snr_db", o.error.signal_to_noise_db, "Signal to noise (dB)", {.formula = "10 log10(sum x^2 / sum e^2)"});
  f.real("scale_gain_db", o.scale_gain_db, "A searched scale gains (dB)",
         "Signal to noise with the scale of least squared error, less that with the scale from the largest element "
         "(floor).",
         {.formula = "SNR(least error) - SNR(floor)"});
  f.real("lost", o.lost, "Became 0", "Elements that are not 0 and are stored as 0.", {.headline = true});
  f.real("lost_share", o.lost_share, {"Share that became 0", "%"}, {.formula = "became 0 / elements"});
  f.real("saturated", o.saturated, "Clipped", "Elements past the largest value that their block's scale reaches.");
  f.group("Next to the largest number");
  f.real("largest", o.largest, "Largest number", "The number with the largest magnitude; its sign stays.");
  f.integer("beside", o.beside, "Share its scale", "Elements of its block without itself.");
  f.integer("beside_not_zero", o.beside_not_zero, "... not 0 before", "Those of them that have something to lose.");
  f.integer("beside_lost", o.beside_lost, "... became 0", "Those of them that are not 0 and are stored as 0.");
  f.real("beside_rms", o.beside_rms, "Their RMS error",
         {.absent = "Nothing shares its scale.", .formula = "sqrt(mean((value - exact)^2))"});
  f.real("times_calm", o.times_calm, {"Times a calm block's", "\xC3\x97"},
         "Their RMS error over that of the block whose largest magnitude is the smallest.",
         {.absent = "No other block has an error to compare with.", .formula = "RMS error / RMS error of that block"});
  f.group("Blocks");
  f.real("block_size", o.block_size, "Block size", "Elements that share a scale.");
  f.real("blocks", o.blocks, "Blocks", {.formula = "ceil(elements / block size)"});
  f.real("largest_scale", o.largest_scale, "Largest scale",
         "The scale of the block with the largest element: a step of its codes is worth this much times the step of "
         "the element "
         "format.",
         {.formula = "max over blocks of scale x tensor scale"});
  f.real("tensor_scale", o.stored.tensor_scale, "Tensor scale", "NVFP4 alone: one FP32 for all blocks.",
         {.formula = "largest / (6 x 448)"});
  f.real("bits_with_tensor_scale", o.bits_with_tensor_scale, "... with the tensor scale",
         "NVFP4's 32 bits spread over this tensor.", {.formula = "bits per element + 32 / elements"});
  f.group("As it is stored");
  f.reals("scales", o.stored.scales, "Scales",
          "One a block: powers of two, or the E4M3 or FP16 value; NVFP4 multiplies them by the tensor scale.");
  f.reals("codes", o.codes, "Codes", "One an element.");
  f.reals("values", o.stored.values, "Values", "What the codes are worth.");
  f.text("numbers", o.numbers, "Numbers of");
  f.group("Compared");
  f.table("schemes", o.schemes, "All schemes");
  f.table("sizes", o.sizes, "By block size");
}

void describe(Fields& f, View& v) {
  f.integer("block", v.block, "Block in bits",
            "Which block is shown bit by bit; -1: the one with the largest magnitude.", {.range = {-1, 4096}});
  f.integer("first", v.first, "First element", "Where the picture begins.", {.range = {0, 4096}});
  f.integer("shown", v.shown, "Elements shown", "0: as many as stand apart, with the largest one among them.",
            {.range = {0, 4096}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"precision/block-formats",
                                                   "Block formats",
                                                   "What does one outlier cost the numbers that share its scale?",
                                                   {.job = true}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::precision::block_formats
