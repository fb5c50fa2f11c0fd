#include "chapters/described/cache_choices.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/serving/paged_kv/lab.h"

namespace chapters::serving::paged_kv {
namespace {

// In the order of models::ReserveRule, models::SlotFit, models::PoolFull and Answers.
const Choices rule_choices{
    {"longest", "The longest for everybody", "Every answer gets as many slots as the longest one could need."},
    {"power_of_two", "The next power of two", "The prompt, and the answer's length rounded up to a power of two."},
    {"exact", "What it will need", "As if each length were known ahead: nobody knows it."}};
static_assert(models::reserve_rule_count == 3);
const Choices fit_choices{
    {"first_fit", "First fit", "The first hole that is long enough."},
    {"buddy", "Buddies", "Runs of a power of two, halved and joined again; a rest within them is lost."}};
static_assert(models::slot_fit_count == 2);
const Choices full_choices{
    {"wait", "Everybody waits", "Who needs a block stands still and keeps what it has."},
    {"recompute", "Recompute", "The youngest gives its blocks up; its tokens are computed again later."},
    {"swap", "Swap to the host", "The youngest's blocks cross the link to the host and come back later."}};
static_assert(models::pool_full_count == 3);
const Choices kind_choices{
    {"one", "One answer", "A prompt, an answer."},
    {"sampled", "Several, sampled", "Each answer goes its own way from the prompt on."},
    {"beams", "Beam search", "Now and then an answer is dropped and another one goes on twice."}};

constexpr When swaps{"when_full", "swap"}, many{"kind", "sampled|beams"};

void describe_pool(Fields& f, Inputs& in) {
  f.group("The pool");
  f.integer("pool_tokens", in.pool_tokens, {"Slots", "tokens"}, "Tokens whose keys and values the pool has room for.",
            {.range = {64, 262144, Scale::log}, .typical = {2048, 65536}, .headline = true});
  f.integer("block_tokens", in.block_tokens, {"Tokens per block", "tokens"},
            "How many slots a block has; vLLM's default is 16.",
            {.range = {1, 4096, Scale::log}, .typical = {1, 256}, .headline = true});
  f.choice("reserve_rule", in.reserve_rule, rule_choices, "Reserved ahead",
           "How many slots an answer gets in the other pool.");
  f.integer("reserve_tokens", in.reserve_tokens, {"Reservation", "tokens"},
            "Slots in a row for each answer; who needs more is refused.",
            {
                .range = {16, 32768, Scale::log},
                .typical = {256, 8192},
                .headline = true,
                .when = {"reserve_rule", "longest"},
            });
  f.choice("fit", in.fit, fit_choices, "Where a reservation goes", "How a run of free slots is found.");
}

void describe_requests(Fields& f, Inputs& in) {
  f.group("Requests");
  f.real("arrival_rate", in.arrival_rate, "Arrivals per second", "A Poisson process by the seed; a file replaces it.",
         {.range = {0.01, 1000, Scale::log}, .typical = {0.3, 30}});
  f.integer("requests", in.requests, "Requests", "How many come; a file brings its own.",
            {.range = {1, 2000, Scale::log}, .typical = {20, 1000}, .costly = true});
  f.real("prompt_tokens", in.prompt_tokens, {"Prompt, mean", "tokens"}, "Lengths are log-normal.",
         {.range = {1, 8192, Scale::log}, .typical = {16, 2048}});
  f.real("output_tokens", in.output_tokens, {"Answer, mean", "tokens"}, "Lengths are log-normal.",
         {.range = {1, 2048, Scale::log}, .typical = {16, 1024}});
  f.real("length_variation", in.length_variation, "Spread of lengths", "Standard deviation over mean, of both.",
         {.range = {0, 2}});
  f.integer("longest_tokens", in.longest_tokens, {"Longest", "tokens"},
            "Prompt and answer together are cut to this: the model's context.",
            {.range = {2, 32768, Scale::log}, .typical = {512, 8192}});
  f.integer("seed", in.seed, "Seed", "It draws arrivals and lengths.", {.range = {0, 9999}});
  f.file("trace", in.trace, "Your arrivals",
         "A CSV with columns named time, prompt and output (also as the Azure and BurstGPT traces name them), or "
         "Mooncake's JSON lines. While one is here, it replaces rate, number and lengths.",
         {.reads = {FileKind::arrivals}, .accepts = "csv, jsonl"});
  f.integer(
      "urgent", in.urgent, "Served first",
      "Number of a request that goes to the head of the line when it comes, at most the last one's; 0: nobody does.",
      {.range = {0, 20000}, .typical = {0, 300}});
}

void describe_answers(Fields& f, Inputs& in) {
  f.group("Answers");
  f.choice("kind", in.kind, kind_choices, "A request asks for", "How many answers to its prompt, and how they go on.");
  f.integer("answers", in.answers, "Answers to each prompt", "They begin with the same prompt.",
            {.range = {2, 8}, .when = many});
  f.toggle("share", in.share, "Blocks are shared",
           "Answers read the blocks of their prompt together; who writes into a shared one copies it first.",
           {.when = many});
  f.real("replaced", in.replaced, {"Replaced per step", "%"},
         "Share of a request's steps in which one beam is dropped for a copy of another; real models differ.",
         {.range = {0, 100}, .when = {"kind", "beams"}});
}

void describe_full(Fields& f, Inputs& in) {
  f.group("When full");
  f.choice("when_full", in.when_full, full_choices, "No block is free",
           "What happens when a running answer needs one.");
  f.real("watermark", in.watermark, {"Watermark", "%"},
         "Share of the blocks that stays free when a request is taken in; vLLM's was 1 %.",
         {.range = {0, 90}, .typical = {0, 20}});
  f.integer("max_running", in.max_running, "Requests at once", "No more run in either pool; vLLM's default was 256.",
            {.range = {1, 1024, Scale::log}});
  f.real("link_bytes_per_s", in.link_bytes_per_s, {"Link to the host", "B/s"}, "What swapped blocks cross.",
         {.range = {1e8, 1e12, Scale::log}, .typical = {1e9, 1e11}, .when = swaps});
  f.real("host_bytes", in.host_bytes, {"Room in the host", "B"},
         "For swapped blocks; where it is full, tokens are computed again. vLLM's default was 4 GiB.",
         {.range = {0, 1e12}, .typical = {0, 64e9}, .binary = true, .when = swaps});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_pool(f, in);
  describe_requests(f, in);
  describe_answers(f, in);
  describe_full(f, in);
  f.group("Model and chip");
  shared::model(f, "model", in.model, {.help = "Its shape says what a slot takes, its weights what a step takes."});
  f.choice("kv_format", in.kv_format, kv_recipe_choices(), "Cache format", "Bits of a number in the cache.");
  shared::format(f, "format", in.format, {.label = "Weights", .help = "Format of weights and matmuls."});
  shared::chip(f, "chip", in.chip, {.help = "A step reaches 70 % of its peak and bandwidth."});
  shared::parallel_tensor(f, "chips", in.chips, {.label = "Chips", .help = "They share every layer and the pool."});
}

namespace {

constexpr std::string_view averaged = "mean over the measured time of the simulation, step by step";

void describe_pools(Fields& f, Outputs& o) {
  f.group("In blocks");
  f.real("paged_running", o.paged.running, "Running",
         {.headline = true,
          .against = {"reserved:", "reserved_running"},
          .formula = "requests that hold blocks",
          .source = averaged});
  f.real("paged_used_share", o.paged.used, {"Holds tokens", "%"},
         {
             .headline = true,
             .against = {"reserved:", "reserved_used_share"},
             .formula = "slots that hold a token / slots of the pool",
             .source = averaged,
         });
  f.integer("paged_served", o.paged.served, "Served", "By the end of what is shown.",
            {.headline = true, .against = {"reserved:", "reserved_served"}});
  f.integer("preemptions", o.preemptions, "Sent back", "Times that a running request lost its blocks to an older one.",
            {.headline = true});
  f.real("paged_empty_share", o.paged.empty, {"Holds nothing", "%"},
         {.formula = "1 - slots that hold a token / slots"});
  f.real("paged_never_share", o.paged.never, {"Unfilled ends", "%"},
         {.formula = "slots behind the last token of blocks in use / slots", .source = averaged});
  f.real("paged_stranded_share", o.paged.stranded, {"Free while somebody waits", "%"},
         "Too few for the first in line, or kept by the watermark.", {.source = averaged});
  f.real("paged_spare_share", o.paged.spare, {"Free", "%"}, "While nobody waits.", {.source = averaged});
  f.real("paged_waiting", o.paged.waiting, "Waiting", {.formula = "requests in line", .source = averaged});
  f.integer("paged_refused", o.paged.refused, "Refused", "They would not fit into the whole pool.");
  f.integer("paged_most_running", o.paged.most_running, "Most at once", "Requests that held blocks together.");
  f.real("gain", o.gain, {"More run in blocks", "\xC3\x97"}, "Requests that run, against a pool that reserves.",
         {.absent = "Nobody ran while it was measured.", .formula = "running in blocks / running reserved"});
  f.real("gain_16", o.gain_16, {"More run than in 16 bits", "\xC3\x97"},
         "Against a pool of as many bytes that reserves and keeps numbers of 16 bits.",
         {.absent = "Nobody ran while it was measured.",
          .formula = "running in blocks / running reserved with slots x bits / 16"});
  f.group("Reserved ahead");
  f.real("reserved_running", o.reserved.running, "Running",
         {.formula = "requests that hold a run", .source = averaged});
  f.real("reserved_used_share", o.reserved.used, {"Holds tokens", "%"},
         {.formula = "slots that hold a token / slots of the pool", .source = averaged});
  f.real("reserved_empty_share", o.reserved.empty, {"Holds nothing", "%"},
         {.formula = "1 - slots that hold a token / slots"});
  f.real("reserved_later_share", o.reserved.later, {"Filled later", "%"}, "Reserved, and used before the answer ends.",
         {.source = averaged});
  f.real("reserved_never_share", o.reserved.never, {"Never filled", "%"},
         "Reserved for an answer that does not get so long.", {.source = averaged});
  f.real("reserved_stranded_share", o.reserved.stranded, {"Free while somebody waits", "%"},
         "Holes that are too short, with what buddies round up.", {.source = averaged});
  f.real("reserved_spare_share", o.reserved.spare, {"Free", "%"}, "While nobody waits.", {.source = averaged});
  f.real("reserved_waiting", o.reserved.waiting, "Waiting", {.formula = "requests in line", .source = averaged});
  f.integer("reserved_served", o.reserved.served, "Served", "By the end of what is shown.");
  f.integer("reserved_refused", o.reserved.refused, "Refused",
            "Longer than a reservation, or it does not fit the pool.");
  f.integer("reserved_most_running", o.reserved.most_running, "Most at once", "Requests that held runs together.");
}

void describe_blocks(Fields& f, Outputs& o) {
  f.group("Blocks");
  f.integer("blocks", o.blocks, "Blocks in the pool", {.formula = "slots / tokens per block, rounded down"});
  f.integer("kept_blocks", o.kept_blocks, "Kept by the watermark", {.formula = "watermark x blocks, rounded down"});
  f.real("unfilled_slots", o.unfilled_slots, {"Unfilled per answer", "tokens"},
         {.absent = "Nobody ran while it was measured.",
          .formula = "unfilled slots / running answers",
          .source = averaged});
  f.real("unfilled_expected", o.unfilled_expected, {"Expected per answer", "tokens"},
         "For ends that are spread evenly over a block.", {.formula = "(tokens per block - 1) / 2"});
  f.real("saved", o.saved, {"Saved by sharing", "%"},
         {.absent = "Nobody ran while it was measured.",
          .formula = "1 - blocks in use / entries of all block tables",
          .source = "as Kwon et al. 2023 count in section 6.3"});
  f.integer("copies", o.copies, "Copies on write", "Blocks that were copied because others read them, too.");
}

void describe_run(Fields& f, Outputs& o) {
  f.group("When full");
  f.real("stuck_s", o.stuck_s, {"Stands still from", "s"}, "From then on nobody moves any more.",
         {.absent = "The pool never stands still."});
  f.integer("stuck_requests", o.stuck_requests, "Stand still", "Requests that hold blocks then and wait for one more.");
  f.integer("recomputed_tokens", o.recomputed_tokens, {"Recomputed", "tokens"},
            "Prompts and answers of requests that came back.");
  f.real("swapped_bytes", o.swapped_bytes, {"Swapped out", "B"}, "The same crosses the link again on the way back.");
  f.group("The run");
  f.integer("asked", o.asked, "Requests", "That came.");
  f.integer("first_request", o.first_request, "Served first", "Number of the request that goes to the head; 0: none.");
  f.real("paged_first_wait_s", o.paged_first_wait_s, {"It waits for blocks", "s"}, "From its arrival on.",
         {.absent = "Nobody is served first, or it never begins."});
  f.real("reserved_first_wait_s", o.reserved_first_wait_s, {"It waits for a run", "s"}, "From its arrival on.",
         {.absent = "Nobody is served first, or it does not begin in what is shown."});
  f.integer("cut", o.cut, "Cut",
            "Requests that would be longer than the longest; their answers, or prompts, are cut to it.");
  f.integer("failed", o.failed, "Rows left out", "Rows of the file whose request got no token.");
  f.real("shown_s", o.shown_s, {"Shown", "s"}, "Until the last one came and was served out of blocks.");
  f.real("measured_s", o.measured_s, {"Measured", "s"},
         "From when a third of them have come to the last arrival; where that is less than a fifth of what is "
         "shown, all of it.");
}

void describe_memory(Fields& f, Outputs& o) {
  f.group("Memory");
  f.real("pool_bytes", o.pool_bytes, {"The pool", "B"}, {.formula = "slots x bytes per token"});
  f.real("token_bytes", o.token_bytes, {"Bytes per token", "B"},
         {.binary = true,
          .formula = "2 x layers x KV heads x head width x bytes of a number",
          .source = "the model's config"});
  f.real("block_bytes", o.block_bytes, {"A block", "B"},
         {.binary = true, .formula = "tokens per block x bytes per token"});
  f.real("weights_bytes", o.weights_bytes, {"Weights", "B"}, "All chips together hold them once.");
  f.real("memory_bytes", o.memory_bytes, {"Memory of the chips", "B"}, "By their nameplate.");
  f.real("left_bytes", o.left_bytes, {"Left over", "B"}, "Below 0: weights and pool do not fit.",
         {.formula = "memory - weights - pool"});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_pools(f, o);
  describe_blocks(f, o);
  describe_run(f, o);
  describe_memory(f, o);
}

void describe(Fields& f, View& v) {
  f.real("at_s", v.at_s, {"Moment", "s"}, "What both pools show; -1: the moment that the picture begins with.",
         {.range = {-1, 1e9}});
  f.integer("followed", v.followed, "Request followed", "Whose block tables are shown; 0: the picture's own choice.",
            {.range = {0, 20000}});
  f.toggle("playing", v.playback.playing, "Playing", "The moment goes on by the clock.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"serving/paged-kv",
       "Paged KV",
       "How much of the cache's memory holds nothing, and who could use it?",
       {.job = true, .published_keys = "reserve_rule fit kind"}},
      compute, arrange, draw);
}

}  // namespace chapters::serving::paged_kv
