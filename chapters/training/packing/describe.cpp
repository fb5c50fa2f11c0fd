#include "chapters/mechanism/shared_choices.h"
#include "chapters/training/packing/lab.h"

namespace chapters::training::packing {
namespace {

// In the order of Lengths, whose first ones are models::LengthSource, and of models::PackingPolicy.
const Choices length_choices{
    {"wikipedia", "Wikipedia for BERT", "16,279,552 sequences of at most 512 tokens, half of them padding."},
    {"sharegpt", "ShareGPT", "Conversations of at most 8,192 tokens."},
    {"arxiv", "arXiv summaries", "Papers and summaries of at most 4,096 tokens."},
    {"lognormal", "log-normal", "A median and a spread."},
    {"list", "a list", "Written below."}};
static_assert(models::length_source_count == 4);
const Choices policies{
    {"padding", "Padding", "A row for each document."},
    {"longest", "Padding to the batch's longest", "Batches in the order of arrival, as long as their longest."},
    {"bucketing", "Bucketing", "Documents sorted by length, then batched: a batch is as long as its longest."},
    {"next_fit", "Next fit", "One open row; what does not fit closes it."},
    {"greedy", "Greedy (first fit)", "In the order of arrival into the first row with room."},
    {"first_fit_decreasing", "First-fit decreasing", "The longest first, into the first row with room."},
    {"best_fit", "Best-fit decreasing", "The longest first, into the fullest row with room."},
    {"split", "Cut to the row", "End to end; documents are cut where a row ends."}};
static_assert(models::packing_policy_count == 8);
constexpr std::string_view palm = "PaLM (Chowdhery et al. 2022), appendix B, attention by pairs";

}  // namespace

const Choices& policy_choices() { return policies; }

void describe(Fields& f, Inputs& in) {
  f.group("The documents");
  f.choice("lengths", in.lengths, length_choices, "Lengths", "How long documents are.");
  f.choice("policy", in.policy, policies, "Policy", "How documents are put into rows.", {.headline = true});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of a row; longer documents are cut to it."});
  f.integer("documents", in.documents, "Documents", "Drawn, each by itself.",
            {
                .range = {1, 2048, Scale::log},
                .typical = {8, 256},
                .headline = true,
                .when = {"lengths", "wikipedia|sharegpt|arxiv|lognormal"},
            });
  f.text("list", in.list, "List",
         "Lengths in tokens, with commas or blanks between them; at most 4,096, none above the row.",
         {.when = {"lengths", "list"}, .max_bytes = 40'000});
  f.real("median", in.median, {"Median", "tokens"}, "The median of log-normal lengths.",
         {.range = {8, 65536, Scale::log}, .when = {"lengths", "lognormal"}});
  f.real("spread", in.spread, "Spread", "Standard deviation of the logarithm: 0.7 is a factor of two.",
         {.range = {0.05, 2.5}, .when = {"lengths", "lognormal"}});
  f.group("The batch");
  f.integer("batch", in.batch, "Rows per batch",
            "What is padded to one length, with bucketing and with padding to the longest.",
            {.range = {1, 512, Scale::log}, .when = {"policy", "longest|bucketing"}});
  f.toggle("document_mask", in.document_mask, "Document mask",
           "Block-diagonal: attention stays inside documents, and a kernel skips what lies between them. Off: a row "
           "attends as one.",
           {.headline = true});
  f.group("What it costs");
  shared::model(f, "model", in.model, {.help = "FLOPs of its training: linear layers by tokens, attention by pairs."});
  f.integer("most_documents", in.most_documents, "Most documents per row",
            "Packing puts no more into a row, of this sample and of the whole data set; 0 is no limit.",
            {.range = {0, 64}});
  f.integer("seed", in.seed, "Seed", "It draws the lengths.",
            {.range = {1, 999}, .when = {"lengths", "wikipedia|sharegpt|arxiv|lognormal"}});
}

void describe(Fields& f, PolicyRow& r) {
  f.text("policy", r.policy, "Policy");
  f.integer("rows", r.rows, "Rows", {.source = "the packing itself"});
  f.real("useful_share", r.useful_share, {"Useful tokens", "%"}, {.formula = "tokens / rows' room"});
  f.real("flops", r.flops, {"FLOPs", "FLOP"}, {.source = palm});
  f.real("speedup", r.speedup, {"Saved over padding", "\xC3\x97"}, {.formula = "FLOPs padded / FLOPs"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The rows");
  f.real("useful_share", o.useful_share, {"Useful tokens", "%"},
         {.headline = true, .formula = "tokens / computed tokens"});
  f.real("padded_air_share", o.padded_air_share, {"Wasted when padded", "%"},
         "FLOPs of a row for each document that no document needs.",
         {.headline = true, .formula = "1 - needed FLOPs / FLOPs padded", .source = palm});
  f.real("speedup", o.speedup, {"Saved over padding", "\xC3\x97"},
         "Padding takes so many times the FLOPs of these rows.", {.headline = true, .formula = "FLOPs padded / FLOPs"});
  f.real("flops_share", o.flops_share, {"Share of the FLOPs padded", "%"},
         {.formula = "FLOPs / FLOPs padded", .source = palm});
  f.integer("rows", o.rows, "Rows", {.headline = true, .source = "the packing itself"});
  f.integer("padded_rows", o.padded_rows, "Documents", "And the rows of padding.");
  f.integer("least_rows", o.least_rows, "No fewer than", {.formula = "tokens / row, rounded up"});
  f.real("optimum_rows", o.optimum_rows, "Fewest rows",
         {.absent = "The search gave up, or a row has a limit of documents; the bound above is what is known.",
          .source = "branch and bound over all packings of whole documents"});
  f.real("cut_documents", o.cut_documents, "Documents cut", "They lie in more than one row.");
  f.group("Tokens");
  f.real("tokens", o.tokens, {"Tokens", "tokens"}, "The tokens of all documents.");
  f.real("mean_length", o.mean_length, {"Mean length", "tokens"}, {.formula = "tokens / documents"});
  f.real("lost_tokens", o.lost_tokens, {"Beyond the row", "tokens"},
         "What drawn documents hold beyond the row: it is left out.");
  f.real("computed_tokens", o.computed_tokens, {"Computed", "tokens"}, "Padding included.");
  f.real("padding_share", o.padding_share, {"Padding", "%"}, {.formula = "1 - useful"});
  f.real("padded_useful_share", o.padded_useful_share, {"Useful when padded", "%"}, "With a row for each document.");
  f.group("Work");
  f.real("flops", o.flops, {"FLOPs", "FLOP"}, {.source = palm});
  f.real("linear_flops", o.linear_flops, {"Linear layers", "FLOP"},
         {.formula = "6 x parameters x computed tokens", .source = palm});
  f.real("attention_flops", o.attention_flops, {"Attention", "FLOP"},
         {.formula = "12 x layers x heads x head size x pairs", .source = palm});
  f.real("padded_flops", o.padded_flops, {"FLOPs padded", "FLOP"}, {.source = palm});
  f.real("air_share", o.air_share, {"Wasted", "%"}, "FLOPs that no document needs.",
         {.formula = "1 - needed FLOPs / FLOPs"});
  f.group("The mask");
  f.real("mask_share", o.mask_share, {"Pairs inside documents", "%"},
         {.formula = "documents' triangles / rows' triangles"});
  f.real("foreign_share", o.foreign_share, {"Pairs across documents", "%"},
         "Their share of all pairs of tokens in a row: what leaks without a mask.",
         {.formula = "1 - documents' triangles / filled triangles"});
  f.group("The whole data set");
  f.real("corpus_rows", o.corpus_rows, "Rows",
         {.absent = "Wikipedia alone is here as a whole, in rows of 512 tokens or more.",
          .source = "best-fit decreasing of 16,279,552 sequences"});
  f.real("corpus_share", o.corpus_share, {"Useful tokens", "%"},
         {.absent = "Wikipedia alone is here as a whole, in rows of 512 tokens or more.",
          .formula = "tokens / (rows x row)"});
  f.real(
      "corpus_speedup", o.corpus_speedup, "Sequences per row",
      {.absent = "Wikipedia alone is here as a whole, in rows of 512 tokens or more.", .formula = "sequences / rows"});
  f.group("Every policy");
  f.table("policies", o.policies, "The same documents by every policy", {.max_items = 8});
}

void describe(Fields& f, View& v) {
  f.real("placed", v.placed, "Documents placed", "How far the packing has come.", {.range = {0, 1e9}});
  f.integer("row", v.row, "Row", "Whose mask is shown; 0: the one with most documents.", {.range = {0, 4096}});
  f.toggle("playing", v.playback.playing, "Playing", "Documents fall by the clock.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"training/packing",
                                                   "Packing",
                                                   "How much of the batch is padding, and what fills it?",
                                                   {.published_keys = "lengths"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::training::packing
