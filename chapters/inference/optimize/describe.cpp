#include "chapters/inference/optimize/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::optimize {
namespace {

struct ChangeText {
  std::string_view key, name, help;
};
constexpr std::array<ChangeText, request_change_count> texts{{
    {"flash", "FlashAttention",
     "Attention is one kernel and scores are never stored; else three kernels over the square."},
    {"fusion", "Compiler fusion",
     "Neighbouring element-wise operations become one kernel: fewer launches, fewer bytes."},
    {"graph", "CUDA graph",
     "A step of decode is launched whole. Prompts vary in shape and are launched kernel by kernel all the same."},
    {"eight_bit", "8-bit weights", "All matrices but the input embedding in 8 bits."},
    {"four_bit", "4-bit weights", "Weights alone in 4 bits with products in 16; they take the place of 8-bit weights."},
    {"narrow_cache", "8-bit KV cache", "Keys and values in fewer bits."},
    {"draft", "Speculative decoding", "A small draft guesses tokens, and one pass of the model checks them."},
    {"sharded", "Tensor parallelism", "Several chips share every layer and add up their parts twice in each."},
}};

const Choices made_choices =
    choices_in_order<Made::found>({{"off", "off", "It is not made."},
                                   {"on", "on", "It is one of the changes."},
                                   {"found", "from the start", "It is there before the first change."}});
const Choices orders = choices_in_order<Order::own>(
    {{"listed", "as listed", "From the top of the list down."},
     {"reversed", "reversed", "From the bottom of the list up."},
     {"largest", "largest first", "Each time the one that saves most of the request that is left."},
     {"own", "your own", "A row that is dragged goes here."}});
const Choices eight_bits = choices_in_order<models::inference::EightBits::fp8>(
    {{"int8_weights", "INT8, weights alone", "Products in 16 bits; weights are widened on their way (W8A16)."},
     {"int8", "INT8, both operands", "Products in INT8 (W8A8)."},
     {"fp8", "FP8, both operands", "Products in FP8 (W8A8)."}});
static_assert(models::inference::eight_bits_count == 3);

struct FigureKeys {
  std::string_view gain, first, last, saved, average;
};
constexpr std::array<FigureKeys, request_change_count> figure_keys{{
    {"flash_gain", "flash_first_gain", "flash_last_gain", "flash_saved_s", "flash_average_s"},
    {"fusion_gain", "fusion_first_gain", "fusion_last_gain", "fusion_saved_s", "fusion_average_s"},
    {"graph_gain", "graph_first_gain", "graph_last_gain", "graph_saved_s", "graph_average_s"},
    {"eight_bit_gain", "eight_bit_first_gain", "eight_bit_last_gain", "eight_bit_saved_s", "eight_bit_average_s"},
    {"four_bit_gain", "four_bit_first_gain", "four_bit_last_gain", "four_bit_saved_s", "four_bit_average_s"},
    {"narrow_cache_gain", "narrow_cache_first_gain", "narrow_cache_last_gain", "narrow_cache_saved_s",
     "narrow_cache_average_s"},
    {"draft_gain", "draft_first_gain", "draft_last_gain", "draft_saved_s", "draft_average_s"},
    {"sharded_gain", "sharded_first_gain", "sharded_last_gain", "sharded_saved_s", "sharded_average_s"},
}};
constexpr std::string_view not_made = "This change is not one of those that are made.";
constexpr std::string_view not_measured = "Nobody measured this state that we know of.";
constexpr std::string_view no_residual = "Nobody measured this state, or with a draft that is not named.";
constexpr std::string_view shapley = "Shapley, A value for n-person games, 1953";
constexpr std::string_view made_values = "on|found";

void describe_shares(Fields& f, Inputs& in) {
  const auto share = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {label, "%"}, help, {.range = {10, 100}});
  };
  f.group("What kernels reach");
  share("reached_16", in.reached_16, "Bandwidth, 16-bit weights",
        "Fitted on gpt-fast's published runs of other models than Llama 2 7B, which judges it.");
  share(
      "reached_8", in.reached_8, "Bandwidth, 8-bit weights",
      "Fitted on the same runs, with weights alone in INT8. Where both operands are narrow nothing is widened, and the "
      "share is that of 16 bits: assumed.");
  share("reached_4", in.reached_4, "Bandwidth, 4-bit weights",
        "Fitted on one run, of 70B; kernels of a small model reach less.");
  share("peak_reached", in.peak_reached, "Peak", "Share of the peak that matmuls reach. Assumed.");
}

