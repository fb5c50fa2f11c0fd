#include "chapters/described/cache_choices.h"
#include "chapters/inference/kv_cache/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::kv_cache {
namespace {

const Choices sharing_choices{
    {"own", "as the model has it", "The heads of the model's own config file."},
    {"grouped", "in groups of query heads", "Groups of query heads use the same key and value (GQA; one head is MQA)."},
    {"latent", "one latent per layer", "All heads are made from one vector per layer (MLA, DeepSeek-V2 and V3)."}};
const Choices placement_choices{
    {"by_head", "by head",
     "Each chip holds its heads of every sequence; with fewer key and value heads than chips, heads are held twice."},
    {"by_sequence", "by sequence",
     "Each chip holds whole sequences and all attention weights (data-parallel attention, as DeepSeek-V3 is served)."}};
const Choices host_links{{"pcie", "PCIe", "The catalog's generation of the chip, sixteen lanes."},
                         {"dies", "NVLink-C2C", "A link from die to die, 450 GB/s a direction, as a GH200 has it."}};
constexpr std::string_view no_link = "Nobody states how this chip is linked to its host.";
constexpr std::string_view no_step = "Nothing fits, so that there is no step.";

void describe_design(Fields& f, Inputs& in) {
  f.group("The cache");
  shared::context(f, "context", in.context,
                  {.help = "How many tokens the cache of each user holds.", .headline = true});
  f.choice("sharing", in.sharing, sharing_choices, "Keys and values", "How the heads of a layer share keys and values.",
           {.headline = true});
  f.integer("kv_heads", in.kv_heads, "KV heads", "How many key and value heads each layer keeps.",
            {.range = {1, 128, Scale::log}, .when = {"sharing", "grouped"}});
  f.integer("latent", in.latent, "Latent", "How many numbers the latent has; 64 more carry the position.",
            {.range = {64, 4096, Scale::log}, .when = {"sharing", "latent"}});
  f.choice("kv_format", in.kv_format, kv_recipe_choices(), "Cache format",
           "How many bits a number of the cache takes, scales included.", {.headline = true});
  f.toggle("windowed", in.windowed, "Layers with a window", "Layers look back over a window and keep no more than it.");
  f.integer("window", in.window, {"Window", "tokens"}, "How many tokens a layer with a window keeps.",
            {.range = {16, 131072, Scale::log}, .when = {"windowed", "true"}});
  f.integer("global_every", in.global_every, "Whole layer every",
            "One layer in so many keeps all tokens (Gemma 3: 6); at 0 every layer has the window.",
            {.range = {0, 64}, .typical = {0, 12}, .when = {"windowed", "true"}});
  f.integer("layers_share", in.layers_share, "Layers that share",
            "How many neighbouring layers use the same keys and values (cross-layer attention).", {.range = {1, 8}});
}

void describe_machine(Fields& f, Inputs& in) {
  f.group("The model and the chip");
  shared::model(f, "model", in.model, {.help = "Its weights take memory first, its shape says what a token takes."});
  shared::format(f, "format", in.format, {.label = "Weights", .help = "How the weights are stored."});
  shared::chip(f, "chip", in.chip, {.help = "Its memory holds weights and caches, its bandwidth reads them."});
  shared::parallel_tensor(f, "chips", in.chips, {.label = "Chips", .help = "How many chips share the model."});
  f.choice("placement", in.placement, placement_choices, "Attention is split",
           "Whether chips divide the heads of every sequence or the sequences.");
  f.group("Kept free");
  f.real("memory_bytes", in.memory_bytes, {"Memory of a chip", "B"},
         "0 takes the chip's nameplate. Devices report some percent more: an H100 of 80 GB says 85.0 GB.",
         {.range = {0, 1e12}, .typical = {0, 300e9}});
  f.real("memory_share", in.memory_share, "Share of the memory",
         "The share of the chip's memory that the engine may take; 0.9 is vLLM's default.", {.range = {0.1, 1}});
  f.real("workspace_bytes", in.workspace_bytes, {"Workspace", "B"},
         "What activations, graphs and libraries take on each chip.", {.range = {0, 64e9}, .typical = {0, 8e9}});
  f.group("Given and parked");
  shared::concurrent_sequences(f, "batch", in.batch,
                               {.label = "Users counted", .help = "The caches of so many users are added up."});
  f.real("host_bytes", in.host_bytes, {"Host memory", "B"},
         "Memory of the host that may hold the caches of users who wait.", {.range = {0, 16e12}, .typical = {0, 2e12}});
  f.choice("host_link", in.host_link, host_links, "Link to the host", "What joins each chip to the host's memory.");
  f.real("drives_bytes", in.drives_bytes, {"Local drives", "B"},
         "What the machine's NVMe drives hold: eight of 3.84 TB unless set.",
         {.range = {0, 1e15}, .typical = {0, 250e12}});
  f.real("drives_bytes_per_s", in.drives_bytes_per_s, {"Drives read", "B/s"},
         "All drives together: eight of 7 GB/s, four lanes of PCIe 4 each, unless set.",
         {.range = {1e8, 2e12, Scale::log}, .typical = {1e9, 2e11}});
  f.real("remote_bytes", in.remote_bytes, {"Remote store", "B"}, "What a store behind the network holds.",
         {.range = {0, 1e18}, .typical = {0, 1e16}});
  shared::network(f, "network", in.network, {.help = "Each chip's port to the remote store."});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_design(f, in);
  describe_machine(f, in);
}

void describe(Fields& f, DesignRow& r) {
  f.text("name", r.name, "Keeps");
  f.text("sharing", r.sharing, "Known as");
  f.real("token_bytes", r.fit.token_bytes, {"A token", "B"});
  f.real("weights_bytes", r.fit.weights_bytes, {"Weights", "B"});
  f.real("sequence_bytes", r.fit.sequence_bytes, {"A user", "B"});
  f.real("sequences", r.fit.sequences, "Users that fit");
  f.real("tokens_per_s", r.fit.tokens_per_s, "Tokens a second at most");
  f.real("elements", r.elements, "Numbers per layer");
  f.real("kv_heads", r.kv_heads, "KV heads");
  f.toggle("yours", r.yours, "Yours");
  f.text("why_not", r.why_not, "Why not");
}

void describe(Fields& f, TierRow& r) {
  f.text("tier", r.name, "Waits in");
  f.text("link", r.link, "Over");
  f.real("capacity", r.tier.capacity_bytes, {"Holds", "B"});
  f.real("tokens", r.tier.tokens, "Tokens that fit");
  f.real("sequences", r.tier.sequences, "Users that fit");
  f.real("bytes_per_s", r.tier.bytes_per_s, {"Rate", "B/s"}, "One user's cache, on the slowest link.",
         {.absent = no_link});
  f.real("latency_s", r.tier.latency_s, {"First byte", "s"});
  f.real("fetch_s", r.tier.fetch_s, {"Bringing back", "s"}, {.absent = no_link});
  f.real("gain", r.tier.gain, {"Computing again takes", "\xC3\x97"}, {.absent = no_link});
}

void describe(Fields& f, Outputs& o) {
  f.group("A token and a user");
  f.real("bytes_per_token", o.fit.token_bytes, {"A token", "B"},
         "What one more token takes in all layers, before a window is full.",
         {.headline = true,
          .formula = "2 x layers x KV heads x head width x bytes of a number",
          .source = "Hugging Face config files; DeepSeek-V2 (2024) for a latent, which is kept once"});
  f.real("sequence_bytes", o.fit.sequence_bytes, {"One user", "B"}, "The cache of one sequence of this context.",
         {.headline = true, .formula = "tokens kept, summed over layers, x bytes per layer"});
  f.real("held_bytes", o.fit.held_bytes, {"One user as held", "B"},
         "The same with the copies that chips hold of one another's heads.", {.formula = "one user x copies"});
  f.real("copies", o.fit.copies, "Copies of a cache", "Chips that hold the same key and value head, or latent.",
         {.formula = "chips / KV heads, at least 1; a latent: chips"});
  f.real("total_bytes", o.total_bytes, {"Users counted", "B"}, "The caches of as many users as are counted.",
         {.formula = "batch x one user"});
  f.real("elements", o.elements, "Numbers per layer", "What one layer keeps of one token.",
         {.formula = "2 x KV heads x head width, or latent + 64"});
  f.real("query_heads", o.query_heads, "Query heads", "Heads of attention in a layer of the model.");
  f.real("layers", o.layers, "Layers", "Each keeps keys and values of its own, unless layers share.");
  f.group("Who fits");
  f.real("sequences", o.fit.sequences, "Users that fit", "Whole sequences of this context next to the weights.",
         {.headline = true, .formula = "room / one user, rounded down"});
  f.real("tokens_per_s", o.fit.tokens_per_s, "Tokens a second at most",
         "What all users together get, at most, when the memory is full: weights and caches are read once a step.",
         {.headline = true, .absent = no_step, .formula = "users / step"});
  f.real("step_s", o.fit.step_s, {"A step when full", "s"},
         "Reading weights and caches once at full bandwidth, or the arithmetic where that takes longer.",
         {.absent = no_step, .formula = "max((weights + caches) / bandwidth, 2 x parameters x users / peak)"});
  f.real("weights_bytes", o.fit.weights_bytes, {"Weights", "B"}, "On all chips, with what each of them repeats.");
  f.real("offered_bytes", o.fit.offered_bytes, {"The engine may take", "B"}, {.formula = "share x memory x chips"});
  f.real("workspace", o.fit.workspace_bytes, {"Workspace of all chips", "B"},
         "Kept for activations, graphs and libraries.");
  f.real("room_bytes", o.fit.room_bytes, {"Room for caches", "B"}, "Below 0 where the weights alone do not fit.",
         {.formula = "may take - weights - workspace"});
  f.real("left_bytes", o.fit.left_bytes, {"Left over", "B"}, "Room that no whole user fills.");
  f.real("room_tokens", o.room_tokens, "Tokens that fit",
         "Tokens of cache in all, at this context, as an engine prints them when it starts.",
         {.formula = "room / one user as held x context"});
  f.real("longest_tokens", o.fit.longest_tokens, "Longest for one", "The longest context of a single user.",
         {.absent = "Every layer has a window, so that a user stops growing."});
  f.group("Other designs");
  f.real("all_heads_bytes", o.all_heads_bytes, {"One user, all heads", "B"},
         "With a key and a value head for every query head (multi-head attention).");
  f.real("all_heads_sequences", o.all_heads_sequences, "Users, all heads",
         "With a key and a value head for every query head.");
  f.text("most_name", o.most_name, "Lets most users in", "The design, of those that stand side by side.");
  f.real("most_sequences", o.most_sequences, "... users", "That fit with the design that lets most in.");
  f.table("designs", o.designs, "Ways to keep keys and values");
  f.group("Parked users");
  f.real("host_sequences", o.fit.host_sequences, "Users in the host", "Caches that the host's memory holds.",
         {.formula = "host memory / one user, rounded down"});
  f.real("fetch_s", o.fit.fetch_s, {"Bringing one back", "s"}, "Over the links between chips and host, one direction.",
         {.absent = "Nobody states how this chip is linked to its host.", .formula = "held / (chips x link)"});
  f.real("recompute_s", o.fit.recompute_s, {"Computing it again", "s"},
         "The whole context as a prompt, at the chips' peak: the least that it can take.",
         {.formula = "FLOP of the prompt / peak"});
  f.real("parked_tokens", o.parked_tokens, "Tokens in all tiers", "Host, drives and remote store together.",
         {.formula = "sum of capacity / bytes a user x context"});
  f.real("parked_sequences", o.parked_sequences, "Users in all tiers", {.formula = "sum over tiers"});
  f.real("farthest_worth", o.farthest_worth, "Tiers worth it",
         "From so many of the three bringing a user back is sooner than computing again at the chips' peak.");
  f.table("tiers", o.tiers, "Where users wait");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"inference/kv-cache",
                                                   "KV cache",
                                                   "How many users does a model serve that fits on the chip?",
                                                   {.published_keys = "model chip"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::inference::kv_cache
