#include "chapters/serving/batching/lab.h"

#include "chapters/described/serving_choices.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::serving::batching {
namespace {

// In the order of Arrivals and models::Preemption.
const Choices arrival_kinds{{"poisson", "Poisson", "Independent of each other at one rate."},
                            {"bursty", "Bursty", "A fifth of the time the rate is several times the mean."},
                            {"gamma", "Gamma gaps", "Independent gaps, more or less even than those of Poisson."}};
const Choices preemptions{
    {"recompute", "Recompute", "Its cache is dropped; prompt and output so far are put through again."},
    {"swap", "Swap to the host", "Its cache crosses PCIe at 25 GB/s, out and back."}};

}  // namespace

namespace {

void describe_servers(Fields& f, Inputs& in) {
  f.group("The race");
  f.choice("policy", in.policy, serving_policy_choices(), "Policy", "The scheduler whose figures the outputs give.",
           {.headline = true});
  f.choices("against", in.against, serving_policy_choices(), "Race against",
            "Others that meet the same arrivals; up to 10,000 are measured, and the first three are shown.");
  f.integer("slots", in.slots, "Slots",
            "Requests in a batch of one server; engines ship with some 256, published runs take up to 4,096.",
            {.range = {1, 4096, Scale::log}, .typical = {1, 512}, .headline = true});
  f.real("timeout_s", in.timeout_s, {"Timeout", "s"}, "After which a dynamic batch starts short.",
         {.range = {1e-3, 100, Scale::log}, .typical = {0.01, 10}});
  f.integer("chunk_tokens", in.chunk_tokens, {"Tokens per step", "tokens"},
            "Chunked prefill: decoding requests take one each, prompts what is left, 16 at least.",
            {.range = {64, 8192, Scale::log}, .when = {"service", "llm"}});
  f.group("What serves");
  f.choice("service", in.service, service_kind_choices(), "Service time",
           "From the model's steps, or a plain queue in which a request takes one time drawn beforehand.");
  shared::model(f, "model", in.model,
                {.help = "Its weights are read in each step, its cache by each sequence.", .when = {"service", "llm"}});
  shared::chip(f, "chip", in.chip,
               {.help = "Kernels reach 70 % of its peak and bandwidth here; 90 % of its memory is used.",
                .when = {"service", "llm"}});
  shared::parallel_tensor(
      f, "chips", in.chips,
      {.label = "Chips",
       .help = "They share every layer (tensor parallel); two all-reduces of 8 \xC2\xB5s each per layer.",
       .when = {"service", "llm"}});
  shared::format(f, "format", in.format,
                 {.label = "Weights",
                  .help = "Format of weights and matmuls; the cache has its own.",
                  .when = {"service", "llm"}});
  f.real("service_time_s", in.service_time_s, {"Service time, mean", "s"},
         "The mean of a plain queue; the model's steps give their own.", {.range = {1e-4, 1e3, Scale::log}});
  constexpr When by_tokens{"service", "per_token"};
  f.real("fixed_s", in.fixed_s, {"For a request", "s"}, "Added to each service by tokens, whatever its lengths.",
         {.range = {0, 100}, .typical = {0, 1}, .when = by_tokens});
  f.real("per_prompt_token_s", in.per_prompt_token_s, {"For a token in", "s"}, "Times the tokens of the prompt.",
         {.range = {0, 1}, .typical = {0, 1e-3}, .when = by_tokens});
  f.real("per_output_token_s", in.per_output_token_s, {"For a token out", "s"}, "Times the tokens of the answer.",
         {.range = {1e-6, 10, Scale::log}, .typical = {1e-3, 0.1}, .when = by_tokens});
  f.integer("servers", in.servers, "Servers",
            "Servers of a plain queue, fed from one line; with a model, replicas that get requests in turn.",
            {.range = {1, 64, Scale::log}});
}

void describe_load(Fields& f, Inputs& in) {
  f.group("Arrivals");
  shared::arrival_rate(f, "arrival_rate", in.arrival_rate, {0.5, 50},
                       {.help = "Mean rate of requests; a file of arrivals replaces it.", .headline = true});
  f.choice("arrivals", in.arrivals, arrival_kinds, "Arrivals", "How they come, at the same mean rate.");
  f.real("burst", in.burst, "Rate in a burst", "Times the mean; bursts last ten mean gaps between arrivals on average.",
         {.range = {1, 5}, .when = {"arrivals", "bursty"}});
  f.real("gap_cv", in.gap_cv, "Gaps, spread", "Standard deviation of a gap over its mean; 1: as Poisson arrivals.",
         {.range = {0.1, 10, Scale::log}, .when = {"arrivals", "gamma"}});
  f.integer("requests", in.requests, "Requests measured",
            "What the figures are from. A tenth more come before them, while the server fills, and a tenth after; "
            "neither counts. A file of arrivals brings its own, and all of them count.",
            {.range = {1, 1e6, Scale::log}, .typical = {100, 100'000}, .costly = true});
  f.integer("pictured", in.pictured, "Requests pictured",
            "Those drawn are measured ones, once the server has filled; where a queue grows, the first of all. Others "
            "are grey.",
            {.range = {1, 120}});
  f.integer("seed", in.seed, "Seed",
            "The same seed gives the same arrivals and lengths to every policy. Beyond 8,192 requests every second "
            "block mirrors the one before it.",
            {.range = {0, 1e9}});
  f.file("trace", in.trace, "Your arrivals",
         "A CSV with columns named time, prompt and output (also as the Azure and BurstGPT traces name them): seconds "
         "or dates, tokens, tokens; or a Mooncake trace in JSON lines. While one is here, it replaces rate, number and "
         "lengths.",
         {.reads = {FileKind::arrivals}, .accepts = "csv, jsonl"});
  f.file("benchmark", in.benchmark, "Your benchmark",
         "What vllm bench serve, sglang.bench_serving or trtllm-bench printed, or the JSON that they wrote: the same "
         "load goes through the chosen policy, and both are given side by side. The race stays as it is.",
         {.reads = {FileKind::benchmark_log}, .accepts = "txt, log, json, jsonl"});
  f.group("Lengths");
  shared::prompt_tokens(f, "prompt_tokens", in.prompt_tokens, {16, 8192},
                        {.help = "Lengths are log-normal.", .when = {"service", "llm|per_token"}});
  shared::output_tokens(f, "output_tokens", in.output_tokens, {8, 2048},
                        {.help = "Lengths are log-normal.", .when = {"service", "llm|per_token"}});
  f.real("length_variation", in.length_variation, "Spread of lengths",
         "Standard deviation over mean; 0 makes all alike.", {.range = {0, 2}, .when = {"service", "llm|per_token"}});
  f.group("KV cache");
  f.real("kv_share", in.kv_share, {"Memory for the cache", "%"},
         "Its part of what the weights leave; lower it until requests are sent back.",
         {.range = {0.1, 100, Scale::log}, .when = {"service", "llm"}});
  f.choice("kv_format", in.kv_format, engine_kv_choices(), "Keys and values in",
           "What a cached number takes: half the bytes hold twice the tokens and are read in half the time.",
           {.when = {"service", "llm"}});
  f.integer("block_tokens", in.block_tokens, {"Tokens per block", "tokens"},
            "The cache is handed out in blocks of this size.",
            {.range = {1, 256, Scale::log}, .when = {"service", "llm"}});
  f.choice("preemption", in.preemption, preemptions, "When blocks run out",
           "The youngest request goes back to the queue.", {.when = {"service", "llm"}});
  f.group("SLO");
  shared::ttft_limit(f, "ttft_limit_s", in.ttft_limit_s, {0.05, 10}, {.help = "What goodput asks of a request."});
  shared::tpot_limit(f, "tpot_limit_s", in.tpot_limit_s, {5e-3, 0.5},
                     {.help = "What goodput asks of a request.", .when = {"service", "llm"}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_servers(f, in);
  describe_load(f, in);
}

}  // namespace chapters::serving::batching
