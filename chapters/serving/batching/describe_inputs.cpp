#include "chapters/serving/batching/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::serving::batching {
namespace {

// In the order of models::ServingPolicy, Service, Arrivals, models::Preemption and models::KvFormat.
const Choices policies{
    {"single", "One by one", "A request has the server to itself."},
    {"static", "Static", "Waits for a full batch; all leave when the longest is done."},
    {"dynamic", "Dynamic", "As static, but starts short when the oldest has waited for the timeout."},
    {"continuous", "Continuous", "Requests join and leave at every step; prompts take steps of their own."},
    {"chunked", "Chunked prefill", "Continuous, with prompts cut up and mixed into the decode steps."}};
const Choices services{{"llm", "From model and chip", "Each step takes what the roofline says."},
                       {"exponential", "Exponential", "A plain queue: service times vary widely and have no memory."},
                       {"deterministic", "Fixed", "A plain queue: every service takes the same time."}};
const Choices arrival_kinds{{"poisson", "Poisson", "Independent of each other at one rate."},
                            {"bursty", "Bursty", "A fifth of the time the rate is several times the mean."}};
const Choices preemptions{
    {"recompute", "Recompute", "Its cache is dropped; prompt and output so far are put through again."},
    {"swap", "Swap to the host", "Its cache crosses PCIe at 25 GB/s, out and back."}};
const Choices kv_formats{{"bf16", "BF16", "Two bytes a number."},
                         {"fp8", "FP8", "One byte a number, and a 4-byte scale a layer for keys and one for values."}};
static_assert(models::kv_format_count == 2);

}  // namespace

const Choices& policy_choices() { return policies; }

