#include <array>

#include "chapters/capstone/serve_70b/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::capstone::serve_70b {
namespace {

const Choices gaps = choices_in_order<GapKind::longest>(
    {{"mean", "the mean", "All time between the first token and the last, over the tokens."},
     {"longest", "the longest", "A step, with the passes over prompts that stand between."}});
const Choices cause_choices = choices_in_order<Cause::prompts>({{"products", "matrix products"},
                                                                {"attention", "attention"},
                                                                {"elementwise", "element-wise kernels"},
                                                                {"talk", "all-reduces"},
                                                                {"waits", "launch gaps"},
                                                                {"prompts", "prompts of others"}});
static_assert(cause_count == 6);
const Choices ladders = choices_in_order<LadderChoice::bevdet>(
    {{"gpt_fast", "gpt-fast", "Llama 7B on one A100: tokens per second, five records."},
     {"segment_anything", "Segment Anything", "ViT-B on one A100: images per second, six records."},
     {"nanogpt", "NanoGPT speedrun", "Time to a loss of 3.28 on eight H100: twenty of its records."},
     {"bevdet", "BEVDet", "Time per frame on an RTX A4000: four records."}});
static_assert(ladder_count == 4);

constexpr std::string_view no_par = "Switch \"Show par\" on; where it is on, no set of cards meets every target.";
constexpr std::string_view no_round = "No card was played that did not bounce.";
constexpr std::string_view not_said = "The study does not say.";

void describe_game(Fields& f, Inputs& in) {
  f.group("The game");
  f.text(
      "rounds", in.rounds, "Rounds",
      "Cards in the order in which they are played: int4, fp8, cache_8bit, graph, compile, flash, continuous, chunked, "
      "paged, prefix, speculative, batch_4, batch_32, batch_128, batch_512, tp_2, tp_4, tp_8.",
      {.headline = true, .max_bytes = 400});
  f.reals("said", in.said, {"Said before each", "s"},
          "Time from token to token that was predicted before each round; 0: nothing was said.",
          {.range = {0, 1000}, .max_items = max_rounds});
  f.toggle("show_par", in.show_par, "Show par", "Searches the fewest rounds that meet every target.");
}

void describe_targets(Fields& f, Inputs& in) {
  f.group("Targets");
  f.real("itl_limit_s", in.itl_limit_s, {"Token to token", "s"}, "At most so long.",
         {.range = {1e-3, 10, Scale::log}, .typical = {5e-3, 0.2}, .headline = true});
  f.choice("gap", in.gap, gaps, "Which gap", "Which time between two tokens the target is for.");
  f.real("ttft_limit_s", in.ttft_limit_s, {"First token", "s"}, "At most so long after the request.",
         {.range = {1e-3, 100, Scale::log}, .typical = {0.05, 5}});
  f.real("rate_limit", in.rate_limit, {"Tokens", "tokens/s"}, "All requests together, at least.",
         {.range = {1, 1e6, Scale::log}, .typical = {100, 20000}, .headline = true});
}

void describe_load(Fields& f, Inputs& in) {
  f.group("The load");
  f.integer("prompt", in.prompt, {"Prompt", "tokens"}, "What each request begins with.",
            {.range = {2, 1 << 17, Scale::log}, .typical = {128, 32768}});
  f.integer("answer", in.answer, {"Answer", "tokens"}, "What each request is answered.",
            {.range = {2, 32768, Scale::log}, .typical = {16, 4096}});
  f.integer("shared_prefix", in.shared_prefix, {"Shared prefix", "tokens"},
            "How much of each prompt is the same for all; it is computed once where prefix caching is played.",
            {.range = {0, 1 << 17}, .typical = {0, 4096}});
  f.integer("reserved", in.reserved, {"Longest request", "tokens"},
            "Cache that each request reserves while there are no pages.",
            {.range = {2, 1 << 18, Scale::log}, .typical = {1024, 65536}});
  f.group("The machine");
  shared::model(f, "model", in.model, {.help = "Its layers give the kernels, its weights the bytes."});
  shared::chip(f, "chip", in.chip, {.help = "Peak and bandwidth give each kernel's time, its memory what fits."});
  f.integer("gpus", in.gpus, "GPUs", "How many there are; the game begins with as many sharing every layer as it can.",
            {.range = {1, 8, Scale::step}});
  f.real("memory_percent", in.memory_percent, {"Memory that may be filled", "%"}, "The rest is kept free. Assumed.",
         {.range = {10, 100}, .typical = {80, 100}});
}

void describe_launches(Fields& f, Inputs& in) {
  f.group("Launches");
  describe_launch_host(f, in.launching);
  describe_graph_launches(f, in.launching);
}

void describe_cards(Fields& f, Inputs& in) {
  f.group("What cards mean");
  f.real("four_bits", in.four_bits, "Bits of a weight in INT4", "With the constants of its group of 128.",
         {.range = {4, 8}});
  f.integer("chunk", in.chunk, {"Piece of a prompt", "tokens"}, "What runs between two steps with chunked prefill.",
            {.range = {16, 16384, Scale::log}, .typical = {64, 4096}});
  f.integer("draft_length", in.draft_length, {"Draft guesses", "tokens"}, "How many tokens are guessed in a round.",
            {.range = {1, 16, Scale::step}});
  f.integer("draft_layers", in.draft_layers, "Layers of the draft",
            "The draft is so many layers of the model's own width, with its output matrix.",
            {.range = {1, 128, Scale::log}, .typical = {1, 16}});
  f.real("acceptance", in.acceptance, "Kept", "The chance that a guessed token is kept where those before it were.",
         {.range = {0, 1}});
  f.group("What kernels reach");
  const auto share = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {label, "%"}, help, {.range = {10, 100}});
  };
  share("peak_reached", in.peak_reached, "Peak", "Share of the peak that matmuls reach. Assumed.");
  share("reached_16", in.reached_16, "Bandwidth", "Fitted on gpt-fast's published runs.");
  share("reached_4", in.reached_4, "Bandwidth, INT4 weights", "Fitted on one published run of 70B.");
  share("link_reached", in.link_reached, "Link", "The share of the link's rate that all-reduces reach.");
  f.real("call_s", in.call_s, {"An all-reduce starts in", "s"}, "Fitted on gpt-fast's published runs on 2 to 8 A100.",
         {.range = {0, 1e-4}, .typical = {0, 3e-5}});
  f.group("A published ladder");
  f.choice("ladder", in.ladder, ladders, "Ladder", "Whose records are guessed.");
  f.reals("guesses", in.guesses, "Guesses",
          "A guess for each record behind the first, in the ladder's unit; a record is shown once it is guessed.",
          {.range = {0, 1e6}, .max_items = max_rounds});
}

