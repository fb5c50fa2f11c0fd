#include "chapters/mechanism/shared_choices.h"
#include "chapters/serving/prefix_cache/lab.h"

namespace chapters::serving::prefix_cache {
namespace {

// In the order of models::PrefixEviction, Order, Source and models::PrefixRule.
const Choices evictions{
    {"none", "Nothing", "The cache has no end."},
    {"lru", "Least recent, last block first",
     "A request touches its blocks from the last to the first: leaves go first."},
    {"lru_root_first", "Least recent, first block first",
     "The wrong way round: what hangs below a block that is gone "
     "stays, and cannot be found."},
    {"ttl", "By the clock", "A block stays so long after it was touched last, whatever else comes."}};
static_assert(models::prefix_eviction_count == 4);
const Choices orders{{"as_came", "As they came", ""},
                     {"along_tree", "Along the tree", "Depth first: all that share a prefix come after each other."},
                     {"own", "My own", "By the places below, which a drag in the picture sets."}};
const Choices sources{
    {"documents", "Questions to documents", "Made up by the seed: a system prompt, a document, a question."},
    {"chat", "Conversations", "Made up by the seed: each turn continues the one before."},
    {"mooncake", "Mooncake, synthetic trace", "2,597 requests of 680 s, blocks of 512 tokens, as they were published."},
    {"agents", "Agent sessions", "2,589 requests of 28 coding agents, recorded by WEKA, blocks of 64 tokens."},
    {"file", "My requests", "Read from the file below."}};
const Choices rules{
    {"every_block", "Every block", "The partly filled last block is kept and found too, as Mooncake's traces count."},
    {"full_blocks", "Full blocks", "As a paged engine does: full blocks alone, and one token is always computed."}};
static_assert(models::prefix_rule_count == 2);

constexpr std::string_view replayed = "the replay, block by block or by one pass of stack distances: the same figures";
constexpr std::string_view kept_when = "lru|lru_root_first";
constexpr std::string_view no_sessions = "Only a recording of sessions has them.";

}  // namespace

bool keeps_by_size(models::PrefixEviction eviction) {
  return eviction == models::PrefixEviction::lru || eviction == models::PrefixEviction::lru_root_first;
}

void describe(Fields& f, Inputs& in) {
  f.group("The cache");
  f.integer("capacity_blocks", in.capacity_blocks, "Blocks in the cache",
            "How many blocks stay. A request longer than that keeps its first ones.",
            {
                .range = {1, 1e7, Scale::log},
                .typical = {10, 1000},
                .headline = true,
                .when = {"eviction", kept_when},
            });
  f.choice("eviction", in.eviction, evictions, "What goes first", "Which block makes room for a new one.",
           {.headline = true});
  f.real("ttl_s", in.ttl_s, {"Stays for", "s"}, "After the last touch; exactly so long ago still counts.",
         {.range = {0.1, 1e6, Scale::log}, .typical = {1, 1000}, .when = {"eviction", "ttl"}});
  f.choice("order", in.order, orders, "Order",
           "Who comes first. The clock stays: whoever takes a place comes at that place's time.", {.headline = true});
  f.reals("places", in.places, "Places",
          "A number for each request, in the order in which they came: the smaller comes first, of equal ones the "
          "earlier. Who has none keeps its place.",
          {.range = {1, max_dragged}, .when = {"order", "own"}, .max_items = max_dragged});
  f.group("Requests");
  f.choice("source", in.source, sources, "Requests", "Whose prompts they are.");
  constexpr When made{"source", "documents|chat"}, recorded{"source", "mooncake|agents|file"};
  f.integer("groups", in.groups, "Documents or conversations", "Each begins with one of the system prompts.",
            {.range = {1, 32}, .when = made});
  f.integer("each", in.each, "Questions or turns", "Requests to each document, or turns of each conversation.",
            {.range = {1, 16}, .when = made});
  f.integer("systems", in.systems, "System prompts", "600 to 4,000 tokens each.", {.range = {1, 8}, .when = made});
  f.integer("seed", in.seed, "Seed", "It draws lengths and order.", {.range = {1, 9999}, .when = made});
  f.file("trace", in.trace, "Your requests",
         "JSON lines: timestamp, input_length and hash_ids of each request, as Mooncake writes them; or a session a "
         "line with block_size and requests, as WEKA does. Lines that say something else are left out and named.",
         {.when = {"source", "file"}, .mode = {"source", "file"}},
         {.reads = {FileKind::arrivals}, .accepts = "jsonl, json", .by_bytes = true});
  f.integer("families", in.families, "Most shared first blocks",
            "Only requests that begin with one of so many first blocks, those that most requests have; 0: all.",
            {.range = {0, 1000}, .typical = {0, 40}, .when = recorded});
  f.toggle("at_once", in.at_once, "Sessions side by side",
           "In order of time, as if all began together; off: as the file has them, session by session.",
           {.when = {"source", "agents|file"}});
  f.group("How blocks count");
  f.integer("block_tokens", in.block_tokens, {"Tokens per block", "tokens"},
            "A recording of sessions states its own, and Mooncake's trace has 512.",
            {.range = {1, 8192, Scale::log}, .typical = {16, 2048}, .when = {"source", "documents|chat|file"}});
  f.choice("rule", in.rule, rules, "Counted", "Which blocks are kept, and may be found.");
  f.group("What it saves");
  shared::model(f, "model", in.model, {.help = "Its keys and values fill the cache, its prefill is saved."});
  shared::chip(f, "chip", in.chip, {.help = "Its peak in BF16 turns saved arithmetic into time."});
}

namespace {

void describe_found(Fields& f, Outputs& o) {
  f.group("Found");
  f.real("hit_percent", o.hit_percent, {"Blocks found", "%"},
         {
             .headline = true,
             .against = {"endless:", "ideal_percent"},
             .formula = "blocks found / blocks of all prompts",
             .source = replayed,
         });
  f.integer("recomputed_blocks", o.recomputed_blocks, "Recomputed",
            "Blocks that some request before computed and that are gone.",
            {.headline = true, .formula = "blocks an endless cache would find - blocks found"});
  f.integer("capacity_for_all", o.capacity_for_all, "Blocks to lose none",
            "Smallest cache, in blocks, that finds in this order what an endless one finds; leaves go first.",
            {.headline = true, .formula = "largest stack distance", .source = "Mattson et al. 1970"});
  f.real("saved_percent", o.saved_percent, {"Prefill saved", "%"}, "Its arithmetic, attention included.",
         {.headline = true, .formula = "FLOPs saved / FLOPs without a cache"});
  f.integer("hit_blocks", o.figures.hit_blocks, "Found blocks", {.source = replayed});
  f.integer("total_blocks", o.figures.total_blocks, "Blocks of all prompts", "Each as often as a prompt has it.");
  f.real("block_hit_rate", o.figures.block_hit_rate, "Found, as a share of one",
         {.formula = "blocks found / blocks of all prompts"});
  f.integer("hit_tokens", o.figures.hit_tokens, {"Tokens found", "tokens"},
            {.formula = "sum of min(blocks found x block, prompt)"});
  f.integer("total_tokens", o.figures.total_tokens, {"Tokens of all prompts", "tokens"}, "As their requests state.");
  f.real("token_hit_rate", o.figures.token_hit_rate, "Tokens found, as a share of one",
         {.formula = "tokens found / tokens"});
  f.real("mean_request_token_hit_rate", o.figures.mean_request_token_hit_rate, "A request's, on average",
         {.formula = "mean over requests of tokens found / tokens"});
  f.real("session_hit_mean", o.session_hit_mean, {"A session's, on average", "%"},
         {.absent = no_sessions, .formula = "mean over sessions of blocks found / blocks"});
  f.real("session_hit_median", o.session_hit_median, {"A session's, in the middle", "%"},
         {.absent = no_sessions, .formula = "lower median over sessions of blocks found / blocks"});
  f.integer("requests", o.figures.requests, "Requests", "Those that take part.");
  f.integer("requests_full_hit", o.figures.requests_full_hit, "Found whole", "Requests with all blocks in the cache.");
  f.integer("requests_no_hit", o.figures.requests_no_hit, "Found nothing", "Requests whose first block is not there.");
  f.integer("computed_blocks", o.computed_blocks, "Blocks computed", {.formula = "blocks of all prompts - found"});
}

void describe_other_ways(Fields& f, Outputs& o) {
  f.group("Other ways");
  f.real("ideal_percent", o.ideal_percent, {"Endless cache", "%"}, "In any order.",
         {.formula = "1 - distinct blocks / blocks, as far as they may be found"});
  f.real("as_came_percent", o.as_came_percent, {"As they came", "%"}, "The same cache.", {.source = replayed});
  f.real("along_percent", o.along_percent, {"Along the tree", "%"},
         "The same cache; the best there is once it holds the longest prompt.",
         {.source = "Zheng et al., SGLang, arXiv 2312.07104, theorem 3.1"});
  f.real("leaf_first_percent", o.leaf_first_percent, {"Last block first", "%"},
         "Least recently used with as many blocks, in the order that is set.", {.source = replayed});
  f.real("root_first_percent", o.root_first_percent, {"First block first", "%"},
         "Least recently used with as many blocks, in the order that is set.", {.source = replayed});
}

void describe_tree(Fields& f, Outputs& o) {
  f.group("The tree");
  f.integer("nodes", o.tree.nodes, "Distinct blocks", "What an endless cache holds at the end.");
  f.integer("max_depth", o.tree.max_depth, "Deepest", "Blocks of the longest prompt.");
  f.integer("root_children", o.tree.root_children, "First blocks", "Distinct blocks that begin a prompt.");
  f.integer("leaves", o.tree.leaves, "Leaves", "Blocks that no block follows.");
  f.integer("branching_nodes", o.tree.branching_nodes, "Branches", "Blocks that two or more follow.");
  f.integer("compressed_nodes", o.tree.compressed_nodes, "Nodes of the radix tree",
            "Runs of blocks that end where a prompt ends or others go on differently.");
  f.integer("distinct_end_nodes", o.tree.distinct_end_nodes, "Ends", "Distinct blocks with which a prompt ends.");
  f.real("mean_node_depth", o.tree.mean_node_depth, "Depth of a block, mean",
         {.formula = "the first block has depth 1"});
  f.integer("block_tokens_counted", o.block_tokens, {"Tokens per block, as counted", "tokens"},
            "What was set, or what the recording states.");
}

void describe_memory(Fields& f, Outputs& o) {
  f.group("Memory");
  f.integer("cached_blocks", o.cached_blocks, "In the cache at the end", {.source = replayed});
  f.real("cached_bytes", o.cached_bytes, {"Their keys and values", "B"},
         {.binary = true, .formula = "blocks x tokens per block x bytes per token"});
  f.real("tree_bytes", o.tree_bytes, {"All distinct blocks, kept", "B"},
         {.binary = true, .formula = "distinct blocks x tokens per block x bytes per token"});
  f.real("unshared_bytes", o.unshared_bytes, {"If none were shared", "B"}, "All prompts kept, each by itself.",
         {.binary = true, .formula = "blocks of all prompts x tokens per block x bytes per token"});
  f.real("kv_bytes_per_token", o.kv_bytes_per_token, {"Bytes per token", "B"},
         {.binary = true, .formula = "2 x layers x KV heads x head size x 2 bytes", .source = "the model's config"});
}

void describe_prefill(Fields& f, Outputs& o) {
  f.group("Prefill");
  f.real("whole_flops", o.whole_flops, {"Without a cache", "FLOP"},
         {.formula = "2 x parameters x tokens + 4 x layers x heads x head size x pairs",
          .source = "Kaplan et al. 2020; PaLM, appendix B, forward alone, attention full in every layer"});
  f.real("prefill_flops", o.prefill_flops, {"With this cache", "FLOP"}, {.formula = "the same for what is not found"});
  f.real("saved_flops", o.saved_flops, {"Saved", "FLOP"}, {.formula = "without a cache - with it"});
  f.real("saved_s", o.saved_s, {"At the chip's peak", "s"},
         "How long one chip would compute at full peak for what is saved; no chip is so fast.",
         {.absent = "The chip states no peak in BF16.", .formula = "FLOPs saved / peak"});
}

void describe_file(Fields& f, Outputs& o) {
  f.group("The file");
  f.integer("rows_left_out", o.rows_left_out, "Rows left out", "Lines or requests that say something else.");
  f.integer("without_ids", o.without_ids, "Without ids", "Requests of sessions that have none, such as sub-agents'.");
  f.text("losses", o.losses, "What was left out", "Which rows, and why the first of them.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_found(f, o);
  describe_other_ways(f, o);
  describe_tree(f, o);
  describe_memory(f, o);
  describe_prefill(f, o);
  describe_file(f, o);
}

void describe(Fields& f, View& v) {
  f.real("after", v.after, "Requests that have come", "How far the tree has grown; beyond the last is the last.",
         {.range = {0, 1e9}});
  f.toggle("playing", v.playback.playing, "Playing", "Requests come by the clock.");
}

LabPtr make() {
  const auto kept = std::make_shared<Kept>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"serving/prefix-cache",
       "Prefix cache",
       "How much of a prompt has been computed already, and what decides it?",
       {.job = true, .published_keys = "source eviction"}},
      [kept](const Inputs& in, Progress& progress) { return compute(in, progress, *kept); }, arrange, draw);
}

}  // namespace chapters::serving::prefix_cache
