#include "chapters/inference/tensor_parallel/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::tensor_parallel {
namespace {

constexpr std::string_view unfitted = "No engine's runs of this model in this format on this chip were fitted.";
constexpr std::string_view none_fits = "No number of chips up to the largest that is shown holds weights and caches.";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The group");
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.label = "Chips", .help = "How many chips read one model together.", .headline = true});
  shared::concurrent_sequences(
      f, "batch", in.batch, {.label = "Users", .help = "How many users get a token in each step.", .headline = true});
  shared::context(f, "context", in.context,
                  {.help = "How many tokens the cache of each user holds.", .headline = true});
  f.group("The model and the chip");
  shared::model(f, "model", in.model,
                {.help = "Its layers are cut over the chips, head by head and column by column."});
  shared::chip(f, "chip", in.chip, {.help = "Its bandwidth reads, its link talks."});
  shared::format(f, "format", in.format, {.help = "The format of weights and matmuls."});
  f.real("kv_bits", in.kv_bits, "Bits of the cache", "How many bits a number of the cache takes.",
         {.range = {2, 32}, .typical = {2, 16}});
  f.toggle("whole_head", in.whole_head, "Whole output matrix",
           "Every chip reads all of the output matrix, as gpt-fast does; else its rows of it.");
  f.group("The link");
  f.real("link_reached", in.link_reached, {"Link reached", "%"}, "The share of the link's rate that collectives reach.",
         {.range = {10, 100}});
  f.real("call_s", in.call_s, {"An all-reduce starts in", "s"},
         "What each takes before its first hop; hops and bytes come on top.",
         {.range = {0, 1e-4}, .typical = {0, 3e-5}});
}

void describe(Fields& f, SlabRow& r) {
  f.integer("chips", r.slab.chips, "Chips");
  f.real("time_s", r.time_s, {"A token", "s"});
  f.real("weights_s", r.slab.weights_s, {"Reading weights", "s"});
  f.real("cache_s", r.slab.cache_s, {"Reading caches", "s"});
  f.real("talk_latency_s", r.slab.latency_s, {"Talk, latency", "s"});
  f.real("talk_wire_s", r.slab.wire_s, {"Talk, bytes", "s"});
  f.real("rest_s", r.rest_s, {"The rest", "s"});
  f.real("divided_s", r.divided_s, {"Were all divided", "s"}, {.absent = "One chip alone was not counted."});
  f.real("tokens_per_s", r.tokens_per_s, "Tokens a second");
  f.real("tokens_per_s_per_chip", r.tokens_per_s_per_chip, "... for each chip");
  f.real("chip_s_per_token", r.chip_s_per_token, {"Chip time per token", "s"});
  f.real("held_bytes", r.slab.held_bytes, {"Held on a chip", "B"});
  f.toggle("fits", r.slab.fits, "Fits");
  f.toggle("yours", r.yours, "Yours");
}