void describe_now(Fields& f, Outputs& o) {
  f.group("The service");
  f.real("itl_s", o.now.itl_s, {"Token to token", "s"}, "The mean, prompts of others counted.",
         {.headline = true,
          .against = {"at the start", "start_itl_s"},
          .formula = "step / tokens of a step + batch x prompt / (answer - 1)"});
  f.real("ttft_s", o.now.ttft_s, {"First token", "s"},
         "All prompts of a fixed batch, or the step that is under way, prompts that came with it, and its own.",
         {.headline = true, .against = {"at the start", "start_ttft_s"}});
  f.real("tokens_per_s", o.now.tokens_per_s, {"Tokens", "tokens/s"}, "Requests follow each other without a pause.",
         {.headline = true,
          .against = {"at the start", "start_tokens_per_s"},
          .formula = "replicas x batch x answer / (first token + (answer - 1) x token to token)",
          .source = "Little's law"});
  f.real("memory_bytes", o.now.held_bytes, {"Memory", "B"}, "What one GPU holds.",
         {.headline = true, .against = {"of", "room_bytes"}});
  f.real("room_bytes", o.now.room_bytes, {"A GPU may hold", "B"}, "The share of its memory that may be filled.");
  f.real("longest_gap_s", o.now.longest_gap_s, {"Longest gap", "s"},
         "A step, and the passes over prompts that come in it, rounded up: at least one where they stand between.");
  f.choice("bottleneck", o.bottleneck, cause_choices, "Bottleneck", "The largest part of the slab.");
  f.real("bottleneck_s", o.bottleneck_s, {"... takes", "s"}, "Its part of the gap.");
  f.real("served_itl_s", o.served_itl_s, {"The gap of the target", "s"}, "The mean or the longest, as it is set.");
  f.group("From token to token");
  f.real("products_s", o.now.products_s, {"Matrix products", "s"}, "Kernels that read weights.");
  f.real("attention_s", o.now.attention_s, {"Attention", "s"}, "Its products, which read the caches.");
  f.real("elementwise_s", o.now.elementwise_s, {"Element-wise kernels", "s"}, "All other kernels.");
  f.real("talk_s", o.now.talk_s, {"All-reduces", "s"}, "Two in each layer where GPUs share it.");
  f.real("waits_s", o.now.waits_s, {"Launch gaps", "s"}, "No kernel runs.");
  f.real("prompts_s", o.now.prompts_s, {"Prompts of others", "s"}, "With continuous batching they stand between.");
  f.real("step_s", o.now.step_s, {"A step", "s"}, "One pass of decode for all requests, drafts counted.");
  f.real("tokens_per_step", o.now.tokens_per_step, {"Tokens of a step", "tokens"}, "For each request.",
         {.formula = "(1 - a^(g + 1)) / (1 - a)", .source = "Leviathan et al. 2023, equation 1"});
  f.real("prompt_s", o.now.prompt_s, {"A prompt", "s"}, "Its passes; those of the whole batch where that is fixed.");
  f.group("What is held");
  f.real("weights_bytes", o.now.weights_held_bytes, {"Weights", "B"}, "One GPU's.");
  f.real("caches_bytes", o.now.caches_held_bytes, {"Caches", "B"}, "One GPU's, as reserved or as used in blocks.");
  f.real("scores_bytes", o.now.scores_held_bytes, {"Scores", "B"}, "Stored where attention is not one kernel.");
  f.real("most_batch", o.most_batch, "Requests that fit", "At once on a replica, next to all else that it holds.");
  f.real("batch", o.batch, "Requests at once", "On each replica.");
  f.real("replica_gpus", o.chips, "GPUs of a replica", "They share every layer.");
  f.real("replicas", o.replicas, "Replicas", "As many as the GPUs make.");
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_game(f, in);
  describe_targets(f, in);
  describe_load(f, in);
  describe_launches(f, in);
  describe_cards(f, in);
}

