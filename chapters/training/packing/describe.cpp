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
  f.choice("lengths", in.lengths, length_choices, {.label = "Lengths", .help = "How long documents are."});
  f.choice("policy", in.policy, policies,
           {.label = "Policy", .help = "How documents are put into rows.", .headline = true});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of a row; longer documents are cut to it."});
  f.integer("documents", in.documents,
            {
                .label = "Documents",
                .help = "Drawn, each by itself.",
                .lo = 1,
                .hi = 2048,
                .scale = Scale::log,
                .typical_lo = 8,
                .typical_hi = 256,
                .headline = true,
                .when = {"lengths", "wikipedia|sharegpt|arxiv|lognormal"},
            });
  f.text("list", in.list,
         {.label = "List",
          .help = "Lengths in tokens, with commas or blanks between them; at most 4,096, none above the row.",
          .when = {"lengths", "list"},
          .max_bytes = 40'000});
  f.real("median", in.median,
         {
             .label = "Median",
             .unit = "tokens",
             .help = "Of log-normal lengths.",
             .lo = 8,
             .hi = 65536,
             .scale = Scale::log,
             .when = {"lengths", "lognormal"},
         });
  f.real("spread", in.spread,
         {
             .label = "Spread",
             .help = "Standard deviation of the logarithm: 0.7 is a factor of two.",
             .lo = 0.05,
             .hi = 2.5,
             .when = {"lengths", "lognormal"},
         });
  f.group("The batch");
  f.integer("batch", in.batch,
            {
                .label = "Rows a batch",
                .help = "What is padded to one length, with bucketing and with padding to the longest.",
                .lo = 1,
                .hi = 512,
                .scale = Scale::log,
                .when = {"policy", "longest|bucketing"},
            });
  f.toggle(
      "document_mask", in.document_mask,
      {.label = "Document mask",
       .help = "Block-diagonal: attention stays inside documents, and a kernel skips what lies between them. Off: a "
               "row attends as one.",
       .headline = true});
  f.group("What it costs");
  shared::model(f, "model", in.model, {.help = "FLOPs of its training: linear layers by tokens, attention by pairs."});
  f.integer("most_documents", in.most_documents,
            {
                .label = "Most documents a row",
                .help = "For the whole data set; 0 is no limit.",
                .lo = 0,
                .hi = 64,
                .when = {"lengths", "wikipedia"},
            });
  f.integer("seed", in.seed,
            {.label = "Seed",
             .help = "Of the lengths drawn.",
             .lo = 1,
             .hi = 999,
             .when = {"lengths", "wikipedia|sharegpt|arxiv|lognormal"}});
}

void describe(Fields& f, PolicyRow& r) {
  f.text("policy", r.policy, {.label = "Policy"});
  f.integer("rows", r.rows, {.label = "Rows", .source = "the packing itself"});
  f.real("useful_share", r.useful_share, {.label = "Useful tokens", .unit = "%", .formula = "tokens / rows' room"});
  f.real("flops", r.flops, {.label = "FLOPs", .unit = "FLOP", .source = palm});
  f.real("speedup", r.speedup, {.label = "Over padding", .formula = "FLOPs padded / FLOPs"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The rows");
  f.real("useful_share", o.useful_share,
         {.label = "Useful tokens", .unit = "%", .headline = true, .formula = "tokens / computed tokens"});
  f.real("padded_air_share", o.padded_air_share,
         {.label = "Air when padded",
          .unit = "%",
          .help = "FLOPs of a row for each document that no document needs.",
          .headline = true,
          .formula = "1 - needed FLOPs / FLOPs padded",
          .source = palm});
  f.real("speedup", o.speedup,
         {.label = "Over padding",
          .help = "By FLOPs, at one rate of FLOPs.",
          .headline = true,
          .formula = "FLOPs padded / FLOPs"});
  f.integer("rows", o.rows, {.label = "Rows", .headline = true, .source = "the packing itself"});
  f.integer("padded_rows", o.padded_rows, {.label = "Documents", .help = "And the rows of padding."});
  f.integer("least_rows", o.least_rows, {.label = "No fewer than", .formula = "tokens / row, rounded up"});
  f.real("optimum_rows", o.optimum_rows,
         {.label = "Fewest rows",
          .may_be_missing = true,
          .absent = "The search gave up; the bound above is what is known.",
          .source = "branch and bound over all packings of whole documents"});
  f.real("cut_documents", o.cut_documents, {.label = "Documents cut", .help = "They lie in more than one row."});
  f.group("Tokens");
  f.real("tokens", o.tokens, {.label = "Tokens", .unit = "tokens", .help = "Of the documents."});
  f.real("mean_length", o.mean_length, {.label = "Mean length", .unit = "tokens", .formula = "tokens / documents"});
  f.real("lost_tokens", o.lost_tokens,
         {.label = "Beyond the row",
          .unit = "tokens",
          .help = "Of drawn documents that are longer than a row: left out."});
  f.real("computed_tokens", o.computed_tokens, {.label = "Computed", .unit = "tokens", .help = "Padding included."});
  f.real("padding_share", o.padding_share, {.label = "Padding", .unit = "%", .formula = "1 - useful"});
  f.real("padded_useful_share", o.padded_useful_share,
         {.label = "Useful when padded", .unit = "%", .help = "With a row for each document."});
  f.group("Work");
  f.real("flops", o.flops, {.label = "FLOPs", .unit = "FLOP", .source = palm});
  f.real("linear_flops", o.linear_flops,
         {.label = "Linear layers", .unit = "FLOP", .formula = "6 x parameters x computed tokens", .source = palm});
  f.real("attention_flops", o.attention_flops,
         {.label = "Attention", .unit = "FLOP", .formula = "12 x layers x heads x head size x pairs", .source = palm});
  f.real("padded_flops", o.padded_flops, {.label = "FLOPs padded", .unit = "FLOP", .source = palm});
  f.real("air_share", o.air_share, {.label = "Air", .unit = "%", .formula = "1 - needed FLOPs / FLOPs"});
  f.group("The mask");
  f.real("mask_share", o.mask_share,
         {.label = "Pairs inside documents", .unit = "%", .formula = "documents' triangles / rows' triangles"});
  f.real("foreign_share", o.foreign_share,
         {.label = "Pairs across documents",
          .unit = "%",
          .help = "Of those between tokens of a row: what leaks without a mask.",
          .formula = "1 - documents' triangles / filled triangles"});
  f.group("The whole data set");
  f.real("corpus_rows", o.corpus_rows,
         {.label = "Rows",
          .may_be_missing = true,
          .absent = "Wikipedia alone is here as a whole, in rows of 512 tokens or more.",
          .source = "best-fit decreasing of 16,279,552 sequences"});
  f.real("corpus_share", o.corpus_share,
         {.label = "Useful tokens",
          .unit = "%",
          .may_be_missing = true,
          .absent = "Wikipedia alone is here as a whole, in rows of 512 tokens or more.",
          .formula = "tokens / (rows x row)"});
  f.real("corpus_speedup", o.corpus_speedup,
         {.label = "Sequences a row",
          .may_be_missing = true,
          .absent = "Wikipedia alone is here as a whole, in rows of 512 tokens or more.",
          .formula = "sequences / rows"});
  f.group("Every policy");
  f.table("policies", o.policies, {.label = "The same documents by every policy", .max_items = 8});
}

void describe(Fields& f, View& v) {
  f.real("placed", v.placed,
         {.label = "Documents placed", .help = "How far the packing has come.", .lo = 0, .hi = 1e9});
  f.integer("row", v.row,
            {.label = "Row", .help = "Whose mask is shown; 0: the one with most documents.", .lo = 0, .hi = 4096});
  f.toggle("playing", v.playback.playing, {.label = "Playing", .help = "Documents fall by the clock."});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "training/packing", .title = "Packing", .question = "How much of the batch is air, and what fills it?"},
      compute, arrange, draw);
}

}  // namespace chapters::training::packing
