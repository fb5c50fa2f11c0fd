#include "chapters/inference/speculative/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::speculative {
namespace {

const Choices draft_choices = [] {
  Choices out;
  for (const models::inference::KnownDraft& d : models::inference::known_drafts())
    out.push_back({std::string(d.id), std::string(d.label), std::string(d.source) + "."});
  return out;
}();
constexpr std::string_view never_off = "It is no slower at any batch up to 65,536, or the checking pass is not priced.";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The draft");
  f.real("acceptance", in.acceptance, "Accepted", "The chance that the target keeps a drafted token.",
         {.range = {0, 1}, .headline = true});
  f.integer("draft_length", in.draft_length, {"Drafted", "tokens"}, "How many tokens the draft guesses in each round.",
            {.range = {0, 32}, .typical = {0, 16}, .headline = true});
  f.real("draft_cost_ratio", in.draft_cost_ratio, "Cost of a draft token",
         "What one drafted token costs, as a share of a pass of the target.",
         {.range = {0, 1}, .typical = {0, 0.3}, .headline = true});
  f.choices("against", in.against, draft_choices, "Against", "Measured drafts that run next to yours, two at most.",
            {.max_items = 2});
  f.integer("seed", in.seed, "Seed", "The luck of the rounds that are shown.", {.range = {1, 1000}});
  f.group("Who else is served");
  f.toggle(
      "price_check", in.price_check, "Price the checking pass",
      "At the roofs of the target: more requests or more experts make it dearer. Off: it costs a plain pass, as in "
      "Leviathan's formula.");
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "How many requests are checked in one pass."});
  shared::model(f, "model", in.model, {.help = "The target, whose checking pass is priced at the roofs, in BF16."});
  shared::chip(f, "chip", in.chip, {.help = "What the target runs on."});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel, {.label = "Chips", .help = "How many share it."});
  shared::context(f, "context", in.context, {.help = "How many tokens the cache of each request holds."});
}

void describe(Fields& f, DraftRow& r) {
  f.text("name", r.name, "Draft");
  f.real("acceptance", r.acceptance, "Accepted");
  f.real("length", r.length, "Drafted");
  f.real("cost", r.cost, "Cost of a draft token");
  f.real("expected_tokens", r.expected_tokens, "Tokens per round");
  f.real("speedup", r.speedup, {"Speed-up", "\xC3\x97"});
  f.real("best_length", r.best_length, "Best length");
  f.real("best_speedup", r.best_speedup, {"... speed-up", "\xC3\x97"});
  f.real("measured_speedup", r.measured_speedup, {"Measured", "\xC3\x97"}, {.absent = "Nobody measured yours."});
  f.text("source", r.source, "Source");
  f.toggle("yours", r.yours, "Yours");
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view paper = "Leviathan et al. 2023, arXiv:2211.17192";
  f.group("Speed");
  f.real("speedup", o.speedup, {"Speed-up", "\xC3\x97"}, "Times as fast as without a draft.",
         {.headline = true, .formula = "tokens per round / (drafted x cost + checking pass)", .source = paper});
  f.real("expected_tokens", o.expected_tokens, {"Tokens per round", "tokens"},
         "On average: those kept, and the target's own.",
         {.headline = true, .formula = "(1 - a^(g + 1)) / (1 - a)", .source = paper});
  f.real("round_passes", o.round_passes, "Cost of a round", "In plain passes of the target.",
         {.headline = true, .formula = "drafted x cost + checking pass"});
  f.real("thrown_percent", o.thrown_percent, {"Thrown away", "%"}, "The share of the drafted tokens, on average.",
         {.headline = true, .formula = "1 - (tokens per round - 1) / drafted"});
  f.real("operations", o.operations, {"Arithmetic per token", "\xC3\x97"},
         "What the target computes for each token that is written, over once; the draft's own is left out.",
         {.formula = "(drafted + 1) / tokens per round", .source = paper});
  f.group("The best length");
  f.real("best_draft_length", o.best_draft_length, "Best length",
         "The length at which this draft is fastest; 0: without it.", {.source = paper});
  f.real("best_speedup", o.best_speedup, {"... speed-up", "\xC3\x97"}, "At the best length.");
  f.text("fastest", o.fastest, "Fastest draft", "Among those that run next to one another.");
  f.real("fastest_speedup", o.fastest_speedup, {"... its speed-up", "\xC3\x97"}, "At its own length.");
  f.table("drafts", o.drafts, "Drafts");
  f.group("Simulated");
  f.real("simulated_tokens", o.simulated_tokens, {"Tokens per round", "tokens"},
         "Drafted and checked word by word in a toy language, 8,000 rounds.");
  f.real("simulated_speedup", o.simulated_speedup, {"Speed-up", "\xC3\x97"}, "In the same rounds.");
  f.real("chi_z", o.chi_z, "Distance of its words",
         "How far the written words are from the target's own, in standard deviations: beyond 3 or 4 they would not be "
         "the target's.",
         {.source = "Pearson's chi-square by Wilson and Hilferty's cube root"});
  f.real("likeliest_speedup", o.likeliest_speedup, {"Right most often", "\xC3\x97"},
         "The speed-up of the draft, among those next to yours, that is kept most often.");
  f.group("With a batch");
  f.real("verify_cost", o.verify_cost, {"Checking pass", "\xC3\x97"},
         "A pass that checks all drafted tokens of all requests, over a plain one, at the roofs.",
         {.formula = "max(bytes with the experts of all tokens, (drafted + 1) x FLOP) / max(bytes, FLOP)"});
  f.real("fits_batch", o.fits_batch, "Requests that fit", "Beside the weights in BF16, in nine tenths of the memory.");
  f.real("off_batch", o.off_batch, "Slower from", "Requests at once from which on this draft makes tokens come later.",
         {.absent = never_off});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"inference/speculative", "Speculative",
       "Which draft makes the answer come soonest, and how far should it guess?"},
      compute, arrange, draw);
}

}  // namespace chapters::inference::speculative
