#include "chapters/mechanism/choices_in_order.h"
#include "chapters/precision/accumulation/lab.h"

namespace chapters::precision::accumulation {
namespace {

const Choices formats = {{"fp32", "FP32", "24 bits of significand"},
                         {"tf32", "TF32", "11 bits, the range of FP32"},
                         {"fp16", "FP16", "11 bits"},
                         {"bf16", "BF16", "8 bits, the range of FP32"},
                         {"e4m3fn", "E4M3", "4 bits"},
                         {"e5m2", "E5M2", "3 bits"}};
const Choices terms = choices_in_order<models::SumTerms::cancelling>(
    {{"ones", "All equal", "Every term the same: the plainest way to stall."},
     {"uniform", "Uniform", "Evenly from 0 to the size."},
     {"skewed", "Skewed", "Log-normal, three octaves wide: many small, a few large."},
     {"normal", "Both signs", "Normal: the sum wanders about zero."},
     {"cancelling", "Cancelling", "Each term is followed by its negative but for a thousandth."}});
constexpr std::string_view higham = "Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., ch. 4";

}  // namespace

void describe(Fields& f, SumRow& r) {
  f.text("name", r.name, "Method");
  f.real("sum", r.sum, "Sum");
  f.real("error", r.error, {"Error", "%"}, {.formula = "|sum - exact| / sum of magnitudes"});
  f.integer("moved_last", r.moved_last, "Last change", "Terms after which the accumulator changed for the last time.");
  f.toggle("overflowed", r.overflowed, "Overflowed", "A result was too large and became the largest finite value.");
}
void describe(Fields& f, UpdateRow& r) {
  f.text("name", r.name, "Kept as");
  f.real("weight", r.weight, "Weight");
  f.real("gained", r.gained, {"Arrived", "%"}, {.formula = "(weight - start) / (steps x update)"});
  f.integer("first_move", r.first_move, "First change", "The step after which it first differs; 0 for never.");
}

void describe(Fields& f, Inputs& in) {
  f.group("The sum");
  f.choice("format", in.format, formats, "Format",
           "The format of the accumulator and of the weight: every result is rounded to it.", {.headline = true});
  f.choice("terms", in.terms, terms, "Terms", "What is added up.", {.headline = true});
  f.integer("count", in.count, "Terms added",
            "Length of the sum: the depth of a dot product, the micro-batches of a step.",
            {.range = {16, 65536, Scale::log}, .headline = true});
  f.real("size", in.size, "Size of a term", "All terms are multiplied by it, then rounded to the format.",
         {.range = {0x1p-10, 0x1p10, Scale::log}});
  f.integer("block", in.block, "Block",
            "Terms that are added in the format before their sum goes to an FP32 accumulator.",
            {.range = {1, 4096, Scale::log}});
  f.group("The weight");
  f.real("weight", in.weight, "Weight", "Where the updates start.", {.range = {0x1p-10, 256, Scale::log}});
  f.real("update", in.update, "Update", "What a step adds to the weight: learning rate times gradient.",
         {.range = {1e-8, 1, Scale::log}});
  f.integer("steps", in.steps, "Updates", "Steps of training.", {.range = {1, 4096, Scale::log}});
  f.integer("replicas", in.replicas, "Replicas",
            "Weights that are rounded stochastically, each with luck of its own; their mean is drawn.",
            {.range = {1, 128, Scale::log}});
  f.group("Chance");
  f.integer("seed", in.seed, "Seed", "Draws the terms and the luck of stochastic rounding.",
            {.range = {1, 1000, Scale::step}});
}

void describe(Fields& f, View& v) {
  f.real("addition", v.addition, "Addition",
         "The addition that the adder shows, counted from 1; 0: the first that is lost on it.", {.range = {0, 65536}});
}

void describe(Fields& f, Outputs& o) {
  using models::SumMethod;
  using models::UpdateMethod;
  const auto error = [&](SumMethod m) -> double& { return o.error[static_cast<std::size_t>(m)]; };
  const auto weight = [&](UpdateMethod m) -> double& { return o.weight[static_cast<std::size_t>(m)]; };
  const auto gained = [&](UpdateMethod m) -> double& { return o.gained[static_cast<std::size_t>(m)]; };
  f.group("The sum");
  f.real("exact_sum", o.exact_sum, "Exact sum",
         "The sum of the terms as the format holds them, in compensated double.");
  f.real("naive_sum", o.naive.final, "Sum in the format", "One accumulator, rounded after each addition.",
         {.headline = true});
  f.real("naive_error", error(SumMethod::naive), {"Its error", "%"},
         {.headline = true, .formula = "|sum - exact| / sum of magnitudes", .source = higham});
  f.integer("stops_after", o.naive.moved_last, "It last changed after", "Terms. Later ones rounded away.");
  f.real("ones_stop_at", o.ones_stop_at, "Ones stop at",
         "The sum from which adding 1 changes nothing: there the spacing is 2, and the tie goes to the even neighbour.",
         {.headline = true, .formula = "2^(mantissa bits + 1)", .source = "IEEE 754, round to nearest, ties to even"});
  f.group("Better ways to add");
  f.real("pairwise_error", error(SumMethod::pairwise), {"Error, pairwise", "%"}, {.source = higham});
  f.real("kahan_error", error(SumMethod::kahan), {"Error, Kahan", "%"}, {.source = "Kahan, CACM 8(1), 1965"});
  f.real("blocked_error", error(SumMethod::blocked), {"Error, blocks into FP32", "%"},
         "Runs of a block in the format, their sums added in FP32.");
  f.real("stochastic_error", error(SumMethod::stochastic), {"Error, stochastic", "%"},
         "One accumulator, rounded up or down by chance.");
  f.real("wide_error", error(SumMethod::wide), {"Error, FP32 accumulator", "%"},
         "Terms of the format, an accumulator in FP32: what tensor cores offer.");
  f.text("best", o.best, "Nearest within the format", "The most exact of the methods that use no wider number.");
  f.group("The weight's neighbours");
  f.real("start_weight", o.update.start, "Weight at first", "The weight as the format holds it.");
  f.real("epsilon", o.epsilon, "Spacing above 1", {.formula = "2^(-mantissa bits)"});
  f.real("spacing", o.spacing, "Spacing at the weight", "To the next value in the update's direction.");
  f.real("smallest_visible", o.update.smallest_visible, "Updates vanish up to",
         "Half the spacing. At exactly half the tie goes to the even weight.", {.formula = "spacing / 2"});
  f.toggle("update_seen", o.update.first_seen, "The update is seen", "One update changes the weight in the format.");
  f.group("The weight after the updates");
  f.real("exact_weight", o.update.exact_final, "Weight, exact", {.formula = "weight + steps x update"});
  f.real("plain_weight", weight(UpdateMethod::plain), "Weight, in the format",
         "Kept in the format alone, rounded to nearest.");
  f.real("plain_gained", gained(UpdateMethod::plain), {"Updates that arrived", "%"},
         {.headline = true, .formula = "(weight - start) / (steps x update)"});
  f.real("stochastic_weight", weight(UpdateMethod::stochastic), "Weight, stochastic", "Mean of the replicas.");
  f.real("stochastic_gained", gained(UpdateMethod::stochastic), {"... arrived", "%"},
         {.formula = "(mean weight - start) / (steps x update)"});
  f.real("stochastic_deviation", o.update.stochastic_deviation, "... spread of one",
         "Standard deviation of the replicas: right in the mean, each one noisy.");
  f.real("kahan_weight", weight(UpdateMethod::kahan), "Weight, compensated",
         "A second number of the format carries what was lost.");
  f.real("kahan_gained", gained(UpdateMethod::kahan), {"... arrived", "%"},
         {.formula = "(weight - start) / (steps x update)"});
  f.real("master_weight", weight(UpdateMethod::master), "Weight, FP32 master", "The copy in the format.");
  f.real("master_gained", gained(UpdateMethod::master), {"... arrived", "%"},
         {.formula = "(copy - start) / (steps x update)"});
  f.integer("master_first_move", o.update.first_move[static_cast<std::size_t>(UpdateMethod::master)],
            "Its copy first moves", "After this many steps the master has gathered enough to show; 0 for never.");
  f.group("Row by row");
  f.table("sums", o.sums, "Sums");
  f.table("updates", o.updates, "Weights");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"precision/accumulation", "Accumulation", "From when on does adding one change nothing?"}, compute, arrange,
      draw);
}

}  // namespace chapters::precision::accumulation