void describe(Fields& f, RoundRow& r) {
  f.text("name", r.name, "Card");
  f.text("found", r.found, "What it did");
  f.real("itl_s", r.itl_s, {"Token to token", "s"});
  f.real("won_s", r.won_s, {"Won", "s"}, "Below 0 it lost.", {.absent = "Nothing was played, or it bounced."});
  f.real("said_s", r.said_s, {"Said", "s"}, {.absent = "Nothing was said."});
  f.real("ttft_s", r.ttft_s, {"First token", "s"});
  f.real("tokens_per_s", r.tokens_per_s, {"Tokens", "tokens/s"});
  f.real("memory_bytes", r.memory_bytes, {"Memory", "B"});
  f.choice("bottleneck", r.bottleneck, cause_choices, "Bottleneck");
  f.integer("met", r.met, "Targets met", {.range = {0, 3}});
}

void describe(Fields& f, StudyRow& r) {
  f.text("name", r.name, "Round");
  f.real("claimed_itl_s", r.claimed_itl_s, {"Token to token, it says", "s"}, {.absent = not_said});
  f.real("itl_s", r.itl_s, {"Token to token, models", "s"}, {.absent = "It does not fit."});
  f.real("claimed_ttft_s", r.claimed_ttft_s, {"First token, it says", "s"}, {.absent = not_said});
  f.real("ttft_s", r.ttft_s, {"First token, models", "s"}, {.absent = "It does not fit."});
  f.real("claimed_rate", r.claimed_rate, {"Tokens, it says", "tokens/s"}, {.absent = not_said});
  f.real("rate", r.rate, {"Tokens, models", "tokens/s"}, {.absent = "It does not fit."});
}

