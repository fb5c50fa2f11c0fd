#include "chapters/debugging/divergence/lab.h"

namespace chapters::debugging::divergence {
namespace {

// In the order of models::debugging::PlantedFault, TwinTensor, SearchEnd and EccOutcome.
const Choices faults{
    {"none", "none", "The second run is made again from the start and must be equal."},
    {"flipped_bit", "a flipped bit", "One bit of one number flips once."},
    {"stuck_bit", "a stuck bit", "From the step on, one output of a layer has a bit that reads 1, on one rank."},
    {"sum_order", "another order of sums", "From the step on, a layer's gradients are summed in pairs of ranks."},
    {"ranks", "fewer ranks", "From the step on, two ranks share the batch instead of four."},
    {"skipped_batch", "a skipped batch", "From the step on, the loader is one batch ahead."},
    {"dropout_seed", "another dropout seed", "From the step on, a layer drops other units."},
    {"lost_gradient", "a lost gradient", "One rank's gradient of a layer is zero at one step."},
    {"doubled_gradient", "a doubled gradient", "One rank's gradient of a layer counts twice at one step."},
    {"learning_rate", "a wrong learning rate", "The rate is multiplied at one step."},
    {"stale_weights", "stale weights", "One rank computes a layer with weights one step old, at one step."}};
static_assert(models::debugging::planted_fault_count == 11);
const Choices tensors{{"activation", "activations", "What a layer hands on: on its way through the chip."},
                      {"gradient", "gradients", "After the sum over ranks: on its way through the network."},
                      {"moment", "moments", "Adam's, in memory between steps."},
                      {"weight", "weights", "In memory between steps."}};
static_assert(models::debugging::twin_tensor_count == 4);
const Choices ends{{"nothing", "nothing", "All logged hashes are equal."},
                   {"interval", "an interval", "Run again, its steps came out healthy."},
                   {"cell", "the cell", "Step, layer and tensor."}};
static_assert(models::debugging::search_end_count == 3);
const Choices outcomes{{"unasked", "not asked", "No word with check bits was hit."},
                       {"corrected", "corrected", "The word is as it was written."},
                       {"detected", "detected", "It cannot be corrected: the run stops."},
                       {"miscorrected", "miscorrected", "Another word came out, reported as one corrected bit."},
                       {"unseen", "unseen", "The word passes for a clean one."}};
static_assert(models::debugging::ecc_outcome_count == 5);

// In the order of Runs.
const Choices pairs{{"trained", "trained here", "A small network, twice, with a fault planted in the second run."},
                    {"written", "their logs", "What these two runs write: loss and two norms, six digits of each."},
                    {"logs", "logs of yours", "What two runs of your own wrote down step by step."}};

constexpr std::string_view trained = "trained here twice: 8 layers of 16 × 16, FP32, Adam",
                           with_layer =
                               "flipped_bit|stuck_bit|sum_order|dropout_seed|lost_gradient|doubled_gradient|stale_"
                               "weights",
                           with_step =
                               "flipped_bit|stuck_bit|sum_order|ranks|skipped_batch|dropout_seed|lost_gradient|"
                               "doubled_gradient|learning_rate|stale_weights",
                           with_rank = "stuck_bit|lost_gradient|doubled_gradient|stale_weights",
                           with_bit = "flipped_bit|stuck_bit", hsiao = "Hsiao 1970, (72, 64)";

}  // namespace

void describe(Fields& f, Inputs& in) {
  constexpr When here{"runs", "trained"}, trained_runs{"runs", "trained|written"}, of_logs{"runs", "logs"},
      any_logs{"runs", "logs|written"};
  f.group("The fault");
  f.choice("runs", in.runs, pairs, "Runs", "Which two runs are compared.");
  f.choice("fault", in.fault, faults, "Kind", "What goes wrong in the second run.",
           {.headline = true, .when = trained_runs});
  f.integer("layer", in.layer, "Layer", "Layer 0 reads the pixels, layer 7 gives the classes.",
            {.range = {0, 7}, .headline = true, .when = {"fault", with_layer}});
  f.integer("step", in.step, "Step", "The step at which it happens, or from which on it lasts.",
            {.range = {1, 255}, .headline = true, .when = {"fault", with_step}});
  f.choice("tensor", in.tensor, tensors, "In", "The tensor in which the bit flips.",
           {.when = {"fault", "flipped_bit"}});
  f.integer("bit", in.bit, "Bit", "0 to 22 mantissa, 23 to 30 exponent, 31 sign.",
            {.range = {0, 31}, .when = {"fault", with_bit}});
  f.integer("entry", in.entry, "Entry",
            "Which of the tensor's 256 numbers; a stuck bit sits in the output with this number modulo 16.",
            {.range = {0, 255}, .when = {"fault", with_bit}});
  f.integer("upsets", in.upsets, "Bits together", "Neighbouring bits of a 64-bit word that flip at once.",
            {.range = {1, 4}, .when = {"fault", "flipped_bit"}});
  f.toggle("ecc", in.ecc, "ECC",
           "Eight check bits guard each word of memory: weights and moments, not what is on its way.",
           {.when = {"fault", "flipped_bit"}});
  f.integer("rank", in.rank, "Rank", "One of four.", {.range = {0, 3}, .when = {"fault", with_rank}});
  f.real("factor", in.factor, {"Rate", "\xC3\x97"}, "What the learning rate is multiplied with.",
         {.range = {0.01, 100, Scale::log}, .when = {"fault", "learning_rate"}});
  f.group("The two runs");
  f.toggle("fixed_order", in.fixed_order, "Sums in a fixed order",
           "Off: the second run adds the ranks' gradients as they arrive, as atomic additions do.",
           {.when = trained_runs});
  f.integer("seed", in.seed, "Seed", "It draws first weights, batches and dropout of both runs.",
            {.range = {1, 4}, .when = trained_runs});
  f.integer("steps", in.steps, "Steps", "The length of both runs.", {.range = {64, 256}, .when = trained_runs});
  f.group("What is compared");
  f.integer("interval", in.interval, "Hash every", "Steps from one logged hash to the next.",
            {.range = {1, 64, Scale::log}, .when = here});
  f.real("spreads", in.spreads, "Loss parts beyond",
         "A difference of the losses counts from this many standard deviations of healthy runs with other seeds on.",
         {.range = {0.1, 4, Scale::log}, .when = here});
  f.choice("shown", in.shown, tensors, "Coloured by", "The tensor whose difference the picture shows.", {.when = here});
  f.group("Two logs");
  const FileSpec log{.reads = {FileKind::unknown},
                     .accepts = "csv, tsv, jsonl, log, txt, gz",
                     .by_bytes = true,
                     .only_in_its_lab = true};
  f.file("first_log", in.first_log, "First run", "CSV with a column step, or JSON lines with a step each; plain or gz.",
         {.when = of_logs, .mode = of_logs}, log);
  f.file("second_log", in.second_log, "Second run", "The same quantities under the same names.",
         {.when = of_logs, .mode = of_logs}, log);
  f.real("noise_percent", in.noise_percent, {"Noise", "%"},
         "By so much of the first run's number the second may differ without having parted from it.",
         {.range = {0, 100}, .typical = {0, 10}, .when = any_logs});
}

void describe(Fields& f, LayerRow& r) {
  f.integer("layer", r.layer, "Layer", {.source = trained});
  f.real("differs_from", r.differs_from, "Differs from step", "The first step after which its weights differ.",
         {.absent = "Every bit of it is equal.", .source = trained});
  f.real("first_percent", r.first_percent, {"At first", "%"}, "Difference of the weights at that step.",
         {.formula = "|b - a| / |a|", .source = trained});
  f.real("end_percent", r.end_percent, {"At the end", "%"}, "Difference of the weights after the last step.",
         {.formula = "|b - a| / |a|", .source = trained});
  f.text("hash_first", r.hash_first, "Hash, first run", "From the weights after the last step.");
  f.text("hash_second", r.hash_second, "Hash, second run", "From the weights after the last step.");
}

namespace {

constexpr std::string_view is_equal = "Both runs are equal, or are logs, which have no layers.",
                           logs_instead = "Logs are compared.", no_logs = "No logs are compared.";

void describe_parting(Fields& f, Outputs& o) {
  f.group("The first difference");
  f.real("first_step", o.first_step, "First differing step", "Found by comparing every bit; in logs, every number.",
         {.headline = true, .absent = "The runs are equal, or one log waits for the other.", .source = trained});
  f.real("first_layer", o.first_layer, "In layer", "The layer of the first tensor that differs.",
         {.headline = true, .absent = is_equal, .source = trained});
  f.text("first_tensor", o.first_tensor, "First tensor",
         "Activations are compared first, forward; then gradients, backward; then moments and weights.");
  f.toggle("equal", o.equal, "Equal", "Every bit of activations, gradients, moments and weights, at every step.");
  f.real("layers_next", o.layers_next, "Layers, one step later", "Whose weights differ after the next step.",
         {.absent = logs_instead, .source = trained});
  f.real("apart_first", o.apart_first, {"Weights apart, at first", "%"},
         {.absent = logs_instead, .formula = "|b - a| / |a|", .source = trained});
  f.real("apart_end", o.apart_end, {"Weights apart, at the end", "%"},
         "1,000,000 % stands for more, and for no number.",
         {.absent = logs_instead, .formula = "|b - a| / |a|", .source = trained});
  f.group("What the loss shows");
  f.real("loss_parts_step", o.loss_parts_step, "Parts at step",
         "The first step at which the losses, or what is logged, are visibly apart.",
         {.headline = true, .absent = "The runs never part, or one log waits for the other.", .source = trained});
  f.real("silent_steps", o.silent_steps, "Silent steps",
         "Steps from the first difference until the runs visibly part, or to their end.",
         {.absent = "The runs are equal, or are so again at once, or one log waits for the other.",
          .formula = "parts at step - first differing step"});
  f.real("visible_nats", o.visible_nats, "Visibly apart", "Nats, where the loss parts or at the end.",
         {.absent = logs_instead, .formula = "spreads x deviation over seeds 1 to 4", .source = trained});
  f.real("loss_first", o.loss_first, "Loss, first run", "Nats, of the last step.",
         {.absent = logs_instead, .source = trained});
  f.real("loss_second", o.loss_second, "Loss, second run", "Nats, of the last step.",
         {.absent = "The second run ended before, or its loss is no number.", .source = trained});
  f.real("loudest_layer", o.loudest_layer, "Loudest layer",
         "Whose weights differ most, where the loss parts or at the end.", {.absent = is_equal, .source = trained});
  f.real("norm_step", o.norm_step, "Norms differ at step", "The first weight or gradient whose norm is 1 % off.",
         {.absent = "No norm is ever 1 % off.", .source = trained});
  f.real("norm_layer", o.norm_layer, "Norms differ in layer", "The layer of that weight or gradient.",
         {.absent = "No norm is ever 1 % off.", .source = trained});
  f.toggle("not_a_number", o.not_a_number, "No number", "The loss of the second run becomes infinite or no number.");
}

void describe_search_and_logs(Fields& f, Outputs& o) {
  f.group("The search");
  f.real("comparisons", o.comparisons, "Comparisons", "Pairs of hashes that the search compares, each of them really.",
         {.headline = true,
          .absent = logs_instead,
          .formula = "1 + log2 of entries + (1 + log2 of steps run again) + log2 of 32 cells",
          .source = "counted"});
  f.real("in_order", o.in_order, "Read in order", "Comparisons when the same hashes are read from the beginning.",
         {.absent = logs_instead, .source = "counted"});
  f.choice("search_end", o.search_end, ends, "It finds", "What the hashes narrow it to.");
  f.real("left_steps", o.left_steps, "Steps left", "Among which the first difference must be.",
         {.absent = logs_instead, .source = "counted"});
  f.real("entries", o.entries, "Logged hashes",
         {.absent = logs_instead, .formula = "steps / interval", .source = "counted"});
  f.real("replayed_steps", o.replayed_steps, "Steps run again", "Between two logged hashes.",
         {.absent = logs_instead, .source = "counted"});
  f.real("hashed_bytes", o.hashed_bytes, {"Hashed", "B"}, "What each run reads for the hashes of weights and moments.",
         {.absent = logs_instead, .formula = "(logged hashes + steps run again) x 26,112 B"});
  f.group("The memory");
  f.choice("ecc_outcome", o.ecc_outcome, outcomes, "ECC", "What became of the flipped bits.");
  f.real("value_before", o.value_before, "Value before", "The number in which the bit flips.",
         {.absent = "No number was flipped, or it is no number.", .source = trained});
  f.real("value_after", o.value_after, "Value after", "What the run computes with.",
         {.absent = "No number was flipped, or it is no number.", .source = trained});
  f.real("passed_share", o.passed_share, {"Passed by ECC", "%"},
         "Patterns of as many flipped bits that come out as another word and are not stopped.",
         {.absent = logs_instead, .formula = "(miscorrected + unseen) / patterns", .source = hsiao});
  f.real("patterns", o.patterns, "Patterns", "Ways in which as many bits among 72 can flip, all counted.",
         {.absent = logs_instead, .formula = "72 choose flipped bits", .source = hsiao});
  f.toggle("stopped", o.stopped, "Stopped", "ECC ended the second run.");
  f.group("Two logs");
  f.text("log_quantity", o.log_quantity, "Parts first", "The quantity that is furthest beyond the noise at that step.");
  f.real("log_percent", o.log_percent, {"Apart there", "%"},
         "Share of the first run's number; 1,000,000 % stands for more, and for no number.",
         {.absent = "No logs are compared, or they never part.", .formula = "|b - a| / |a|"});
  f.real("log_steps", o.log_steps, "Steps of both logs", "Those that both have.", {.absent = no_logs});
  f.real("log_quantities", o.log_quantities, "Quantities of both logs",
         "Under one name, and none that measures the machine.", {.absent = no_logs});
  f.real("bits_step", o.bits_step, "Bits differ from step", "In the two runs that wrote the logs.",
         {.absent = "The logs were not written here, or the runs are equal.", .source = trained});
  f.text("log_notes", o.log_notes, "Left out");
  f.group("Layer by layer");
  f.table("layers", o.layers, "Weights of both runs", {.max_items = 8});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_parting(f, o);
  describe_search_and_logs(f, o);
}

void describe(Fields& f, View& v) {
  f.real("cursor", v.cursor, "Cursor", "The step that is read.", {.range = {0, 255}});
}

LabPtr make() {
  const auto runs = std::make_shared<HealthyRuns>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"debugging/divergence",
       "Divergence",
       "Two runs should be equal, and their losses part. Where did it begin?",
       {.job = true}},
      [runs](const Inputs& in, Progress& progress) { return compute(in, progress, *runs); }, arrange, draw);
}

}  // namespace chapters::debugging::divergence