void describe_changes(Fields& f, Inputs& in) {
  f.group("The changes");
  for (std::size_t i = 0; i < request_change_count; ++i)
    f.choice(texts[i].key, in.made[i], made_choices, texts[i].name, texts[i].help);
  f.choice("order", in.order, orders, "Order", "Which one is made first.", {.headline = true});
  f.integer("own_order", in.own_order, "Number of the order",
            "There are 40,320 of all eight; 1 is as listed, 40,320 reversed.",
            {.range = {1, static_cast<double>(order_count)}, .when = {"order", "own"}});
}

void describe_parameters(Fields& f, Inputs& in) {
  f.group("How they are made");
  f.choice("eight_bits", in.eight_bits, eight_bits, "8 bits are",
           "What is in 8 bits, and in which format it multiplies.", {.when = {"eight_bit", made_values}});
  f.real("four_bits", in.four_bits, "Bits of a 4-bit weight",
         "Constants of its group counted: 5 in groups of 32 with two of 16 bits each, 4.125 in groups of 128 with one.",
         {.range = {4, 8}, .when = {"four_bit", made_values}});
  f.real("cache_bits", in.cache_bits, "Bits of the narrow cache", "How many bits a number of the cache takes.",
         {.range = {2, 16}, .when = {"narrow_cache", made_values}});
  f.integer("draft_length", in.draft_length, {"Draft guesses", "tokens"}, "How many tokens are guessed in a round.",
            {.range = {1, 16, Scale::step}, .when = {"draft", made_values}});
  f.integer(
      "draft_layers", in.draft_layers, "Layers of the draft",
      "The draft is so many layers of the model's own width, with its output matrix. With 4 a guess costs about a "
      "seventh of a pass, as EAGLE's do in vLLM.",
      {.range = {1, 128, Scale::log}, .typical = {1, 16}, .when = {"draft", made_values}});
  f.real("acceptance", in.acceptance, "Kept",
         "The chance that a guessed token is kept where those before it were; 0.63 is EAGLE's in vLLM, guessing three.",
         {.range = {0, 1}, .when = {"draft", made_values}});
  shared::parallel_tensor(
      f, "tensor_parallel", in.tensor_parallel,
      {.label = "Chips", .help = "How many chips share every layer.", .when = {"sharded", made_values}});
  f.real("link_reached", in.link_reached, {"Link reached", "%"}, "The share of the link's rate that collectives reach.",
         {.range = {10, 100}, .when = {"sharded", made_values}});
  f.real("call_s", in.call_s, {"An all-reduce starts in", "s"},
         "What each takes before its first hop. Fitted on gpt-fast's published runs on 2 to 8 A100.",
         {.range = {0, 1e-4}, .typical = {0, 3e-5}, .when = {"sharded", made_values}});
  f.toggle("whole_head", in.whole_head, "Whole output matrix",
           "Every chip reads all of the output matrix, as gpt-fast does; else its rows of it.",
           {.when = {"sharded", made_values}});
}

void describe_each(Fields& f, Outputs& o) {
  f.group("Each change");
  for (std::size_t i = 0; i < request_change_count; ++i) {
    ChangeFigures& c = o.changes[i];
    const FigureKeys& k = figure_keys[i];
    f.real(k.gain, c.gain, {texts[i].name, "\xC3\x97"}, "What it gains in its place.",
           {.absent = not_made, .formula = "request before it / request after it"});
    f.real(k.first, c.first_gain, {"... as the first", "\xC3\x97"}, "What it would gain on the request as found.",
           {.absent = not_made});
    f.real(k.last, c.last_gain, {"... as the last", "\xC3\x97"}, "What it would gain where all others are made.",
           {.absent = not_made});
    f.real(k.saved, c.saved_s, {"... saves here", "s"}, "What the request gets shorter by; below 0 it costs.",
           {.absent = not_made});
    f.real(k.average, c.average_s, {"... saves on average", "s"}, "Over all orders of those that are made.",
           {.absent = not_made, .formula = "mean over orders of (before - after)", .source = shapley});
  }
}