void describe(Fields& f, Outputs& o) {
  describe_now(f, o);
  f.group("The game");
  f.integer("rounds_played", o.rounds_played, "Rounds", "Cards played, those that bounced too.", {.range = {0, 24}});
  f.toggle("first_slight", o.first_slight, "First card won next to nothing", "Less than half a percent, either way.");
  f.toggle("last_bounced", o.last_bounced, "Last card came back", "It changed nothing, and its sentence says why.");
  f.toggle("of_longest", o.of_longest, "The longest gap counts",
           "The target is for the longest gap, not for the mean.");
  f.integer("targets_met", o.targets_met, "Targets met", "How many of the three hold in the state that stands.",
            {.range = {0, 3}});
  f.real("won_in", o.won_in, "All met after", "The first round after which every target was met.",
         {.absent = "No round met every target."});
  f.real("par", o.par, "Par", "The fewest rounds that meet every target, over all orders of all cards.",
         {.absent = no_par});
  f.real("par_ways", o.par_ways, "... by so many sets", "Sets of cards that meet every target in so few rounds.",
         {.absent = no_par});
  f.text("par_cards", o.par_cards, "... for example", "One shortest game; empty while par is not shown.");
  f.integer("bounced_rounds", o.bounced_rounds, "Bounced", "Rounds whose card did not work; the state stayed.",
            {.range = {0, 24}});
  f.text("first_card", o.first_card, "First card", "The first that did not bounce.");
  f.real("first_won_s", o.first_won_s, {"... won first", "s"}, "From token to token; below 0 it lost.",
         {.absent = no_round});
  f.text("best_card", o.best_card, "Best card", "The one that won most in its place.");
  f.real("best_won_s", o.best_won_s, {"... won most", "s"}, "From token to token.", {.absent = "No card won."});
  f.text("lost_card", o.lost_card, "Card that lost most");
  f.real("most_lost_s", o.most_lost_s, {"... lost most", "s"}, "From token to token.", {.absent = "No card lost."});
  f.real("prediction_off", o.prediction_off, {"Predictions off by", "\xC3\x97"},
         "Geometric mean of what was said against what happened, as a factor.", {.absent = "Nothing was said."});
  f.real("start_itl_s", o.start_itl_s, {"Token to token at the start", "s"}, "Before any card.");
  f.real("start_ttft_s", o.start_ttft_s, {"First token at the start", "s"}, "Before any card.");
  f.real("start_tokens_per_s", o.start_rate, {"Tokens at the start", "tokens/s"}, "Before any card.");
  f.table("played", o.rounds, "Rounds", {.max_items = max_rounds + 1});
  f.table("study", o.study, "The study next to the models", {.max_items = 8});
  f.group("A published ladder");
  f.integer("ladder_shown", o.ladder_shown, "Records shown", "The first, and one for each guess.", {.range = {0, 64}});
  f.real("ladder_off", o.ladder_off, {"Guesses off by", "\xC3\x97"}, "Geometric mean, as a factor.",
         {.absent = "Nobody guessed."});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"capstone/serve-70b",
       "Serve a 70B",
       "First token in 500 ms, 50 ms from token to token, 1,000 tokens per second: which cards do you play?",
       {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::capstone::serve_70b