void describe(Fields& f, Inputs& in) {
  f.group("The race");
  f.choice("policy", in.policy, policies,
           {.label = "Policy", .help = "The scheduler whose figures the outputs give.", .headline = true});
  f.choices("against", in.against, policies,
            {.label = "Race against",
             .help = "Others that meet the same arrivals; up to 10,000 are measured, and the first three are shown."});
  f.integer("slots", in.slots,
            {.label = "Slots",
             .help = "Requests in a batch of one server; engines ship with some 256, published runs take up to 4,096.",
             .lo = 1,
             .hi = 4096,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 512,
             .headline = true});
  f.real("timeout_s", in.timeout_s,
         {
             .label = "Timeout",
             .unit = "s",
             .help = "After which a dynamic batch starts short.",
             .lo = 1e-3,
             .hi = 100,
             .scale = Scale::log,
             .typical_lo = 0.01,
             .typical_hi = 10,
         });
  f.integer("chunk_tokens", in.chunk_tokens,
            {
                .label = "Tokens a step",
                .unit = "tokens",
                .help = "Chunked prefill: decoding requests take one each, prompts what is left, 16 at least.",
                .lo = 64,
                .hi = 8192,
                .scale = Scale::log,
                .when = {"service", "llm"},
            });
  f.group("What serves");
  f.choice("service", in.service, services,
           {.label = "Service time",
            .help = "From the model's steps, or a plain queue in which a request takes one time drawn beforehand."});
  shared::model(f, "model", in.model,
                {.help = "Its weights are read in each step, its cache by each sequence.", .when = {"service", "llm"}});
  shared::chip(f, "chip", in.chip,
               {.help = "Kernels reach 70 % of its peak and bandwidth here; 90 % of its memory is used.",
                .when = {"service", "llm"}});
  shared::parallel_tensor(f, "chips", in.chips,
                          {.label = "Chips",
                           .help = "They share every layer (tensor parallel); two all-reduces of 8 us each in a layer.",
                           .when = {"service", "llm"}});
  shared::format(f, "format", in.format,
                 {.label = "Weights",
                  .help = "Format of weights and products; the cache has its own.",
                  .when = {"service", "llm"}});
  f.real("service_time_s", in.service_time_s,
         {
             .label = "Service time, mean",
             .unit = "s",
             .help = "Of the plain queue; the model's steps give their own.",
             .lo = 1e-4,
             .hi = 1e3,
             .scale = Scale::log,
         });
  f.integer("servers", in.servers,
            {
                .label = "Servers",
                .help = "Of the plain queue, fed from one line; with a model, replicas that get requests in turn.",
                .lo = 1,
                .hi = 64,
                .scale = Scale::log,
            });
  f.group("Arrivals");
  f.real("arrival_rate", in.arrival_rate,
         {.label = "Arrivals a second",
          .help = "Mean rate of requests; a file of arrivals replaces it.",
          .lo = 0.01,
          .hi = 1000,
          .scale = Scale::log,
          .typical_lo = 0.5,
          .typical_hi = 50,
          .headline = true});
  f.choice("arrivals", in.arrivals, arrival_kinds,
           {.label = "Arrivals", .help = "How they come, at the same mean rate."});
  f.real("burst", in.burst,
         {
             .label = "Rate in a burst",
             .help = "Times the mean; bursts last ten mean gaps between arrivals on average.",
             .lo = 1,
             .hi = 5,
             .when = {"arrivals", "bursty"},
         });
  f.integer("requests", in.requests,
            {
                .label = "Requests measured",
                .help = "What the figures are from. A tenth more come before them, while the server fills, and a tenth "
                        "behind; neither counts. A file of arrivals brings its own, and all of them count.",
                .lo = 1,
                .hi = 1e6,
                .scale = Scale::log,
                .typical_lo = 100,
                .typical_hi = 100'000,
            });
  f.integer("pictured", in.pictured,
            {
                .label = "Requests pictured",
                .help = "The first of all, from an empty server on; those behind them are grey.",
                .lo = 1,
                .hi = 120,
            });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "The same seed gives the same arrivals and lengths to every policy. Beyond 8,192 requests "
                        "every second block mirrors the one before it.",
                .lo = 0,
                .hi = 1e9,
            });
  f.file("trace", in.trace,
         {.label = "Your arrivals",
          .help = "A CSV with columns named time, prompt and output (also as the Azure and BurstGPT traces name them): "
                  "seconds or dates, tokens, tokens; or a Mooncake trace in JSON lines. While one is here, it replaces "
                  "rate, number and lengths."},
         {.accepts = "csv, jsonl"});
  f.group("Lengths");
  f.real("prompt_tokens", in.prompt_tokens,
         {
             .label = "Prompt, mean",
             .unit = "tokens",
             .help = "Lengths are log-normal.",
             .lo = 1,
             .hi = 32768,
             .scale = Scale::log,
             .typical_lo = 16,
             .typical_hi = 8192,
             .when = {"service", "llm"},
         });
  f.real("output_tokens", in.output_tokens,
         {
             .label = "Output, mean",
             .unit = "tokens",
             .help = "Lengths are log-normal.",
             .lo = 1,
             .hi = 8192,
             .scale = Scale::log,
             .typical_lo = 8,
             .typical_hi = 2048,
             .when = {"service", "llm"},
         });
  f.real("length_variation", in.length_variation,
         {
             .label = "Spread of lengths",
             .help = "Standard deviation over mean; 0 makes all alike.",
             .lo = 0,
             .hi = 2,
             .when = {"service", "llm"},
         });
  f.group("KV cache");
  f.real("kv_share", in.kv_share,
         {
             .label = "Memory for the cache",
             .unit = "%",
             .help = "Of what the weights leave; lower it until requests are sent back.",
             .lo = 0.1,
             .hi = 100,
             .scale = Scale::log,
             .when = {"service", "llm"},
         });
  f.choice(
      "kv_format", in.kv_format, kv_formats,
      {
          .label = "Keys and values in",
          .help = "What a cached number takes: half the bytes hold twice the tokens and are read in half the time.",
          .when = {"service", "llm"},
      });
  f.integer("block_tokens", in.block_tokens,
            {
                .label = "Tokens a block",
                .unit = "tokens",
                .help = "The cache is handed out in blocks of this size.",
                .lo = 1,
                .hi = 256,
                .scale = Scale::log,
                .when = {"service", "llm"},
            });
  f.choice("preemption", in.preemption, preemptions,
           {
               .label = "When blocks run out",
               .help = "The youngest request goes back to the queue.",
               .when = {"service", "llm"},
           });
  f.group("SLO");
  f.real("ttft_limit_s", in.ttft_limit_s,
         {
             .label = "First token within",
             .unit = "s",
             .help = "For goodput.",
             .lo = 1e-3,
             .hi = 1e3,
             .scale = Scale::log,
             .typical_lo = 0.05,
             .typical_hi = 10,
         });
  f.real("tpot_limit_s", in.tpot_limit_s,
         {
             .label = "Further tokens within",
             .unit = "s",
             .help = "For goodput.",
             .lo = 1e-3,
             .hi = 10,
             .scale = Scale::log,
             .typical_lo = 5e-3,
             .typical_hi = 0.5,
             .when = {"service", "llm"},
         });
}

}  // namespace chapters::serving::batching