void describe(Fields& f, Outputs& o) {
  f.group("A token");
  f.real("token_s", o.now.time_s, {"A token", "s"},
         "The expected time where an engine's runs were fitted, else the step at the roofs.", {.headline = true});
  f.real("step_time_s", o.now.slab.step_s, {"Step at the roofs", "s"},
         "Reading or arithmetic, whichever takes longer, and talk after it.",
         {.formula = "max(weights + caches, arithmetic) + talk"});
  f.real("reading_s", o.now.slab.weights_s, {"Reading weights", "s"}, "At full bandwidth.",
         {.formula = "weights of a chip / bandwidth"});
  f.real("cache_s", o.now.slab.cache_s, {"Reading caches", "s"}, {.formula = "caches of a chip / bandwidth"});
  f.real("read_s", o.read_s, {"Reading", "s"}, "Weights, all in the format, and caches, at full bandwidth.");
  f.real("communication_time_s", o.communication_time_s, {"Talk", "s"}, "Two all-reduces per layer.",
         {.formula = "2 x layers x (latency + bytes / link)"});
  f.real("latency_s", o.now.slab.latency_s, {"... without bytes", "s"},
         "What the all-reduces take however small they are.");
  f.real("wire_s", o.now.slab.wire_s, {"... for bytes", "s"}, "What their bytes take on the links.");
  f.real("not_reading_percent", o.not_reading_percent, {"Not reading", "%"}, "Share of the token's time.",
         {.headline = true});
  f.real("tokens_per_s_per_chip", o.now.tokens_per_s_per_chip, "Tokens a second and chip",
         "Output tokens of all users, over the chips.", {.headline = true});
  f.real("tokens_per_s", o.now.tokens_per_s, "Tokens a second", "Output tokens of all users.");
  f.group("How many chips");
  f.real("best_tensor_parallel", o.best_tensor_parallel, "Fastest number of chips", "Among powers of two that fit.",
         {.headline = true, .absent = none_fits});
  f.real("best_s", o.best_s, {"... a token", "s"}, "On the fastest number of chips.", {.absent = none_fits});
  f.real("cheapest_tensor_parallel", o.cheapest_tensor_parallel, "Cheapest number of chips",
         "Least chip time for each token, of powers of two that fit.", {.absent = none_fits});
  f.real("price_ratio", o.price_ratio, {"Price over the cheapest", "\xC3\x97"},
         "Chip time of a token, over that on the cheapest number of chips.", {.absent = none_fits});
  f.real("next_s", o.next_s, {"A token on twice as many", "s"}, "With everything else as it is.",
         {.absent = "The model cannot be cut further."});
  f.real("next_gain_s", o.next_gain_s, {"Twice as many win", "s"}, "Below 0 where they are slower.",
         {.absent = "The model cannot be cut further."});
  f.real(
      "pipeline_s", o.pipeline_s, {"As a pipeline", "s"},
      "The same chips one behind the other: each reads its layers in turn, so that one token takes as long as on one "
      "chip, at the roofs.");
  f.table("slabs", o.slabs, "Numbers of chips");
  f.group("Bytes of a chip");
  f.real("weights_bytes_per_chip", o.now.slab.weights_bytes, {"Weights read", "B"}, "By each chip in a step.");
  f.real("cache_bytes_per_chip", o.now.slab.cache_bytes, {"Caches read", "B"},
         "By each chip in a step, copies counted.");
  f.real("copies", o.now.slab.copies, "Copies of a cache", "Chips that hold the same key and value head.");
  f.real("held_bytes", o.now.slab.held_bytes, {"Held", "B"}, "Weights and caches of a chip.");
  f.toggle("fits", o.now.slab.fits, "Fits", "In nine tenths of its memory.");
  f.group("Talk and the rest");
  f.real("collectives", o.collectives, "All-reduces in a step", {.formula = "2 x layers"});
  f.real("rest_s", o.now.rest_s, {"The rest", "s"}, "What an engine was seen to take beyond reading and talk.");
  f.text("engine", o.engine, "Engine", "Whose published runs the expected times are fitted to.");
  f.real("expected_step_s", o.now.expected_s, {"Expected", "s"},
         "What the engine was seen to take for a token under load.",
         {.absent = unfitted,
          .formula = "start + share x reading + users x (divided / chips + joint x chips)",
          .source = "fitted on every second of its published runs"});
  f.real("start_s", o.start_s, {"Whatever the batch", "s"}, "Launches, scheduling and the like.", {.absent = unfitted});
  f.real("slower_s", o.slower_s, {"Reading below the roof", "s"}, "What reading takes more than at full bandwidth.",
         {.absent = unfitted});
  f.real("requests_s", o.requests_s, {"For its users", "s"}, "What users cost besides their bytes.",
         {.absent = unfitted});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"inference/tensor-parallel",
                                                   "Tensor-parallel decode",
                                                   "How many chips should read one model together?",
                                                   {.published_keys = "model chip"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::inference::tensor_parallel
