#include "chapters/serving/batching/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::serving::batching {
namespace {

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
constexpr std::string_view orca = "Orca, Yu et al., OSDI 2022", little = "Little 1961";

}  // namespace

const Choices& policy_choices() { return policies; }

void describe(Fields& f, Inputs& in) {
  f.choice("policy", in.policy, policies, {.label = "Policy", .help = "The scheduler whose figures the outputs give."});
  f.choices("against", in.against, policies,
            {.label = "Race against",
             .help = "Others that meet the same arrivals, up to 5,000 of them; the first three are shown."});
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
                  .help = "Format of weights and products; the cache stays in two bytes.",
                  .when = {"service", "llm"}});
  f.real("arrival_rate", in.arrival_rate,
         {
             .label = "Arrivals a second",
             .help = "Mean rate of requests; a file of arrivals replaces it.",
             .lo = 0.01,
             .hi = 1000,
             .scale = Scale::log,
         });
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
  f.file("trace", in.trace,
         {.label = "Your arrivals",
          .help = "A CSV with columns named time, prompt and output (also as the Azure and BurstGPT traces name them): "
                  "seconds or dates, tokens, tokens. While one is here, it replaces rate, number and lengths."});
  f.integer("requests", in.requests,
            {
                .label = "Requests",
                .help = "How many arrive; the first 120 are pictured. A file of arrivals brings its own.",
                .lo = 1,
                .hi = 1e6,
                .scale = Scale::log,
            });
  f.real("prompt_tokens", in.prompt_tokens,
         {
             .label = "Prompt, mean",
             .unit = "tokens",
             .help = "Lengths are log-normal.",
             .lo = 1,
             .hi = 8192,
             .scale = Scale::log,
             .when = {"service", "llm"},
         });
  f.real("output_tokens", in.output_tokens,
         {
             .label = "Output, mean",
             .unit = "tokens",
             .help = "Lengths are log-normal.",
             .lo = 1,
             .hi = 4096,
             .scale = Scale::log,
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
  f.integer("slots", in.slots,
            {
                .label = "Slots",
                .help = "Requests in a batch of one server; engines ship with some 256.",
                .lo = 1,
                .hi = 256,
                .scale = Scale::log,
            });
  f.real("timeout_s", in.timeout_s,
         {
             .label = "Timeout",
             .unit = "s",
             .help = "After which a dynamic batch starts short.",
             .lo = 1e-3,
             .hi = 100,
             .scale = Scale::log,
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
  f.choice("preemption", in.preemption, preemptions,
           {
               .label = "When blocks run out",
               .help = "The youngest request goes back to the queue.",
               .when = {"service", "llm"},
           });
  f.real("ttft_limit_s", in.ttft_limit_s,
         {
             .label = "First token within",
             .unit = "s",
             .help = "For goodput.",
             .lo = 1e-3,
             .hi = 1e3,
             .scale = Scale::log,
         });
  f.real("tpot_limit_s", in.tpot_limit_s,
         {
             .label = "Each further token within",
             .unit = "s",
             .help = "For goodput.",
             .lo = 1e-3,
             .hi = 10,
             .scale = Scale::log,
             .when = {"service", "llm"},
         });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "The same seed gives the same arrivals and lengths to every policy. Beyond 8,192 requests "
                        "every second block mirrors the one before it.",
                .lo = 0,
                .hi = 1e9,
            });
}

void describe(Fields& f, Racer& r) {
  f.text("name", r.name, {.label = "Policy"});
  f.integer("requests", r.requests, {.label = "Requests"});
  f.real("p50_latency_s", r.p50_latency_s, {.label = "Latency p50", .unit = "s"});
  f.real("p99_latency_s", r.p99_latency_s, {.label = "Latency p99", .unit = "s"});
  f.real("mean_latency_s", r.mean_latency_s, {.label = "Latency, mean", .unit = "s"});
  f.real("mean_wait_s", r.mean_wait_s, {.label = "Wait, mean", .unit = "s"});
  f.real("ttft_p99_s", r.ttft_p99_s, {.label = "TTFT p99", .unit = "s"});
  f.real("tpot_p99_s", r.tpot_p99_s, {.label = "TPOT p99", .unit = "s"});
  f.real("gap_p99_s", r.gap_p99_s, {.label = "Gap p99", .unit = "s"});
  f.real("throughput_per_s", r.throughput_per_s, {.label = "Served a second"});
  f.real("goodput_per_s", r.goodput_per_s, {.label = "Goodput a second"});
  f.real("utilization", r.utilization, {.label = "Busy", .unit = "%"});
  f.real("wasted_slots", r.wasted_slots, {.label = "Slots wasted", .unit = "%"});
  f.real("kv_peak", r.kv_peak, {.label = "Cache at most", .unit = "%"});
  f.integer("preemptions", r.preemptions, {.label = "Preemptions"});
}

void describe(Fields& f, Outputs& o) {
  f.real("mean_latency_s", o.mean_latency_s,
         {
             .label = "Latency, mean",
             .unit = "s",
             .help = "From arrival to departure; of a static batch all leave together.",
             .formula = "sum of (departure - arrival) / requests",
         });
  f.real("p50_latency_s", o.p50_latency_s,
         {.label = "Latency p50", .unit = "s", .formula = "nearest rank of all requests, exact"});
  f.real("p90_latency_s", o.p90_latency_s,
         {.label = "Latency p90", .unit = "s", .formula = "nearest rank of all requests, exact"});
  f.real("p99_latency_s", o.p99_latency_s,
         {.label = "Latency p99", .unit = "s", .formula = "nearest rank of all requests, exact"});
  f.real("mean_wait_s", o.mean_wait_s,
         {
             .label = "Wait, mean",
             .unit = "s",
             .help = "From arrival until first taken from the queue.",
             .formula = "sum of (start - arrival) / requests",
         });
  f.real("theory_wait_s", o.theory_wait_s,
         {
             .label = "Wait by formula",
             .unit = "s",
             .help = "For Poisson arrivals at a plain queue served one by one: M/M/c, or M/D/1; 0 where there is none, "
                     "see the next line.",
             .when = {"service", "exponential|deterministic"},
             .formula = "Erlang C / (c / s - rate), or rate s^2 / (2 (1 - rate s))",
             .source = "Erlang 1917; Pollaczek 1930, Khinchin 1932",
         });
  f.text("theory", o.theory,
         {
             .label = "... which is",
             .help = "The formula for this queue, or why there is none.",
             .when = {"service", "exponential|deterministic"},
         });
  f.real("ttft_p50_s", o.ttft_p50_s,
         {
             .label = "TTFT p50",
             .unit = "s",
             .help = "Time to first token: queue and prompt.",
             .formula = "nearest rank of (first token - arrival)",
         });
  f.real("ttft_p99_s", o.ttft_p99_s,
         {
             .label = "TTFT p99",
             .unit = "s",
             .help = "Time to first token: queue and prompt. In a plain queue the answer is one token.",
             .formula = "nearest rank of (first token - arrival)",
         });
  f.real("tpot_p50_s", o.tpot_p50_s,
         {
             .label = "TPOT p50",
             .unit = "s",
             .help = "Time per output token after the first.",
             .formula = "(last token - first token) / (output - 1)",
         });
  f.real("tpot_p99_s", o.tpot_p99_s,
         {
             .label = "TPOT p99",
             .unit = "s",
             .help = "Time per output token after the first; 0 in a plain queue.",
             .formula = "(last token - first token) / (output - 1)",
         });
  f.real("gap_p99_s", o.gap_p99_s,
         {
             .label = "Gap between tokens p99",
             .unit = "s",
             .help = "Of all tokens of all answers: a stall behind somebody's prompt shows here and vanishes in a mean "
                     "per request; 0 in a plain queue.",
             .formula = "nearest rank of (token - token before), within 0.5 %",
             .source = "time between tokens, Sarathi-Serve, Agrawal et al., OSDI 2024",
         });
  f.real("gap_longest_s", o.gap_longest_s,
         {
             .label = "Longest gap",
             .unit = "s",
             .help = "The worst stall inside any answer.",
             .formula = "max of (token - token before)",
         });
  f.real("throughput_per_s", o.throughput_per_s,
         {.label = "Served a second", .formula = "requests / (last departure - first arrival)"});
  f.real("tokens_per_s", o.tokens_per_s,
         {.label = "Tokens a second",
          .help = "Output tokens; 0 in a plain queue.",
          .formula = "output tokens / (last departure - first arrival)"});
  f.real("goodput_per_s", o.goodput_per_s,
         {
             .label = "Goodput a second",
             .help = "Requests whose first token and pace are within the limits.",
             .formula = "requests within both limits / time",
             .source = "DistServe, Zhong et al., OSDI 2024",
         });
  f.real("speedup_p50", o.speedup_p50,
         {.label = "Rival's p50 over this",
          .help = "Of the first rival, when both served the same requests; 1 without one.",
          .formula = "rival's latency p50 / latency p50"});
  f.real("utilization", o.utilization,
         {.label = "Busy", .unit = "%", .formula = "time with work / time, over the servers"});
  f.real("offered_load", o.offered_load,
         {
             .label = "Offered load",
             .unit = "%",
             .help = "Of a plain queue served one by one; from 100 % on the line grows without end. 0 with a model.",
             .when = {"service", "exponential|deterministic"},
             .formula = "rate x service time / servers",
         });
  f.real("wasted_slots", o.wasted_slots,
         {
             .label = "Slots wasted",
             .unit = "%",
             .help = "Slot-time held by requests that were done and waited for their batch.",
             .formula = "(held - used) / held",
             .source = orca,
         });
  f.real("mean_in_system", o.mean_in_system,
         {.label = "In the system, mean",
          .help = "Requests there at a time, integrated as they come and go.",
          .formula = "L"});
  f.real("mean_waiting", o.mean_waiting, {.label = "In the queue, mean", .formula = "Lq"});
  f.real("little_error", o.little_error,
         {
             .label = "Little's law is off by",
             .help = "The integral against the sum of latencies: rounding alone.",
             .formula = "|L - rate x W| / L",
             .source = little,
         });
  f.real("makespan_s", o.makespan_s, {.label = "Last departure", .unit = "s", .formula = "from time 0"});
  f.real("kv_pool_bytes", o.kv_pool_bytes,
         {.label = "Cache pool", .unit = "B", .formula = "share x (0.9 x memory - weights)"});
  f.integer("kv_blocks", o.kv_blocks,
            {.label = "Blocks",
             .formula = "pool / (block x bytes per token)",
             .source = "PagedAttention, Kwon et al., SOSP 2023"});
  f.real("kv_peak", o.kv_peak,
         {.label = "Cache at most", .unit = "%", .formula = "largest number of blocks taken / blocks"});
  f.integer("preemptions", o.preemptions,
            {.label = "Preemptions", .help = "Requests sent back because blocks ran out."});
  f.integer("completed", o.completed, {.label = "Served", .help = "Requests that left with their whole answer."});
  f.integer("refused", o.refused, {.label = "Refused", .help = "Requests longer than the whole cache."});
  f.integer("events", o.events,
            {.label = "Scheduler events",
             .help = "Arrivals, admissions, steps that change the batch, preemptions and departures simulated."});
  f.table("racers", o.racers, {.label = "The race", .help = "The same arrivals under each policy."});
}

void describe(Fields& f, View& v) {
  f.real("time", v.playback.time_s,
         {
             .label = "Time",
             .unit = "s",
             .help = "Where the cursor stands; beyond the end is the end.",
             .lo = 0,
             .hi = 1e9,
         });
  f.real("speed", v.playback.speed,
         {
             .label = "Speed",
             .help = "Seconds of the race in a second of the clock.",
             .lo = 0.01,
             .hi = 100,
             .scale = Scale::log,
         });
  f.toggle("playing", v.playback.playing, {.label = "Playing", .help = "The cursor moves on by itself."});
  f.integer("request", v.request,
            {
                .label = "Request followed",
                .help = "Its spans stand out in every lane; 0 for none.",
                .lo = 0,
                .hi = 120,
            });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, View>(
      {
          .id = "serving/batching",
          .title = "Batching",
          .question = "The same arrivals through several schedulers: who waits, for whom, and how long?",
          .job = true,
      },
      compute, draw);
}

}  // namespace chapters::serving::batching