void describe_request(Fields& f, Outputs& o) {
  f.group("The request");
  f.real("request_s", o.now.request_s, {"The request", "s"}, "From its start to its last token, with all changes.",
         {.headline = true,
          .against = {"as found", "found_request_s"},
          .formula = "first token + (answer - 1) x time per token"});
  f.real("tpot_s", o.now.tpot_s, {"Time per token", "s"}, "From one token of a request to its next.",
         {.headline = true, .against = {"as found", "found_tpot_s"}, .formula = "step / tokens of a step"});
  f.real("tokens_per_s", o.now.tokens_per_s, {"Output tokens", "tokens/s"},
         "All requests together, prefill counted, as gpt-fast counts them.",
         {.headline = true, .against = {"as found", "found_tokens_per_s"}, .formula = "batch x answer / request"});
  f.real("ttft_s", o.now.ttft_s, {"First token", "s"}, "All prompts of the batch in one pass.",
         {.headline = true, .against = {"as found", "found_ttft_s"}});
  f.real("speedup", o.speedup, {"Speed-up", "\xC3\x97"}, {.formula = "request as found / request"});
  f.real("user_tokens_per_s", o.user_tokens_per_s, {"One user gets", "tokens/s"}, {.formula = "1 / time per token"});
  f.real("measured_tokens_per_s", o.measured, {"Measured", "tokens/s"},
         "What somebody measured with these changes, all requests together.",
         {.absent = not_measured, .source = "gpt-fast: the ladder of its post of 2023-11-30, and its README"});
  f.real("residual", o.residual, {"The model is off by", "%"},
         {.absent = no_residual, .formula = "model / measured - 1"});
  f.group("As found");
  f.real("found_request_s", o.found.request_s, {"The request", "s"}, "Before the first change.");
  f.real("found_tpot_s", o.found.tpot_s, {"Time per token", "s"}, "Before the first change.");
  f.real("found_tokens_per_s", o.found.tokens_per_s, {"Output tokens", "tokens/s"}, "Before the first change.");
  f.real("found_ttft_s", o.found.ttft_s, {"First token", "s"}, "Before the first change.");
  f.real("found_measured_tokens_per_s", o.found_measured, {"Measured", "tokens/s"}, "Before the first change.",
         {.absent = not_measured});
  f.real("found_residual", o.found_residual, {"The model is off by", "%"},
         {.absent = no_residual, .formula = "model / measured - 1"});
}

void describe_state(Fields& f, models::inference::RequestState& s, double& launching_s, std::string_view prefix_help,
                    bool found) {
  const auto key = [&](std::string_view now, std::string_view before) { return found ? before : now; };
  f.real(key("bytes_per_token", "found_bytes_per_token"), s.bytes_per_token, {"Read per token", "B"}, prefix_help,
         {.formula = "(weights + caches of a step) / tokens of a step"});
  f.real(key("kernels", "found_kernels"), s.decode.kernels, "Kernels of a step", prefix_help);
  f.real(key("launches", "found_launches"), s.decode.launches, "Launches of a step", prefix_help);
  f.real(key("launching_s", "found_launching_s"), launching_s, {"... the host takes for them", "s"}, prefix_help,
         {.formula = "launches x time per launch"});
  f.real(key("step_s", "found_step_s"), s.decode.time_s, {"A step", "s"}, prefix_help);
  f.real(key("kernels_s", "found_kernels_s"), s.decode.busy_s, {"... its kernels back to back", "s"}, prefix_help,
         {.formula = "sum of max(FLOP / peak reached, bytes / bandwidth reached, smallest)"});
  f.real(key("held_bytes", "found_held_bytes"), s.held_bytes, {"Held on a chip", "B"}, prefix_help);
  f.toggle(key("fits", "found_fits"), s.fits, "Fits", "In nine tenths of the chip's memory.");
}

}  // namespace

std::string_view change_name(RequestChange change) { return texts[index_of(change)].name; }

void describe(Fields& f, Inputs& in) {
  describe_changes(f, in);
  f.group("The request");
  f.integer("prompt", in.prompt, {"Prompt", "tokens"}, "How many tokens the request begins with.",
            {.range = {1, 1 << 20, Scale::log}, .typical = {1, 32768}, .headline = true});
  f.integer("answer", in.answer, {"Answer", "tokens"}, "How many tokens are written, one after another.",
            {.range = {1, 65536, Scale::log}, .typical = {1, 8192}});
  shared::concurrent_sequences(f, "batch", in.batch,
                               {.help = "How many such requests begin and run together.", .headline = true});
  shared::model(f, "model", in.model, {.help = "Its layers give the kernels, its weights the bytes."});
  shared::chip(f, "chip", in.chip, {.help = "Peak and bandwidth give each kernel's time, its memory what fits."});
  describe_parameters(f, in);
  f.group("Launches");
  describe_launch_host(f, in.launching);
  describe_graph_launches(f, in.launching);
  describe_shares(f, in);
}

