#include "chapters/framework/compilers/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::compilers {

const Choices length_choices = {
    {"same", "All alike", "Every call has the median length."},
    {"wikipedia", "Wikipedia", "BERT's training sequences, at most 512 tokens."},
    {"sharegpt", "ShareGPT", "Turns of conversations, prompt and answer: 64 quantiles of 20,000."},
    {"arxiv", "arXiv", "Papers with their summaries: 64 quantiles of 20,000."},
    {"lognormal", "Lognormal", "A median and a spread, drawn with the seed."}};
static_assert(lengths_count == 5);

namespace {

const Choices ways = {
    {"eager", "Eager", "Nothing is compiled: a kernel for each operation that Python asks for."},
    {"standard", "torch.compile", "Fused kernels, launched one by one from Python."},
    {"reduce_overhead", "reduce-overhead", "The same kernels in CUDA graphs, one for each length that comes twice."},
    {"max_autotune", "max-autotune", "CUDA graphs, and products chosen by timing candidates."},
    {"xla", "XLA", "Compiled whole, launched by a native program; every length is fixed."},
    {"tensorrt", "TensorRT", "An engine built ahead for a range of lengths, launched by a native program."},
    {"by_hand", "Triton by hand", "The same fused kernels, written by you and called from eager code."}};
static_assert(models::inference::compile_way_count == 7);

const Choices policies = {
    {"exact", "Exact", "A graph for each length: dynamic=False."},
    {"automatic", "Automatic", "Exact at first; a second length makes one graph for any: PyTorch's default."},
    {"dynamic", "Dynamic", "One graph for any length from the beginning: dynamic=True or mark_dynamic."},
    {"powers", "Powers of two", "Padded to a power of two, from the bucket on; a graph for each: dynamic=False."},
    {"multiples", "Multiples", "Padded to a multiple of the bucket; a graph for each: dynamic=False."},
    {"longest", "The longest", "All padded to the longest length: one graph."},
    {"any_padded", "Dynamic, padded", "Padded to a multiple of the bucket, and one graph for any of them."}};
static_assert(models::inference::chosen_policy_count == 7);

void describe_costs(Fields& f, Inputs& in) {
  f.group("Seconds of compiling");
  f.real("standard_s", in.standard_s, {"A graph of torch.compile", "s"},
         "25.2 s is what vLLM's start took longer for Llama 3 8B in December 2024; 151 s were seen in early 2024.",
         {.range = {0.1, 3600, Scale::log}, .typical = {5, 200}});
  f.real("autotune_s", in.autotune_s, {"A graph of max-autotune", "s"},
         "66.5 s is what vLLM's start took longer for Llama 3 8B on an L4, tuned for batch 1.",
         {.range = {0.1, 7200, Scale::log}, .typical = {20, 600}});
  f.real("xla_s", in.xla_s, {"An executable of XLA", "s"},
         "Assumed, 10 to 300 s. A start of vLLM on TPUs with all its lengths took 10 to 30 minutes in 2024.",
         {.range = {0.1, 7200, Scale::log}, .typical = {5, 300}});
  f.real("tensorrt_s", in.tensorrt_s, {"A TensorRT engine", "s"},
         "Assumed, 60 to 1,800 s: every candidate is timed on the device.",
         {.range = {1, 14'400, Scale::log}, .typical = {60, 1800}});
  f.real("by_hand_s", in.by_hand_s, {"Kernels by hand", "s"},
         "Assumed: Triton compiles each kernel at its first call. Your own days are not in it.",
         {.range = {0.1, 600, Scale::log}, .typical = {1, 30}});
  f.real("capture_s", in.capture_s, {"Capture of a CUDA graph", "s"}, "10 s for the 35 batch sizes that vLLM captured.",
         {.range = {0.001, 30, Scale::log}});
  f.real("break_compile_s", in.break_compile_s, {"More for each break", "s"},
         "Assumed: one more graph to trace and to lower.", {.range = {0, 60}, .typical = {0, 5}});
  f.group("What compiled calls are like");
  f.real("products_faster", in.products_faster, {"Tuned products", "%"},
         "How much faster they are: 0.8 % of a step is what vLLM won for Llama 3 8B by tuning.",
         {.range = {0, 50}, .typical = {0, 10}});
  f.real("kernels_slower", in.kernels_slower, {"Kernels for any length", "%"},
         "How much slower they are than kernels for one length. Assumed.", {.range = {0, 50}, .typical = {0, 10}});
  f.real("guard_s", in.guard_s, {"Guards of a graph", "s"}, "To check them once, on the host. Assumed.",
         {.range = {1e-7, 1e-2, Scale::log}, .typical = {5e-6, 5e-4}});
  f.real("break_s", in.break_s, {"A graph break", "s"}, "Python between two graphs. Assumed.",
         {.range = {1e-6, 1e-2, Scale::log}, .typical = {1e-5, 5e-4}});
  f.group("Launches and kernels");
  describe_launch_host(f, in.launching);
  f.real("native_launch_s", in.native_launch_s, {"Launch from a native program", "s"},
         "4.1 µs is Ridgeline's own measurement of empty kernels from C++.", {.range = {1e-6, 2e-4, Scale::log}});
  describe_graph_launches(f, in.launching);
  f.real("reached", in.reached, {"Share of the roof", "%"}, "What kernels reach of peak and bandwidth. Assumed.",
         {.range = {30, 100}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The compiler");
  f.choice("way", in.way, ways, "Way", "Who makes the kernels and who launches them.", {.headline = true});
  f.choice("policy", in.policy, policies, "Lengths", "What a graph is made for.", {.headline = true});
  f.integer("calls", in.calls, "Calls", "How long the stream is.",
            {.range = {1, max_calls, Scale::log}, .typical = {100, 20'000}, .headline = true, .costly = true});
  f.integer("bucket", in.bucket, "Bucket", "The smallest power of two, or what lengths are multiples of.",
            {.range = {1, 4096, Scale::log}, .typical = {16, 1024}, .when = {"policy", "powers|multiples|any_padded"}});
  f.integer("max_graphs", in.max_graphs, "Limit of graphs",
            "torch._dynamo.config.recompile_limit; what comes after runs eager. 0: no limit.", {.range = {0, 256}});
  f.integer("breaks", in.breaks, "Graph breaks", "In one call: each is a return to Python.",
            {.range = {0, 256}, .typical = {0, 64}});
  f.group("The stream");
  f.choice("lengths", in.lengths, length_choices, "Drawn from", "Tokens of a prompt, or sequences of a decoding step.");
  f.integer("longest", in.longest, "Longest", "What is longer is cut to this.",
            {.range = {16, 8192, Scale::log}, .typical = {128, 4096}});
  f.integer("median", in.median, "Median length", "Half of the calls are longer.",
            {.range = {1, 8192, Scale::log}, .typical = {16, 2048}, .when = {"lengths", "same|lognormal"}});
  f.real("spread", in.spread, "Spread", "Standard deviation of the logarithm of a length.",
         {.range = {0, 3}, .typical = {0, 1.5}, .when = {"lengths", "lognormal"}});
  f.integer("seed", in.seed, "Seed", "The luck of the draw.",
            {.range = {0, 1e6}, .when = {"lengths", "lognormal|sharegpt|arxiv|wikipedia"}});
  f.group("The call");
  shared::model(f, "model", in.model, {.help = "Its layers give the kernels."});
  shared::chip(f, "chip", in.chip, {.help = "Peak and bandwidth give each kernel's time."});
  describe_launched_phase(f, in.phase,
                          "Prefill: lengths are tokens of a prompt. Decode: they are sequences that get a token each.");
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Prompts in a call.", .when = {"phase", "prefill"}});
  shared::context(f, "context", in.context, {.help = "Tokens in each sequence's cache.", .when = {"phase", "decode"}});
  describe_costs(f, in);
}

void describe(Fields& f, WayRow& r) {
  f.text("name", r.name, "Way", "Who makes the kernels and who launches them.");
  f.real("launches", r.launches, "Launches", "Launches of a call of the mean length.");
  f.real("bytes", r.bytes, {"Bytes", "B"}, "What that call's kernels move.");
  f.real("host_s", r.host_s, {"Host", "s"}, "Launches and graph breaks of a call of the mean length.");
  f.real("device_s", r.device_s, {"Device", "s"}, "That call's kernels and the gaps between them.");
  f.real("call_s", r.call_s, {"A call", "s"}, "In the mean over the stream, compiling aside.",
         {.formula = "all calls / number of calls"});
  f.integer("graphs", r.graphs, "Graphs", "Compiled over the stream.", {.range = {0, 1e6}});
  f.real("compile_s", r.compile_s, {"Compiling", "s"}, "All graphs and captures of the stream.");
  f.real("padding", r.padding, {"Padding", "%"}, "Share of the tokens run that nobody asked for.");
  f.real("won_s", r.won_s, {"Won", "s"}, "Against eager, at the end of the stream; negative: lost.");
  f.real("ahead_from", r.ahead_from, "Ahead from", "The call from which it stays ahead of eager.",
         {.absent = "It is behind eager at the end of the stream."});
}

void describe(Fields& f, GraphRow& r) {
  f.text("takes", r.takes, "Takes", "The lengths that pass its guards.");
  f.integer("first_call", r.first_call, "Compiled at", "The call that waited for it.", {.range = {1, 1e9}});
  f.integer("calls", r.calls, "Calls", "How many ran in it.", {.range = {0, 1e9}});
  f.real("compile_s", r.compile_s, {"Compiling", "s"}, "What that call waited.");
}

namespace {

constexpr std::string_view launch_model = "the queue of framework/launch in closed form (max-plus algebra)";
constexpr std::string_view guard_model = "torch._dynamo: guards, automatic dynamic shapes, recompile_limit";

void describe_call(Fields& f, Outputs& o) {
  f.group("A call of the mean length");
  f.integer("launches", o.launches, "Launches", "A CUDA graph is one.", {.range = {0, 1e9}, .source = launch_model});
  f.integer("eager_launches", o.eager_launches, "Launches, eager", "Each operation of Python is a kernel or more.",
            {.range = {0, 1e9}, .source = launch_model});
  f.real("bytes", o.bytes, {"Bytes moved", "B"}, "By all kernels of the call.", {.source = launch_model});
  f.real("eager_bytes", o.eager_bytes, {"Bytes moved, eager", "B"}, "Each kernel reads and writes its own.",
         {.source = launch_model});
  f.real("host_s", o.host_s, {"Host time", "s"}, {.formula = "launches x time per launch + breaks x time per break"});
  f.real("device_s", o.device_s, {"Device time", "s"}, {.formula = "kernels + gaps"});
  f.real("mean_length", o.mean_length, "Mean length", "Over the stream as it came.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("The ledger");
  f.real("ahead_from", o.ahead_from, "Ahead from call", "From this call on it stays ahead of eager.",
         {.headline = true,
          .absent = "It is behind eager at the end of the stream, or it is eager.",
          .formula = "the last call at which compiling + calls > eager, and one"});
  f.real("won_s", o.won_s, {"Won over the stream", "s"}, "Negative: lost.",
         {.headline = true, .formula = "eager - (compiling + calls)"});
  f.integer("graphs", o.graphs, "Graphs", "Compiled over the stream.",
            {.range = {0, 1e6}, .headline = true, .source = guard_model});
  f.real("mean_call_s", o.mean_call_s, {"A call, all paid", "s"}, "Its share of the compiling counted.",
         {.headline = true, .against = {"eager", "eager_call_s"}, .formula = "(compiling + calls) / number of calls"});
  f.real("lowest_s", o.lowest_s, {"Lowest point", "s"}, "The furthest that it ever was behind eager.",
         {.formula = "least of eager - (compiling + calls), so far"});
  f.integer("lowest_at", o.lowest_at, "Lowest after call", "0: it never was behind.", {.range = {0, 1e9}});
  f.real("pays_after", o.pays_after, "Paid back after", "In calls like the mean of this stream, with the same graphs.",
         {.absent = "No call is faster than eager in the mean.", .formula = "compiling / saving per call"});
  f.real("saving_s", o.saving_s, {"Saving per call", "s"}, "In the mean, compiling aside.",
         {.formula = "(eager - calls) / number of calls"});
  f.real("compile_s", o.compile_s, {"Compiling", "s"}, "Graphs and captures.",
         {.formula = "graphs x (seconds + breaks x more for each) + captures x seconds"});
  f.real("compile_share", o.compile_share, {"Share of compiling", "%"}, {.formula = "compiling / (compiling + calls)"});
  f.real("total_s", o.total_s, {"The stream, all paid", "s"}, {.formula = "compiling + calls"});
  f.real("run_s", o.run_s, {"All calls", "s"}, "Compiling aside.");
  f.real("eager_s", o.eager_s, {"All calls, eager", "s"}, "The same lengths without a compiler.");
  f.real("steady_call_s", o.steady_call_s, {"A call, compiling aside", "s"}, {.formula = "calls / number of calls"});
  f.real("eager_call_s", o.eager_call_s, {"A call, eager", "s"}, {.formula = "eager / number of calls"});
  f.text("best_way", o.best_way, "Best way",
         "The compiler that wins most over this stream. By hand is left out: days of work have no price here.");
  f.real("best_won_s", o.best_won_s, {"It wins", "s"}, "Against eager over this stream.");
  f.group("Guards and graphs");
  f.integer("distinct_lengths", o.distinct_lengths, "Different lengths", "In the stream as it came.",
            {.range = {0, 1e6}});
  f.integer("recompilations", o.recompilations, "Recompilations", "Graphs after the first.",
            {.range = {0, 1e6}, .formula = "graphs - 1"});
  f.integer("captures", o.captures, "CUDA graphs", "Captured, one for each length that comes twice in a graph.",
            {.range = {0, 1e6}});
  f.real("capture_total_s", o.capture_s, {"Captures", "s"}, {.formula = "CUDA graphs x seconds for one"});
  f.integer("eager_calls", o.eager_calls, "Calls that ran eager", "After the limit of graphs; without a compiler all.",
            {.range = {0, 1e9}});
  f.real("eager_percent", o.eager_percent, {"Share that ran eager", "%"}, {.formula = "calls that ran eager / calls"});
  f.real("padding", o.padding, {"Padding", "%"}, "Share of the tokens run that nobody asked for.",
         {.formula = "1 - tokens that came / tokens run"});
  f.real("guards_s", o.guards_s, {"Guards per call", "s"}, "In the mean.",
         {.formula = "graphs checked x pieces x time for one"});
  f.text("policy_used", o.policy_used, "Graphs are for", "The lengths' rule as this way has it.");
  describe_call(f, o);
  f.group("Tables");
  f.table("ways", o.ways, "All ways", "Over the same stream.", {.max_items = 8});
  f.table("cache", o.cache, "The cache", "The first 32 graphs.", {.max_items = 32});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"framework/compilers",
                                                   "Compilers",
                                                   "From which call on does compiling pay?",
                                                   {.job = true, .published_keys = "model chip way phase"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::framework::compilers