void describe(Fields& f, StageRow& r) {
  f.text("name", r.name, "Change");
  f.real("request_s", r.after.request_s, {"Request", "s"}, "After it.");
  f.real("saved_s", r.saved_s, {"Saves here", "s"}, "Below 0 it costs.");
  f.real("gain", r.gain, {"Gains here", "\xC3\x97"});
  f.real("first_gain", r.first_gain, {"As the first", "\xC3\x97"});
  f.real("last_gain", r.last_gain, {"As the last", "\xC3\x97"});
  f.real("least_gain", r.least_gain, {"At least", "\xC3\x97"}, "Over all orders.");
  f.real("most_gain", r.most_gain, {"At most", "\xC3\x97"}, "Over all orders.");
  f.real("average_saved_s", r.average_saved_s, {"Saves on average", "s"}, "Over all orders.");
  f.real("ttft_s", r.after.ttft_s, {"First token", "s"});
  f.real("tpot_s", r.after.tpot_s, {"Per token", "s"});
  f.real("tokens_per_s", r.after.tokens_per_s, {"Output", "tokens/s"});
  f.real("measured", r.measured, {"Measured", "tokens/s"}, {.absent = not_measured});
  f.real("residual", r.residual, {"Off by", "%"}, {.absent = no_residual});
  f.real("bytes_per_token", r.after.bytes_per_token, {"Read per token", "B"});
  f.real("launches", r.after.decode.launches, "Launches of a step");
  f.real("held_bytes", r.after.held_bytes, {"Held on a chip", "B"});
  f.toggle("fits", r.after.fits, "Fits");
}

void describe(Fields& f, Outputs& o) {
  describe_request(f, o);
  f.group("What order does");
  f.text("widest", o.widest, "Differs most",
         "The change that gains least here against what it would as the first or the last; where none does, most.");
  f.real("widest_gain", o.widest_gain, {"... gains here", "\xC3\x97"}, "In its place in this order.",
         {.absent = not_made});
  f.text("widest_place", o.widest_place, "... would otherwise stand", "Which of the two places.");
  f.real("widest_other_gain", o.widest_other_gain, {"... gains there", "\xC3\x97"}, "In that other place.",
         {.absent = not_made});
  f.text("worthiest", o.worthiest, "Worth most", "The change that saves most on average over all orders.");
  f.real("worthiest_s", o.worthiest_s, {"... on average", "s"}, {.absent = not_made, .source = shapley});
  f.table("stages", o.stages, "In this order", {.max_items = request_change_count});
  describe_each(f, o);
  f.group("A step of decode");
  describe_state(f, o.now, o.launching_s, "With all changes.", false);
  f.real("waits", o.waits, {"Device waits", "%"}, "Share of a step in which no kernel runs.");
  f.real("tokens_per_step", o.now.tokens, {"Tokens of a step", "tokens"}, "For each request; above 1 with a draft.",
         {.formula = "(1 - a^(g + 1)) / (1 - a)", .source = "Leviathan et al. 2023, equation 1"});
  f.real("talk_s", o.now.decode.talk_s, {"All-reduces", "s"}, "Two in each layer where chips share it.");
  f.real("room_bytes", o.room_bytes, {"A chip may hold", "B"}, "Nine tenths of its memory.");
  f.real("most_batch", o.most_batch, "Requests that fit", "Requests as long as this, at once, with all changes.");
  f.group("A step as found");
  describe_state(f, o.found, o.found_launching_s, "Before the first change.", true);
  f.real("found_waits", o.found_waits, {"Device waits", "%"}, "Share of a step in which no kernel runs.");
  f.real("found_most_batch", o.found_most_batch, "Requests that fit",
         "Requests as long as this, at once, before any change.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"inference/optimize",
                                                   "Optimize",
                                                   "What is each change to a request worth, and does the order matter?",
                                                   {.published_keys = "model chip"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::inference::optimize
